"""Certificate: how good an answer is at worst. The contract is docs/certificate.md.

`certify` evaluates P and D from X, y and the numbers given. It trusts nothing that a solver kept: the dual point is made
exactly feasible here, and where none is given one is built from the slopes of the losses.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin.design import TINY, UNIT, enclose
from maxmargin.losses import Squared
from maxmargin.penalties import NoPenalty
from maxmargin.problem import Intercept, Problem
from maxmargin.spectrum import curvature_below

Floats = NDArray[np.float64]

SPARES = [2.0**k for k in range(-50, -4, 3)]  # what rescaling a dual point takes off beyond need, until it holds


class Claim(ABC):
    """What an estimator published: enough to state its problems again from data and to certify its numbers."""

    @abstractmethod
    def certify(self, X: Any, y: Any, sample_weight: Any, precision: str) -> Certificate:
        """The certificate of the published numbers on this data."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Certificate:
    """The optimum lies in [dual, primal]; the answer reaches primal.

    `precision` is "computed" (float64), "rigorous" (bounds that hold in exact arithmetic) or "none". `zero` is the objective
    of the predictor that is always 0. `parts` holds the certificates of problems solved side by side, whose sums these are.
    """

    primal: float
    dual: float
    precision: str
    zero: float
    parts: tuple[Certificate, ...] = ()
    claim: Claim | None = field(default=None, compare=False)

    def verify(self, X: Any, y: Any, sample_weight: Any = None, precision: str = "computed") -> Certificate:
        """A new certificate of the same coefficients, from scratch: X, y and the published numbers are all that is used."""
        if self.claim is None:
            raise ValueError("Certificate.verify: this certificate belongs to no estimator. Use certify(problem, w, b, a).")
        return self.claim.certify(X, y, sample_weight, precision)

    @property
    def gap(self) -> float:
        """primal - dual: no answer is better than this one by more."""
        if not math.isfinite(self.primal) or not math.isfinite(self.dual):
            return math.inf
        gap = max(0.0, self.primal - self.dual)
        return math.nextafter(gap, math.inf) if self.precision == "rigorous" and gap > 0.0 else gap

    @property
    def relative_gap(self) -> float:
        """gap / max(|primal|, |dual|, 2^-52 zero), and 0 where the gap is 0."""
        gap = self.gap
        if gap == 0.0 or not math.isfinite(gap):
            return gap
        return gap / max(abs(self.primal), abs(self.dual), 2.0**-52 * self.zero)

    def __repr__(self) -> str:
        if self.precision == "none" or not math.isfinite(self.gap):
            return f"The objective reached is {self.primal:.9g}.\nNo bound on the best possible value is known."
        how = {"computed": "evaluated in float64", "rigorous": "rounding included"}[self.precision]
        return (
            f"The objective reached is {self.primal:.9g}; no predictor of this kind gets below {self.dual:.9g}.\n"
            f"So it is within {self.relative_gap:.2g} of the best possible, relative to its size ({how})."
        )


def combined(parts: tuple[Certificate, ...]) -> Certificate:
    """One certificate for problems solved side by side: the sums."""
    if len(parts) == 1:
        return parts[0]
    precisions = {part.precision for part in parts}
    precision = precisions.pop() if len(precisions) == 1 else "none" if "none" in precisions else "computed"
    primal, dual = _sum(part.primal for part in parts), _sum(part.dual for part in parts)
    rigorous = precision == "rigorous"
    return Certificate(
        primal=math.nextafter(primal, math.inf) if rigorous else primal,
        dual=math.nextafter(dual, -math.inf) if rigorous else dual,
        precision=precision,
        zero=math.fsum(part.zero for part in parts),
        parts=parts,
    )


def certify(
    problem: Problem, w: Floats, b: float = 0.0, a: Floats | None = None, precision: str = "computed"
) -> Certificate:
    """Bound how far (w, b) is from the optimum of the problem, by the dual point a or by one made from the slopes.

    w is clipped first where the penalty is a constraint.
    """
    _check_precision(precision)
    w = problem.penalty.clip(np.asarray(w, dtype=np.float64))
    with np.errstate(all="ignore"):  # an overflow shows as a gap of ∞
        z = problem.design.scores(w, b)
        a = dual_from_slopes(problem, z, precision) if a is None else feasible(problem, a, precision)
        return evaluate(problem, w, b, z, a, precision)


