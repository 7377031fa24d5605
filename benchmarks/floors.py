"""Floors: the least time that a fit can take on this machine, from rates that are measured here.

A pass over the rows reads each stored value once, and for sparse rows its column index and one weight at a random place. A step
of second order forms X'DX, whose n d² flops are half of a product's, by symmetry:

    pass = max(bytes / bandwidth, nnz / gather),   8 bytes per value, 4 per index
    floor(n, d, nnz) = passes * pass + steps * n d² / dgemm

Each rate is that of the smallest measured size that holds the data, so what fits into a cache is read at the cache's speed.
`least` counts three passes: one to see the rows, two for the products Xw and X'a of one certificate. No certified fit is
faster. `method` counts the passes that our fit made and the certificate's two: what the method would cost if a pass cost no
more than memory allows; a fit that leaves rows out of passes (shrinking) can come below it. `gram` is `least` with one step of
second order, for rows that outnumber the columns ten times.

Not counted: starting, validating, shuffling, and the wait for a sum that the next step needs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp

STREAMS = (1 << 18, 1 << 22, 1 << 27)  # bytes: in the second cache, in the last, in memory
TABLES = (1 << 10, 1 << 15, 1 << 21)  # weights


@final
@dataclass(frozen=True, slots=True)
class Rates:
    """Per second on one thread: bytes moved by a copy (by stream size), flops, exponentials, gathers (by table size)."""

    bandwidth: dict[int, float]
    dgemm: float
    sgemm: float
    exp: float
    gather: dict[int, float]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def holding(rates: dict[int, float], size: float) -> float:
    """The rate of the smallest measured size that is not below this one."""
    return rates[min((each for each in rates if each >= size), default=max(rates))]


def best_rate(amount: float, work: Callable[[], Any], repeats: int = 5) -> float:
    """amount per second, the best of some runs after a first one."""
    work()
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return amount / min(times)


def measure_rates(streams: tuple[int, ...] = STREAMS, tables: tuple[int, ...] = TABLES, k: int = 1024) -> Rates:
    """A second or two on one thread."""
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    a = rng.random((k, k))
    single = a.astype(np.float32)
    short = rng.random(1 << 14)
    with threadpool_limits(1):
        return Rates(
            bandwidth={size: _copy_rate(size) for size in streams},
            dgemm=best_rate(2.0 * k**3, lambda: a @ a),
            sgemm=best_rate(2.0 * k**3, lambda: single @ single),
            exp=best_rate(float(short.size), lambda: np.exp(short)),
            gather={table: _gather_rate(table, rng) for table in tables},
        )


def _copy_rate(size: int) -> float:
    """Bytes read and written. Both arrays together fill the stream."""
    source, target = np.zeros(size // 16), np.ones(size // 16)
    times = max(1, (1 << 22) // size)
    return best_rate(float(times * size), lambda: [np.copyto(target, source) for _ in range(times)])


def _gather_rate(table: int, rng: np.random.Generator) -> float:
    """The better of NumPy's and the core's: sums of weights at random places, each place once before any comes again."""
    from maxmargin import as_design

    width = min(1024, table)
    places = np.concatenate([rng.permutation(table) for _ in range(max(1, (1 << 19) // table))])
    columns = np.sort(places.reshape(-1, width), axis=1).ravel().astype(np.int32)
    starts = np.arange(0, places.size + 1, width, dtype=np.int32)
    design = as_design(sp.csr_matrix((np.ones(places.size), columns, starts), shape=(places.size // width, table)))
    weights, out = rng.random(table), np.empty(places.size)
    return max(
        best_rate(float(places.size), lambda: np.take(weights, places, out=out, mode="clip")),
        best_rate(float(places.size), lambda: design.scores(weights)),
    )


def floor(rates: Rates, n: int, d: int, nnz: int, passes: float, sparse: bool, steps: float = 0.0) -> float:
    """Seconds of `passes` over the rows and `steps` of second order."""
    size = nnz * (12.0 if sparse else 8.0)
    read = size / holding(rates.bandwidth, size)
    one = max(read, nnz / holding(rates.gather, d)) if sparse else read
    return passes * one + steps * n * d**2 / rates.dgemm


def floors_of(X: Any, rates: Rates, passes: int | None) -> dict[str, float]:
    """The floors of a task whose fit took so many passes."""
    sparse = bool(sp.issparse(X))
    n, d = X.shape
    nnz = int(X.nnz) if sparse else n * d
    told = {"least": floor(rates, n, d, nnz, 3.0, sparse)}
    if n >= 10 * d:
        told["gram"] = floor(rates, n, d, nnz, 3.0, sparse, steps=1.0)
    if passes is not None:
        told["method"] = floor(rates, n, d, nnz, passes + 2.0, sparse)
    return told
