"""Separability, and its proofs in exact arithmetic on the given floats.

For rows x_i and labels y_i in {-1, +1} write v_i = y_i (x_i, 1), or y_i x_i without an intercept. Exactly one holds (Gordan 1873):

    Separable     there is (w, b) with v_i'(w, b) > 0 for all i;
    Inseparable   there is a >= 0, not 0, with Σ a_i v_i = 0.

A linear program in floats proposes, integers decide. Where the proposal does not survive, the simplex method in rationals
starts from its basis and ends in one of the two proofs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_X_y
from sklearn.utils.multiclass import check_classification_targets

from maxmargin.design import VALUE_TYPES, Design, as_design, check_structure, enclose
from maxmargin.halfspace import VIOLATION, Halfspace, solve_halfspace

Floats = NDArray[np.float64]
Exact = NDArray[np.object_]  # of Fractions

LARGEST_EXACT = 400  # rows of the rational simplex: its inverse has their square in fractions
ZERO, ONE = Fraction(0), Fraction(1)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Separable:
    """y_i (x_i'w + b) > 0 for all rows; the widest geometric margin of all (w, b) lies in `margin`.

    w holds doubles, or integers where the margin is too thin for doubles.
    """

    w: NDArray[Any]
    b: float | int
    margin: tuple[float, float]

    def __bool__(self) -> bool:
        return True

    def check(self, X: Any, y: Any) -> bool:
        """Whether (w, b) puts every row strictly on its side, in exact arithmetic."""
        rows = _Rows(X, y)
        return rows.d == len(self.w) and rows.least_margin(_exact(self.w), Fraction(self.b)) > 0

    def __repr__(self) -> str:
        low, high = self.margin
        return f"Separable: some hyperplane has every row strictly on its side.\nThe widest margin lies in [{low:.6g}, {high:.6g}]."


@final
@dataclass(frozen=True, slots=True, eq=False)
class Inseparable:
    """Σ m_k y_i (x_i, 1) = 0 over i = indices[k], with whole numbers m_k > 0: no hyperplane has all these rows on their sides.

    Without `intercept` the 1 is left out, and the hyperplanes are those through the origin.
    """

    indices: NDArray[np.int64]
    multipliers: tuple[int, ...]
    intercept: bool

    def __bool__(self) -> bool:
        return False

    def check(self, X: Any, y: Any) -> bool:
        """Whether the sum is exactly 0 and every multiplier is positive."""
        rows = _Rows(X, y)
        inside = len(self.indices) == len(self.multipliers) > 0 and all(0 <= i < rows.n for i in self.indices)
        if not inside or any(m <= 0 for m in self.multipliers):
            return False
        total: dict[int, Fraction] = {}
        for i, m in zip(self.indices, self.multipliers, strict=True):
            for j, value in rows.signed(int(i), self.intercept):
                total[j] = total.get(j, ZERO) + m * value
        return not any(total.values())

    def __repr__(self) -> str:
        where = "hyperplane" if self.intercept else "hyperplane through the origin"
        shown = ", ".join(map(str, self.indices[:5])) + (", ..." if len(self.indices) > 5 else "")
        return (
            f"Inseparable: no {where} has every row strictly on its side.\n"
            f"Proof: whole multiples of the {len(self.indices)} signed rows {shown} add up to exactly 0."
        )


def separability(X: Any, y: Any, intercept: bool = True, proposed: Halfspace | None = None) -> Separable | Inseparable:
    """Whether some w (and b) gives y_i (x_i'w + b) > 0 for all rows, with a proof of the answer.

    X is a dense array or sparse matrix of numbers, y holds two labels, of which the higher is +1. Pairs of rows that
    contradict each other, and zero rows without an intercept, are found first; then a linear program proposes, unless its
    answer is given.
    """
    rows = _Rows(X, y)
    pair = rows.contradiction(intercept)
    if pair:
        return Inseparable(np.array(pair, dtype=np.int64), (1,) * len(pair), intercept)
    try:
        proposed = proposed or solve_halfspace(rows.X, rows.y, intercept, VIOLATION)
    except ArithmeticError:  # numbers beyond the linear program's range: the rational simplex has no such limit
        proposed = None
    return settle(rows, intercept, proposed or Halfspace(np.zeros(rows.d), 0.0, math.nan, np.zeros(rows.n), 0))


def settle(rows: _Rows, intercept: bool, proposed: Halfspace) -> Separable | Inseparable:
    """The proof that the proposal leads to: its (w, b) if it separates, else what the rational simplex ends in."""
    w, b = _exact(proposed.w), Fraction(proposed.b)
    if np.isfinite(proposed.w).all() and rows.least_margin(w, b) > 0:
        return Separable(proposed.w, proposed.b, margin_interval(rows.design, rows.y, proposed.w, proposed.b, intercept))
    size = rows.d + intercept + 1
    if size > LARGEST_EXACT:
        raise ArithmeticError(
            f"separability: the linear program's answer is no proof, and the rational simplex is limited to {LARGEST_EXACT} "
            f"unknowns; this needs {size}. Reduce the features."
        )
    support = np.flatnonzero(proposed.multipliers > 1e-9 * proposed.multipliers.max(initial=0.0))
    simplex = _RationalSimplex(rows, intercept, support.tolist())
    a = simplex.run()
    if a is not None:
        indices = np.array(sorted(a), dtype=np.int64)
        return Inseparable(indices, _whole([a[int(i)] for i in indices]), intercept)
    return _separable(rows, simplex.direction(), intercept)


def _separable(rows: _Rows, direction: Sequence[Fraction], intercept: bool) -> Separable:
    """The direction as doubles if they still separate, else as integers."""
    whole = _whole(direction)
    w, b = np.array(whole[: rows.d], dtype=object), whole[rows.d] if intercept else 0
    largest = max(map(abs, whole))
    doubles = np.array([float(Fraction(v, largest)) for v in whole])
    near, at = doubles[: rows.d], float(doubles[rows.d]) if intercept else 0.0
    interval = margin_interval(rows.design, rows.y, near, at, intercept)
    if rows.least_margin(_exact(near), Fraction(at)) > 0:
        return Separable(near, at, interval)
    least = rows.least_margin(_exact(w), Fraction(b))
    squares = sum(v * v for v in whole[: rows.d])
    low = math.sqrt(least * least / squares) * (1.0 - 2.0**-50) if squares else 0.0
    return Separable(w, b, (low, max(low, interval[1])))


def margin_interval(
    design: Design, y: Floats, w: Floats, b: float, intercept: bool, a: Floats | None = None
) -> tuple[float, float]:
    """Doubles between which the widest geometric margin lies, rounding included.

    From below min_i y_i (x_i'w + b) / |w|. From above |Σ a_i x_i| / Σ |a_i| for a signed a with y_i a_i >= 0 and, with an
    intercept, Σ a_i = 0 exactly: for a unit w with margin γ,  γ Σ |a_i| <= Σ a_i (x_i'w + b) = w'Σ a_i x_i. Without a the two
    rows nearest to the plane are taken, or the shortest row.
    """
    z, sizes = design.scores(w, b), design.scores(w, b, absolute=True)
    low_z, high_z = enclose(z, sizes, design.longest_row + 1)
    least = float(np.where(y > 0, low_z, -high_z).min())
    length = _length(w)
    low = max(0.0, least / (length * (1.0 + (design.d + 4) * 2.0**-52))) if length > 0 else 0.0
    a = _nearest_rows(design, y, z, intercept) if a is None else a
    low_u, high_u = enclose(design.combine(a), design.combine(a, absolute=True), int(np.count_nonzero(a)) + 1)
    above = _length(np.maximum(np.abs(low_u), np.abs(high_u))) * (1.0 + (design.d + 4) * 2.0**-52)
    total = math.fsum(np.abs(a)) * (1.0 - 2.0**-50)
    high = above / total * (1.0 + 2.0**-50) if total > 0 else math.inf
    return low, max(low, high)


def _length(w: Floats) -> float:
    """|w|, without overflow on the way."""
    largest = float(np.abs(w).max(initial=0.0))
    scale = math.ldexp(1.0, math.frexp(largest)[1]) if 0.0 < largest < 2.0**1000 else 1.0
    return scale * float(np.linalg.norm(w / scale))


def _nearest_rows(design: Design, y: Floats, z: Floats, intercept: bool) -> Floats:
    a = np.zeros(design.n)
    if not intercept:
        i = int(design.norms_sq.argmin())
        a[i] = y[i]
        return a
    for sign in (1.0, -1.0):
        a[int(np.where(y == sign, sign * z, np.inf).argmin())] = sign
    return a


@final
class _Rows:
    """Rows and signs as given, validated once: products in floats with bounds, and single rows in rationals."""

    def __init__(self, X: Any, y: Any) -> None:
        check_structure(X)
        X, y = check_X_y(X, y, accept_sparse="csr", accept_large_sparse=True, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        labels = np.unique(y)
        if len(labels) != 2:
            raise ValueError(f"separability(y): two labels are needed, and y has {len(labels)}: {labels[:5].tolist()}.")
        assert X.dtype in VALUE_TYPES
        if sp.issparse(X) and not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        self.X, self.y = X, np.where(y == labels[1], 1.0, -1.0)
        self.n, self.d = X.shape
        self.design = as_design(X)

    def signed(self, i: int, intercept: bool) -> Iterator[tuple[int, Fraction]]:
        """The entries of v_i that are not 0."""
        sign = int(self.y[i])
        for j, value in self._entries(i):
            if value:
                yield int(j), sign * Fraction(float(value))
        if intercept:
            yield self.d, Fraction(sign)

    def _entries(self, i: int) -> Iterator[tuple[Any, Any]]:
        if not sp.issparse(self.X):
            return enumerate(self.X[i])
        at = slice(self.X.indptr[i], self.X.indptr[i + 1])
        return zip(self.X.indices[at], self.X.data[at], strict=True)

    def dot(self, i: int, w: Sequence[Fraction], b: Fraction) -> Fraction:
        """v_i'(w, b), exactly."""
        sign = int(self.y[i])
        return sign * (sum((Fraction(float(x)) * w[j] for j, x in self._entries(i) if x), ZERO) + b)

    def contradiction(self, intercept: bool) -> tuple[int, ...]:
        """One zero row, or two rows with v_i + v_j = 0; () where there are none."""
        met: dict[tuple[bytes, ...], int] = {}
        for i in range(self.n):
            row, opposite = (self._key(i, sign * float(self.y[i]), intercept) for sign in (1, -1))
            if row == opposite:
                return (i,)
            if opposite in met:
                return met[opposite], i
            met.setdefault(row, i)
        return ()

    def _key(self, i: int, sign: float, intercept: bool) -> tuple[bytes, ...]:
        tail = (b"+" if sign > 0 else b"-",) if intercept else ()
        if not sp.issparse(self.X):
            return ((self.X[i] * sign + 0.0).tobytes(), *tail)
        at = slice(self.X.indptr[i], self.X.indptr[i + 1])
        stored = self.X.data[at] != 0
        return (self.X.indices[at][stored].tobytes(), (self.X.data[at][stored] * sign).tobytes(), *tail)

    def margins(self, w: Sequence[Fraction], b: Fraction) -> tuple[Floats, Floats, Fraction]:
        """Ends of v_i'(w, b) / s in floats, and the scale s > 0 that brings w into their range."""
        scale = max([abs(b), *map(abs, w)]) or ONE
        doubles = np.array([float(v / scale) for v in w])
        at = float(b / scale)
        z, sizes = self.design.scores(doubles, at), self.design.scores(doubles, at, absolute=True)
        low, high = enclose(z, sizes, self.design.longest_row + 3)  # two more: the rounding of w and of b
        return np.where(self.y > 0, low, -high), np.where(self.y > 0, high, -low), scale

    def least_margin(self, w: Sequence[Fraction], b: Fraction) -> Fraction:
        """min_i v_i'(w, b), exactly: rows whose float bounds leave them in question are computed in rationals."""
        low, high, _ = self.margins(w, b)
        if np.isnan(low).any() or np.isnan(high).any():
            return min(self.dot(i, w, b) for i in range(self.n))
        return min(self.dot(int(i), w, b) for i in np.flatnonzero(low <= high.min()))


@final
class _RationalSimplex:
    """min Σ s  s.t.  Σ a_i (v_i, 1) + D s = (0, 1),  a >= 0, s >= 0, in rationals; D = diag(±1).

    Value 0: a proves inseparability. Value τ > 0: its dual (p, τ) has p'v_i + τ <= 0 for all i, and -p separates.
    The basis starts from the rows proposed, or, where these give a negative a, from s alone. The entering row is the most
    violated one (Dantzig), after a step of length 0 the first one (Bland), which cannot cycle.
    """

    def __init__(self, rows: _Rows, intercept: bool, proposed: list[int]) -> None:
        self.rows, self.intercept = rows, intercept
        self.size = rows.d + intercept + 1
        for start in (proposed, []):
            self.basis: list[int | None] = [None] * self.size  # the row of X behind each row of the inverse; None: an s
            self.inverse: Exact = np.array([[ONE if j == k else ZERO for j in range(self.size)] for k in range(self.size)])
            for i in start:
                self._try(i)
            if all(self.inverse[k, -1] >= 0 for k in range(self.size) if self.basis[k] is not None):
                break
        for k in range(self.size):
            if self.basis[k] is None and self.inverse[k, -1] < 0:
                self.inverse[k] = -self.inverse[k]

    def _column(self, i: int) -> Exact:
        column: Exact = np.array([ZERO] * self.size, dtype=object)
        for j, value in self.rows.signed(i, self.intercept):
            column[j] = value
        column[-1] = ONE
        return column

    def _try(self, i: int) -> None:
        """Put row i into the basis in place of some s, if it is independent of those inside."""
        moved = self.inverse @ self._column(i)
        places = [k for k in range(self.size) if self.basis[k] is None and moved[k] != 0]
        if places:
            self._pivot(max(places, key=lambda k: abs(moved[k])), i, moved)

    def _pivot(self, place: int, i: int, moved: Exact) -> None:
        self.inverse[place] = self.inverse[place] / moved[place]
        for k in range(self.size):
            if k != place and moved[k] != 0:
                self.inverse[k] = self.inverse[k] - moved[k] * self.inverse[place]
        self.basis[place] = i

    def run(self) -> dict[int, Fraction] | None:
        """The multipliers a > 0 of a proof of inseparability; None where `direction` separates."""
        bland = False
        while True:
            x = self.inverse[:, -1]
            if not any(x[k] for k in range(self.size) if self.basis[k] is None):
                return {i: x[k] for k, i in enumerate(self.basis) if i is not None and x[k] > 0}
            entering = self._entering(bland)
            if entering is None:
                return None
            moved = self.inverse @ self._column(entering)
            ratios = {k: x[k] / moved[k] for k in range(self.size) if moved[k] > 0}
            least = min(ratios.values())  # not empty: the value is bounded by 0
            tied = [k for k, ratio in ratios.items() if ratio == least]
            self._pivot(min(tied, key=self._rank), entering, moved)
            bland = least == 0

    def _rank(self, place: int) -> int:
        """Bland's order of what leaves: an s first, then rows by number."""
        i = self.basis[place]
        return -1 - place if i is None else i

    def _prices(self) -> Exact:
        """(p, τ): the sum of the rows of the inverse that belong to s."""
        return np.asarray(sum(self.inverse[k] for k in range(self.size) if self.basis[k] is None))

    def direction(self) -> list[Fraction]:
        """-p, which separates once no row enters."""
        return [-p for p in self._prices()[:-1]]

    def _entering(self, bland: bool) -> int | None:
        """A row with v_i'p + τ > 0, decided in floats where their bounds allow it."""
        prices = self._prices()
        w, b = list(prices[: self.rows.d]), prices[self.rows.d] if self.intercept else ZERO
        tau = prices[-1]
        _, high, scale = self.rows.margins(w, b)
        threshold = float(-tau / scale)
        slack = abs(threshold) * 2.0**-50
        possible = np.flatnonzero(~(high < threshold - slack))
        order = possible if bland else possible[np.argsort(-high[possible], kind="stable")]
        for i in order:
            if self.rows.dot(int(i), w, b) + tau > 0:
                return int(i)
        return None


def _exact(values: Any) -> list[Fraction]:
    return [Fraction(v) if isinstance(v, int) else Fraction(float(v)) for v in values]


def _whole(values: Sequence[Fraction | int]) -> tuple[int, ...]:
    """The smallest whole numbers in the same proportion."""
    fractions = [Fraction(v) for v in values]
    common = math.lcm(*(v.denominator for v in fractions))
    numbers = [v.numerator * (common // v.denominator) for v in fractions]
    divisor = math.gcd(*numbers) or 1
    return tuple(number // divisor for number in numbers)
