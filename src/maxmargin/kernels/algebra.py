"""The rules by which kernels make kernels, each with its condition. `docs/kernels.md` has the proofs.

Every rule works on whole tiles. `Weighted` and `Composed` hold a function, which must have a name or be a value that prints
as itself, so that eval(repr(k)) == k.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from maxmargin.kernels.base import ELEMENTARY, OWN_ROUNDING, Kernel, checked, checked_kernel, is_real, is_whole
from maxmargin.kernels.rows import TINY, UNIT, Floats, Numbers, Pairs, Rows, Sequences, Table, as_rows, gamma


@final
@dataclass(frozen=True, slots=True)
class Constant(Kernel):
    """k(x, z) = c, c >= 0:  φ(x) = √c."""

    value: float = 1.0

    def __post_init__(self) -> None:
        checked(self, "value", lambda c: c >= 0, "0 or more and finite: k(x, x) = |φ(x)|² is never negative")

    @property
    def positive(self) -> bool:
        return True

    def tile(self, pairs: Pairs) -> Floats:
        return np.full((pairs.left.n, pairs.right.n), self.value)

    def own(self, rows: Rows) -> Floats:
        return np.full(rows.n, self.value)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return np.zeros_like(tile)


@final
@dataclass(frozen=True, slots=True)
class Scaled(Kernel):
    """c k(x, z), c >= 0:  φ' = √c φ."""

    kernel: Kernel
    factor: float

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)
        checked(self, "factor", lambda c: c >= 0, "0 or more and finite: a negative multiple of a kernel is no kernel")

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    def tile(self, pairs: Pairs) -> Floats:
        K = self.kernel.tile(pairs)
        K *= self.factor
        return K

    def own(self, rows: Rows) -> Floats:
        return self.factor * self.kernel.own(rows)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return self.factor * self.kernel.tile_error(pairs, self.kernel.tile(pairs)) + UNIT * np.abs(tile) + TINY


def _check_kernels(outer: Sum | Product) -> None:
    object.__setattr__(outer, "kernels", tuple(outer.kernels))
    if not outer.kernels:
        raise ValueError(f"{type(outer).__name__}(kernels=()): give at least one kernel.")
    for kernel in outer.kernels:
        checked_kernel(outer, kernel)


@final
@dataclass(frozen=True, slots=True)
class Sum(Kernel):
    """k_1(x, z) + k_2(x, z) + ...:  φ' = (φ_1, φ_2, ...)."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _check_kernels(self)

    @property
    def positive(self) -> bool:
        return all(kernel.positive for kernel in self.kernels)

    def tile(self, pairs: Pairs) -> Floats:
        K = self.kernels[0].tile(pairs)
        for kernel in self.kernels[1:]:
            K += kernel.tile(pairs)
        return K

    def own(self, rows: Rows) -> Floats:
        return functools.reduce(np.add, (kernel.own(rows) for kernel in self.kernels))

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        total = np.zeros_like(tile)
        for kernel in self.kernels:
            K = kernel.tile(pairs)
            error = kernel.tile_error(pairs, K)
            total += error + gamma(len(self.kernels)) * (np.abs(K) + error)
        return total


@final
@dataclass(frozen=True, slots=True)
class Product(Kernel):
    """k_1(x, z) k_2(x, z) ...:  φ' = φ_1 ⊗ φ_2 ⊗ ... (Schur 1911)."""

    kernels: tuple[Kernel, ...]

    def __post_init__(self) -> None:
        _check_kernels(self)

    @property
    def positive(self) -> bool:
        return all(kernel.positive for kernel in self.kernels)

    def tile(self, pairs: Pairs) -> Floats:
        K = self.kernels[0].tile(pairs)
        for kernel in self.kernels[1:]:
            K *= kernel.tile(pairs)
        return K

    def own(self, rows: Rows) -> Floats:
        return functools.reduce(np.multiply, (kernel.own(rows) for kernel in self.kernels))

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        K = self.kernels[0].tile(pairs)
        error = self.kernels[0].tile_error(pairs, K)
        for kernel in self.kernels[1:]:
            factor = kernel.tile(pairs)
            other = kernel.tile_error(pairs, factor)
            error = np.abs(K) * other + error * (np.abs(factor) + other) + TINY
            K = K * factor
            error += UNIT * np.abs(K)
        return error


