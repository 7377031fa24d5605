"""Kernels on {0, 1}^d: conjunctions of literals, where a literal is a column or its negation.

same(x, z) = the number of columns on which x and z agree = d - Σ x - Σ z + 2 x'z, exact in doubles.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from maxmargin.kernels.base import Kernel, checked
from maxmargin.kernels.dot import check_width, numbers
from maxmargin.kernels.rows import UNIT, Floats, Numbers, Pairs, Rows, as_rows


def _booleans(kernel: Kernel, rows: Rows) -> Numbers:
    """The rows, which must hold 0 and 1 alone."""

    def check() -> Numbers:
        values = numbers(rows)
        stored = values.data if isinstance(values.data, np.ndarray) else values.data.data
        wrong = stored[(stored != 0) & (stored != 1)]
        if wrong.size:
            raise ValueError(f"{type(kernel).__name__}: every value must be 0 or 1; the rows hold {wrong[0]!s}.")
        return values

    return rows.kept("booleans", check)


def _same(kernel: Kernel, pairs: Pairs) -> tuple[Floats, int]:
    left, right = _booleans(kernel, pairs.left), _booleans(kernel, pairs.right)
    return left.d - left.sums[:, None] - right.sums + 2.0 * pairs.inner, left.d


def _literals(X: Floats) -> Floats:
    """1, x_j and 1 - x_j, as n x d x 3."""
    return np.stack([np.ones_like(X), X, 1.0 - X], axis=2)


@final
@dataclass(frozen=True, slots=True)
class BooleanMonomials(Kernel):
    """k(x, z) = 2^same(x, z) for x, z in {0, 1}^d;  φ: the 3^d conjunctions of literals, of any size.

    A conjunction is true for both x and z if each of its literals is about a column on which they agree, with its value:
    each such column is in or out.
    """

    @property
    def positive(self) -> bool:
        return True

    def _power(self, same: Floats, d: int) -> Floats:
        if d > 1023:
            raise OverflowError(f"BooleanMonomials: 2^{d} is beyond the doubles. Use Conjunctions(size), or fewer columns.")
        return np.ldexp(1.0, same.astype(np.int32))

    def tile(self, pairs: Pairs) -> Floats:
        return self._power(*_same(self, pairs))

    def own(self, rows: Rows) -> Floats:
        d = _booleans(self, rows).d
        return self._power(np.full(rows.n, float(d)), d)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return np.zeros_like(tile)

    def features(self, X: Any) -> Floats:
        """Π_j of 1, x_j or 1 - x_j, in every way; the last column's choice changes fastest."""
        rows = _booleans(self, as_rows(X))
        check_width(self, 3**rows.d)
        values = np.ones((rows.n, 1))
        for literal in np.moveaxis(_literals(rows.dense), 1, 0):
            values = (values[:, :, None] * literal[:, None, :]).reshape(rows.n, -1)
        return values


@final
@dataclass(frozen=True, slots=True)
class Conjunctions(Kernel):
    """k(x, z) = C(same(x, z), m) for x, z in {0, 1}^d;  φ: the C(d, m) 2^m conjunctions of exactly m = `size` literals."""

    size: int

    def __post_init__(self) -> None:
        checked(self, "size", lambda m: m >= 1, "a whole number of 1 or more", int)

    @property
    def positive(self) -> bool:
        return True

    def _choose(self, same: Floats, d: int) -> Floats:
        try:
            table = np.array([float(math.comb(s, self.size)) for s in range(d + 1)])
        except OverflowError:
            raise OverflowError(f"Conjunctions(size={self.size}): C({d}, {self.size}) is beyond the doubles.") from None
        return np.asarray(table[same.astype(np.int64)])

    def tile(self, pairs: Pairs) -> Floats:
        return self._choose(*_same(self, pairs))

    def own(self, rows: Rows) -> Floats:
        d = _booleans(self, rows).d
        return self._choose(np.full(rows.n, float(d)), d)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return np.where(tile < 2.0**53, 0.0, UNIT * tile)

    def features(self, X: Any) -> Floats:
        """The conjunctions of m literals, by columns in the order of itertools.combinations, then by values 1 before 0."""
        rows = _booleans(self, as_rows(X))
        check_width(self, math.comb(rows.d, self.size) * 2**self.size)
        literals = _literals(rows.dense)[:, :, 1:]
        columns = [
            np.prod([literals[:, j, v] for j, v in zip(chosen, values, strict=True)], axis=0)
            for chosen in itertools.combinations(range(rows.d), self.size)
            for values in itertools.product((0, 1), repeat=self.size)
        ]
        return np.stack(columns, axis=1) if columns else np.empty((rows.n, 0))
