"""Design: the rows of X, whatever stores them.

Five verbs, all products: `scores(w) = Xw + b`, `combine(a) = X'a`, `norms_sq = |x_i|²`, and for second-order solvers
`inner(rows, others) = X_I X_J'` and `weighted_gram(t) = X' diag(t) X`. float32 and float64 data are used where they lie, and
every product accumulates in float64.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from maxmargin import _native

Floats = NDArray[np.float64]
VALUE_TYPES = (np.float32, np.float64)
BLOCK = 4096  # rows of one blocked product: small beside the data, large enough for BLAS,
ENTRIES = 2**18  # and more rows where they are short
UNIT = 2.0**-53  # half the distance from 1 to the next double
TINY = 2.0**-1022  # the largest error of an underflow


def enclose(x: Floats, sizes: Floats, terms: int, spread: Floats | float = 0.0) -> tuple[Floats, Floats]:
    """x -+ (spread + the error of sums of so many products, whose sizes were summed in floats too).

    Section 5 of docs/certificate.md.
    """
    k = terms + 1
    gamma = k * UNIT / (1.0 - k * UNIT)
    error = (gamma * (1.0 + 4.0 * gamma) * sizes + spread) * (1.0 + 8.0 * UNIT) + k * TINY
    return np.nextafter(x - error, -np.inf), np.nextafter(x + error, np.inf)


class Design(ABC):
    """Rows x_i of length d. `threads` bounds the team of each product; the same number gives the same bits."""

    n: int
    d: int
    threads: int
    longest_row: int  # the most terms that one x_i'w sums
    dtype: np.dtype[Any]
    data: Any  # the array or CSR matrix itself
    explicit: bool = True  # whether rows and weights are known as vectors, and not by their inner products alone
    positive: bool = True  # whether w'w >= 0 is proved, without which there is no dual bound
    _rows: Any

    @abstractmethod
    def rows(self, rows: NDArray[np.int64]) -> Floats:
        """X_I as a dense array."""

    @abstractmethod
    def inner(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
        """X_I X_J', the inner products of two sets of rows."""

    @abstractmethod
    def weighted_inner(self, rows: NDArray[np.int64], weights: Floats) -> Floats:
        """X_I diag(weights) X_I' for weights >= 0, one per column."""

    @abstractmethod
    def weighted_gram(self, weights: Floats) -> Floats:
        """X' diag(weights) X for weights >= 0, d x d; rows of weight 0 cost nothing."""

    @abstractmethod
    def transposed(self) -> Design:
        """The columns of X as rows of their own Design: a second copy of the data, in its own type."""

    @property
    def stored(self) -> int:
        """How many values the rows hold: the cost of one product."""
        return int(self._rows.stored)

    def scores(self, w: Floats, b: float | Floats = 0.0, absolute: bool = False) -> Floats:
        """z_i = x_i'w + b; with `absolute`, |x_i|'|w| + |b|. One column per column of w."""
        if w.ndim == 1:
            z = np.empty(self.n)
            weights = np.ascontiguousarray(w, dtype=np.float64)
            _native.scores(self._rows, weights, float(b), z, self.threads, absolute)
            return z
        offsets = np.broadcast_to(b, w.shape[1])
        return np.stack([self.scores(w[:, k], float(offsets[k]), absolute) for k in range(w.shape[1])], axis=1)

    def combine(self, a: Floats, absolute: bool = False) -> Floats:
        """u = X'a = Σ a_i x_i; with `absolute`, |X|'|a|. One column per column of a."""
        if a.ndim == 1:
            u = np.empty(self.d)
            _native.combine(self._rows, np.ascontiguousarray(a, dtype=np.float64), u, self.threads, absolute)
            return u
        return np.stack([self.combine(a[:, k], absolute) for k in range(a.shape[1])], axis=1)

    def partner(self, w: Floats) -> Floats:
        """p with |w|² = Σ_j w_j p_j: w itself."""
        return w

    def score_ends(self, w: Floats, b: float, z: Floats) -> tuple[Floats, Floats]:
        """Ends between which the exact scores lie, z being the computed ones."""
        return enclose(z, self.scores(w, b, absolute=True), self.longest_row + 1)

    def combination_ends(self, a: Floats) -> tuple[Floats, Floats]:
        """Ends between which the exact X'a lies."""
        return enclose(self.combine(a), self.combine(a, absolute=True), self.n)

    def paired_ends(self, low: Floats, high: Floats) -> tuple[tuple[Floats, Floats], ...]:
        """(w, partner) at the ends of low <= w <= high: w_j p_j, for the exact w and partner, is largest at one of them."""
        return ((low, low),) if low is high else ((low, low), (high, high))

    @cached_property
    def norms_sq(self) -> Floats:
        """|x_i|²."""
        out = np.empty(self.n)
        _native.norms_sq(self._rows, out, self.threads)
        return out


