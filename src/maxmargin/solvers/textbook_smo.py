"""Sequential minimal optimisation (Platt 1998) as the lecture notes give it, in plain Python: an oracle for small data.

    max_α  W(α) = Σ α_i - ½ Σ Σ α_i α_j y_i y_j K_ij,    0 <= α_i <= c_i,   Σ y_i α_i = 0

    repeat: select α_i and α_j;  hold all others fixed;  optimise W with respect to these two, subject to the constraints

With the others fixed y_i α_i + y_j α_j is a constant, so that W is a parabola in α_j on an interval [L, H]. The pair selected is
the one that violates the optimality conditions most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from maxmargin.gram import Gram
from maxmargin.penalties import Ridge
from maxmargin.problem import Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch
from maxmargin.solvers.pair_ascent import refuse_pairs

MOST_ROWS = 2000
ROOM = 1e-12  # of c: less room than this is none
FLAT = 1e-12  # of the largest K_ii: less curvature than this is none


@final
@dataclass(frozen=True, slots=True)
class TextbookSMO(Solver):
    """Two multipliers at a time until the certified relative gap is at most `tol`."""

    tol: float = 1e-3
    max_steps: int = 1_000_000

    def refuse(self, problem: Problem) -> str | None:
        if not isinstance(problem.design, Gram):
            return "TextbookSMO: the rows must be a Gram. Use Gram.of_kernel(Linear(), X)."
        if not problem.design.positive:
            return "TextbookSMO: the kernel is not known to be positive semidefinite. Use PairAscent, which then certifies nothing."
        if problem.design.n > MOST_ROWS:
            return f"TextbookSMO: {problem.design.n} rows are more than the {MOST_ROWS} it takes. Use PairAscent."
        return refuse_pairs(self, problem)

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        watch = watch or Watch()
        assert isinstance(problem.penalty, Ridge)
        n, s = problem.design.n, problem.penalty.strength
        K = (problem.design.inner(np.arange(n), np.arange(n)) / s).tolist()
        y, c = problem.target.tolist(), problem.cost.tolist()
        alpha = [0.0] * n
        margin = [0.0] * n  # Σ_j α_j y_j K_ij
        flat = FLAT * max([abs(K[k][k]) for k in range(n)]) or FLAT
        steps, certificates, violation = 0, 0, 1.0
        while True:
            pair = select(alpha, c, y, margin)
            done = pair is None or pair[2] <= violation
            stopped = watch.heard(steps, violation) if steps % 100 == 0 else None
            if steps >= self.max_steps:
                stopped = Status.MAX_ITER
            if done or stopped is not None:
                certificates += 1
                a = np.array([y[k] * alpha[k] for k in range(n)])
                coef, b, dual, certificate = conclude(problem, a / s, 0.0, a)
                watch.heard(steps, certificate.relative_gap, certified=True)
                if pair is None or pair[2] < 1e-15 or certificate.relative_gap <= self.tol:
                    stopped = Status.SOLVED if certificate.relative_gap <= self.tol else Status.PRECISION
                if stopped is not None:
                    return Solution(coef, b, dual, certificate, stopped, Work(0, steps, n * n, certificates, watch.seconds))
                violation *= 0.1
                continue
            assert pair is not None
            i, j, _ = pair
            alpha_i, alpha_j = optimise(i, j, alpha, c, y, margin, K, flat)
            for k in range(n):
                margin[k] += y[i] * (alpha_i - alpha[i]) * K[i][k] + y[j] * (alpha_j - alpha[j]) * K[j][k]
            alpha[i], alpha[j] = alpha_i, alpha_j
            steps += 1


def select(alpha: list[float], c: list[float], y: list[float], margin: list[float]) -> tuple[int, int, float] | None:
    """The pair that violates most: y_i α_i may rise, y_j α_j may fall, and (y_i - margin_i) - (y_j - margin_j) is largest."""
    n = len(y)
    rising = [k for k in range(n) if (alpha[k] < c[k] if y[k] > 0 else alpha[k] > 0)]
    falling = [k for k in range(n) if (alpha[k] > 0 if y[k] > 0 else alpha[k] < c[k])]
    if not rising or not falling:
        return None
    i = max(rising, key=lambda k: y[k] - margin[k])
    j = min(falling, key=lambda k: y[k] - margin[k])
    violation = (y[i] - margin[i]) - (y[j] - margin[j])
    return (i, j, violation) if violation > 0 else None


def optimise(
    i: int,
    j: int,
    alpha: list[float],
    c: list[float],
    y: list[float],
    margin: list[float],
    K: list[list[float]],
    flat: float,
) -> tuple[float, float]:
    """The α_i, α_j that maximise W with y_i α_i + y_j α_j fixed, 0 <= α_i <= c_i and 0 <= α_j <= c_j."""
    if y[i] != y[j]:
        L, H = max(0.0, alpha[j] - alpha[i]), min(c[j], c[i] + alpha[j] - alpha[i])
    else:
        L, H = max(0.0, alpha[i] + alpha[j] - c[i]), min(c[j], alpha[i] + alpha[j])
    eta = max(K[i][i] + K[j][j] - 2.0 * K[i][j], flat)
    E_i, E_j = margin[i] - y[i], margin[j] - y[j]
    alpha_j = min(max(alpha[j] + y[j] * (E_i - E_j) / eta, L), H)
    alpha_i = alpha[i] + y[i] * y[j] * (alpha[j] - alpha_j)
    return to_the_wall(alpha_i, c[i]), to_the_wall(alpha_j, c[j])


def to_the_wall(value: float, c: float) -> float:
    """The value, or the end of [0, c] that rounding alone keeps it from: else a pair with no room would be chosen for ever."""
    if value <= ROOM * c:
        return 0.0
    return c if value >= (1.0 - ROOM) * c else value
