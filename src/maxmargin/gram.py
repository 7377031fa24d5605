"""Gram: rows φ(x_i) that are known by their inner products alone, K_ij = <φ(x_i), φ(x_j)>.

A weight w = Σ_i v_i φ(x_i) is given by v, so that Xw = Kv, X'a is a itself, and |w|² = v'Kv. Values are formed in float64, in
tiles of bounded memory, over the columns where v is not 0.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin.design import Design, enclose
from maxmargin.kernels.base import OWN_ROUNDING, Kernel
from maxmargin.kernels.mercer import Mercer, check_mercer
from maxmargin.kernels.rows import Rows, as_rows, gamma

Floats = NDArray[np.float64]
Rows64 = NDArray[np.int64]

TILE = 1024  # columns of a tile, and
TALL = 4096  # its rows: 32 MiB
BATCH = 1 << 22  # values of kernel rows that are formed at once, in float64


class Products(ABC):
    """Inner products of n rows. `shift`: no eigenvalue of their matrix is below -shift; ∞ where that is not proved."""

    n: int
    shift: float

    @abstractmethod
    def block(self, rows: Rows64, columns: Rows64) -> Floats:
        """K_ij for these i and j."""

    @abstractmethod
    def error(self, rows: Rows64, columns: Rows64) -> Floats:
        """A bound on |block - K|; raises where nothing is promised."""

    @abstractmethod
    def diagonal(self) -> Floats:
        """K_ii."""


@final
class OfKernel(Products):
    """k(x_i, x_j) of rows. `mercer` is what `check_mercer` found on them, for kernels that are not proved positive."""

    def __init__(self, kernel: Kernel, rows: Rows, mercer: Mercer | None = None, threads: int = 1) -> None:
        self.kernel, self.rows, self.threads = kernel, rows, threads
        self.n = rows.n
        self.shift = 0.0 if kernel.positive else _shift(mercer, kernel.diagonal(rows))

    def block(self, rows: Rows64, columns: Rows64) -> Floats:
        return self.kernel.block(self._take(rows), self._take(columns), threads=self.threads)

    def error(self, rows: Rows64, columns: Rows64) -> Floats:
        return self.kernel.error(self._take(rows), self._take(columns), threads=self.threads)

    def diagonal(self) -> Floats:
        return self.kernel.diagonal(self.rows)

    def _take(self, chosen: Rows64) -> Rows:
        return self.rows if len(chosen) == self.n and np.array_equal(chosen, np.arange(self.n)) else self.rows.take(chosen)


@final
class OfMatrix(Products):
    """The entries of a symmetric matrix, taken as exact."""

    def __init__(self, K: NDArray[Any], mercer: Mercer | None = None) -> None:
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(f"Gram.of_matrix(K of shape {K.shape}): the matrix of inner products must be square.")
        self.K, self.n = K, int(K.shape[0])
        self.shift = _shift(mercer, np.diagonal(K))

    def block(self, rows: Rows64, columns: Rows64) -> Floats:
        return np.asarray(self.K[np.ix_(rows, columns)], dtype=np.float64)

    def error(self, rows: Rows64, columns: Rows64) -> Floats:
        return np.zeros((len(rows), len(columns)))

    def diagonal(self) -> Floats:
        return np.array(np.diagonal(self.K), dtype=np.float64)


def _shift(mercer: Mercer | None, diagonal: Floats) -> float:
    """What was proved; where a singular matrix was rounded to an indefinite one, the size of that rounding, γ_4n tr K."""
    if mercer is None:
        return np.inf
    rounding = gamma(4 * mercer.n) * float(np.abs(diagonal).sum())
    if mercer.verdict == "psd":
        return mercer.delta
    return rounding if mercer.smallest_eigenvalue >= -rounding else np.inf


@final
class Gram(Design):
    """Rows of a feature space, d = n weights v for w = Σ v_i φ(x_i). `take` keeps some of the rows and shares the rest."""

    explicit = False

    def __init__(
        self, products: Products, threads: int = 1, index: Rows64 | None = None, parent: Gram | None = None
    ) -> None:
        self.products = products
        self.index = np.arange(products.n) if index is None else index
        self.n = self.d = self.longest_row = len(self.index)
        self.threads = threads
        self.dtype = np.dtype(np.float64)
        self.data = products
        self.positive = bool(np.isfinite(products.shift))
        self._rows = None
        self._last: tuple[Floats, Floats] | None = None
        self._caches: dict[tuple[float, str], RowCache] = {} if parent is None else parent._caches
        self._lock: Any = threading.Lock() if parent is None else parent._lock

    @staticmethod
    def of_kernel(kernel: Kernel, X: Any, mercer: Mercer | None = None, threads: int = 1) -> Gram:
        """The rows of X under a kernel. A `mercer` verdict of "psd" on these rows stands in for a proof."""
        return Gram(OfKernel(kernel, as_rows(X), mercer, threads), threads)

    @staticmethod
    def of_matrix(K: Any, mercer: Mercer | None = None, threads: int = 1) -> Gram:
        """Rows whose inner products are the matrix K; without a `mercer` verdict of "psd" nothing is certified."""
        return Gram(OfMatrix(np.asarray(K), mercer), threads)

    @property
    def stored(self) -> int:
        return self.n * self.n

    def take(self, rows: Rows64) -> Gram:
        """These rows alone, on the same products and caches."""
        return Gram(self.products, self.threads, self.index[rows], self)

    def check_mercer(self) -> Mercer:
        """Mercer's condition on these rows."""
        if isinstance(self.products, OfKernel):
            return check_mercer(self.products.kernel, self.products.rows.take(self.index), self.threads)
        K = self.inner(np.arange(self.n), np.arange(self.n))
        return check_mercer(0.5 * (K + K.T))

    def rows(self, rows: Rows64) -> Floats:
        raise TypeError("Gram.rows: rows are known by their inner products alone. Use inner.")

    def transposed(self) -> Design:
        raise TypeError("Gram.transposed: rows are known by their inner products alone. Use inner.")

    def weighted_inner(self, rows: NDArray[np.int64], weights: Floats) -> Floats:
        raise TypeError("Gram.weighted_inner: rows are known by their inner products alone. Use inner.")

    def weighted_gram(self, weights: Floats) -> Floats:
        raise TypeError("Gram.weighted_gram: rows are known by their inner products alone. Use inner.")

    def inner(self, rows: Rows64, others: Rows64) -> Floats:
        return self.products.block(self.index[rows], self.index[others])

    def scores(self, w: Floats, b: float | Floats = 0.0, absolute: bool = False) -> Floats:
        """z = Kv + b; with `absolute`, |K||v| + |b|. One column per column of v."""
        if w.ndim == 2:
            offsets = np.broadcast_to(b, w.shape[1])
            return np.stack([self.scores(w[:, k], float(offsets[k]), absolute) for k in range(w.shape[1])], axis=1)
        if absolute:
            return self._product(np.abs(w), lambda rows, columns: np.abs(self.inner(rows, columns))) + abs(float(b))
        last = self._last  # w and the dual point are one vector up to a factor: its product is formed once
        if last is None or not np.array_equal(last[0], w):
            last = (w.copy(), self._product(w, self.inner))
            self._last = last
        return np.asarray(last[1] + float(b))

    def _product(self, v: Floats, block: Any) -> Floats:
        z, used = np.zeros(self.n), np.flatnonzero(v)
        for first in range(0, used.size, TILE):
            columns = used[first : first + TILE]
            for top in range(0, self.n, TALL):
                rows = np.arange(top, min(top + TALL, self.n))
                z[rows] += block(rows, columns) @ v[columns]
        return z

    def combine(self, a: Floats, absolute: bool = False) -> Floats:
        """a itself."""
        return np.abs(a) if absolute else np.array(a, dtype=np.float64)

    def partner(self, w: Floats) -> Floats:
        """Kv, as |w|² = v'Kv."""
        return self.scores(w)

    def score_ends(self, w: Floats, b: float, z: Floats) -> tuple[Floats, Floats]:
        return enclose(z, self.scores(w, b, absolute=True), self.n + 1, self._spread(w))

    def combination_ends(self, a: Floats) -> tuple[Floats, Floats]:
        return a, a

    def paired_ends(self, low: Floats, high: Floats) -> tuple[tuple[Floats, Floats], ...]:
        lowest, highest = enclose(self.partner(low), self.scores(low, absolute=True), self.n + 1, self._spread(low))
        return (low, lowest), (low, highest)

    def _spread(self, v: Floats) -> Floats:
        """How far Kv may move with the rounding of K."""
        if self.products.shift != 0.0:
            raise ValueError(
                "certify(precision='rigorous'): the matrix of inner products is not proved to be positive semidefinite without a "
                "shift. Use precision='computed'."
            )
        sizes = np.abs(v)
        errors = self._product(sizes, lambda rows, columns: self.products.error(self.index[rows], self.index[columns]))
        return OWN_ROUNDING * (1.0 + 2.0 * gamma(self.n + 2)) * errors

    @cached_property
    def norms_sq(self) -> Floats:
        """K_ii."""
        return self.products.diagonal()[self.index]

    def row_cache(self, megabytes: float, dtype: Any) -> RowCache:
        """The cache of rows of K that all Grams on these products share."""
        key = (float(megabytes), np.dtype(dtype).name)
        with self._lock:
            if key not in self._caches:
                self._caches[key] = RowCache(self.products, megabytes, dtype)
            return self._caches[key]


