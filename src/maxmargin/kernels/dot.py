"""Kernels of the inner product x'z, and of x'Az."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from maxmargin.kernels.base import ELEMENTARY, Kernel, checked
from maxmargin.kernels.mercer import check_mercer
from maxmargin.kernels.rows import TINY, Floats, Numbers, Pairs, Rows, Table, as_rows, gamma

MOST_FEATURES = 100_000  # columns of an explicit feature map; beyond, the kernel is the only sensible way


def numbers(rows: Rows) -> Numbers:
    """The rows, which must be Numbers."""
    return Pairs(rows, rows).numbers[0]


def check_width(kernel: Kernel, columns: int) -> None:
    if columns > MOST_FEATURES:
        raise ValueError(
            f"{type(kernel).__name__}.features: the map has {columns:,} columns and the limit is {MOST_FEATURES:,}. "
            "Use block, which never forms them."
        )


def monomials(X: Floats, degree: int) -> tuple[Floats, Floats]:
    """x^α for every multi-index α of the degree, and the number of orders in which its factors can be written, degree! / α!.

    The columns run through the factors in the order of itertools.combinations_with_replacement: x1x1, x1x2, ..., x2x2, ...
    """
    factors = list(itertools.combinations_with_replacement(range(X.shape[1]), degree))
    orders = [math.factorial(degree) // math.prod(math.factorial(each.count(j)) for j in set(each)) for each in factors]
    values = np.ones((X.shape[0], len(factors)))
    for k, each in enumerate(factors):
        for j in each:
            values[:, k] *= X[:, j]
    return values, np.array(orders, dtype=np.float64)


@final
@dataclass(frozen=True, slots=True)
class Linear(Kernel):
    """k(x, z) = x'z;  φ(x) = x."""

    @property
    def positive(self) -> bool:
        return True

    def tile(self, pairs: Pairs) -> Floats:
        return pairs.inner.copy()

    def own(self, rows: Rows) -> Floats:
        return numbers(rows).norms_sq.copy()

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return pairs.inner_error

    def features(self, X: Any) -> Floats:
        """φ(x) = x."""
        return numbers(as_rows(X)).dense


def _affine_error(pairs: Pairs, scale: float, offset: float) -> Floats:
    """How far fl(γ x'z + c) may be from γ x'z + c."""
    return scale * pairs.inner_error + gamma(3) * (scale * (np.abs(pairs.inner) + pairs.inner_error) + abs(offset)) + TINY


@final
@dataclass(frozen=True, slots=True)
class Polynomial(Kernel):
    """k(x, z) = (γ x'z + c)^p, γ > 0, c >= 0, p = 1, 2, ...

    Homogeneous for c = 0: all products of exactly p columns. For c > 0: all products of at most p.
    """

    degree: int
    offset: float = 0.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        checked(self, "degree", lambda p: p >= 1, "a whole number of 1 or more", int)
        checked(self, "offset", lambda c: c >= 0, "0 or more and finite: with a negative offset it is no kernel")
        checked(self, "gamma", lambda g: g > 0, "positive and finite")

    @property
    def positive(self) -> bool:
        return True

    def _at(self, inner: Floats) -> Floats:
        return np.asarray((self.gamma * inner + self.offset) ** self.degree)

    def tile(self, pairs: Pairs) -> Floats:
        return self._at(pairs.inner)

    def own(self, rows: Rows) -> Floats:
        return self._at(numbers(rows).norms_sq)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        # |t^p - T^p| <= p (|T| + e)^(p-1) e
        error = _affine_error(pairs, self.gamma, self.offset)
        size = np.abs(self.gamma * pairs.inner + self.offset)
        return self.degree * (size + error) ** (self.degree - 1) * error + ELEMENTARY * np.abs(tile) + TINY

    def features(self, X: Any) -> Floats:
        """√(p! / (α! (p-|α|)!) γ^|α| c^(p-|α|)) x^α for every multi-index |α| <= p; for c = 0 only |α| = p. By rising |α|.

        By the multinomial theorem <φ(x), φ(z)> = k(x, z). For p = 2, c = 1, d = 2: 1, √2 x1, √2 x2, x1², √2 x1 x2, x2².
        """
        rows = numbers(as_rows(X))
        p, c = self.degree, self.offset
        check_width(self, math.comb(rows.d + p, p) if c else math.comb(rows.d + p - 1, p))
        blocks = []
        for order in range(p + 1) if c else (p,):
            values, orders = monomials(rows.dense, order)
            blocks.append(values * np.sqrt(orders * math.comb(p, order) * self.gamma**order * c ** (p - order)))
        return np.hstack(blocks)


