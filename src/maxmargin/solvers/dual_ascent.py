"""Dual ascent, one coordinate at a time (LIBLINEAR's dual coordinate descent; Hsieh et al. 2008).

    max_a  Σ y_i a_i [- a_i² / (4 c_i)] - |X'a|² / (2s),   y_i a_i in [0, c_i]  [or [0, ∞) for the squared hinge]

Each visit maximises over one a_i exactly and keeps w = X'a / s up to date, at the price of one row. Rows that sit at a bound
and are pushed outwards leave the active set until the rest is solved; short of that, rows rest for some passes while they sit
at a bound, or while their violation is small beside the largest. An epoch is as many visits as there are rows, however many
passes that takes. The rate is linear (Luo and Tseng 1992, for a centre b_k that stays); it is fast on sparse data with many
columns, and slow where cost times |x_i|² is large and rows are many and dense.

An intercept under s_b b²/2 (free: s_b = 0) asks for Σ a_i = s_b b. The method of multipliers adds (b - b_k)² / (2ρ), which makes b
one more weight, and moves the centre b_k to b after each epoch. It starts from the best constant score.

The finish. When the gap, extrapolated at its present rate, would cost more visits than Newton steps on the rows that are off
their bounds, Newton takes over from the present point. `finish=False` keeps to coordinate steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin import _native
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors
from maxmargin.solvers.newton import LARGEST_SYSTEM, Newton

Floats = NDArray[np.float64]

BURST = 20_000_000  # stored values per native call: some 50 ms, so that Ctrl-C and time limits are met
SMALL = 2000  # rows; with fewer, several epochs go into one call
FLOPS_PER_VISIT = 28  # dense flops in the time of one visit of a stored value (1.4 ns at 20 Gflop/s)
PATIENCE = 30  # epochs' worth of visits before a certificate is made anyway: it costs about three
MOST_PASSES = 20  # per epoch of the limit: passes in which most rows rest
FIRST_EPOCHS = 12  # passes before the rate of convergence can be told


@final
@dataclass(frozen=True, slots=True)
class DualAscent(Solver):
    """Dual coordinate ascent until the certified relative gap is at most `tol`."""

    tol: float = 1e-4
    max_epochs: int = 1000
    seed: int = 0
    shrink: bool = True
    finish: bool = True

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not isinstance(problem.loss, (Hinge, SquaredHinge)):
            return f"DualAscent: the loss must be Hinge() or SquaredHinge(), not {problem.loss!r}."
        if not isinstance(problem.penalty, Ridge):
            return f"DualAscent: the penalty must be Ridge(strength), not {problem.penalty!r}."
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return _Ascent(self, problem, start, watch or Watch()).run()


class _Ascent:
    """One solve: bursts of native work, an estimate of the gap after each, a certificate when it looks done."""

    def __init__(self, options: DualAscent, problem: Problem, start: Solution | None, watch: Watch) -> None:
        assert isinstance(problem.penalty, Ridge)
        self.options, self.problem, self.watch = options, problem, watch
        n = problem.design.n
        self.strength = problem.penalty.strength
        self.a = np.zeros(n) if start is None else start.dual.copy()
        self.w = problem.design.combine(self.a) / self.strength if start is not None else np.zeros(problem.design.d)
        self.norms = problem.design.norms_sq
        self.order = np.flatnonzero(problem.cost > 0)
        self.has_intercept = problem.intercept is not Intercept.NONE
        self.native = self._native_state(start)
        self.epoch = max(problem.design.stored + n, 1)  # visits: stored values and one more per row
        self.budget = options.max_epochs * self.epoch
        self.best: tuple[Any, ...] | None = None
        self.certificates = 0
        self.stalled = 0
        self.steps = 0
        self.may_finish = options.finish
        self.history: list[tuple[int, float]] = []  # (visits, estimated gap) after each call

    def _native_state(self, start: Solution | None) -> Any:
        problem = self.problem
        intercept = 0.0
        if self.has_intercept:
            constant = problem.loss.best_intercept(problem.target, np.zeros(problem.design.n), problem.cost)
            intercept = constant if start is None else start.intercept
        return _native.DualAscent(
            rows=problem.design._rows,
            y=np.ascontiguousarray(problem.target, dtype=np.float64),
            cost=np.ascontiguousarray(problem.cost),
            norm_sq=self.norms,
            a=self.a,
            w=self.w,
            order=self.order,
            squared=isinstance(problem.loss, SquaredHinge),
            strength=self.strength,
            intercept=intercept,
            sum_a=float(self.a.sum()),
            dual=-float(np.sum(problem.conjugate_terms(self.a))) - 0.5 * self.strength * float(self.w @ self.w),
            rho=self._rho() if self.has_intercept else 0.0,
            intercept_strength=problem.intercept_strength if self.has_intercept else 0.0,
            shrink=self.options.shrink,
            seed=self.options.seed,
        )

    def _rho(self) -> float:
        """A hundredth of the curvature of a typical row: larger ones set the rows against each other.

        At least so much that b, whose scale is 1, moves by 1/2 when all the cost of the lighter class is out of balance.
        """
        target, cost = self.problem.target, self.problem.cost
        positive = self.norms[self.order][self.norms[self.order] > 0]
        typical = float(np.median(positive)) / self.strength if positive.size else 1.0
        lighter = min(float(cost[target > 0].sum()), float(cost[target < 0].sum()))
        return max(0.01 * typical, 0.5 / lighter if lighter > 0 else 0.0)

    def run(self) -> Solution:
        native, options = self.native, self.options
        per_call = min(10, max(1, SMALL // max(1, self.problem.design.n)))
        last_pass = MOST_PASSES * options.max_epochs
        wanted = np.inf  # the estimated gap at which a certificate is worth its price,
        patience = PATIENCE * self.problem.design.stored  # and the visits after which it is wanted anyway
        while True:
            before = native.epochs
            if not self.watch.interrupted:
                native.run(min(per_call, last_pass - before), max(1, min(BURST, self.budget - native.visits)))
            status = self._out_of_budget()
            if native.epochs == before and status is None:
                continue  # in the middle of an epoch
            if native.gap < 0.1 * self._imbalance():
                native.widen()  # the centre moves by more than the rows still do: those at a bound must be seen again
            estimate = self._estimate()
            self.history.append((native.visits, estimate))
            if status is None and self.may_finish and self._newton_is_cheaper():
                if (solution := self._finish()) is not None:
                    return solution
                continue
            if status is None and native.visits < patience:
                estimate *= self._settling()
                if estimate > wanted:
                    continue
                target = options.tol * self._scale()
                if estimate > target:
                    wanted = max(0.5 * estimate, target)
                    continue
            relative = self._certify()
            if relative <= options.tol:
                return self._solution(Status.SOLVED)
            if status is not None:
                return self._solution(status)
            if self.stalled > 8:
                return self._solution(Status.PRECISION)
            wanted = estimate * min(0.7, options.tol / relative)  # by the same factor that it was too hopeful
            patience = 2 * native.visits
            native.widen()

    def _newton_is_cheaper(self) -> bool:
        """Whether the gap, extrapolated from the last half of the visits, needs more visits than a Newton finish.

        Half the price of the finish is spent on coordinate steps first: their rate often improves suddenly, when the last
        row at a bound is found, and waiting can then cost half as much again at worst. Half of the epochs is all they get.
        """
        visits, gap = self.history[-1]
        epochs, price = self.native.epochs, self._newton_visits()
        if epochs < FIRST_EPOCHS or len(self.history) < 3 or price == np.inf:
            return False
        if visits >= self.budget // 2:
            return True
        target = self.options.tol * self._scale()
        if gap <= target:  # certified, it fell short all the same: more than once means that the estimate misleads
            return self.certificates > 2
        if visits < 0.5 * price:
            return False
        past_visits, past_gap = next(point for point in self.history if point[0] >= visits // 2)
        rate = np.log(past_gap / gap) / max(visits - past_visits, 1) if gap < past_gap else 0.0
        return bool(target <= 0.0 or rate * price < np.log(gap / target))

    def _newton_visits(self) -> float:
        """The price of a Newton finish in visits; ∞ where its systems are too large."""
        problem, alpha = self.problem, np.abs(self.a)
        squared = isinstance(problem.loss, SquaredHinge)
        inside = int(np.count_nonzero(alpha if squared else (alpha > 0) & (alpha < problem.cost)))
        d, stored = problem.design.d, problem.design.stored
        unknowns = min(inside, d)
        if unknowns > LARGEST_SYSTEM:
            return np.inf
        build = 0.0 if inside <= d else inside * d**2 / FLOPS_PER_VISIT
        step = unknowns**3 / (3 * FLOPS_PER_VISIT) + build + 4 * stored
        inner = 0.0 if inside > d else 0.12 * inside**2 * stored / problem.design.n  # X_J X_J', once; kept between steps
        return step * (8 if squared else 20) + inner

    def _finish(self) -> Solution | None:
        """Newton from the present point; None where it did not arrive, and coordinate steps go on."""
        self.may_finish = False
        self._certify()
        start = self._solution(Status.MAX_ITER)
        if start.certificate.relative_gap <= self.options.tol:
            return self._solution(Status.SOLVED)
        limit = min(100, self.options.max_epochs - self._epochs())
        found = Newton(tol=self.options.tol, max_steps=limit).solve(self.problem, start, self.watch)
        self.steps, self.certificates = found.work.steps, self.certificates + found.work.certificates
        self.best = (found.coef, found.intercept, found.dual, found.certificate)
        if found.status is Status.MAX_ITER or (found.status is Status.PRECISION and found.certificate.relative_gap > 1e-6):
            return None
        return self._solution(found.status)

    def _out_of_budget(self) -> Status | None:
        native = self.native
        relative = self._estimate() / max(self._scale(), float(np.finfo(float).tiny))
        heard = self.watch.heard(self._epochs(), relative)
        spent = native.visits >= self.budget or native.epochs >= MOST_PASSES * self.options.max_epochs
        return heard or (Status.MAX_ITER if spent else None)

    def _epochs(self) -> int:
        """Epochs' worth of visits, the begun one counted."""
        return min(self.options.max_epochs, -(-int(self.native.visits) // self.epoch))

    def _imbalance(self) -> float:
        """What the multipliers say of Σ a = s_b b: the gap of the intercept's part."""
        if not self.has_intercept:
            return 0.0
        native, strength = self.native, self.problem.intercept_strength
        off = float(native.sum_a - strength * native.intercept)
        return off * off * min(float(native.rho), 0.5 / strength if strength else np.inf)

    def _estimate(self) -> float:
        """The Fenchel-Young residuals of the last epoch and the imbalance of the intercept."""
        return max(float(self.native.gap), 0.0) + self._imbalance()

    def _settling(self) -> float:
        """What the estimate shrinks by until the end of its epoch.

        A row's residual, met at its visit, is what one epoch of other rows' steps did to it. At the end of the epoch it is what
        the steps of that epoch did, and these are smaller by the rate of the last epoch.
        """
        if len(self.history) < 2 or self.history[-2][1] <= 0.0:
            return 0.5
        return min(0.7, self.history[-1][1] / self.history[-2][1])

    def _scale(self) -> float:
        """A lower estimate of the optimum from what the loop keeps; only `certify` is trusted."""
        problem = self.problem
        imbalance = problem.beta_conjugate(self.native.sum_a) if problem.intercept is Intercept.PENALIZED else 0.0
        return max(float(self.native.dual) - imbalance, 0.0)

    def _certify(self) -> float:
        """Evaluate the present point, keep it if it is the best so far, and return the relative gap."""
        self.certificates += 1
        point = conclude(self.problem, self.w, self.native.intercept, self.a)
        certificate = point[3]
        if self.best is None or certificate.gap < 0.9 * self.best[3].gap:
            self.stalled = 0
        else:
            self.stalled += 1
        if self.best is None or certificate.gap < self.best[3].gap:
            self.best = point
        self.watch.heard(self._epochs(), certificate.relative_gap, certified=True)
        return float(certificate.relative_gap)

    def _solution(self, status: Status) -> Solution:
        assert self.best is not None
        coef, intercept, dual, certificate = self.best
        work = Work(self._epochs(), self.steps, self.native.visits, self.certificates, self.watch.seconds)
        return Solution(coef, intercept, dual, certificate, status, work)
