"""Least squares in closed form: the squared loss with a ridge or with no penalty (Legendre 1805, Hoerl and Kennard 1970).

    min over w, b of  Σ c_i (y_i - x_i'w - b)²/2 + s |w|²/2.

With a ridge one Cholesky factor decides, of the smaller of two matrices; the intercept is eliminated first:

    columns   (X'CX - m m' / h + s I) w = X'C y - m (Σ c_i y_i) / h,       m = X'c,  h = Σ c_i + s_b,
    rows      (XX'/s + C⁻¹ + ρ 11') a + b 1 = y,  w = X'a / s,             ρ = 1/s_b; any, where b is free and Σ a = 0.

Then the residual of the equations is formed anew from the data and solved for, until it no longer shrinks.

With no penalty the columns' equations serve where the curvature is proven to be well above rounding. Elsewhere the centred, weighted
rows go through a singular value decomposition, and sparse rows through LSQR (Paige and Saunders 1982): where columns depend on
each other both give the solution of least norm, and the status says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg
import scipy.sparse.linalg
from numpy.typing import NDArray

from maxmargin.design import Dense
from maxmargin.losses import Squared
from maxmargin.penalties import NoPenalty, Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors
from maxmargin.spectrum import curvature_below

Floats = NDArray[np.float64]

LARGEST_SYSTEM = 8000  # unknowns: a matrix of 512 MB, ten seconds of Cholesky
MOST_REFINEMENTS = 4
SAFE_CURVATURE = 1e-5  # of columns scaled to length 1: the normal equations then lose at most half of the digits, and refine
LSQR_STEPS = 10_000


@final
@dataclass(frozen=True, slots=True)
class LeastSquares(Solver):
    """One factorisation and its refinement. `tol` is only what the status is measured by: the gap is mostly rounding."""

    tol: float = 1e-4

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not isinstance(problem.loss, Squared):
            return f"LeastSquares: the loss must be Squared(), not {problem.loss!r}."
        if not isinstance(problem.penalty, (Ridge, NoPenalty)):
            return f'LeastSquares: the penalty must be Ridge(strength) or NoPenalty(), not {problem.penalty!r}. Use "coordinate_descent".'
        if isinstance(problem.penalty, Ridge) and min(problem.design.n, problem.design.d) > LARGEST_SYSTEM:
            return (
                f"LeastSquares: {problem.design.n} rows and {problem.design.d} columns are both more than the {LARGEST_SYSTEM} "
                'that its system may have. Use "coordinate_descent".'
            )
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        watch = watch or Watch()
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            dependent = False
            if isinstance(problem.penalty, Ridge):
                by_rows = problem.design.n < problem.design.d
                w, b = _by_rows(problem, problem.penalty) if by_rows else _by_columns(problem, problem.penalty.strength)
            else:
                w, b, dependent = _without_penalty(problem)
            residual = problem.target - problem.design.scores(w, b)
            point = conclude(problem, w, b, problem.cost * residual)
        solved = point[3].relative_gap <= self.tol
        status = Status.LEAST_NORM if dependent else Status.SOLVED if solved else Status.PRECISION
        if (stopped := watch.heard(1, point[3].relative_gap, certified=True)) is Status.INTERRUPTED:
            status = stopped
        return Solution(*point, status, Work(steps=1, certificates=1, seconds=watch.seconds))


def _by_columns(problem: Problem, strength: float) -> tuple[Floats, float]:
    """d unknowns."""
    design, c = problem.design, problem.cost
    has_b = problem.intercept is not Intercept.NONE
    matrix = design.weighted_gram(c)
    matrix[np.diag_indices_from(matrix)] += strength
    sums, corner = design.combine(c), float(c.sum()) + (problem.intercept_strength if has_b else 0.0)
    has_b = has_b and corner > 0.0
    if has_b:
        matrix -= np.outer(sums, sums / corner)
    factor = _factor(matrix)
    w, b, smallest = np.zeros(design.d), 0.0, np.inf
    for _ in range(1 + MOST_REFINEMENTS):
        a = c * (problem.target - design.scores(w, b))
        right = design.combine(a) - strength * w
        right_b = float(a.sum()) - (problem.intercept_strength * b if has_b else 0.0)
        size = float(np.linalg.norm(right))
        if not size < 0.5 * smallest:
            break
        smallest = size
        step = scipy.linalg.cho_solve(factor, right - sums * (right_b / corner) if has_b else right, check_finite=False)
        w = w + step
        b = b + (right_b - float(sums @ step)) / corner if has_b else 0.0
    return w, b


def _by_rows(problem: Problem, ridge: Ridge) -> tuple[Floats, float]:
    """As many unknowns as rows with c_i > 0."""
    design, s = problem.design, ridge.strength
    rows = np.flatnonzero(problem.cost > 0.0)
    if rows.size == 0:
        return np.zeros(design.d), 0.0
    per_cost, y = 1.0 / problem.cost[rows], problem.target[rows]
    matrix = design.inner(rows, rows) / s
    matrix[np.diag_indices_from(matrix)] += per_cost
    free, strength_b = problem.intercept is Intercept.FREE, problem.intercept_strength
    rho = float(np.mean(np.diag(matrix))) if free else 1.0 / strength_b  # 1/∞ = 0 without an intercept
    matrix += rho
    factor = _factor(matrix)
    ones = scipy.linalg.cho_solve(factor, np.ones(rows.size), check_finite=False)
    w, b, a, smallest = np.zeros(design.d), 0.0, np.zeros(design.n), np.inf
    for _ in range(1 + MOST_REFINEMENTS):
        right = y - design.scores(w, b)[rows] - per_cost * a[rows]
        size = float(np.linalg.norm(right))
        if not size < 0.5 * smallest:
            break
        smallest = size
        step = scipy.linalg.cho_solve(factor, right, check_finite=False)
        if free:
            shift = (float(step.sum()) + float(a.sum())) / float(ones.sum())
            step -= shift * ones
            b += shift
        a[rows] += step
        b = b if free else rho * float(a.sum())
        w = design.combine(a) / s
    return w, b


def _without_penalty(problem: Problem) -> tuple[Floats, float, bool]:
    """w, b, and whether the columns depend on each other, so that w is the shortest of many."""
    design, c = problem.design, problem.cost
    free = problem.intercept is Intercept.FREE and bool(c.any())
    if design.d <= design.n and curvature_below(design, c, free)[1] > SAFE_CURVATURE:
        return *_by_columns(problem, 0.0), False
    total = float(c.sum())
    mean = design.combine(c) / total if free else np.zeros(design.d)
    mean_y = float(c @ problem.target) / total if free else 0.0
    root = np.sqrt(c)
    right = root * (problem.target - mean_y)
    if isinstance(design, Dense):
        rows = np.asarray(design.data, dtype=np.float64) - mean
        rows *= root[:, None]
        small = float(np.finfo(float).eps) * max(rows.shape)  # a singular value below this share of the largest is rounding
        w, _, rank, _ = scipy.linalg.lstsq(rows, right, cond=small, overwrite_a=True, check_finite=False)
        dependent = rank < design.d
    else:
        operator = scipy.sparse.linalg.LinearOperator(
            (design.n, design.d),
            matvec=lambda v: root * (design.scores(v.ravel()) - float(mean @ v.ravel())),
            rmatvec=lambda a: design.combine(root * a.ravel()) - mean * float(root @ a.ravel()),
            dtype=np.float64,
        )
        w = scipy.sparse.linalg.lsqr(operator, right, atol=1e-15, btol=1e-15, conlim=0.0, iter_lim=LSQR_STEPS)[0]
        dependent = curvature_below(design, c, free)[1] == 0.0
    return np.asarray(w), mean_y - float(mean @ w), bool(dependent)


def _factor(matrix: Floats) -> tuple[Floats, bool]:
    """A Cholesky factor; a matrix that rounding made indefinite is lifted by a growing multiple of the unit matrix."""
    for lift in (0.0, *np.logspace(-15, 0, 16)):
        try:
            lifted = matrix if lift == 0.0 else matrix + lift * float(np.mean(np.diag(matrix))) * np.eye(len(matrix))
            factor, lower = scipy.linalg.cho_factor(lifted, lower=True, check_finite=False)
            return np.asarray(factor), bool(lower)
        except np.linalg.LinAlgError:
            continue
    return np.eye(len(matrix)), True  # numbers that are not finite: the certificate will say so
