"""Who is measured. A peer turns a task and a tolerance into a fit; each has its own sweep of tolerances and settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.problems import Task

Fit = Callable[[Any, Any], tuple[Any, Any]]


def ours(task: Task, target: float) -> Iterator[tuple[str, Fit]]:
    """maxmargin, asked for the target itself."""
    from maxmargin import LinearSVC

    def fit(X: Any, y: Any) -> tuple[Any, Any]:
        intercept = {"fit_intercept": False} if task.intercept == "none" else {"intercept": task.intercept}
        machine = LinearSVC(loss=task.loss, C=task.C, tol=target, n_jobs=1, max_time=60.0, **intercept).fit(X, y)
        return machine.coef_, machine.intercept_

    yield f"tol={target:g}", fit


def scikit_learn(task: Task, target: float) -> Iterator[tuple[str, Fit]]:
    """sklearn.svm.LinearSVC; its intercept is always penalised, so a free one is approached by scaling."""
    from sklearn.svm import LinearSVC

    scalings = [1.0, 10.0, 100.0] if task.intercept == "free" else [1.0]
    for dual in [True] if task.loss == "hinge" else [True, False]:
        for scaling in scalings:
            for tol in (1e-1, 1e-2, 1e-3, 1e-4):

                def fit(X: Any, y: Any, dual: bool = dual, scaling: float = scaling, tol: float = tol) -> tuple[Any, Any]:
                    machine = LinearSVC(
                        loss=task.loss, C=task.C, tol=tol, dual=dual, fit_intercept=task.intercept != "none",
                        intercept_scaling=scaling, max_iter=1000, random_state=0,
                    )  # fmt: skip
                    machine.fit(X, y)
                    return machine.coef_, machine.intercept_

                yield f"dual={dual}, scaling={scaling:g}, tol={tol:g}", fit


PEERS = {"maxmargin": ours, "scikit-learn": scikit_learn}