def unbounded(problem: Problem, w: Floats, b: float) -> Certificate:
    """The objective that (w, b) reaches where nothing bounds it from below."""
    return Certificate(primal=problem.primal(w, b), dual=-math.inf, precision="none", zero=problem.zero())


def evaluate(problem: Problem, w: Floats, b: float, z: Floats, a: Floats, precision: str) -> Certificate:
    """The certificate of (w, b), its scores z = Xw + b and an exactly feasible a."""
    _check_precision(precision)
    if not problem.design.positive:
        return unbounded(problem, w, b)
    rounding = ROUNDINGS[precision](problem)
    primal = _primal(problem, rounding, w, b, z)
    zero = problem.zero()
    zero = zero if math.isfinite(zero) else 0.0
    if isinstance(problem.penalty, NoPenalty):
        found = _dual_without_penalty(problem, rounding, w, b, z)
        if found is None and not primal < 2.0**-52 * zero:
            return Certificate(primal=primal, dual=-math.inf, precision="none", zero=zero)
        dual = found or 0.0
    else:
        trivial = -rounding.above(problem.conjugate_terms(np.zeros_like(a)))
        dual = _dual(problem, rounding, a)
        dual = trivial if math.isnan(dual) else max(trivial, dual)
    if precision == "rigorous" and primal < dual:
        raise ArithmeticError(f"certify: P = {primal!r} < D = {dual!r}: a loss or penalty breaks its contract.")
    return Certificate(primal=primal, dual=dual, precision=precision, zero=zero)


def _check_precision(precision: str) -> None:
    if precision not in ROUNDINGS:
        raise ValueError(f"certify(precision={precision!r}): precision must be one of {sorted(ROUNDINGS)}.")


def _primal(problem: Problem, rounding: _Rounding, w: Floats, b: float, z: Floats) -> float:
    loss, y = problem.loss, problem.target
    low, high = rounding.scores(w, b, z)
    value = loss.value(y, low) if low is high else np.maximum(loss.value(y, low), loss.value(y, high))
    slack = 1.0 + np.abs(value) + np.abs(y) + np.maximum(np.abs(low), np.abs(high))
    total = rounding.above(problem.weighted(rounding.raised(value, slack)))
    penalty = rounding.above(_largest(problem.penalty.paired_terms, rounding.paired(w, w)))
    return rounding.sum(total, penalty, rounding.above(np.array([problem.beta(b)])))


def _dual(problem: Problem, rounding: _Rounding, a: Floats) -> float:
    cost, y = problem.cost, problem.target
    v = np.divide(np.abs(a), cost, out=np.zeros_like(a), where=cost > 0)
    terms = problem.conjugate_terms(a)
    slack = (1.0 + v) * (1.0 + v + np.abs(y)) * cost + np.abs(terms)
    loss = rounding.above(rounding.raised(terms, slack))
    ends = rounding.paired(*rounding.combination(a))
    penalty = rounding.above(_largest(problem.penalty.paired_conjugate_terms, ends))
    return -rounding.sum(loss, penalty, rounding.above(np.array([problem.beta_conjugate(_sum(a))])))


def _largest(terms: Callable[[Floats, Floats], Floats], ends: tuple[tuple[Floats, Floats], ...]) -> Floats:
    """Coordinate by coordinate, the largest of the terms over the ends."""
    found = terms(*ends[0])
    for end in ends[1:]:
        found = np.maximum(found, terms(*end))
    return found


def _dual_without_penalty(problem: Problem, rounding: _Rounding, w: Floats, b: float, z: Floats) -> float | None:
    """Least squares: max(0, P - |S g|² / (2 λ)) with the gradient g and a proven λ <= λ_min(S X'CX S). None where there is no λ.

    P and the sizes of g are taken at the worst scores between the ends that the rounding gives.
    """
    if not isinstance(problem.loss, Squared):
        return None
    y, cost, free = problem.target, problem.cost, problem.intercept is Intercept.FREE
    scale, least = curvature_below(problem.design, cost, free)
    if least == 0.0:
        return None
    low, high = rounding.scores(w, b, z)
    nearest = np.clip(y, low, high)
    value = problem.loss.value(y, nearest)
    reached = -rounding.above(cost * rounding.raised(-value, 1.0 + value + np.abs(y) + np.abs(nearest)))
    sizes = rounding.gradient_sizes(cost * (y - z), cost * np.maximum(high - z, z - low), free)
    excess = rounding.above((scale * sizes) ** 2 / (2.0 * least))
    return max(0.0, -rounding.sum(-reached, excess))


