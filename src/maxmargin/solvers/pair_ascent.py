"""Pair ascent: two dual variables at a time (SMO; Platt 1998) with second-order working sets (Fan, Chen and Lin 2005).

    max_a  Σ y_i a_i - a'Ka / (2s),   y_i a_i in [0, c_i],   Σ a_i = 0

With a free intercept no a_i can move alone, so a step moves two: one up, one down, by the same amount, exactly to the maximum along
this line. Steps go on inside a working set of 64 to 1024 rows whose inner products lie in the processor's cache; then the gradient
g = y - Ka/s of all n rows is brought up to date from the rows of K that changed, and the next set is chosen: half of the last one
and the rows that violate most. So each row of K is formed about once, which is the price of the answer itself. The rate is linear
(List and Simon 2004 for the choice of sets; Chen, Fan and Lin 2006 for the rate).

Rows of K are kept in float32 or float64; g is summed in float64, and formed anew from float64 inner products by each certificate that
falls short. So rows in float32 cost no digits of the answer: they only choose the steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin import _native
from maxmargin.certificate import feasible
from maxmargin.gram import Gram
from maxmargin.losses import Hinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch

Floats = NDArray[np.float64]

SMALLEST_SET, FIRST_SET, LARGEST_SET = 64, 256, 1024
STEPS_PER_ROW = 100  # of a working set: with 1024 rows some 50 ms
SLOW = 4  # bursts without halving the gap, after which the set grows
LONG = 40  # bursts without halving the gap, after which a certificate is made: the estimate may be all rounding
PATIENCE = 6  # certificates in a row that do not improve


@final
@dataclass(frozen=True, slots=True)
class PairAscent(Solver):
    """Sequential minimal optimisation until the certified relative gap is at most `tol`.

    `cache_size` bounds the rows of K that are kept, in megabytes (2^20 bytes); `single` keeps them in float32. `max_steps` bounds the
    steps.
    """

    tol: float = 1e-3
    cache_size: float = 200.0
    single: bool = True
    max_steps: int | None = None

    def refuse(self, problem: Problem) -> str | None:
        if not isinstance(problem.design, Gram):
            return "PairAscent: the rows must be a Gram. Use Gram.of_kernel(Linear(), X), or DualAscent for the rows themselves."
        return refuse_pairs(self, problem)

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return _Pairs(self, problem, start, watch or Watch()).run()


def refuse_pairs(solver: Solver, problem: Problem) -> str | None:
    """The refusal of any solver that moves two rows at a time."""
    name = type(solver).__name__
    if not isinstance(problem.loss, Hinge):
        return f"{name}: the loss must be Hinge(), not {problem.loss!r}."
    if not isinstance(problem.penalty, Ridge):
        return f"{name}: the penalty must be Ridge(strength), not {problem.penalty!r}."
    if problem.intercept is not Intercept.FREE:
        return f"{name}: two rows move so that the sum stays; the intercept must be FREE, not {problem.intercept.name}."
    return None


class _Pairs:
    """One solve: working sets, the gradient of all rows between them, an estimate of the gap after each."""

    def __init__(self, options: PairAscent, problem: Problem, start: Solution | None, watch: Watch) -> None:
        assert isinstance(problem.penalty, Ridge)
        assert isinstance(problem.design, Gram)
        self.options, self.problem, self.watch = options, problem, watch
        self.design, self.strength = problem.design, problem.penalty.strength
        self.cache = self.design.row_cache(options.cache_size, np.float32 if options.single else np.float64)
        n, whole = self.design.n, self.design.products.n
        everything = n == whole and np.array_equal(self.design.index, np.arange(n))
        self.columns = np.empty(0, dtype=np.int64) if everything else self.design.index
        self.y = np.ascontiguousarray(problem.target, dtype=np.float64)
        self.low, self.high = problem.box()
        self.a = np.zeros(n) if start is None else start.dual.copy()
        self.g = self._gradient()
        self.largest = min(LARGEST_SET, self.cache.capacity)
        self.size = min(FIRST_SET, self.largest)
        self.set = np.empty(0, dtype=np.int64)
        self.steps = self.bursts = self.certificates = self.stalled = 0
        self.exact = True  # whether g was formed anew at this very point
        self.best: tuple[Any, ...] | None = None

    def run(self) -> Solution:
        bar = self.options.tol  # the estimate at which a certificate is made
        halved, slow, waited = np.inf, 0, 0
        while True:
            estimate, scale = self._estimate()
            violation = self._violation()
            status = self._stopped(estimate / scale if scale > 0.0 else 0.0)
            if status is None and not self.design.positive:
                if violation <= self.options.tol:
                    status = Status.STATIONARY
            elif status is None and (estimate <= bar * scale or violation <= 0.0 or waited > LONG):
                waited = 0
                relative = self._certify()
                if relative <= self.options.tol:
                    return self._solution(Status.SOLVED)
                if self.stalled > PATIENCE or (violation <= 0.0 and self.exact):
                    return self._solution(Status.PRECISION)
                bar = max(0.5 * bar, 0.1 * self.options.tol)
                self._refresh()
                if self._violation() <= 0.0:
                    continue
            if status is not None:
                relative = self._certify()
                return self._solution(Status.SOLVED if relative <= self.options.tol else status)
            if estimate <= 0.5 * halved:
                halved, slow, waited = estimate, 0, 0
            else:
                slow, waited = slow + 1, waited + 1
            if not self._burst(max(0.1 * violation, 0.0)):
                self.stalled += 1
                self._refresh()
                if self.stalled > PATIENCE:
                    relative = self._certify()
                    bad = Status.PRECISION if self.design.positive else Status.STATIONARY
                    return self._solution(Status.SOLVED if relative <= self.options.tol else bad)
            if slow > SLOW:
                self.size, slow = min(2 * self.size, self.largest), 0

    def _burst(self, tolerance: float) -> bool:
        """Steps inside one working set, and the gradient after them; whether any step was taken."""
        chosen = np.empty(min(self.size, self.design.n), dtype=np.int64)
        count = _native.choose_working_set(self.g, self.a, self.low, self.high, self.set, chosen)
        rows = chosen[:count]
        at = self.design.index[rows]
        with self.cache.lock:
            K = np.array(self.cache.values[np.ix_(self.cache.slots(at), at)], dtype=np.float64)
        before, after, g = self.a[rows], self.a[rows].copy(), self.g[rows].copy()
        most = STEPS_PER_ROW * count
        if self.options.max_steps is not None:
            most = min(most, self.options.max_steps - self.steps)
        steps, _ = _native.ascend_pairs(K, self.low[rows], self.high[rows], after, g, self.strength, tolerance, most)
        moved = np.flatnonzero(after != before)
        if moved.size:
            t = (after - before)[moved] / self.strength
            with self.cache.lock:
                slots = self.cache.slots(at[moved])
                _native.subtract_rows(self.cache.values, slots, t, self.columns, self.g, self.design.threads)
            self.a[rows] = after
            self.exact = False
        self.set = rows
        self.steps += steps
        self.bursts += 1
        if steps < count // 2:
            self.size = max(min(SMALLEST_SET, self.largest), self.size // 2)
        return bool(moved.size)

    def _gradient(self) -> Floats:
        """g = y - Ka/s in float64."""
        return np.asarray(self.y - self.design.scores(self.a) / self.strength)

    def _refresh(self) -> None:
        """A feasible a, and its gradient from float64 inner products."""
        self.a = feasible(self.problem, self.a)
        self.g = self._gradient()
        self.exact = True

    def _violation(self) -> float:
        """max g over the rows that may go up - min g over those that may go down: no more than 0 at the optimum."""
        up, down = self.g[self.a < self.high], self.g[self.a > self.low]
        return float(up.max() - down.min()) if up.size and down.size else 0.0

    def _estimate(self) -> tuple[float, float]:
        """P - D and the size of P from g: with z = y - g + b,  P = Σ c_i φ(y_i, z_i) + a'(y - g)/2  and  D = a'y - a'(y - g)/2."""
        z = self.y - self.g
        norm = float(self.a @ z)
        b = self.problem.best_intercept(z, 0.0)
        primal = float(np.sum(self.problem.loss_terms(z + b))) + 0.5 * norm
        dual = float(self.a @ self.y) - 0.5 * norm
        return primal - dual, max(abs(primal), abs(dual))

    def _stopped(self, relative: float) -> Status | None:
        if self.options.max_steps is not None and self.steps >= self.options.max_steps:
            return Status.MAX_ITER
        return self.watch.heard(self.bursts, relative)

    def _certify(self) -> float:
        """Evaluate the present point, keep it if it is the best so far, and return its relative gap."""
        self.certificates += 1
        a = feasible(self.problem, self.a)
        point = conclude(self.problem, a / self.strength, 0.0, a)
        certificate = point[3]
        better = self.best is None or certificate.gap < 0.9 * self.best[3].gap
        self.stalled = 0 if better else self.stalled + 1
        if self.best is None or certificate.gap < self.best[3].gap or not self.design.positive:
            self.best = point
        self.watch.heard(self.bursts, certificate.relative_gap, certified=True)
        return float(certificate.relative_gap)

    def _solution(self, status: Status) -> Solution:
        assert self.best is not None
        coef, intercept, dual, certificate = self.best
        work = Work(self.bursts, self.steps, self.cache.computed, self.certificates, self.watch.seconds)
        return Solution(coef, intercept, dual, certificate, status, work)
