"""sklearn.svm.LinearSVC, which is LIBLINEAR: its intercept is always penalised, so a free one is approached by scaling."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, final

from benchmarks.peers.base import Answer, Peer, Setting, sweep
from benchmarks.problems import Task

TOLERANCES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)


@final
class ScikitLearn(Peer):
    name: ClassVar[str] = "scikit-learn"
    module: ClassVar[str] = "sklearn"
    package: ClassVar[str] = "scikit-learn"
    uses_blas: ClassVar[bool] = True

    def refuse(self, task: Task) -> str | None:
        return None

    def settings(self, task: Task) -> list[Setting]:
        free = task.intercept == "free"
        short = {"dual": True, "intercept_scaling": 10.0 if free else 1.0, "tol": 1e-4, "max_iter": 10}
        return [Setting("dual=True, max_iter=10", short, "short")] + [
            setting
            for dual in ([True] if task.loss == "hinge" else [True, False])
            for scaling in ([10.0, 100.0] if free else [1.0])
            for setting in sweep(TOLERANCES, f"{dual} {scaling}", not free, dual=dual, intercept_scaling=scaling)
        ]

    def fit(self, task: Task, loaded: Any, options: dict[str, Any], threads: int) -> Answer:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        X, y = loaded
        options = {"max_iter": 10_000, **options}
        machine = LinearSVC(loss=task.loss, C=task.C, fit_intercept=task.intercept != "none", random_state=0, **options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            machine.fit(X, y)
        converged = not any(issubclass(each.category, ConvergenceWarning) for each in caught)
        return Answer(machine.coef_, machine.intercept_, converged)