class _Rounding(ABC):
    """How the numbers of a certificate are rounded. P and -D are both bounded from above."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @abstractmethod
    def scores(self, w: Floats, b: float, z: Floats) -> tuple[Floats, Floats]:
        """Ends between which the exact scores lie."""

    @abstractmethod
    def combination(self, a: Floats) -> tuple[Floats, Floats]:
        """Ends between which the exact X'a lies."""

    @abstractmethod
    def paired(self, low: Floats, high: Floats) -> tuple[tuple[Floats, Floats], ...]:
        """Pairs (w, partner), low <= w <= high, at one of which each ridge term is largest."""

    @abstractmethod
    def gradient_sizes(self, a: Floats, radius: Floats, total: bool) -> Floats:
        """|X'a|, and |Σ a_i| if asked for, where each exact a_i is within its radius and a few units of rounding."""

    @abstractmethod
    def raised(self, terms: Floats, slack: Floats) -> Floats:
        """terms + 16 u slack, the promise of losses on their own rounding."""

    @abstractmethod
    def above(self, terms: Floats) -> float:
        """The sum of terms, each within 16 u of its size."""

    @abstractmethod
    def sum(self, *numbers: float) -> float:
        """The sum of a few numbers."""


@final
class _Nearest(_Rounding):
    """Plain float64."""

    def scores(self, w: Floats, b: float, z: Floats) -> tuple[Floats, Floats]:
        return z, z

    def combination(self, a: Floats) -> tuple[Floats, Floats]:
        u = self.problem.design.combine(a)
        return u, u

    def paired(self, low: Floats, high: Floats) -> tuple[tuple[Floats, Floats], ...]:
        return ((low, self.problem.design.partner(low)),)

    def gradient_sizes(self, a: Floats, radius: Floats, total: bool) -> Floats:
        sums = self.problem.design.combine(a)
        return np.abs(np.append(sums, a.sum()) if total else sums)

    def raised(self, terms: Floats, slack: Floats) -> Floats:
        return terms

    def above(self, terms: Floats) -> float:
        return float(np.sum(terms))

    def sum(self, *numbers: float) -> float:
        return _sum(numbers)


@final
class _Outward(_Rounding):
    """Upper bounds that hold in exact arithmetic on the given floats (section 5 of docs/certificate.md)."""

    def scores(self, w: Floats, b: float, z: Floats) -> tuple[Floats, Floats]:
        return self.problem.design.score_ends(w, b, z)

    def combination(self, a: Floats) -> tuple[Floats, Floats]:
        return self.problem.design.combination_ends(a)

    def paired(self, low: Floats, high: Floats) -> tuple[tuple[Floats, Floats], ...]:
        return self.problem.design.paired_ends(low, high)

    def gradient_sizes(self, a: Floats, radius: Floats, total: bool) -> Floats:
        design = self.problem.design
        radius = radius * (1.0 + 8.0 * UNIT) + 8.0 * UNIT * np.abs(a) + TINY
        low, high = self.combination(a)
        spread = design.combine(radius, absolute=True)
        sizes = np.maximum(-low, high) + enclose(spread, spread, design.n)[1]
        if total:
            sizes = np.append(sizes, abs(_sum(a)) + self.above(radius))
        return np.nextafter(sizes * (1.0 + 4.0 * UNIT), np.inf)

    def raised(self, terms: Floats, slack: Floats) -> Floats:
        return np.nextafter(terms + 16.0 * UNIT * (1.0 + 8.0 * UNIT) * slack, np.inf)

    def above(self, terms: Floats) -> float:
        if not np.isfinite(terms).all():
            return math.inf
        wide = terms + 16.0 * UNIT * (1.0 + 4.0 * UNIT) * np.abs(terms) + TINY
        return math.nextafter(_sum(wide.ravel()), math.inf)

    def sum(self, *numbers: float) -> float:
        return math.nextafter(_sum(numbers), math.inf) if all(map(math.isfinite, numbers)) else math.inf


ROUNDINGS: dict[str, type[_Rounding]] = {"computed": _Nearest, "rigorous": _Outward}


def _sum(numbers: Iterable[float]) -> float:
    """The correctly rounded sum; ∞ or nan where it, or a partial sum, is beyond the doubles."""
    try:
        return math.fsum(numbers)
    except (OverflowError, ValueError):
        return math.inf


