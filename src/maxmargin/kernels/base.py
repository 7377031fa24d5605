"""Kernel: k(x, z) as a frozen value, evaluated over blocks.

A kernel says what one tile of pairs holds (`tile`), what k(x, x) is (`own`), how far rounding may have moved a tile
(`tile_error`) and whether it is proved to be positive semidefinite (`positive`). `block` cuts rows into parts, so that the
memory beside the result is bounded, and computes half where both sides are the same rows. Products of rows are formed in
float64, by BLAS for dense rows and by sparse products for CSR, whatever the type of the rows.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import scipy.sparse as sp

from maxmargin.kernels.rows import TINY, UNIT, Floats, Pairs, Rows, as_rows, tiles

if TYPE_CHECKING:
    from maxmargin.kernels.algebra import (
        Centered,
        Composed,
        Exponential,
        Normalized,
        PolynomialOf,
        Product,
        Restricted,
        Scaled,
        Sum,
        Weighted,
    )

ELEMENTARY = 16.0 * UNIT  # the relative error granted to exp, tanh, power and square root
OWN_ROUNDING = 1.0 + 2.0**-40  # error bounds are sums of positive floats, rounded themselves


class Kernel(ABC):
    """k(x, z) = k(z, x)."""

    __slots__ = ()
    __array_ufunc__: ClassVar[None] = None  # so that np.float64(2) * k is k's business

    @property
    @abstractmethod
    def positive(self) -> bool:
        """Whether it is proved that Σ c_i c_j k(x_i, x_j) >= 0 for all points and c."""

    @abstractmethod
    def tile(self, pairs: Pairs) -> Floats:
        """k(x, z) of every left x and right z, in an array of its own."""

    @abstractmethod
    def own(self, rows: Rows) -> Floats:
        """k(x, x) of every row."""

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        """A bound on |computed - k| for each value of `tile`. Unless a kernel says more, 2^-44 of the largest value is promised."""
        return np.full(tile.shape, 2.0**-44 * float(np.abs(tile).max(initial=0.0)) + TINY)

    def block(self, A: Any, B: Any = None, threads: int = 1) -> Floats:
        """K_ij = k(a_i, b_j). Without B, B = A: K is then symmetric to the bit and its diagonal is `diagonal(A)`.

        `threads` bounds the team of native loops and changes no bit; BLAS keeps its own count.
        """
        return self._assemble(A, B, threads, self.tile, self.own)

    def error(self, A: Any, B: Any = None, threads: int = 1) -> Floats:
        """A bound on |block(A, B) - k|, entry by entry, rounding of the bound included."""

        def tile(pairs: Pairs) -> Floats:
            return OWN_ROUNDING * self.tile_error(pairs, self.tile(pairs)) + TINY

        return self._assemble(A, B, threads, tile, None)

    def diagonal(self, A: Any) -> Floats:
        """k(a_i, a_i)."""
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [self.own(part) for part in as_rows(A).parts()]
        return self._finite(np.concatenate([np.empty(0), *parts]))

    def __call__(self, x: Any, z: Any = None) -> Any:
        """k(x, z) of two rows as a float; of many rows `block(x, z)`, as scikit-learn calls its kernels."""
        if z is not None and _is_row(x) and _is_row(z):
            return float(self.block([x], [z])[0, 0])
        return self.block(x, z)

    def _assemble(
        self, A: Any, B: Any, threads: int, tile: Callable[[Pairs], Floats], own: Callable[[Rows], Floats] | None
    ) -> Floats:
        left = as_rows(A)
        right = left if B is None or B is A else as_rows(B)
        K = np.empty((left.n, right.n))
        with np.errstate(over="ignore", invalid="ignore"):  # found and said below
            for i, j, pairs in tiles(left, right, threads):
                part = tile(pairs)
                if pairs.left is pairs.right:
                    lower = np.tril(part, -1)
                    diagonal = np.diagonal(part) if own is None else own(pairs.left)
                    part = lower + lower.T
                    np.fill_diagonal(part, diagonal)
                K[i, j] = part
                if left is right:
                    K[j, i] = part.T
        return self._finite(K)

    def _finite(self, values: Floats) -> Floats:
        if not np.isfinite(values).all():
            raise OverflowError(
                f"{type(self).__name__}: a value is beyond the doubles on these rows. Scale the rows or the kernel's parameters."
            )
        return values

    # --- algebra: the rules and their conditions are in algebra.py, which builds on this module ---------------------------

    def __add__(self, other: Kernel | float) -> Sum:
        """k1 + k2; a number adds a constant."""
        from maxmargin.kernels.algebra import Constant, Sum

        if is_real(other):
            other = Constant(float(other))  # type: ignore[arg-type]
        return Sum(_several(Sum, self, other)) if isinstance(other, Kernel) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other: Kernel | float) -> Product | Scaled:
        """k1 k2, or c k for a number c."""
        from maxmargin.kernels.algebra import Product, Scaled

        if is_real(other):
            return Scaled(self, float(other))  # type: ignore[arg-type]
        return Product(_several(Product, self, other)) if isinstance(other, Kernel) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, degree: int) -> PolynomialOf:
        """k^p for a whole number p >= 1."""
        if not is_whole(degree) or degree < 1:
            raise ValueError(f"kernel ** {degree!r}: the power must be a whole number of 1 or more; others make no kernel.")
        return self.polynomial((0.0,) * degree + (1.0,))

    def polynomial(self, coefficients: tuple[float, ...]) -> PolynomialOf:
        """Σ_p a_p k^p with a_p >= 0."""
        from maxmargin.kernels.algebra import PolynomialOf

        return PolynomialOf(self, tuple(coefficients))

    def exp(self) -> Exponential:
        """exp(k)."""
        from maxmargin.kernels.algebra import Exponential

        return Exponential(self)

    def weighted(self, weight: Callable[[Any], Any]) -> Weighted:
        """f(x) k(x, z) f(z)."""
        from maxmargin.kernels.algebra import Weighted

        return Weighted(self, weight)

    def after(self, feature_map: Callable[[Any], Any]) -> Composed:
        """k(φ(x), φ(z))."""
        from maxmargin.kernels.algebra import Composed

        return Composed(self, feature_map)

    def on(self, columns: Any) -> Restricted:
        """k of the rows restricted to these columns."""
        from maxmargin.kernels.algebra import Restricted

        return Restricted(self, tuple(columns))

    def normalized(self) -> Normalized:
        """k(x, z) / sqrt(k(x, x) k(z, z))."""
        from maxmargin.kernels.algebra import Normalized

        return Normalized(self)

    def centered(self, rows: Any) -> Centered:
        """<φ(x) - m, φ(z) - m>, m the mean of φ over these rows."""
        from maxmargin.kernels.algebra import Centered

        return Centered(self, rows)


def _several(kind: type[Any], first: Kernel, second: Kernel) -> tuple[Kernel, ...]:
    """The terms of a + b + c as one tuple."""
    return (*(first.kernels if isinstance(first, kind) else (first,)), second)


def _is_row(x: Any) -> bool:
    return isinstance(x, str | bytes) or (not sp.issparse(x) and np.ndim(x) == 1 and np.asarray(x).dtype.kind in "biuf")


def is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def checked(kernel: Kernel, name: str, holds: Callable[[float], bool], condition: str, convert: type[Any] = float) -> None:
    """Make the field a plain float or int, if it is a number for which the condition holds; else say so."""
    value = getattr(kernel, name)
    right = is_whole(value) if convert is int else is_real(value)
    if not right or not math.isfinite(value) or not holds(value):
        raise ValueError(f"{type(kernel).__name__}({name}={value!r}): {name} must be {condition}.")
    object.__setattr__(kernel, name, convert(value))


def checked_kernel(outer: Kernel, kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise TypeError(
            f"{type(outer).__name__}(kernel={kernel!r}): kernel must be a Kernel value, such as Gaussian(gamma=1.0)."
        )
