"""Time and memory of one fit as one size grows: n, d, stored values, threads, classes. Slopes of log against log.

Each point is a child process of its own, as in `run`; the time is the least of three fits, the memory the peak beyond the rows.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse as sp

from benchmarks import machine
from benchmarks.machine import memory_bytes, reset_peak
from benchmarks.problems import planted
from benchmarks.run import write

ROOT = Path(__file__).parents[1]
LIMIT = 60.0  # seconds of one point


@final
@dataclass(frozen=True, slots=True)
class Point:
    """A generated problem: planted dense rows, or sparse ones with `stored` values per row and a noisy linear rule."""

    n: int = 20_000
    d: int = 50
    stored: int = 0  # per row; 0: dense
    classes: int = 2
    threads: int = 1
    loss: str = "hinge"
    tol: float = 1e-4


@final
@dataclass(frozen=True, slots=True)
class Axis:
    """What grows, from `start` and through `sizes`."""

    name: str
    grows: str
    start: Point
    sizes: tuple[int, ...]

    def points(self) -> list[Point]:
        return [replace(self.start, **{self.grows: size}) for size in self.sizes]


SPARSE = Point(n=8_000, d=40_000, stored=100)
CLASSES = Point(n=6_000, d=30, classes=3, loss="squared_hinge")


def axes(quick: bool) -> list[Axis]:
    """Each at most about a minute; `quick` keeps the first two sizes, much reduced."""
    cores = os.cpu_count() or 1
    threads = tuple(sorted({1, 2, cores} & set(range(1, cores + 1))))
    found = [
        Axis("rows, dense", "n", Point(), (10_000, 40_000, 160_000, 640_000)),
        Axis("columns, dense", "d", Point(), (10, 40, 160, 640)),
        Axis("rows, sparse", "n", SPARSE, (4_000, 16_000, 64_000)),
        Axis("columns, sparse", "d", SPARSE, (10_000, 40_000, 160_000, 640_000)),
        Axis("stored values per row, sparse", "stored", SPARSE, (25, 100, 400)),
        Axis("classes", "classes", CLASSES, (3, 9, 27)),
        Axis("threads, one problem", "threads", Point(n=200_000), threads),
        Axis("threads, 16 classes", "threads", replace(CLASSES, classes=16), threads),
    ]
    if not quick:
        return found
    small = {"n": 2_000, "d": 20}
    return [
        replace(axis, start=replace(axis.start, **small), sizes=tuple(max(1, size // 10) for size in axis.sizes[:2]))
        if axis.grows in ("n", "d", "stored")
        else replace(axis, start=replace(axis.start, **small), sizes=axis.sizes[:2])
        for axis in found
    ]


def rows_of(point: Point) -> tuple[Any, np.ndarray]:
    """X and y of a point."""
    rng = np.random.default_rng(0)
    if point.classes > 2:
        codes = rng.integers(0, point.classes, point.n)
        return 3.0 * rng.normal(size=(point.classes, point.d))[codes] / np.sqrt(point.d) + rng.normal(
            size=(point.n, point.d)
        ), codes
    if not point.stored:
        made = planted(point.n, point.d, point.loss)
        return made.X, made.y
    starts = np.arange(0, point.n * point.stored + 1, point.stored)
    columns = rng.integers(0, point.d, point.n * point.stored)
    X = sp.csr_matrix((rng.random(columns.size) / np.sqrt(point.stored), columns, starts), shape=(point.n, point.d))
    X.sum_duplicates()
    scores = X @ rng.normal(size=point.d)
    return X, (scores + 0.3 * scores.std() * rng.normal(size=point.n) > np.median(scores)).astype(np.int64)


def measure(point: Point, repeats: int = 3) -> dict[str, float]:
    """Seconds and bytes of one fit, in this process."""
    from maxmargin import LinearSVC

    X, y = rows_of(point)
    machine = LinearSVC(loss=point.loss, tol=point.tol, n_jobs=point.threads, max_time=LIMIT / repeats)
    few = np.sort(np.concatenate([np.flatnonzero(y == label)[:10] for label in np.unique(y)]))
    machine.fit(X[few], y[few])
    times, peak = [], 0
    for _ in range(repeats):
        before = reset_peak()
        started = time.perf_counter()
        machine.fit(X, y)
        times.append(time.perf_counter() - started)
        peak = max(peak, memory_bytes("VmHWM") - before)
    return {"seconds": min(times), "peak_bytes": float(peak), "gap": machine.certificate_.relative_gap}


def slope(sizes: list[float], values: list[float]) -> float | None:
    """Of the least-squares line through log value against log size; None where there are no two sizes or a value is not positive."""
    if len(set(sizes)) < 2 or min(values) <= 0.0:
        return None
    x, y = np.log(sizes), np.log(values)
    x = x - x.mean()
    return float(x @ y / (x @ x))


def scaling(out: Path, quick: bool = False) -> dict[str, Any]:
    """Every axis, written as it goes."""
    results: dict[str, Any] = {"machine": machine.facts(), "quick": quick, "axes": []}
    for axis in axes(quick):
        stored: dict[str, Any] = {"name": axis.name, "grows": axis.grows, "start": asdict(axis.start), "points": []}
        results["axes"].append(stored)
        for size, point in zip(axis.sizes, axis.points(), strict=True):
            told = _in_child(point)
            if told is None:
                print(f"{axis.name}: {size} took more than {LIMIT:.0f} s and ends the axis", flush=True)
                break
            stored["points"].append({"size": size, **told})
            print(f"{axis.name}: {size}: {told['seconds']:.3g} s, {told['peak_bytes'] / 2**20:.3g} MiB", flush=True)
            sizes = [each["size"] for each in stored["points"]]
            for key, values in (("time_slope", "seconds"), ("memory_slope", "peak_bytes")):
                stored[key] = slope(sizes, [each[values] for each in stored["points"]])
            write(results, out)
    return results


def _in_child(point: Point) -> dict[str, float] | None:
    pools = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(point.threads))
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.scaling", json.dumps(asdict(point))]
    try:
        told = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=2.0 * LIMIT, cwd=ROOT, env={**os.environ, **pools}
        )
    except subprocess.TimeoutExpired:
        return None
    return dict(json.loads(told.stdout))


if __name__ == "__main__":
    print(json.dumps(measure(Point(**json.loads(sys.argv[1])))))