def feasible(problem: Problem, a: Floats, precision: str = "computed") -> Floats:
    """The exactly feasible point near a: in the box, with Σ a_i = 0 where the intercept is free, and with ψ*(X'a) finite.

    `precision` says how X'a is evaluated: a "rigorous" point stays feasible under every rounding error.
    """
    low, high = problem.box()
    a = np.clip(np.asarray(a, dtype=np.float64), low, high)
    if not np.isfinite(a).all():
        raise ValueError("certify(a): the dual point must be finite.")
    free = problem.intercept is Intercept.FREE
    a = _balanced(a, low, high) if free else a
    if not problem.penalty.bounded_dual:
        return a
    rounding = ROUNDINGS[precision](problem)
    for spare in SPARES:
        t = problem.penalty.reach(*rounding.combination(a))
        if t >= 1.0:
            return a
        a = a * (t * (1.0 - spare))  # the product rounds, so a little more than needed is taken off
        a = _balanced(a, low, high) if free else a
    return np.zeros_like(a)


def dual_from_slopes(problem: Problem, z: Floats, precision: str = "computed") -> Floats:
    """a_i = -c_i φ'(y_i, z_i), scaled by the t that maximises D(t a), made exactly feasible."""
    low, high = problem.box()
    slopes = -problem.cost * problem.loss.slope(problem.target, z)
    a = feasible(problem, np.where(np.isfinite(slopes), slopes, 0.0), precision)
    u = problem.design.combine(a)
    partner = problem.design.partner(u)
    total = _sum(a)

    def negative_dual(t: float) -> float:
        loss = float(np.sum(problem.conjugate_terms(t * a)))
        penalty = float(np.sum(problem.penalty.paired_conjugate_terms(t * u, t * partner)))
        return loss + penalty + problem.beta_conjugate(t * total)

    room = np.where(a > 0, high / a, np.where(a < 0, low / a, np.inf))
    t = _argmin(negative_dual, min(float(np.min(room, initial=np.inf)), problem.penalty.reach(u, u)))
    return feasible(problem, t * a, precision)


def _argmin(f: Callable[[float], float], most: float) -> float:
    """The minimiser of a convex function on [0, most], by golden sections to one part in 2^20; 1 and `most` are tried exactly."""
    right = min(1.0, most)
    while 2.0 * right <= most and f(2.0 * right) < f(right) and right < 2.0**60:
        right *= 2.0
    left, right = 0.0, min(2.0 * right, most)
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    for _ in range(44):
        inner, outer = right - golden * (right - left), left + golden * (right - left)
        if f(inner) <= f(outer):
            right = outer
        else:
            left = inner
    return min((t for t in (1.0, most, 0.5 * (left + right)) if t <= most and math.isfinite(t)), key=f)


def _balanced(a: Floats, low: Floats, high: Floats) -> Floats:
    """a moved onto a grid of step g, inside the box, with an exact sum of 0.

    All numbers are integers times g below 2^53 g, so every sum below is exact in doubles.
    """
    most = min(float(np.maximum(-low, high).sum()), 2.5 * float(np.abs(a).sum()))
    exponent = math.frexp(most)[1]  # most < 2^exponent
    if most == 0.0 or exponent < -1000:
        return np.zeros_like(a)
    grid = math.ldexp(1.0, exponent - 52)
    low, high = np.ceil(low / grid), np.floor(high / grid)
    m = np.clip(np.rint(a / grid), low, high)
    excess = float(m.sum())
    if excess:
        toward = np.minimum(m - low if excess > 0 else high - m, abs(excess))
        strictly_inside = (m > low) & (m < high)
        m = _take(m, excess, np.where(strictly_inside, toward, 0.0))
        excess = float(m.sum())
    if excess:
        m = _take(m, excess, np.where(np.sign(m) == np.sign(excess), np.abs(m), 0.0))
    return np.asarray(m * grid)


def _take(m: Floats, excess: float, room: Floats) -> Floats:
    """m with up to |excess| taken out of the rows, in proportion to their room."""
    total = float(room.sum())
    if total == 0.0:
        return m
    amount = min(abs(excess), total)
    share = np.minimum(np.floor(room * (amount / total)), room)
    rest, room = max(0.0, amount - float(share.sum())), room - share
    # What the rounding down left over goes to the first rows that have room.
    share = share + np.clip(rest - (np.cumsum(room) - room), 0.0, room)
    return m - math.copysign(1.0, excess) * share
