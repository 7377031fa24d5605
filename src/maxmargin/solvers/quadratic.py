"""The quadratic program with slacks as the lecture notes write it, dense: an oracle for small data, not a fast method.

    min over w, b, ξ of  s|w|²/2 + s_b b²/2 + Σ c_i ξ_i  [c_i ξ_i²]    s.t.  y_i (x_i'w + b) >= 1 - ξ_i  (α_i),   ξ_i >= 0

For the squared hinge ξ >= 0 follows and is left out; for the hard margin there is no ξ. The multipliers α are the dual point: a = y α.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from maxmargin.losses import HardMargin, Hinge, SquaredHinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.quadratic import Multipliers, QuadraticProgram
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors

MOST_ROWS, MOST_UNKNOWNS = 2000, 5000  # the system is dense: 200 MB


@final
@dataclass(frozen=True, slots=True)
class Quadratic(Solver):
    """One dense interior point solve of the program with slacks."""

    tol: float = 1e-4

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not isinstance(problem.loss, (Hinge, SquaredHinge, HardMargin)):
            return f"Quadratic: the loss must be Hinge(), SquaredHinge() or HardMargin(), not {problem.loss!r}."
        if not isinstance(problem.penalty, Ridge):
            return f"Quadratic: the penalty must be Ridge(strength), not {problem.penalty!r}."
        n, d = problem.design.n, problem.design.d
        if n > MOST_ROWS or n + d > MOST_UNKNOWNS:
            return (
                f"Quadratic: {n} rows and {d} columns are more than its dense program takes ({MOST_ROWS} rows, {MOST_UNKNOWNS} "
                'rows and columns together). Use "auto".'
            )
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        watch = watch or Watch()
        ended: Status | None = None

        def stop(step: int) -> bool:
            nonlocal ended
            ended = watch.heard(step, np.inf)
            return ended is not None

        with np.errstate(all="ignore"):
            program, used = slack_program(problem)
            found = program.solve(tol=min(1e-12, 1e-3 * self.tol), stop=stop)
            return self._concluded(problem, found, used, ended or Status.PRECISION, watch)

    def _concluded(self, problem: Problem, found: Multipliers, used: np.ndarray, ended: Status, watch: Watch) -> Solution:
        d = problem.design.d
        a = np.zeros(problem.design.n)
        a[used] = problem.target[used] * found.inequality[: used.size]
        b = float(found.x[d]) if problem.intercept is not Intercept.NONE else 0.0
        coef, intercept, dual, certificate = conclude(problem, found.x[:d], b, a)
        status = Status.SOLVED if certificate.relative_gap <= self.tol else ended
        watch.heard(found.steps, certificate.relative_gap, certified=True)
        return Solution(coef, intercept, dual, certificate, status, Work(0, found.steps, 0, 1, watch.seconds))


def slack_program(problem: Problem) -> tuple[QuadraticProgram, np.ndarray]:
    """The program in (w, b, ξ) over the rows that have cost, and which rows these are. Margins are its first inequalities."""
    assert isinstance(problem.penalty, Ridge)
    used = np.flatnonzero(problem.cost > 0.0)
    y, cost, n, d = problem.target[used], problem.cost[used], used.size, problem.design.d
    X = problem.design.rows(used)
    intercept = problem.intercept is not Intercept.NONE
    slacks = 0 if isinstance(problem.loss, HardMargin) else n
    size = d + intercept + slacks
    quadratic, linear = np.zeros(size), np.zeros(size)
    quadratic[:d] = problem.penalty.strength
    if problem.intercept is Intercept.PENALIZED:
        quadratic[d] = problem.intercept_strength
    margins = np.zeros((n, size))
    margins[:, :d] = -y[:, None] * X
    if intercept:
        margins[:, d] = -y
    if slacks:
        margins[:, size - n :] = -np.eye(n)
    constraints, right = margins, -np.ones(n)
    if isinstance(problem.loss, SquaredHinge):
        quadratic[size - n :] = 2.0 * cost
    elif isinstance(problem.loss, Hinge):
        linear[size - n :] = cost
        positive = np.zeros((n, size))
        positive[:, size - n :] = -np.eye(n)
        constraints, right = np.vstack([margins, positive]), np.append(right, np.zeros(n))
    return QuadraticProgram(np.diag(quadratic), linear, constraints, right), used