@final
class Dense(Design):
    """Rows of a 2-D array, each contiguous; any distance between rows."""

    def __init__(self, X: NDArray[Any], threads: int = 1) -> None:
        self.n, self.d = X.shape
        self.threads = threads
        self.longest_row = self.d
        self.dtype = X.dtype
        self.data = X
        self._rows = _native.dense(X)

    def rows(self, rows: NDArray[np.int64]) -> Floats:
        return np.asarray(self.data[rows], dtype=np.float64)

    def transposed(self) -> Dense:
        return Dense(np.ascontiguousarray(self.data.T), self.threads)

    def inner(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
        left = self.rows(rows)
        right = left if others is rows else self.rows(others)
        return np.asarray(left @ right.T)

    def weighted_inner(self, rows: NDArray[np.int64], weights: Floats) -> Floats:
        block = self.rows(rows)
        block *= np.sqrt(weights)
        return np.asarray(block @ block.T)

    def weighted_gram(self, weights: Floats) -> Floats:
        total = np.zeros((self.d, self.d))
        used = np.flatnonzero(weights)
        size = max(BLOCK, ENTRIES // max(self.d, 1))
        for first in range(0, used.size, size):
            rows = used[first : first + size]
            block = self.rows(rows)
            block *= np.sqrt(weights[rows, None])
            total += block.T @ block  # of one array with itself: BLAS computes half
        return total


@final
class Sparse(Design):
    """Rows of a CSR matrix with 32- or 64-bit indices, one entry at most per place."""

    def __init__(self, X: Any, threads: int = 1) -> None:
        rows = _csr_rows(X)
        if not rows.canonical:
            X = X.copy()
            X.sum_duplicates()
            rows = _csr_rows(X)
        self.n, self.d = X.shape
        self.threads = threads
        self.longest_row = int(np.diff(X.indptr).max(initial=0))
        self.dtype = X.dtype
        self.data = X
        self._rows = rows

    def rows(self, rows: NDArray[np.int64]) -> Floats:
        return np.asarray(self.data[rows].astype(np.float64).toarray())

    def transposed(self) -> Sparse:
        return Sparse(self.data.T.tocsr(), self.threads)

    def inner(self, rows: NDArray[np.int64], others: NDArray[np.int64]) -> Floats:
        left = self.data[rows].astype(np.float64)
        right = left if others is rows else self.data[others].astype(np.float64)
        return np.asarray((left @ right.T).toarray())

    def weighted_inner(self, rows: NDArray[np.int64], weights: Floats) -> Floats:
        block = self.data[rows].astype(np.float64)
        return np.asarray((block.multiply(weights).tocsr() @ block.T).toarray())

    def weighted_gram(self, weights: Floats) -> Floats:
        total = np.zeros((self.d, self.d))
        used = np.flatnonzero(weights)
        size = max(BLOCK, ENTRIES // max(self.d, 1))
        for first in range(0, used.size, size):
            rows = used[first : first + size]
            block = self.data[rows].astype(np.float64)
            total += (block.multiply(weights[rows, None]).tocsr().T @ block).toarray()
        return total


def as_design(X: Any, threads: int = 1) -> Design:
    """The Design of a validated 2-D array or CSR matrix.

    Nothing is copied, with four exceptions, each in its own dtype: arrays whose rows are not contiguous (Fortran order) or not
    aligned, sparse formats other than CSR,
    CSR rows whose columns do not rise (they may store a place twice), and index arrays of two different types.
    """
    if sp.issparse(X):
        if X.dtype not in VALUE_TYPES:
            raise TypeError(f"Sparse(dtype={X.dtype}): values must be float32 or float64.")
        if X.format != "csr":
            check_structure(X)
            X = X.tocsr()
        return Sparse(X, threads)
    if X.dtype not in VALUE_TYPES:
        raise TypeError(f"Dense(dtype={X.dtype}): values must be float32 or float64.")
    if (X.shape[1] > 1 and X.strides[1] != X.itemsize) or not X.flags.aligned or X.strides[0] % X.itemsize:
        X = np.ascontiguousarray(X) if X.flags.aligned else np.array(X, order="C")
    return Dense(X, threads)


def check_structure(X: Any) -> None:
    """Refuse a corrupt sparse matrix before a conversion reads through its indices."""
    if not sp.issparse(X):
        return
    if X.format in ("csr", "csc", "bsr"):
        across = X.shape[0] if X.format == "csc" else X.shape[1] // (X.blocksize[1] if X.format == "bsr" else 1)
        falls = bool(X.indptr[0] != 0 or (np.diff(X.indptr) < 0).any() or X.indptr[-1] > X.indices.size)
        places = [(X.indices[: max(0, int(X.indptr[-1]))], across)]
    else:
        falls = False
        places = [(X.row, X.shape[0]), (X.col, X.shape[1])] if X.format == "coo" else []
    if falls or any(place.size and (place.min() < 0 or place.max() >= size) for place, size in places):
        raise ValueError(
            f"X is a corrupt {X.format.upper()} matrix of shape {X.shape}: "
            + ("indptr must rise from 0 to the number of stored values." if falls else "an index lies outside the matrix.")
        )


def _csr_rows(X: Any) -> Any:
    indices, indptr = X.indices, X.indptr
    wide = np.int64 if np.int64 in (indices.dtype, indptr.dtype) else np.int32
    stored = max(0, int(indptr[-1])) if indptr.size else 0
    try:
        return _native.sparse(
            np.ascontiguousarray(X.data[:stored]),
            np.ascontiguousarray(indices[:stored], dtype=wide),
            np.ascontiguousarray(indptr, dtype=wide),
            X.shape[1],
        )
    except ValueError as fault:
        raise ValueError(f"X is a corrupt CSR matrix of shape {X.shape}: {fault}.") from None
