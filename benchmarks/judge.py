"""One judge for all: the primal of the coefficients, from scratch, against the best certified dual of the task."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.problems import Task
from maxmargin import Hinge, Intercept, Newton, Problem, Ridge, SquaredHinge, as_design
from maxmargin.reductions import one_vs_rest
from maxmargin.solvers import DualAscent, Watch


class Judge:
    """Knows the task's problems and a lower bound of each, certified far below the target."""

    def __init__(self, task: Task, X: Any, y: np.ndarray, target: float) -> None:
        self.task = task
        codes = np.unique(y, return_inverse=True)[1]
        loss = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}[task.loss]
        design, cost = as_design(X, threads=2), np.full(len(y), task.C)
        targets = one_vs_rest(codes, int(codes.max()) + 1)
        self.problems = [Problem(design, t, loss, Ridge(1.0), cost, Intercept(task.intercept)) for t in targets]
        self.lower, self.reference_gap = 0.0, 0.0
        for problem in self.problems:
            tol = target * 1e-2
            best = DualAscent(tol=tol, max_epochs=4000).solve(problem, watch=Watch(max_time=60.0))
            if best.certificate.relative_gap > tol:
                best = Newton(tol=tol).solve(problem, start=best, watch=Watch(max_time=60.0))
            self.lower += best.certificate.dual
            self.reference_gap += best.certificate.gap

    def relative_gap(self, coef: np.ndarray, intercept: Any) -> float:
        """(P - D) / P, where a free intercept is replaced by the best one for the coefficients."""
        intercepts = np.broadcast_to(intercept, len(self.problems))
        primal = 0.0
        for problem, w, b in zip(self.problems, np.asarray(coef, dtype=float), intercepts, strict=True):
            z = problem.design.scores(w)
            primal += problem.primal(w, problem.best_intercept(z, float(b)))
        return (primal - self.lower) / primal
