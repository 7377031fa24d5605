"""snapml.SupportVectorMachine (IBM Snap ML): stochastic dual ascent whose intercept is a constant feature, so penalised."""

from __future__ import annotations

from typing import Any, ClassVar, final

import numpy as np

from benchmarks.peers.base import Answer, Peer, Setting, sweep
from benchmarks.problems import Task

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12)


@final
class SnapML(Peer):
    name: ClassVar[str] = "snapml"
    module: ClassVar[str] = "snapml"
    package: ClassVar[str] = "snapml"
    threaded: ClassVar[bool] = True

    def refuse(self, task: Task) -> str | None:
        return "its intercept is always penalised" if task.intercept == "free" else None

    def settings(self, task: Task) -> list[Setting]:
        return sweep(TOLERANCES, max_iter=10_000)

    def fit(self, task: Task, loaded: Any, options: dict[str, Any], threads: int) -> Answer:
        from snapml import SupportVectorMachine

        X, y = loaded
        machine = SupportVectorMachine(
            loss=task.loss, regularizer=1.0 / task.C, fit_intercept=task.intercept != "none", n_jobs=threads, random_state=0,
            **options,
        )  # fmt: skip
        machine.fit(X, y)
        coef = np.atleast_2d(np.asarray(machine.coef_, dtype=np.float64))
        if coef.shape[1] != X.shape[1]:
            coef = coef.T
        return Answer(coef, np.ravel(machine.intercept_), True)