@final
@dataclass(frozen=True, slots=True)
class PolynomialOf(Kernel):
    """Σ_p a_p k(x, z)^p, a_p >= 0:  sums and products of kernels."""

    kernel: Kernel
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)
        for p, a in enumerate(self.coefficients):
            if not is_real(a) or not np.isfinite(a) or a < 0:
                raise ValueError(
                    f"PolynomialOf(coefficients={self.coefficients!r}): the coefficient of k^{p} is {a!r}; "
                    "every coefficient must be 0 or more and finite."
                )
        if not self.coefficients:
            raise ValueError("PolynomialOf(coefficients=()): give at least the constant coefficient.")
        object.__setattr__(self, "coefficients", tuple(float(a) for a in self.coefficients))

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    def _at(self, K: Floats) -> Floats:
        """Horner's rule."""
        value = np.full_like(K, self.coefficients[-1])
        for a in self.coefficients[-2::-1]:
            value *= K
            value += a
        return value

    def tile(self, pairs: Pairs) -> Floats:
        return self._at(self.kernel.tile(pairs))

    def own(self, rows: Rows) -> Floats:
        return self._at(self.kernel.own(rows))

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        # |P(k) - P(K)| <= P'(|K| + e) e, and Horner's rule errs by γ_2p P(|K|), because no coefficient is negative.
        K = self.kernel.tile(pairs)
        error = self.kernel.tile_error(pairs, K)
        far = np.abs(K) + error
        slope = np.zeros_like(far)
        for p in range(len(self.coefficients) - 1, 0, -1):
            slope = slope * far + p * self.coefficients[p]
        return slope * error + gamma(2 * len(self.coefficients)) * self._at(far) + len(self.coefficients) * TINY


@final
@dataclass(frozen=True, slots=True)
class Exponential(Kernel):
    """exp(k(x, z)) = Σ_p k(x, z)^p / p!:  the limit of polynomials with non-negative coefficients."""

    kernel: Kernel

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    def tile(self, pairs: Pairs) -> Floats:
        K = self.kernel.tile(pairs)
        return np.exp(K, out=K)

    def own(self, rows: Rows) -> Floats:
        return np.exp(self.kernel.own(rows))

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        error = self.kernel.tile_error(pairs, self.kernel.tile(pairs))
        return (tile + TINY) * (1.0 + ELEMENTARY) * np.expm1(error) + ELEMENTARY * tile + TINY


def _check_function(outer: Kernel, name: str, function: Any) -> None:
    if not callable(function):
        raise TypeError(f"{type(outer).__name__}({name}={function!r}): {name} must be a function of many rows.")
    if _name(function) == "<lambda>":
        raise ValueError(
            f"{type(outer).__name__}({name}=<lambda>): {name} must have a name, so that the kernel prints as itself. Use def."
        )


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", None) or repr(function))


@final
@dataclass(frozen=True, slots=True, repr=False)
class Weighted(Kernel):
    """f(x) k(x, z) f(z):  φ' = f φ.

    `weight` is f for many rows at once: it gets an array, CSR matrix or list of bytes, and returns one number per row. It may
    look at no row but its own, because it is called on parts.
    """

    kernel: Kernel
    weight: Callable[[Any], Any]

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)
        _check_function(self, "weight", self.weight)

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    def _weights(self, rows: Rows) -> Floats:
        def weigh() -> Floats:
            f = np.asarray(self.weight(rows.data), dtype=np.float64)
            if f.shape != (rows.n,) or not np.isfinite(f).all():
                raise ValueError(
                    f"Weighted(weight={_name(self.weight)}): weight must give one finite number per row; for {rows.n} rows it "
                    f"gave an array of shape {f.shape}."
                )
            return f

        return rows.kept((self, "weights"), weigh)

    def tile(self, pairs: Pairs) -> Floats:
        K = self.kernel.tile(pairs)
        K *= self._weights(pairs.left)[:, None]
        K *= self._weights(pairs.right)
        return K

    def own(self, rows: Rows) -> Floats:
        return self._weights(rows) ** 2 * self.kernel.own(rows)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        error = self.kernel.tile_error(pairs, self.kernel.tile(pairs))
        scale = np.abs(self._weights(pairs.left))[:, None] * np.abs(self._weights(pairs.right))
        return scale * error + gamma(3) * (np.abs(tile) + scale * error) + (1.0 + scale) * TINY

    def __repr__(self) -> str:
        return f"Weighted(kernel={self.kernel!r}, weight={_name(self.weight)})"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Composed(Kernel):
    """k(φ(x), φ(z)):  a kernel on the image of φ.

    `feature_map` is φ for many rows at once, under the conditions of `Weighted`; it returns one row per row.
    """

    kernel: Kernel
    feature_map: Callable[[Any], Any]

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)
        _check_function(self, "feature_map", self.feature_map)

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    def _mapped(self, rows: Rows) -> Rows:
        mapped = as_rows(self.feature_map(rows.data))
        if mapped.n != rows.n:
            raise ValueError(
                f"Composed(feature_map={_name(self.feature_map)}): {rows.n} rows went in and {mapped.n} came out."
            )
        return mapped

    def _pairs(self, pairs: Pairs) -> Pairs:
        left = self._mapped(pairs.left)
        return Pairs(left, left if pairs.left is pairs.right else self._mapped(pairs.right), pairs.threads)

    def tile(self, pairs: Pairs) -> Floats:
        return self.kernel.tile(self._pairs(pairs))

    def own(self, rows: Rows) -> Floats:
        return self.kernel.own(self._mapped(rows))

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return self.kernel.tile_error(self._pairs(pairs), tile)

    def __repr__(self) -> str:
        return f"Composed(kernel={self.kernel!r}, feature_map={_name(self.feature_map)})"


