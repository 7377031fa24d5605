"""Newton steps on piecewise quadratics; for the hinge inside the method of multipliers (Li, Sun and Toh 2018).

With α = y a >= 0, centre α°, step σ and box [0, U], let

    α⁺(z) = clip(α° + σ (1 - y z), 0, U),   F(w, b) = s |w|²/2 + β(b) + Σ α⁺ (1 - y z) - (α⁺ - α°)² / (2σ).

F is convex and once differentiable, with slope -y α⁺ in z. For the squared hinge F = P when α° = 0, σ = 2c, U = ∞. For the hinge
(U = c) the minimiser's α⁺ is the next centre and σ grows: a round brings the centre nearer to the dual optima by a factor of order
1/σ, so the centres converge superlinearly (Rockafellar 1976; the dual map is piecewise linear). Inside a round the rows fall into
three sets, 0, U and J strictly between; on J the Hessian is s I + X_J' σ X_J, and a Newton step solves the quadratic of the
present sets exactly, followed by an exact line search: finitely many steps (Mangasarian 2002; Keerthi and DeCoste 2005).
The system has |J| or d unknowns. Every iterate's α⁺ is a dual point, so the gap comes for free; and once the three sets are
right, the solution of the system itself solves the round, free of the rounding that σ (1 - y z) magnifies.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin.design import Design
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

FIRST_STEP = 10.0  # σ |x_i|² / s in the first round of the hinge
MOST_MISSES = 5  # points that look solved and are not certified: rounding, of float32 coefficients say, is in the way
MOST_ROUNDS = 100  # of the multipliers; ten are usual
LARGEST_SYSTEM = 4000  # unknowns: a float64 matrix of 128 MB, a second of Cholesky


@final
@dataclass(frozen=True, slots=True)
class Newton(Solver):
    """Semismooth Newton with direct solves until the certified relative gap is at most `tol`."""

    tol: float = 1e-4
    max_steps: int = 500

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not isinstance(problem.loss, (Hinge, SquaredHinge)):
            return f"Newton: the loss must be Hinge() or SquaredHinge(), not {problem.loss!r}."
        if not isinstance(problem.penalty, Ridge):
            return f"Newton: the penalty must be Ridge(strength), not {problem.penalty!r}."
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return _Newton(self, problem, start, watch or Watch()).run()


class _Newton:
    """One solve. w, b and the scores z = Xw + b are kept together; all else follows from them, the centre and σ."""

    def __init__(self, options: Newton, problem: Problem, start: Solution | None, watch: Watch) -> None:
        assert isinstance(problem.penalty, Ridge)
        self.options, self.problem, self.watch = options, problem, watch
        self.y, self.cost, self.strength = problem.target, problem.cost, problem.penalty.strength
        self.exact = isinstance(problem.loss, SquaredHinge)
        self.w = np.zeros(problem.design.d) if start is None else start.coef.astype(np.float64)
        self.b = 0.0 if start is None else start.intercept
        self.z = problem.design.scores(self.w, self.b)
        self.upper = np.full(problem.design.n, np.inf) if self.exact else self.cost
        self.lengths = np.sqrt(problem.design.norms_sq) + (problem.intercept is not Intercept.NONE)
        self.centre = np.zeros(problem.design.n)
        if not self.exact and start is not None:
            self.centre = self.y * start.dual
        if self.exact:
            self.sigma = 2.0 * self.cost
        else:  # in the units of a coordinate step, so that a long row does not overshoot
            norms = problem.design.norms_sq
            self.sigma = FIRST_STEP * self.strength / np.where(norms > 0.0, norms, 1.0)
        self.system = _System(problem)
        self.best = start
        self.tried = np.inf
        self.promising: tuple[Floats, float, Floats, Floats] | None = None
        self.steps = self.certificates = self.rounds = self.misses = 0

    def run(self) -> Solution:
        stalled = 0
        while True:
            alpha = self._alpha(self.z)
            u = self.problem.design.combine(self.y * alpha)
            if (status := self._status(self._relative_gap(self.w, self.b, self.z, self.y * alpha, u))) is not None:
                return self._solution(status)
            if self._arrives(self.w, self.b, self.z, self.y * alpha, u):
                return self._solution(Status.SOLVED)
            still = self._still(alpha, u)
            if (still and self.exact) or stalled > 20 or self.rounds > MOST_ROUNDS or self.misses > MOST_MISSES:
                return self._solution(Status.PRECISION)
            moved = not still and self._step(alpha)
            if self.best is not None and self.best.certificate.relative_gap <= self.options.tol:
                return self._solution(Status.SOLVED)
            if moved:
                continue
            if self.exact:
                return self._solution(Status.PRECISION)
            stalled = stalled + 1 if not still or np.array_equal(alpha, self.centre) else 0
            self._next_round(alpha)

    def _status(self, relative_gap: float) -> Status | None:
        status = self.watch.heard(self.steps, relative_gap)
        return status or (Status.MAX_ITER if self.steps >= self.options.max_steps else None)

    def _next_round(self, alpha: Floats) -> None:
        """Move the centre and grow σ, as long as the rounding of z, times σ, stays small beside the box."""
        noise = float(np.finfo(float).eps) * (1.0 + self.lengths * (float(np.linalg.norm(self.w)) + abs(self.b)))
        self.centre = alpha
        self.sigma = np.maximum(self.sigma, np.minimum(10.0 * self.sigma, 1e-4 * self.cost / noise))
        self.rounds += 1

    def _sets(self, alpha: Floats) -> NDArray[np.int8]:
        """0, 1 or 2: at 0, inside, at the upper end."""
        return np.asarray((alpha > 0.0).astype(np.int8) + (alpha >= self.upper), dtype=np.int8)

    def _alpha(self, z: Floats) -> Floats:
        return np.clip(self.centre + self.sigma * (1.0 - self.y * z), 0.0, self.upper)

    def _relative_gap(self, w: Floats, b: float, z: Floats, a: Floats, u: Floats) -> float:
        """The relative gap of (w, b) with scores z and a with u = X'a. What repairing Σ a = 0 may cost is guessed at."""
        problem = self.problem
        loss = float(np.sum(self.cost * problem.loss.value(self.y, z)))
        primal = loss + problem.penalty.value(w) + problem.beta(b)
        total = float(a.sum())
        beta = abs(total) * (1.0 + abs(b)) if problem.intercept is Intercept.FREE else problem.beta_conjugate(total)
        dual = -float(np.sum(problem.conjugate_terms(a))) - problem.penalty.conjugate(u) - beta
        return max(primal - dual, 0.0) / max(abs(primal), abs(dual), float(np.finfo(float).tiny))

    def _arrives(self, w: Floats, b: float, z: Floats, a: Floats, u: Floats) -> bool:
        """Whether this point looks good enough, and its certificate says so; the most promising point is remembered."""
        gap = self._relative_gap(w, b, z, a, u)
        if gap >= 0.5 * self.tried:
            return False
        self.tried, self.promising = gap, (w, b, a, u)
        if gap <= self.options.tol:
            self.tried = self._keep(*self.promising)
            self.misses += self.tried > self.options.tol
        return self.tried <= self.options.tol

    def _slope_b(self, alpha: Floats) -> float:
        """dF/db."""
        if self.problem.intercept is Intercept.NONE:
            return 0.0
        return self.problem.intercept_strength * self.b - float(self.y @ alpha)

    def _still(self, alpha: Floats, u: Floats) -> bool:
        """The round is solved well enough: the slope is small beside the move that the centre would make, or is rounding."""
        slope = np.hypot(np.linalg.norm(self.strength * self.w - u), self._slope_b(alpha))
        if slope <= 1e-14 * float(alpha @ self.lengths):
            return True
        if self.exact:
            return False
        moved = np.linalg.norm((alpha - self.centre) / np.sqrt(self.sigma))
        return bool(slope <= 0.1 * moved * np.sqrt(self.strength))

    def _step(self, alpha: Floats) -> bool:
        """One Newton step with an exact line search; False where the point no longer moves."""
        problem = self.problem
        inside = np.flatnonzero((alpha > 0.0) & (alpha < self.upper))
        a = np.where((alpha > 0.0) & (alpha >= self.upper), self.y * alpha, 0.0)
        goal = self.y[inside] * (1.0 + self.centre[inside] / self.sigma[inside])
        try:
            w, b, a[inside] = self.system.solve(inside, self.sigma[inside], goal, a, self.b)
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(w).all() or not np.isfinite(b):
            return False
        direction, db = w - self.w, b - self.b
        dz = problem.design.scores(direction, db)
        self.steps += 1
        z = self.z + dz
        if np.all((self.y * a >= 0.0) & (self.y * a <= self.upper)):
            if self._arrives(w, b, z, a, self.strength * w):
                return False
            if not self.exact and np.array_equal(self._sets(self._alpha(z)), self._sets(self.y * a)):
                # The sets are right: the round is solved, and its solution is free of rounding where α⁺ is not.
                self.w, self.b, self.z = w, b, problem.design.scores(w, b)
                self._next_round(self.y * a)
                return True
        t = self._line_search(direction, db, dz)
        if t == 0.0:
            return False
        before = self.z
        self.w, self.b = self.w + t * direction, self.b + t * db
        self.z = problem.design.scores(self.w, self.b) if self.steps % 8 == 0 else before + t * dz
        return not np.array_equal(self.z, before)

    def _line_search(self, direction: Floats, db: float, dz: Floats) -> float:
        """The root of the non-decreasing, piecewise-linear t -> dF/dt, by safeguarded secants."""
        curve = self.strength * float(direction @ direction)
        slope = self.strength * float(self.w @ direction)
        if self.problem.intercept is Intercept.PENALIZED:
            curve += self.problem.intercept_strength * db * db
            slope += self.problem.intercept_strength * self.b * db

        def derivative(t: float) -> float:
            return slope + t * curve - float((self.y * dz) @ self._alpha(self.z + t * dz))

        left, at_left = 0.0, derivative(0.0)
        if at_left >= 0.0:
            return 0.0
        right, at_right = 1.0, derivative(1.0)
        small = 1e-3 * abs(at_left)
        while at_right < -small and right < 1e6:
            left, at_left, right = right, at_right, 4.0 * right
            at_right = derivative(right)
        if abs(at_right) <= small:
            return right
        for k in range(60):
            secant = k % 3 and at_right > at_left
            t = left - at_left * (right - left) / (at_right - at_left) if secant else 0.5 * (left + right)
            value = derivative(t)
            if abs(value) <= small or not left < t < right:
                return t
            if value < 0.0:
                left, at_left = t, value
            else:
                right, at_right = t, value
        return left

    def _keep(self, w: Floats, b: float, a: Floats, u: Floats) -> float:
        """Certify a with the better of w and X'a / s, keep the best point, and return its relative gap."""
        self.certificates += 1
        for each in (w, u / self.strength):
            coef, intercept, dual, certificate = conclude(self.problem, each, b, a)
            if self.best is None or certificate.gap < self.best.certificate.gap:
                self.best = Solution(coef, intercept, dual, certificate, Status.SOLVED, Work())
        assert self.best is not None
        self.watch.heard(self.steps, self.best.certificate.relative_gap, certified=True)
        return self.best.certificate.relative_gap

    def _solution(self, status: Status) -> Solution:
        if status is not Status.SOLVED:
            a = self.y * self._alpha(self.z)
            for point in ((self.w, self.b, a, self.problem.design.combine(a)), self.promising):
                if point is not None and self._keep(*point) <= self.options.tol:
                    status = Status.SOLVED
        assert self.best is not None
        work = Work(0, self.steps, 0, self.certificates, self.watch.seconds)
        return dataclasses.replace(self.best, status=status, work=work)


