"""Batch sub-gradient descent (Shor 1985; these steps: Shalev-Shwartz et al. 2007, Lacoste-Julien et al. 2012).

    w <- w - γ_t (s w - X'a_t),   a_t,i = -c_i φ'(y_i, x_i'w + b),   b = argmin P(w, ·).

P, minimised over b, is s-strongly convex in w. With a kinked loss the steps are γ_t = 2 / (s (t + 2)), and the average of w_0 .. w_t
with weights k + 1 has P - P* <= 2 G² / (s (t + 2)), G the longest sub-gradient met; the certificate's own P - D is at most twice
that (Bach 2015). So the gap falls like 1/t, and every digit costs ten times the work of the last. With a smooth loss, φ'' <= h,
the steps are 1/L with L = s + h |C^½ X|², and P - P* falls like (1 - s/L)^t: only then is the number of steps proportional to ln(1/ε).

Starting from w = 0, every iterate is w = X'ā / s for a convex combination ā of the a_t: the step moves ā by γ_t s towards a_t. So
ā lies in the box and keeps Σ ā = 0: it is the dual point of the certificate for kinked losses. For smooth ones a_t itself is better.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificate import feasible
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors

Floats = NDArray[np.float64]

POWER_STEPS = 30  # of the power method: the largest eigenvalue to a few per cent, and a tenth is added


@final
@dataclass(frozen=True, slots=True)
class Gradient(Solver):
    """Sub-gradient descent until the certified relative gap is at most `tol`."""

    tol: float = 1e-4
    max_steps: int = 1000

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not problem.loss.finite:
            return f'Gradient: {problem.loss!r} has no sub-gradients where it is infinite. Use "maximum_margin".'
        if not isinstance(problem.penalty, Ridge):
            return f"Gradient: the penalty must be Ridge(strength), not {problem.penalty!r}."
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return _descend(self, problem, start, watch or Watch())


def _descend(options: Gradient, problem: Problem, start: Solution | None, watch: Watch) -> Solution:
    assert isinstance(problem.penalty, Ridge)
    strength, smooth = problem.penalty.strength, np.isfinite(problem.loss.curvature)
    shrink = strength / _curvature(problem) if smooth else 0.0
    a_bar = np.zeros(problem.design.n) if start is None else start.dual.copy()
    w, b = problem.design.combine(a_bar) / strength, 0.0 if start is None else start.intercept
    average = np.zeros_like(w)
    best: Solution | None = None
    status: Status | None = None
    certificates, due = 0, 1
    for t in range(options.max_steps + 1):
        z = problem.design.scores(w)
        b = problem.best_intercept(z, b)
        a = feasible(problem, -problem.cost * problem.loss.slope(problem.target, z + b))
        if not smooth:
            average += (w - average) * (2.0 / (t + 2.0))
        if t == due or t == options.max_steps or (status := watch.heard(t, np.inf)) is not None:
            due = max(t + 1, int(1.2 * t))  # so that certificates, three products each, are a tenth of the work
            certificates += 1
            point = conclude(problem, w, b, a) if smooth else conclude(problem, average, b, a_bar)
            if best is None or point[3].gap < best.certificate.gap:
                best = Solution(*point, Status.SOLVED, Work())
            relative = best.certificate.relative_gap
            status = Status.SOLVED if relative <= options.tol else watch.heard(t, relative, certified=True)
            status = status or (Status.MAX_ITER if t == options.max_steps else None)
        if status is not None:
            break
        step = shrink if smooth else 2.0 / (t + 2.0)
        a_bar += step * (a - a_bar)
        w += step * (problem.design.combine(a) / strength - w)
        if problem.intercept is Intercept.PENALIZED:
            b += step * (float(a.sum()) / problem.intercept_strength - b)
    assert best is not None
    assert status is not None
    return dataclasses.replace(best, status=status, work=Work(0, t, 0, certificates, watch.seconds))


def _curvature(problem: Problem) -> float:
    """L: a bound of the curvature of P, by the power method on X' diag(c) X, a penalised intercept being one more column."""
    assert isinstance(problem.penalty, Ridge)
    size = problem.intercept_scale if problem.intercept is Intercept.PENALIZED else 0.0
    v, extra, largest = np.random.default_rng(0).normal(size=problem.design.d), 0.0, 0.0
    for _ in range(POWER_STEPS):
        pulled = problem.cost * problem.design.scores(v, size * extra)
        v, extra = problem.design.combine(pulled), size * float(pulled.sum())
        unit = max(float(np.abs(v).max(initial=0.0)), abs(extra))  # taken out first: squares could overflow
        if unit == 0.0:
            break
        largest = unit * float(np.hypot(np.linalg.norm(v / unit), extra / unit))
        v, extra = v / largest, extra / largest
    return problem.penalty.strength + 1.1 * problem.loss.curvature * largest
