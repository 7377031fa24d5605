"""The widest margin, as the soft margin whose cost is large enough.

    min |w|²/2  s.t.  y_i (x_i'w + b) >= 1                                    (hard)
    min |w|²/2 + c Σ max(0, 1 - y_i (x_i'w + b))                              (soft)

The two agree once c is at least every multiplier α_i of the hard program. If some (v, b) satisfies its constraints, then

    α_i <= Σ α = 2 P(w*, b*) <= 2 P(v, b),

so c = 2 P(v, b) = |v|² is enough. The cost rises tenfold until the soft solution separates; scaled to a least margin of 1 it is
such a v, and a solve at that cost, precise enough, ends it. Where no cost separates, the solution has P = ∞, and `separability`
can say why.

Interior points take the soft solves wherever their system is small: coordinate steps and Newton's sets of rows lose thin margins. Below
1e-8 of the rows' length a margin is lost in the squares of inner products too; the gap of such a solution says so.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from maxmargin.losses import HardMargin, Hinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors
from maxmargin.solvers.dual_ascent import DualAscent
from maxmargin.solvers.interior_point import InteriorPoint

Floats = NDArray[np.float64]

RISES = 8  # tenfold each, from the cost at which one row alone gets a margin of 1
FEW_COLUMNS = 500


@final
@dataclass(frozen=True, slots=True)
class MaximumMargin(Solver):
    """Soft margins of rising cost until the certified relative gap of the hard problem is at most `tol`."""

    tol: float = 1e-4
    max_iter: int = 1000
    seed: int = 0

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not isinstance(problem.loss, HardMargin):
            return f"MaximumMargin: the loss must be HardMargin(), not {problem.loss!r}."
        if not isinstance(problem.penalty, Ridge):
            return f"MaximumMargin: the penalty must be Ridge(strength), not {problem.penalty!r}."
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        """From `start`, if it separates, in a single soft solve."""
        self.require(problem)
        with np.errstate(all="ignore"):
            return _solve(self, problem, start, watch or Watch())


def _solve(options: MaximumMargin, problem: Problem, start: Solution | None, watch: Watch) -> Solution:
    assert isinstance(problem.penalty, Ridge)
    best, soft, work = start, None, Work()
    norms = problem.design.norms_sq[problem.cost > 0.0]
    positive = norms[norms > 0.0]
    cost = problem.penalty.strength / float(np.median(positive)) if positive.size else 1.0
    tol = 0.5 * options.tol
    for _ in range(RISES):
        if best is not None and np.isfinite(best.certificate.primal):
            # P = s|v|²/2 of a feasible v, and every multiplier is at most s|v|²
            cost = max(cost, 2.0 * best.certificate.primal)
        soft = _softened(options, problem, cost, tol, soft, watch)
        work = _sum(work, soft.work)
        point = Solution(*conclude(problem, soft.coef.astype(np.float64), soft.intercept, soft.dual), soft.status, work)
        if best is None or not point.certificate.gap >= best.certificate.gap:
            best = point
        relative = best.certificate.relative_gap
        status = watch.heard(work.epochs + work.steps, relative, certified=True)
        if relative <= options.tol:
            return dataclasses.replace(best, status=Status.SOLVED, work=_timed(work, watch))
        enough = np.isfinite(relative) and cost >= 2.0 * best.certificate.primal
        if status is not None or (enough and soft.status is not Status.SOLVED):
            return dataclasses.replace(best, status=status or soft.status, work=_timed(work, watch))
        if enough:
            tol *= 0.1
        cost *= 10.0
    assert best is not None
    return dataclasses.replace(best, status=Status.PRECISION, work=_timed(work, watch))


def _softened(
    options: MaximumMargin, problem: Problem, cost: float, tol: float, start: Solution | None, watch: Watch
) -> Solution:
    costs = np.where(problem.cost > 0.0, cost, 0.0)
    soft = dataclasses.replace(problem, loss=Hinge(), cost=costs)
    design = problem.design
    if design.d <= FEW_COLUMNS and design.n >= design.d:
        return InteriorPoint(tol=tol, max_steps=options.max_iter).solve(soft, watch=watch)
    return DualAscent(tol=tol, max_epochs=options.max_iter, seed=options.seed).solve(soft, start, watch)


def _sum(work: Work, more: Work) -> Work:
    return Work(
        work.epochs + more.epochs, work.steps + more.steps, work.visits + more.visits, work.certificates + more.certificates
    )


def _timed(work: Work, watch: Watch) -> Work:
    return dataclasses.replace(work, seconds=watch.seconds)
