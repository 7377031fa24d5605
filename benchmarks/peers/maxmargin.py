"""maxmargin.LinearSVC, asked for each target itself."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np

from benchmarks.peers.base import Answer, Peer, Setting
from benchmarks.problems import Task


@final
class MaxMargin(Peer):
    name: ClassVar[str] = "maxmargin"
    module: ClassVar[str] = "maxmargin"
    package: ClassVar[str] = "maxmargin"
    uses_blas: ClassVar[bool] = True
    threaded: ClassVar[bool] = True

    def refuse(self, task: Task) -> str | None:
        return None

    def settings(self, task: Task) -> list[Setting]:
        wanted = sorted({1e-1, 1e-2, *task.targets, min(task.targets) * 1e-2}, reverse=True)
        return [Setting(f"tol={tol:g}", {"tol": tol}) for tol in wanted]

    def fit(self, task: Task, loaded: Any, options: dict[str, Any], threads: int) -> Answer:
        from maxmargin import LinearSVC, Status

        X, y = loaded
        intercept = {"fit_intercept": False} if task.intercept == "none" else {"intercept": task.intercept}
        machine = LinearSVC(loss=task.loss, C=task.C, n_jobs=threads, max_iter=10_000, **intercept, **options).fit(X, y)
        dual = np.zeros((len(machine.coef_), X.shape[0]))
        dual[:, machine.support_] = machine.dual_coef_
        return Answer(
            machine.coef_, machine.intercept_, machine.status_ is Status.SOLVED, dual,
            machine.certificate_.relative_gap, int(machine.n_iter_),
        )  # fmt: skip
