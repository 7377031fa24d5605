"""One judge for all: the primal of the coefficients, from scratch, against the best dual that was certified for the task."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from benchmarks.problems import Task
from maxmargin import Hinge, Intercept, Problem, Ridge, SquaredHinge, as_design, certify
from maxmargin.reductions import one_vs_rest, solve_all
from maxmargin.solvers import SOLVERS, Watch
from maxmargin.solvers.choose import make_solver

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
ROUNDING = 1e-11  # of float64 sums over a task, relative: a gap below this is not held against a claim
FAR = 1e-2  # the relative gap beyond which an answer that claims to be strictly converged is wrong


@final
@dataclass(frozen=True, slots=True)
class Verdict:
    """`primal` is what the coefficients reach; the optimum is at least `dual`. `wrong` says what is wrong, or is empty."""

    primal: float
    dual: float
    wrong: str = ""

    @property
    def gap(self) -> float:
        """(P - D) / P, the relative gap."""
        return max(0.0, self.primal - self.dual) / self.primal if math.isfinite(self.primal) else math.inf


@final
class Judge:
    """Knows the task's problems and, for each, the best lower bound that any certificate has given."""

    def __init__(self, task: Task, X: Any, y: np.ndarray, patience: float = 10.0) -> None:
        """`patience` is how many seconds each solver may spend on the reference."""
        codes = task.labels(y)
        design, cost = as_design(X), np.full(len(codes), task.C)
        targets = one_vs_rest(codes, int(codes.max()) + 1)
        self.problems = [Problem(design, t, LOSSES[task.loss], Ridge(1.0), cost, Intercept(task.intercept)) for t in targets]
        self.duals = np.full(len(self.problems), -np.inf)
        self.best_primal = math.inf
        tol = 1e-2 * min(task.targets)
        for name in ("auto", "interior_point", "newton"):
            if name != "auto" and SOLVERS[name](tol, 1000, 0).refuse(self.problems[0]):
                continue
            found = solve_all(
                self.problems, lambda p, name=name: make_solver(name, p, tol, 4000), Watch(patience), os.cpu_count() or 1
            )
            self._learn([solution.certificate.dual for solution in found])
            self.best_primal = min(self.best_primal, math.fsum(solution.certificate.primal for solution in found))
            if self.reference_gap <= tol:
                break

    @property
    def dual(self) -> float:
        """The lower bound of the task: the sum of its problems' bounds."""
        return math.fsum(self.duals)

    @property
    def reference_gap(self) -> float:
        """How far apart the best primal and the best dual are: no verdict is finer than this."""
        return max(0.0, self.best_primal - self.dual) / self.best_primal

    def _learn(self, duals: Any) -> None:
        self.duals = np.maximum(self.duals, duals)

    def verdict(
        self, coef: Any, intercept: Any, dual: Any = None, claimed: float | None = None, strict: bool = False
    ) -> Verdict:
        """What the coefficients are worth.

        A free intercept is replaced by the best one for the coefficients, for everyone. Without `dual`, P is held against the best
        known bound. With it, `certify` makes the bound from the answer's own dual point, and it must carry the `claimed` gap.
        `strict` answers say that they have converged for all they can tell.
        """
        d = self.problems[0].design.d
        coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
        if coef.shape != (len(self.problems), d):
            return Verdict(math.inf, self.dual, f"coefficients of shape {coef.shape}, not {(len(self.problems), d)}")
        intercepts = np.broadcast_to(np.asarray(intercept, dtype=np.float64).ravel(), len(self.problems))
        if not (np.isfinite(coef).all() and np.isfinite(intercepts).all()):
            return Verdict(math.inf, self.dual, "coefficients that are not finite")
        primals, own = [], []
        for k, problem in enumerate(self.problems):
            b = problem.best_intercept(problem.design.scores(coef[k]), float(intercepts[k]))
            certificate = certify(problem, coef[k], b, None if dual is None else np.asarray(dual[k]))
            primals.append(certificate.primal)
            own.append(certificate.dual)
        self._learn(own)
        verdict = Verdict(math.fsum(primals), math.fsum(own) if dual is not None else self.dual)
        self.best_primal = min(self.best_primal, verdict.primal)
        return Verdict(verdict.primal, verdict.dual, self._fault(verdict.gap, claimed, strict))

    def _fault(self, gap: float, claimed: float | None, strict: bool) -> str:
        if claimed is not None and gap > claimed + self.reference_gap + ROUNDING:
            return f"claims a relative gap of {claimed:.1e}; {gap:.1e} is what holds"
        if strict and gap > FAR + self.reference_gap:
            return f"claims to have converged at its tightest tolerance; its relative gap is {gap:.1e}"
        return ""