@final
@dataclass(frozen=True, slots=True)
class Restricted(Kernel):
    """k(x_J, z_J) on the columns J:  composition with a projection."""

    kernel: Kernel
    columns: tuple[int, ...]

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)
        if not self.columns or not all(is_whole(j) and j >= 0 for j in self.columns):
            raise ValueError(
                f"Restricted(columns={self.columns!r}): columns must be whole numbers of 0 or more, at least one."
            )
        if len(set(self.columns)) < len(self.columns):
            raise ValueError(f"Restricted(columns={self.columns!r}): name each column once.")
        object.__setattr__(self, "columns", tuple(int(j) for j in self.columns))

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    def _columns(self, rows: Rows) -> Numbers:
        if not isinstance(rows, Numbers):
            raise TypeError("Restricted: strings have no columns; rows must be a 2-D array or sparse matrix.")
        if max(self.columns) >= rows.d:
            raise ValueError(f"Restricted(columns={self.columns!r}): the rows have {rows.d} columns, numbered from 0.")
        chosen = rows.data[:, list(self.columns)]
        if sp.issparse(chosen):
            chosen.sort_indices()
        return Numbers(np.ascontiguousarray(chosen) if isinstance(chosen, np.ndarray) else chosen)

    def _pairs(self, pairs: Pairs) -> Pairs:
        left = self._columns(pairs.left)
        return Pairs(left, left if pairs.left is pairs.right else self._columns(pairs.right), pairs.threads)

    def tile(self, pairs: Pairs) -> Floats:
        return self.kernel.tile(self._pairs(pairs))

    def own(self, rows: Rows) -> Floats:
        return self.kernel.own(self._columns(rows))

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return self.kernel.tile_error(self._pairs(pairs), tile)