@final
class RowCache:
    """Rows of K in float32 or float64, in at most so many megabytes; the least recently used one leaves first.

    Hold `lock` from `slots` until the rows have been read: another solve may share the cache.
    """

    def __init__(self, products: Products, megabytes: float, dtype: Any) -> None:
        n, size = products.n, np.dtype(dtype).itemsize
        self.capacity = int(min(n, megabytes * 2**20 // max(1, n * size)))
        if self.capacity < min(2, n):
            raise ValueError(
                f"RowCache(cache_size={megabytes:g} MB): two rows of {n} values need {2 * n * size / 2**20:.3g} MB. Raise cache_size."
            )
        self.products, self.lock = products, threading.RLock()
        self.values = np.empty((self.capacity, n), dtype=dtype)  # memory that no row has used yet is not taken
        self.slot_of = np.full(n, -1, dtype=np.int64)
        self.row_in = np.full(self.capacity, -1, dtype=np.int64)
        self.used = np.zeros(self.capacity, dtype=np.int64)
        self.clock = 0
        self.computed = 0  # values of K formed

    def slots(self, rows: Rows64) -> Rows64:
        """Where in `values` each of these distinct rows lies, computed first where it is missing; at most `capacity` of them."""
        self.clock += 1
        held = self.slot_of[rows]
        self.used[held[held >= 0]] = self.clock
        missing = rows[held < 0]
        if missing.size:
            free = np.argpartition(self.used, missing.size - 1)[: missing.size]
            self._fill(missing, free)
        return self.slot_of[rows]

    def _fill(self, rows: Rows64, slots: Rows64) -> None:
        everything = np.arange(self.products.n)
        for batch in _batches(len(rows), max(1, BATCH // max(1, self.products.n))):
            gone = self.row_in[slots[batch]]
            self.slot_of[gone[gone >= 0]] = -1
            self.row_in[slots[batch]] = -1
            self.values[slots[batch]] = self.products.block(rows[batch], everything)
            self.slot_of[rows[batch]], self.row_in[slots[batch]] = slots[batch], rows[batch]
            self.used[slots[batch]] = self.clock
            self.computed += len(rows[batch]) * self.products.n


def _batches(length: int, size: int) -> Iterator[slice]:
    return (slice(first, first + size) for first in range(0, length, size))
