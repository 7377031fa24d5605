"""The perceptron (Rosenblatt 1958): correct mistakes until there are none, and count them (Novikoff 1962).

    a mistake is  y_i (x_i'w + b) <= μ;       then  (w, b) <- (w, b) + y_i (x_i, 1)                     (plain)
    a mistake is  y_i (x_i'w + b) / r_i <= μ; then  (w, b) <- (w, b) + y_i (x_i, 1) / r_i               (normalised)

with r_i = |(x_i, 1)|, or |x_i| without an intercept; μ = 0 is the perceptron, μ > 0 forces a margin. Why the mistakes T are few:
take any (w*, b*) with y_i (x_i'w* + b*) >= 1 for all i (>= r_i if normalised), and R = max r_i (1 if normalised). Each correction adds
at least 1 to the product with (w*, b*), and at most R² + 2μ to the squared length. So

    T <= <(w*, b*), (w_T, b_T)> <= |(w*, b*)| |(w_T, b_T)|,   |(w_T, b_T)|² <= T (R² + 2μ),   hence  T <= (R² + 2μ) |(w*, b*)|².

The shortest such (w*, b*) has length 1/γ, γ the widest margin of the rows (x_i, 1): T <= (R² + 2μ) / γ². A perceptron has no
objective, so there is no gap: a MistakeRecord holds both sides of these inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from maxmargin import _native
from maxmargin.design import Design, as_design, enclose
from maxmargin.losses import HardMargin
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solvers.base import Watch
from maxmargin.solvers.maximum_margin import MaximumMargin

Floats = NDArray[np.float64]

BURST = 20_000_000  # stored values per native call: some 50 ms, so that Ctrl-C and time limits are met
REFERENCE_TOL = 1e-2  # of the widest margin that the bound uses: the bound is then within 1 % of the best one


class Ending(Enum):
    """Why a perceptron stopped. The value is what the user reads."""

    SEPARATED = "Every row is on its side of the hyperplane."
    MAX_ITER = "The epoch limit came first. Raise max_iter; if the data is inseparable, no number of epochs is enough."
    MAX_TIME = "The time limit came first. Raise max_time; if the data is inseparable, no time is enough."
    INTERRUPTED = "The fit was interrupted. Call fit again to start over."
    ZERO_ROW = "A row is zero, and without an intercept no hyperplane has it strictly on its side. It was left out."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Updates:
    """How a perceptron corrects: the rule, the order of visits, and the margin μ below which a row counts as a mistake."""

    normalized: bool = False
    order: str = "cyclic"
    margin: float = 0.0
    intercept: bool = True
    seed: int = 0


@dataclass(slots=True, eq=False)
class Halfplane:
    """Where a perceptron stands: (w, b), what the average lacks (`late`), the visits and the mistakes so far."""

    w: Floats
    late: Floats
    b: float = 0.0
    b_late: float = 0.0
    visits: int = 0
    mistakes: int = 0
    epochs: int = 0

    @classmethod
    def at_zero(cls, d: int) -> Halfplane:
        """Before the first row."""
        return cls(np.zeros(d), np.zeros(d))

    def copy(self) -> Halfplane:
        """The same place, to go on from without changing this one."""
        return replace(self, w=self.w.copy(), late=self.late.copy())

    def average(self) -> tuple[Floats, float]:
        """The mean of (w, b) over all visits."""
        visits = max(self.visits, 1)
        return self.w - self.late / visits, self.b - self.b_late / visits


@final
@dataclass(frozen=True, slots=True, repr=False)
class MistakeRecord:
    """What Novikoff's proof says of one run.

    `radius` is R, `length_sq` is |(w_T, b_T)|², `progress` is <(w*, b*), (w_T, b_T)>, `gamma` a lower bound of the widest margin γ of the
    rows (x_i, 1), of unit length if updates are normalised, rounding included; `margin` is what (w_T, b_T) itself reaches of
    it. `progress` and `gamma` are None where no (w*, b*) is known: the run did not separate, or `proof` was off.
    """

    mistakes: int
    radius: float
    threshold: float
    margin: float
    length_sq: float
    progress: float | None = None
    gamma: float | None = None

    @property
    def bound(self) -> float:
        """(R² + 2μ) / γ²: no run on these rows makes more mistakes; ∞ where γ is not known."""
        if self.gamma is None or not self.gamma > 0.0:
            return np.inf
        return (self.radius**2 + 2.0 * self.threshold) / self.gamma**2 * (1.0 + 2.0**-50)

    @property
    def holds(self) -> bool:
        """Whether both invariants of the proof hold, up to the rounding of sums of T terms."""
        rounding = 1.0 + 2.0**-50 * (self.mistakes + 4)
        short = self.length_sq <= self.mistakes * (self.radius**2 + 2.0 * self.threshold) * rounding
        return short and (self.progress is None or self.progress * rounding >= self.mistakes)

    def __repr__(self) -> str:
        first = f"{self.mistakes} mistakes on rows of length {self.radius:.6g} at most; margin reached {self.margin:.6g}."
        if self.gamma is None:
            return f"{first}\nNo separating hyperplane is known to compare with, so no bound."
        return f"{first}\nThe widest margin is at least {self.gamma:.6g}, so no run makes more than {self.bound:.6g}."


def row_lengths(design: Design, intercept: bool) -> Floats:
    """r_i = |(x_i, 1)|, or |x_i|."""
    return np.sqrt(design.norms_sq + float(intercept))


def advance(
    design: Design, y: Floats, used: NDArray[np.int64], updates: Updates, state: Halfplane, epochs: int, watch: Watch
) -> Ending:
    """Correct mistakes on the rows `used`, from the given state, until an epoch has none or a limit comes."""
    lengths = row_lengths(design, updates.intercept)
    rate = 1.0 / np.where(lengths > 0.0, lengths, 1.0) if updates.normalized else np.ones(design.n)
    if updates.order == "worst":
        return _correct_the_worst(design, y, rate, used, updates, state, epochs, watch)
    native = _native.Perceptron(
        rows=design._rows, y=y, rate=rate, w=state.w, late=state.late, order=used.copy(),
        shuffled=updates.order == "shuffled", margin=updates.margin, intercept=updates.intercept,
        seed=updates.seed + state.epochs, b=state.b, b_late=state.b_late, visits=state.visits,
    )  # fmt: skip
    before = state.mistakes, state.epochs
    per_burst = max(1, BURST * design.n // max(design.stored, 1))
    while True:
        if not watch.interrupted:
            native.run(epochs - native.epochs, per_burst)
        state.b, state.b_late, state.visits = native.b, native.b_late, native.visits
        state.mistakes, state.epochs = before[0] + native.mistakes, before[1] + native.epochs
        if native.separated:
            return Ending.SEPARATED
        if (status := watch.heard(state.epochs, np.inf)) is not None:
            return Ending[status.name]
        if native.epochs >= epochs:
            return Ending.MAX_ITER


def _correct_the_worst(
    design: Design,
    y: Floats,
    rate: Floats,
    used: NDArray[np.int64],
    updates: Updates,
    state: Halfplane,
    epochs: int,
    watch: Watch,
) -> Ending:
    """Always the row with the least margin; as many corrections as `epochs` epochs have rows."""
    steps = rate * y
    for k in range(epochs * used.size + 1):
        margins = (steps * design.scores(state.w, state.b))[used]
        at = int(margins.argmin())
        if margins[at] > updates.margin:
            return Ending.SEPARATED
        if k == epochs * used.size:
            return Ending.MAX_ITER
        state.epochs += k % used.size == 0
        if (status := watch.heard(state.epochs, np.inf)) is not None:
            return Ending[status.name]
        one = np.zeros(design.n)
        one[used[at]] = steps[used[at]]
        correction = design.combine(one)
        state.w += correction
        state.late += state.visits * correction
        if updates.intercept:
            state.b += one[used[at]]
            state.b_late += state.visits * one[used[at]]
        state.mistakes += 1
        state.visits += 1
    raise AssertionError("unreachable")


def record(
    design: Design,
    y: Floats,
    used: NDArray[np.int64],
    updates: Updates,
    state: Halfplane,
    reference: tuple[Floats, float] | None,
) -> MistakeRecord:
    """The record of a run from zero, against a separating (w*, b*) if one is given."""
    lengths = row_lengths(design, updates.intercept)[used]
    sizes = lengths if updates.normalized else np.ones(used.size)
    radius = 1.0 if updates.normalized else float(lengths.max(initial=0.0)) * (1.0 + (design.longest_row + 4) * 2.0**-52)
    length_sq = float(state.w @ state.w) + state.b * state.b
    reached = _least_margin(design, y, used, sizes, state.w, state.b)
    progress = gamma = None
    if reference is not None:
        w, b = reference
        gamma = _least_margin(design, y, used, sizes, w, b)
        if gamma > 0.0:
            length = float(np.sqrt(w @ w + b * b))
            progress = (float(w @ state.w) + b * state.b) / (gamma * length)
        else:
            gamma = None
    return MistakeRecord(state.mistakes, radius, updates.margin, reached, length_sq, progress, gamma)


def _least_margin(design: Design, y: Floats, used: NDArray[np.int64], sizes: Floats, w: Floats, b: float) -> float:
    """A lower bound of min y_i (x_i'w + b) / (r_i |(w, b)|), r_i = 1 for plain updates, rounding included; 0 where (w, b) = 0."""
    length = float(np.sqrt(w @ w + b * b))
    if length == 0.0:  # before the first correction, or where corrections cancelled
        return 0.0
    low, high = enclose(design.scores(w, b), design.scores(w, b, absolute=True), design.longest_row + 2)
    least = float((np.where(y > 0, low, -high)[used] / sizes).min())
    wide = 1.0 + (design.d + design.longest_row + 16) * 2.0**-52
    return least / (length * wide) if least > 0.0 else least / length * wide


def reference_halfspace(
    X: Any, y: Floats, used: NDArray[np.int64], updates: Updates, watch: Watch
) -> tuple[Floats, float] | None:
    """(w*, b*) near the widest margin of the rows (x_i, 1), divided by r_i if updates are normalised; None if none was found."""
    X = X[used]
    if updates.intercept:
        ones = np.ones((used.size, 1), dtype=X.dtype)
        X = sp.hstack([X, ones], format="csr") if sp.issparse(X) else np.hstack([X, ones])
    if updates.normalized:
        inverse = 1.0 / np.sqrt(as_design(X).norms_sq)
        X = (sp.diags_array(inverse) @ X).tocsr() if sp.issparse(X) else X * inverse[:, None]
    design = as_design(X)
    problem = Problem(design, y[used], HardMargin(), Ridge(1.0), np.ones(design.n), Intercept.NONE)
    found = MaximumMargin(tol=REFERENCE_TOL).solve(problem, watch=watch)
    if not np.isfinite(found.certificate.primal):
        return None
    w = found.coef.astype(np.float64)
    return (w[:-1], float(w[-1])) if updates.intercept else (w, 0.0)