@final
@dataclass(frozen=True, slots=True)
class Sigmoid(Kernel):
    """k(x, z) = tanh(γ x'z + c).  Indefinite: some points give a matrix with a negative eigenvalue, whatever γ and c are.

    It is here because it is in use. No machine can certify a fit with it.
    """

    gamma: float = 1.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        checked(self, "gamma", lambda g: g > 0, "positive and finite")
        checked(self, "offset", lambda c: True, "finite")

    @property
    def positive(self) -> bool:
        return False

    def tile(self, pairs: Pairs) -> Floats:
        return np.tanh(self.gamma * pairs.inner + self.offset)

    def own(self, rows: Rows) -> Floats:
        return np.tanh(self.gamma * numbers(rows).norms_sq + self.offset)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return np.minimum(2.0, _affine_error(pairs, self.gamma, self.offset)) + ELEMENTARY * np.abs(tile)


@final
@dataclass(frozen=True, slots=True)
class QuadraticForm(Kernel):
    """k(x, z) = x'Az, A symmetric and positive semidefinite;  φ(x) = L'x where A = LL'.

    A is checked: a proof that it is indefinite is an error. What rounding hides, a few units of 2^-53 tr A, is let pass, so
    that singular A such as LL' computed in floats can be given.
    """

    A: Any

    def __post_init__(self) -> None:
        table = self.A if isinstance(self.A, Table) else Table(self.A)
        object.__setattr__(self, "A", table)
        A = table.array
        if A.shape[0] != A.shape[1] or not np.array_equal(A, A.T):
            raise ValueError(f"QuadraticForm(A of shape {A.shape}): A must be square and symmetric; (A + A.T) / 2 is.")
        found = check_mercer(A)
        rounding = gamma(4 * A.shape[0]) * float(np.trace(A))
        # A matrix that rounding alone made indefinite has a witness too; what counts is how negative it is.
        if found.valid is not True and not found.smallest_eigenvalue >= -rounding:
            raise ValueError(f"QuadraticForm(A): A must be positive semidefinite. {found!r}")

    @property
    def positive(self) -> bool:
        return True

    def _shaped(self, rows: Rows) -> tuple[Floats, Numbers]:
        right = numbers(rows)
        if right.d != self.A.array.shape[0]:
            raise ValueError(f"QuadraticForm(A of shape {self.A.array.shape}): the rows have {right.d} columns.")
        return np.asarray(right.values @ self.A.array), right

    def tile(self, pairs: Pairs) -> Floats:
        XA, _ = self._shaped(pairs.left)
        return np.asarray(XA @ numbers(pairs.right).values.T)

    def own(self, rows: Rows) -> Floats:
        XA, right = self._shaped(rows)
        return np.asarray(np.einsum("ij,ij->i", XA, right.dense))

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        # Two products of d terms each; |x|'|A||z| <= |x| |A|_F |z|.
        d = self.A.array.shape[0]
        g = gamma(2 * d + 4)
        return np.asarray(g * (1.0 + 2.0 * g) * np.linalg.norm(self.A.array) * pairs.norms + d * TINY)

    def features(self, X: Any) -> Floats:
        """φ(x) = L'x with L = V √Λ from A = V Λ V'; eigenvalues below 0 by rounding are taken as 0."""
        eigenvalues, V = np.linalg.eigh(self.A.array)
        return np.asarray(numbers(as_rows(X)).dense @ (V * np.sqrt(np.maximum(0.0, eigenvalues))))
