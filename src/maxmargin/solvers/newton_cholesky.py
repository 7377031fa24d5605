"""Newton's method for smooth losses with a ridge, one Cholesky factor of d unknowns per step.

    (s I + X'H X - m m'/h) dw = -(s w - X'a) - m r/h,   db = (r - m'dw)/h,
    H = diag(c_i φ''(z_i)),  a_i = -c_i φ'(z_i),  m = X'H1,  h = Σ H_i + s_b,  r = Σ a_i - s_b b,

with the intercept eliminated first, then backtracking until P falls by a tenth of what its slope promises. Near the optimum each step
doubles the digits (Nocedal and Wright 2006, section 3.3). a is the dual point. For the logistic loss these are the weighted
least-squares steps of the statistics books.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors

Floats = NDArray[np.float64]

MOST_COLUMNS = 4000  # a system of 128 MB, a second of Cholesky per step
LEAST_BEND = 1e-8  # of the largest curvature: keeps a free intercept determined where φ is straight
MOST_MISSES = 3  # steps that look solved and are not certified: rounding is in the way
ROUNDING = 1e-9  # a relative gap below this that does not halve is rounding


@final
@dataclass(frozen=True, slots=True)
class NewtonCholesky(Solver):
    """Newton steps until the certified relative gap is at most `tol`."""

    tol: float = 1e-4
    max_steps: int = 100

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not np.isfinite(problem.loss.curvature):
            return f'NewtonCholesky: {problem.loss!r} has kinks. Use a smooth loss, or "newton" for Hinge().'
        if not isinstance(problem.penalty, Ridge):
            return f'NewtonCholesky: the penalty must be Ridge(strength), not {problem.penalty!r}. Use "coordinate_descent".'
        if problem.design.d > MOST_COLUMNS:
            return (
                f"NewtonCholesky: {problem.design.d} columns are more than the {MOST_COLUMNS} that its system may have. "
                'Use "coordinate_descent".'
            )
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return _solve(self, problem, start, watch or Watch())


def _solve(options: NewtonCholesky, problem: Problem, start: Solution | None, watch: Watch) -> Solution:
    assert isinstance(problem.penalty, Ridge)
    s, loss, y, cost = problem.penalty.strength, problem.loss, problem.target, problem.cost
    w = np.zeros(problem.design.d) if start is None else start.coef.astype(np.float64)
    z = problem.design.scores(w)
    b = problem.best_intercept(z, 0.0 if start is None else start.intercept)
    z += b
    best: Solution | None = None
    status: Status | None = None
    steps = certificates = 0
    last = np.inf
    while status is None:
        a = -cost * loss.slope(y, z)
        u = problem.design.combine(a)
        primal = float(cost @ loss.value(y, z)) + problem.penalty.value(w) + problem.beta(b)
        # a are the slopes, so the losses' brackets of P - D are 0: what is left is the ridge's, |s w - X'a|² / (2s).
        gap = float(np.sum((s * w - u) ** 2)) / (2.0 * s) / max(abs(primal), float(np.finfo(float).tiny))
        status = watch.heard(steps, gap) or (Status.MAX_ITER if steps >= options.max_steps else None)
        stalled = gap < ROUNDING and gap > 0.5 * last
        last = gap
        if status is not None or stalled or gap <= 0.01 * options.tol:
            certificates += 1
            point = conclude(problem, w, b, a)
            if best is None or point[3].gap < best.certificate.gap:
                best = Solution(*point, Status.SOLVED, Work())
            relative = best.certificate.relative_gap
            status = Status.SOLVED if relative <= options.tol else status or watch.heard(steps, relative, certified=True)
            status = status or (Status.PRECISION if stalled or certificates > MOST_MISSES else None)
        if status is None:
            rest_b = float(a.sum()) - (problem.intercept_strength * b if problem.intercept is Intercept.PENALIZED else 0.0)
            moved, w, b = _step(problem, s, w, b, z, u, rest_b, primal)
            steps += 1
            z = problem.design.scores(w)
            b = problem.best_intercept(z, b)
            z += b
            last = last if moved else 0.0  # where nothing moves the next look ends it
            if not moved and gap >= ROUNDING:
                status, best = Status.PRECISION, Solution(*conclude(problem, w, b, a), Status.PRECISION, Work())
    assert best is not None
    return dataclasses.replace(best, status=status, work=Work(0, steps, 0, certificates, watch.seconds))


def _step(
    problem: Problem, s: float, w: Floats, b: float, z: Floats, u: Floats, rest_b: float, primal: float
) -> tuple[bool, Floats, float]:
    """Whether P fell, and the new (w, b)."""
    loss, y, cost = problem.loss, problem.target, problem.cost
    bend = np.maximum(cost * loss.bend(y, z), LEAST_BEND * loss.curvature * cost)
    matrix = problem.design.weighted_gram(bend)
    matrix[np.diag_indices_from(matrix)] += s
    right, right_b, db = u - s * w, 0.0, 0.0
    has_b = problem.intercept is not Intercept.NONE and bool(cost.any())
    sums, corner = problem.design.combine(bend), float(bend.sum())
    if has_b:
        corner += problem.intercept_strength
        right_b = rest_b
        matrix -= np.outer(sums, sums / corner)
    try:
        factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return False, w, b
    step = scipy.linalg.cho_solve(factor, right - sums * (right_b / corner) if has_b else right, check_finite=False)
    if has_b:
        db = (right_b - float(sums @ step)) / corner
    dz = problem.design.scores(step, db)
    promised = -float(right @ step) - right_b * db
    noise = 16.0 * float(np.finfo(float).eps) * primal
    t = 1.0
    for _ in range(60):
        to, to_b = w + t * step, b + t * db
        reached = float(cost @ loss.value(y, z + t * dz)) + problem.penalty.value(to) + problem.beta(to_b)
        if reached <= primal + 0.1 * t * promised + noise:
            return bool(step.any() or db), to, to_b
        t *= 0.5
    return False, w, b
