"""Coordinate descent for smooth losses and penalties l1 |w| + l2 w²/2 on an interval (Friedman, Hastie and Tibshirani 2010).

Each round replaces the losses by their quadratic model at the present scores z, with slopes p_i = c_i φ'(z_i) and curvatures
h_i = c_i φ''(z_i), and minimises model plus penalty over a working set of columns, one w_j at a time, in closed form:

    w_j <- argmin_x  g_j (x - w_j) + L_j (x - w_j)²/2 + ψ_j(x),    g_j = x_j'(slopes of the model),   L_j = x_j'H x_j.

The intercept is eliminated: every step moves it to its best place, which centres the columns without touching them. The working set
holds the columns with w_j ≠ 0 and those whose own step would be longest (Massias, Gramfort and Salmon 2018). Once the support
stands still, one linear system of its size ends what single steps would crawl through. For the squared loss the model is the
loss; for others a backtracking search along the step keeps P falling.

a_i = -p_i is the dual point. With L1 it is scaled until max |X'a| <= s, so the gap falls with the largest violation.

The loop reads columns: the data is copied once, transposed, in its own type.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from maxmargin import _native
from maxmargin.certificate import Certificate
from maxmargin.losses import Squared
from maxmargin.penalties import Interval, NoPenalty
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors

Floats = NDArray[np.float64]
Columns = NDArray[np.int64]

FEWEST = 64  # columns of a working set
INNER_EPOCHS = 50  # of one round
SHARPER = 0.05  # by which factor a round lowers the largest violation on its working set
BURST = 2**26  # stored values between two looks at the watch, about 50 ms
LEAST_BEND = 1e-4  # of the largest curvature: keeps the model curved where φ is straight
LARGEST_SYSTEM = 2000  # unknowns of the system on the support
LARGEST_BLOCK = 2**26  # entries of its columns
STILL = 1e-11  # P stands still where it falls by less than this share
MOST_STALLS = 5  # rounds that lower neither the gap nor P before rounding is blamed


@final
@dataclass(frozen=True, slots=True)
class CoordinateDescent(Solver):
    """Rounds on working sets until the certified relative gap is at most `tol`."""

    tol: float = 1e-4
    max_rounds: int = 1000

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not np.isfinite(problem.loss.curvature):
            return f"CoordinateDescent: {problem.loss!r} has kinks, where single weights get stuck. Use a smooth loss."
        if problem.penalty.interval is None:
            return f"CoordinateDescent: {problem.penalty!r} must be l1 |w| + l2 w²/2 on an interval."
        if isinstance(problem.penalty, NoPenalty):
            return 'CoordinateDescent: NoPenalty() may leave no minimiser. Use a penalty, or "least_squares" for Squared().'
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return _Descent(self, problem, start, watch or Watch()).run()


class _Descent:
    """One solve: w and b, and what is known of the columns."""

    def __init__(self, options: CoordinateDescent, problem: Problem, start: Solution | None, watch: Watch) -> None:
        assert problem.penalty.interval is not None
        self.options, self.problem, self.watch = options, problem, watch
        self.interval: Interval = problem.penalty.interval
        self.columns = problem.design.transposed()
        d = problem.design.d
        self.w = np.zeros(d) if start is None else problem.penalty.clip(start.coef.astype(np.float64))
        self.b = 0.0 if start is None else start.intercept
        self.quadratic = isinstance(problem.loss, Squared)
        self.steepest = problem.cost * problem.loss.curvature
        self.bounds, self.mean = np.zeros(d), np.zeros(d)  # curvatures of the steepest model: bounds for every other
        _native.CoordinateDescent(
            self.columns._rows, self.steepest, np.zeros(problem.design.n), np.zeros(d), self.bounds, self.mean,
            np.arange(d), 0.0, 0.0, -np.inf, np.inf, self._pull(self.steepest), 0.0,
        )  # fmt: skip
        self.support: Columns = np.empty(0, dtype=np.int64)
        self.best: Solution | None = None
        self.rounds = self.epochs = self.visits = self.steps = self.certificates = 0

    def _pull(self, weight: Floats) -> float:
        """The curvature of the model in b; 0 where there is no intercept."""
        if self.problem.intercept is Intercept.NONE:
            return 0.0
        return float(weight.sum()) + self.problem.intercept_strength

    def run(self) -> Solution:
        stalls, lowest, least = 0, np.inf, np.inf
        while True:
            z = self.problem.design.scores(self.w)
            self.b = self.problem.best_intercept(z, self.b)
            z += self.b
            slopes = self.problem.cost * self.problem.loss.slope(self.problem.target, z)
            u = -self.problem.design.combine(slopes)
            primal, gap = self._estimates(z, -slopes, u)
            status = self.watch.heard(self.epochs, gap)
            if gap <= self.options.tol and self._keep(-slopes) <= self.options.tol:
                return self._solution(Status.SOLVED, slopes)
            status = status or (Status.MAX_ITER if self.rounds >= self.options.max_rounds else None)
            stalls = 0 if gap < 0.9 * lowest or primal < least - STILL * abs(primal) else stalls + 1
            lowest, least = min(lowest, gap), min(least, primal)
            if status is None and (stalls > MOST_STALLS or not self._round(z, slopes, u)):
                status = Status.PRECISION
            if status is not None:
                return self._solution(status, slopes)

    def _estimates(self, z: Floats, a: Floats, u: Floats) -> tuple[float, float]:
        """P, and the relative gap that the certificate of (w, b) and a, scaled into the domain of ψ*, will show; no products."""
        problem = self.problem
        t = min(1.0, (1.0 - 1e-15) * problem.penalty.reach(u, u))
        low, high = problem.box()
        loss = float(np.sum(problem.conjugate_terms(np.clip(t * a, low, high))))
        balance = problem.beta_conjugate(t * float(a.sum())) if problem.intercept is Intercept.PENALIZED else 0.0
        dual = max(0.0, -loss - problem.penalty.conjugate(t * u) - balance)
        value = float(np.sum(problem.cost * problem.loss.value(problem.target, z)))
        primal = value + problem.penalty.value(self.w) + problem.beta(self.b)
        return primal, Certificate(primal, dual, "computed", problem.zero()).relative_gap

    def _moved(self, w: Floats, g: Floats, curvature: Floats) -> Floats:
        """Where single steps lead: the minimiser of g_j (x - w_j) + L_j (x - w_j)²/2 + ψ_j(x)."""
        l1, l2 = self.interval.l1, self.interval.l2
        pulled = curvature * w - np.where(curvature > 0.0, g, 0.0)
        bend = curvature + l2
        free = np.divide(
            np.sign(pulled) * np.maximum(0.0, np.abs(pulled) - l1), bend, out=np.zeros_like(w), where=bend > 0.0
        )
        return np.clip(np.where((bend > 0.0) | (l1 > 0.0), free, w), self.interval.low, self.interval.high)

    def _working_set(self, violation: Floats) -> Columns:
        """The columns in use and the worst of the others, in the order of the data."""
        used = self.w != 0.0
        most = max(FEWEST, 2 * int(np.count_nonzero(used))) if self.interval.l1 > 0.0 else used.size
        rank = np.where(used, np.inf, violation)
        wanted = np.argpartition(-rank, most - 1)[:most] if most < rank.size else np.arange(rank.size)
        return np.sort(wanted[rank[wanted] > 0.0])

    def _round(self, z: Floats, slopes: Floats, u: Floats) -> bool:
        """Minimise the model over a working set and go there; False where nothing moves."""
        problem = self.problem
        violation = (self.bounds + self.interval.l2) * np.abs(self._moved(self.w, -u, self.bounds) - self.w)
        order = self._working_set(violation)
        if order.size == 0:
            return False
        h = problem.cost * problem.loss.bend(problem.target, z)
        h = self.steepest if self.quadratic else np.maximum(h, LEAST_BEND * self.steepest)
        pull = self._pull(h)
        shift = (float(slopes.sum()) + problem.beta(1.0) * 2.0 * self.b) / pull if pull > 0.0 else 0.0
        w, q, curvature, mean = self.w.copy(), slopes.copy(), self.bounds.copy(), self.mean.copy()
        core = _native.CoordinateDescent(
            self.columns._rows, h, q, w, curvature, mean, order, self.interval.l1, self.interval.l2,
            self.interval.low, self.interval.high, pull, shift,
        )  # fmt: skip
        goal = SHARPER * float(violation[order].max())
        while core.epochs < INNER_EPOCHS:
            core.run(goal, INNER_EPOCHS - core.epochs, BURST)
            if core.violation <= goal or self.watch.heard(self.epochs + core.epochs, np.inf) is not None:
                break
        self.rounds, self.epochs, self.visits = self.rounds + 1, self.epochs + core.epochs, self.visits + core.visits
        shift = self._finish(w, q, h, curvature, mean, pull, core.shift, order)
        return self._go(z, slopes, w, self.b - shift)

    def _finish(
        self, w: Floats, q: Floats, h: Floats, curvature: Floats, mean: Floats, pull: float, shift: float, order: Columns
    ) -> float:
        """One Newton step of the model on the support, once it is that of the last round, as far as no sign or bound is crossed.

        (X_S'H X_S - pull m m' + l2 I) step = -(g_S + l1 sgn(w_S) + l2 w_S).  w changes in place; the new shift is returned.
        """
        l1, l2, low, high = self.interval.l1, self.interval.l2, self.interval.low, self.interval.high
        inside = (w > low) & (w < high) & (curvature + l2 > 0.0) & ((w != 0.0) | (l1 == 0.0))
        support = order[inside[order]]
        before, self.support = self.support, support
        size = support.size
        if (
            not 0 < size <= LARGEST_SYSTEM
            or size * self.columns.longest_row > LARGEST_BLOCK
            or not np.array_equal(before, support)
        ):
            return shift
        m = mean[support]
        g = self.columns.scores(q)[support] - shift * pull * m
        matrix = self.columns.weighted_inner(support, h) - pull * np.outer(m, m)
        matrix[np.diag_indices(size)] += l2
        try:
            factor = scipy.linalg.cho_factor(matrix, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            return shift
        at = w[support]
        step = -scipy.linalg.cho_solve(factor, g + l1 * np.sign(at) + l2 * at, check_finite=False)
        self.steps += 1
        end = np.where(step > 0.0, np.where((l1 > 0.0) & (at < 0.0), 0.0, high), np.where((l1 > 0.0) & (at > 0.0), 0.0, low))
        room = np.divide(end - at, step, out=np.full(size, np.inf), where=step != 0.0)
        t = min(1.0, float(room.min()))
        if not np.isfinite(step).all():
            return shift
        w[support] = np.clip(np.where(room <= t, end, at + t * step), low, high)
        return shift + float(m @ (w[support] - at))

    def _go(self, z: Floats, slopes: Floats, w: Floats, b: float) -> bool:
        """Go to (w, b), or as far towards it as P falls by a tenth of what its slope promises."""
        problem, penalty = self.problem, self.problem.penalty
        if self.quadratic:
            moved = not np.array_equal(w, self.w) or b != self.b
            self.w, self.b = w, b
            return moved
        direction, db = w - self.w, b - self.b
        dz = problem.design.scores(direction, db)
        here = penalty.value(self.w) + problem.beta(self.b)
        promised = float(slopes @ dz) + penalty.value(w) + problem.beta(b) - here
        value = problem.loss.value(problem.target, z)
        noise = 16.0 * float(np.finfo(float).eps) * (float(problem.cost @ value) + here)
        if not promised < noise or not (direction.any() or db):
            return False
        t = 1.0
        for _ in range(60):
            change = float(problem.cost @ (problem.loss.value(problem.target, z + t * dz) - value))
            to, to_b = penalty.clip(self.w + t * direction), self.b + t * db
            change += penalty.value(to) + problem.beta(to_b) - here
            if change <= 0.1 * t * promised + noise:
                self.w, self.b = to, to_b
                return True
            t *= 0.5
        return False

    def _keep(self, a: Floats) -> float:
        """Certify w, b and a, keep the best point, and return its relative gap."""
        self.certificates += 1
        point = conclude(self.problem, self.w, self.b, a)
        if self.best is None or point[3].gap < self.best.certificate.gap:
            self.best = Solution(*point, Status.SOLVED, Work())
        self.watch.heard(self.epochs, self.best.certificate.relative_gap, certified=True)
        return self.best.certificate.relative_gap

    def _solution(self, status: Status, slopes: Floats) -> Solution:
        if status is not Status.SOLVED and self._keep(-slopes) <= self.options.tol:
            status = Status.SOLVED
        assert self.best is not None
        work = Work(self.epochs, self.steps, self.visits, self.certificates, self.watch.seconds)
        return dataclasses.replace(self.best, status=status, work=work)
