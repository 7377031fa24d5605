"""Primal-dual interior point for data with few columns (Mehrotra 1992; Gondzio 1996; Ferris and Munson 2002 for this problem).

With α = y a >= 0, the optimum of the hinge is where, for some p, q >= 0,

    s w = X'(y α),   s_b b = Σ y α,   y z - 1 = p - q,   α p = 0,   (c - α) q = 0,

and of the squared hinge the same without q and with y z - 1 + α/(2c) = p. Each step asks for products μ in place of the zeros and
solves the linearised equations; eliminating p, q and α leaves d + 1 unknowns,

    [s I + X' D⁻¹ X,  X' D⁻¹ 1;  1' D⁻¹ X,  s_b + 1' D⁻¹ 1] [dw; db] = right,    D = p/α + q/(c - α)  or  p/α + 1/(2c).

A step is one weighted Gram matrix (n d² operations), one Cholesky factor and two to four solves: a predictor with μ = 0, which
tells how far μ can fall, a corrector with the products of the predictor's steps, and Gondzio's corrections while they lengthen
the step. Ten to forty steps reach a relative gap of 1e-8, whatever the condition of the data and the size of c are: seen, not
proved for this step. Every iterate is a dual point after clipping, so the gap is known.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors

Floats = NDArray[np.float64]

MOST_COLUMNS = 4000  # a system of 128 MB, a second of Cholesky per step
CROSSING = 20.0  # what the gap falls by when rows near a bound are put there
NEARLY = 0.01  # of the box, or of the slack: closer to a bound counts as on it
CORRECTORS, REACH = 2, 0.3  # at most so many, each for a step that is longer by so much
TO_THE_WALL = 0.995  # the share of the way to the nearest bound that a step goes


@final
@dataclass(frozen=True, slots=True)
class InteriorPoint(Solver):
    """Mehrotra's predictor-corrector until the certified relative gap is at most `tol`."""

    tol: float = 1e-4
    max_steps: int = 200

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not isinstance(problem.loss, (Hinge, SquaredHinge)):
            return f"InteriorPoint: the loss must be Hinge() or SquaredHinge(), not {problem.loss!r}."
        if not isinstance(problem.penalty, Ridge):
            return f"InteriorPoint: the penalty must be Ridge(strength), not {problem.penalty!r}."
        if problem.design.d > MOST_COLUMNS:
            return (
                f"InteriorPoint: {problem.design.d} columns are more than the {MOST_COLUMNS} that its system may have. "
                'Use "dual_ascent" or "newton".'
            )
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return _InteriorPoint(self, problem, watch or Watch()).run()


@final
@dataclass(frozen=True, slots=True)
class _Step:
    w: Floats
    b: float
    z: Floats
    alpha: Floats
    p: Floats
    q: Floats