@final
@dataclass(frozen=True, slots=True)
class Normalized(Kernel):
    """k(x, z) / sqrt(k(x, x) k(z, z)):  φ' = φ / |φ|, the cosine of φ(x) and φ(z).

    It is 0 where k(x, x) or k(z, z) is computed as 0, as for rows of zeros under `Linear`.
    """

    kernel: Kernel

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)
        if not self.kernel.positive:
            raise ValueError(
                f"Normalized(kernel={self.kernel!r}): k(x, x) is divided by as a squared length, so the kernel must be positive "
                "semidefinite, and this one is not known to be."
            )

    @property
    def positive(self) -> bool:
        return True

    def _lengths(self, rows: Rows) -> Floats:
        return rows.kept((self, "lengths"), lambda: np.sqrt(np.maximum(0.0, self.kernel.own(rows))))

    def tile(self, pairs: Pairs) -> Floats:
        K = self.kernel.tile(pairs)
        for lengths in (self._lengths(pairs.left)[:, None], self._lengths(pairs.right)[None, :]):
            K = np.divide(K, lengths, out=np.zeros_like(K), where=lengths > 0)
        return K

    def own(self, rows: Rows) -> Floats:
        return (self._lengths(rows) > 0).astype(np.float64)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        # K = k + e over sqrt((a + e_a)(b + e_b)); both the value and k's quotient lie in [-1, 1] up to what is bounded here.
        error = self.kernel.tile_error(pairs, self.kernel.tile(pairs))
        (left, left_zero), (right, right_zero) = self._share(pairs.left), self._share(pairs.right)
        stretch = 1.0 / np.sqrt(np.maximum(TINY, (1.0 - left)[:, None] * (1.0 - right)))
        lengths = self._lengths(pairs.left)[:, None] * self._lengths(pairs.right)
        relative = np.divide(error, lengths, out=np.zeros_like(error), where=lengths > 0)
        bound = relative * stretch + np.abs(tile) * (stretch - 1.0) + 2.0 * ELEMENTARY * (np.abs(tile) + relative)
        # A length computed as 0 may hide any direction, unless no more than an underflow can be missing.
        bound = np.where(lengths > 0, np.minimum(bound, 1.0 + np.abs(tile)), 1.0)
        return np.where(left_zero[:, None] | right_zero, 0.0, bound)

    def _share(self, rows: Rows) -> tuple[Floats, NDArray[np.bool_]]:
        """The error of k(x, x), relative to it, 1 where nothing is known; and where k(x, x) is 0 up to underflow."""

        def share() -> tuple[Floats, NDArray[np.bool_]]:
            pairs = Pairs(rows, rows)
            own = self.kernel.own(rows)
            error = np.diagonal(self.kernel.tile_error(pairs, self.kernel.tile(pairs)))
            relative = np.minimum(1.0, np.divide(error, own, out=np.ones_like(own), where=own > 0))
            return relative, np.maximum(own, error) <= TINY / UNIT

        return rows.kept((self, "share"), share)


@final
@dataclass(frozen=True, slots=True)
class Centered(Kernel):
    """k(x, z) - mean_r k(x, r) - mean_r k(r, z) + mean_rs k(r, s) over rows r, s:  φ' = φ - mean_r φ(r).

    The rows become part of the value: a `Table`, or a tuple of bytes for strings.
    """

    kernel: Kernel
    rows: Any
    _mean: float = field(init=False, repr=False, compare=False)
    _mean_error: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        checked_kernel(self, self.kernel)
        rows = as_rows(self.rows.array if isinstance(self.rows, Table) else self.rows)
        if rows.n == 0:
            raise ValueError("Centered(rows): the mean needs at least one row.")
        object.__setattr__(self, "rows", tuple(rows.data) if isinstance(rows, Sequences) else Table(rows.data))
        means = self._means(rows)
        object.__setattr__(self, "_mean", float(means[0].mean()))
        object.__setattr__(self, "_mean_error", float(means[1].mean() + gamma(rows.n + 2) * np.abs(means[0]).mean()))

    @property
    def positive(self) -> bool:
        return self.kernel.positive

    def _center(self) -> Rows:
        return as_rows(self.rows.array if isinstance(self.rows, Table) else self.rows)

    def _means(self, rows: Rows) -> tuple[Floats, Floats]:
        """mean_r k(x, r) of every row, and a bound on its error."""

        def mean() -> tuple[Floats, Floats]:
            total, error = np.zeros(rows.n), np.zeros(rows.n)
            center = self._center()
            for part in center.parts():
                pairs = Pairs(rows, part)
                K = self.kernel.tile(pairs)
                total += K.sum(axis=1)
                bound = self.kernel.tile_error(pairs, K)
                error += (bound + gamma(center.n + 2) * np.abs(K)).sum(axis=1)
            return total / center.n, OWN_ROUNDING * error / center.n

        return rows.kept((self, "means"), mean)

    def tile(self, pairs: Pairs) -> Floats:
        K = self.kernel.tile(pairs)
        K -= self._means(pairs.left)[0][:, None] - self._mean
        K -= self._means(pairs.right)[0]
        return K

    def own(self, rows: Rows) -> Floats:
        return self.kernel.own(rows) - (self._means(rows)[0] - self._mean) - self._means(rows)[0]

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        K = self.kernel.tile(pairs)
        (left, left_error), (right, right_error) = self._means(pairs.left), self._means(pairs.right)
        size = np.abs(K) + np.abs(left)[:, None] + np.abs(right) + abs(self._mean)
        error = self.kernel.tile_error(pairs, K) + left_error[:, None] + right_error + self._mean_error
        return error + gamma(4) * (size + error)