class _System:
    """The quadratic of fixed sets: rows of J follow x'w + b + a/σ = goal, the others have their a fixed."""

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.penalty, Ridge)
        self.problem, self.design, self.strength = problem, problem.design, problem.penalty.strength
        self.gram = _GramCache(problem.design)

    def solve(self, inside: Rows, sigma: Floats, goal: Floats, fixed: Floats, b: float) -> tuple[Floats, float, Floats]:
        """The minimiser (w, b) and its a on J."""
        from_fixed = self.design.combine(fixed) / self.strength
        if inside.size == 0:
            return from_fixed, self._lone_intercept(float(fixed.sum()), b), np.empty(0)
        # By columns a = σ (goal - z) magnifies rounding; at a solved hinge problem |J| is about d + 1, and rows give a itself.
        if inside.size <= 2 * self.design.d + 10:
            return self._by_rows(inside, sigma, goal, fixed, from_fixed)
        return self._by_columns(inside, sigma, goal, fixed, from_fixed)

    def _lone_intercept(self, total: float, b: float) -> float:
        if self.problem.intercept is Intercept.NONE:
            return 0.0
        if self.problem.intercept is Intercept.PENALIZED:
            return total / self.problem.intercept_strength
        return b + float(np.sign(total))  # F is linear in b here: only the direction counts

    def _by_rows(
        self, inside: Rows, sigma: Floats, goal: Floats, fixed: Floats, from_fixed: Floats
    ) -> tuple[Floats, float, Floats]:
        """[K_JJ/s + 1/σ, 1; 1', -β''] [a; b] = [goal - X_J w_fixed; -Σ a_fixed], |J| + 1 unknowns.

        With d + 1 rows on the margin K_JJ is singular, and eliminating b would cancel all digits. So ρ 11' is added to it: a
        penalised intercept b = ρ 1'a means just that, and a free one fixes 1'a, so that ρ 1'a can be added to the right.
        """
        matrix = self.gram.of(inside) / self.strength
        rest = goal - self.design.scores(from_fixed)[inside]
        total, strength = float(fixed.sum()), self.problem.intercept_strength
        rho = 1.0 / strength if strength else float(np.mean(np.diag(matrix))) or 1.0
        matrix += rho
        matrix[np.diag_indices_from(matrix)] += 1.0 / sigma
        factor = _cholesky(matrix)
        a = scipy.linalg.cho_solve(factor, rest - rho * total, check_finite=False)
        if strength:
            b = rho * (float(a.sum()) + total)
        else:
            ones = scipy.linalg.cho_solve(factor, np.ones_like(rest), check_finite=False)
            b = (float(a.sum()) + total) / float(ones.sum())
            a = a - b * ones
        signed = np.zeros(self.design.n)
        signed[inside] = a
        return from_fixed + self.design.combine(signed) / self.strength, b, a

    def _by_columns(
        self, inside: Rows, sigma: Floats, goal: Floats, fixed: Floats, from_fixed: Floats
    ) -> tuple[Floats, float, Floats]:
        """(s I + X_J'σX_J) w + X_J'σ b = X_J'σ goal + s w_fixed, and its row for b: d + 1 unknowns."""
        weights, pulled = np.zeros(self.design.n), np.zeros(self.design.n)
        weights[inside], pulled[inside] = sigma, sigma * goal
        matrix = self.design.weighted_gram(weights)
        matrix[np.diag_indices_from(matrix)] += self.strength
        right = self.design.combine(pulled) + self.strength * from_fixed
        if self.problem.intercept is Intercept.NONE:
            w = np.asarray(scipy.linalg.cho_solve(_cholesky(matrix), right, check_finite=False))
            return w, 0.0, sigma * (goal - self.design.scores(w)[inside])
        # The intercept is eliminated from the centred matrix, whose entries do not cancel.
        sums = self.design.combine(weights)
        corner = float(sigma.sum()) + self.problem.intercept_strength
        right_b = float(pulled.sum()) + float(fixed.sum())
        matrix -= np.outer(sums, sums) / corner
        w = np.asarray(scipy.linalg.cho_solve(_cholesky(matrix), right - sums * (right_b / corner), check_finite=False))
        b = (right_b - float(sums @ w)) / corner
        return w, b, sigma * (goal - self.design.scores(w, b)[inside])