class _InteriorPoint:
    """One solve. Rows without cost have weight 0 in every product, and their α stays where it is."""

    def __init__(self, options: InteriorPoint, problem: Problem, watch: Watch) -> None:
        assert isinstance(problem.penalty, Ridge)
        self.options, self.problem, self.watch = options, problem, watch
        self.design, self.strength = problem.design, problem.penalty.strength
        self.used = problem.cost > 0.0
        self.y, self.cost = problem.target, np.where(self.used, problem.cost, 1.0)
        self.bounded = isinstance(problem.loss, Hinge)
        self.curvature = 0.0 if self.bounded else 0.5 / self.cost
        self.has_intercept = problem.intercept is not Intercept.NONE
        self.steps = self.certificates = 0
        self.best: Solution | None = None
        self._start()

    def _start(self) -> None:
        """w = 0, b = 0, and on the central path of μ_i = c_i in all but s w = X'(yα): α, p and q of each row are in balance."""
        n, c = self.design.n, self.cost
        self.w, self.b, self.z = np.zeros(self.design.d), 0.0, np.zeros(n)
        if self.bounded:  # p - q = -1 with p = c/α and q = c/(c - α)
            self.alpha = c * 0.5 * (np.sqrt(5.0) - 1.0)
            self.q = c / (c - self.alpha)
        else:  # p = α/(2c) - 1 with p = c/α
            self.alpha = c * (1.0 + np.sqrt(3.0))
            self.q = np.zeros(n)
        self.p = c / self.alpha
        self.u = self.design.combine(self._signed(self.alpha))

    def _signed(self, alpha: Floats) -> Floats:
        return np.where(self.used, self.y * alpha, 0.0)

    def run(self) -> Solution:
        while True:
            estimate = self._estimate()
            status = self.watch.heard(self.steps, estimate)
            if estimate <= CROSSING * self.options.tol and self._keep() <= self.options.tol:
                return self._solution(Status.SOLVED)
            status = status or (Status.MAX_ITER if self.steps >= self.options.max_steps else None)
            if status is None and not self._step():
                status = Status.PRECISION
            if status is not None:
                return self._solution(Status.SOLVED if self._keep() <= self.options.tol else status)

    def _estimate(self) -> float:
        """The relative gap of (w, b) and α, with a free intercept's imbalance Σ y α priced by b."""
        problem, a = self.problem, self._signed(self.alpha)
        total = float(a.sum())
        primal = float(problem.cost @ problem.loss.value(self.y, self.z)) + problem.penalty.value(self.w)
        primal += problem.beta(self.b)
        beta = abs(total) * (1.0 + abs(self.b)) if problem.intercept is Intercept.FREE else problem.beta_conjugate(total)
        dual = -float(np.sum(problem.conjugate_terms(a))) - problem.penalty.conjugate(self.u) - beta
        return max(primal - dual, 0.0) / max(abs(primal), abs(dual), float(np.finfo(float).tiny))

    def _mu(self, alpha: Floats, p: Floats, q: Floats) -> float:
        """The mean of the products that are 0 at the optimum."""
        count = max(int(np.count_nonzero(self.used)), 1)
        lower = float((alpha * p)[self.used].sum())
        if not self.bounded:
            return lower / count
        return (lower + float(((self.cost - alpha) * q)[self.used].sum())) / (2 * count)

    def _step(self) -> bool:
        """Predictor and correctors; False where rounding leaves no step."""
        room = self.cost - self.alpha if self.bounded else np.inf
        weights = np.where(self.used, 1.0 / (self.p / self.alpha + self.q / room + self.curvature), 0.0)
        try:
            solve = self._factor(weights)
            mu, aim = self._mu(self.alpha, self.p, self.q), np.zeros(self.design.n)
            step = self._direction(solve, weights, room, aim, aim)
            t = self._length(step, room)
            after = self._mu(self.alpha + t * step.alpha, self.p + t * step.p, self.q + t * step.q)
            target = mu * min(1.0, after / mu) ** 3
            aims = target - step.alpha * step.p, target + step.alpha * step.q
            step = self._direction(solve, weights, room, *aims)
            t = self._length(step, room)
            for _ in range(CORRECTORS):
                aims = self._centred(step, min(1.0, t + REACH), target, aims, room)
                corrected = self._direction(solve, weights, room, *aims)
                longer = self._length(corrected, room)
                if longer < t + 0.1 * REACH:
                    break
                step, t = corrected, longer
        except (np.linalg.LinAlgError, ZeroDivisionError):
            return False
        t = min(1.0, TO_THE_WALL * t)
        if not (np.isfinite(step.w).all() and np.isfinite(step.b) and t > 1e-10):
            return False
        self.u = self.u + t * (self.strength * (self.w + step.w) - self.u)
        self.w, self.b, self.z = self.w + t * step.w, self.b + t * step.b, self.z + t * step.z
        self.alpha, self.p, self.q = self.alpha + t * step.alpha, self.p + t * step.p, self.q + t * step.q
        self.steps += 1
        return True

    def _centred(
        self, step: _Step, t: float, target: float, aims: tuple[Floats, Floats], room: Any
    ) -> tuple[Floats, Floats]:
        """Gondzio's correction: ask the products that a step of length t would leave far from the target to come nearer."""

        def nearer(products: Floats) -> Floats:
            return np.maximum(np.clip(products, 0.1 * target, 10.0 * target) - products, -10.0 * target)

        lower = nearer((self.alpha + t * step.alpha) * (self.p + t * step.p))
        if not self.bounded:
            return aims[0] + lower, aims[1]
        return aims[0] + lower, aims[1] + nearer((room - t * step.alpha) * (self.q + t * step.q))

    def _factor(self, weights: Floats) -> Callable[[Floats, float], tuple[Floats, float]]:
        """A solver of the (d + 1)-system; b is eliminated from the centred matrix, whose entries do not cancel."""
        matrix = self.design.weighted_gram(weights)
        matrix[np.diag_indices_from(matrix)] += self.strength
        if not self.has_intercept:
            factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
            return lambda right, _: (np.asarray(scipy.linalg.cho_solve(factor, right, check_finite=False)), 0.0)
        sums, corner = self.design.combine(weights), float(weights.sum()) + self.problem.intercept_strength
        matrix -= np.outer(sums, sums) / corner
        factor = scipy.linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)

        def solve(right: Floats, right_b: float) -> tuple[Floats, float]:
            w = np.asarray(scipy.linalg.cho_solve(factor, right - sums * (right_b / corner), check_finite=False))
            return w, (right_b - float(sums @ w)) / corner

        return solve

    def _direction(
        self,
        solve: Callable[[Floats, float], tuple[Floats, float]],
        weights: Floats,
        room: Any,
        aim_p: Floats,
        aim_q: Floats,
    ) -> _Step:
        """The step after which, to first order, α p = aim_p, (c - α) q = aim_q and all linear equations hold."""
        wanted = 1.0 - self.y * self.z - self.curvature * self.alpha + aim_p / self.alpha - aim_q / room
        pulled = self._signed(self.alpha + weights * wanted)
        b_now = self.problem.intercept_strength * self.b if self.has_intercept else 0.0
        w, b = solve(self.design.combine(pulled) - self.strength * self.w, float(pulled.sum()) - b_now)
        z = self.design.scores(w, b)
        alpha = weights * (wanted - self.y * z)
        p = np.where(self.used, (aim_p - self.p * alpha) / self.alpha - self.p, 0.0)
        q = np.where(self.used, (aim_q + self.q * alpha) / room - self.q, 0.0) if self.bounded else self.q
        return _Step(w, b, z, alpha, p, q)

    def _length(self, step: _Step, room: Any) -> float:
        """The longest t, 1 / TO_THE_WALL at most, that keeps α, c - α, p and q from falling below 0."""
        pairs = [(self.alpha, step.alpha), (self.p, step.p)]
        pairs += [(room, -step.alpha), (self.q, step.q)] if self.bounded else []
        fastest = max(float(np.max(-change / now, where=self.used, initial=0.0)) for now, change in pairs)
        return 1.0 / max(fastest, TO_THE_WALL)

    def _keep(self) -> float:
        """Certify the present point, keep the best one, and return its relative gap."""
        for alpha in (self._crossed(), self.alpha):
            self.certificates += 1
            point = conclude(self.problem, self.w, self.b, self._signed(alpha))
            best = self.best = _better(self.best, Solution(*point, Status.SOLVED, Work()))
            if best.certificate.relative_gap <= self.options.tol:
                break
        self.watch.heard(self.steps, best.certificate.relative_gap, certified=True)
        return best.certificate.relative_gap

    def _crossed(self) -> Floats:
        """α with every row that is clearly on its way to a bound put there: interior points have no zeros, solutions do."""
        share = self.alpha / self.cost
        alpha = np.where(share < NEARLY * np.minimum(1.0, self.p), 0.0, self.alpha)
        if not self.bounded:
            return alpha
        return np.where(1.0 - share < NEARLY * np.minimum(1.0, self.q), self.cost, alpha)

    def _solution(self, status: Status) -> Solution:
        assert self.best is not None
        work = Work(0, self.steps, 0, self.certificates, self.watch.seconds)
        return dataclasses.replace(self.best, status=status, work=work)


def _better(one: Solution | None, other: Solution) -> Solution:
    return one if one is not None and one.certificate.gap <= other.certificate.gap else other