class _GramCache:
    """X_J X_J' for sets J that change little from step to step: rows once met are kept."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self.rows: Rows = np.empty(0, dtype=np.int64)
        self.matrix: Floats = np.empty((0, 0))
        self.place = np.full(design.n, -1, dtype=np.int64)

    def of(self, rows: Rows) -> Floats:
        """A fresh copy of X_J X_J'."""
        new = rows[self.place[rows] < 0]
        if new.size:
            if self.rows.size + new.size > LARGEST_SYSTEM:
                self.place[self.rows] = -1
                self.rows, self.matrix, new = np.empty(0, dtype=np.int64), np.empty((0, 0)), rows
            corner = self.design.inner(new, new)
            side = self.design.inner(self.rows, new) if self.rows.size else np.empty((0, new.size))
            self.matrix = np.block([[self.matrix, side], [side.T, corner]])
            self.place[new] = self.rows.size + np.arange(new.size)
            self.rows = np.concatenate([self.rows, new])
        at = self.place[rows]
        return self.matrix[np.ix_(at, at)]


def _cholesky(matrix: Floats) -> tuple[Floats, bool]:
    """A Cholesky factor; a matrix that rounding made indefinite is lifted by a growing multiple of the unit matrix."""
    typical = float(np.mean(np.diag(matrix)))
    for lift in (0.0, *np.logspace(-15, 0, 16)):
        try:
            lifted = matrix if lift == 0.0 else matrix + lift * typical * np.eye(len(matrix))
            factor, lower = scipy.linalg.cho_factor(lifted, lower=True, check_finite=False)
            return np.asarray(factor), bool(lower)
        except np.linalg.LinAlgError:
            continue
    raise np.linalg.LinAlgError("Newton: the system holds numbers that are not finite.")
