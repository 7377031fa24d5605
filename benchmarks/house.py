"""What the house promises beside speed: import time, the share of certificates in a fit, the wait after Ctrl-C, peak memory."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

INTERRUPT = """
import time, warnings, numpy as np
from maxmargin import DualAscent, LinearSVC
rng = np.random.default_rng(0)
X = rng.normal(size=(100000, 100)); y = rng.integers(0, 3, 100000)
machine = LinearSVC(solver=DualAscent(tol=1e-300, max_epochs=10**9, finish=False), loss="hinge", C=100.0)
warnings.simplefilter("ignore")
print("ready", flush=True)
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print(time.time(), machine.status_.name, flush=True)
"""

MEMORY = """
import resource, sys, numpy as np, scipy.sparse as sp
from maxmargin import LinearSVC
rng = np.random.default_rng(0)
if sys.argv[1] == "dense":
    X = rng.normal(size=(400000, 100)).astype(np.float32); size = X.nbytes
else:
    X = sp.random_array((200000, 2000), density=0.05, rng=rng, dtype=np.float32, format="csr"); size = X.data.nbytes + X.indices.nbytes
y = rng.integers(0, 2, X.shape[0])
LinearSVC().fit(X[:100], y[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
LinearSVC(solver=sys.argv[2]).fit(X, y)
print(max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before) / size)
"""


def python(code: str, *arguments: str) -> str:
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True).stdout


def import_seconds(module: str) -> float:
    times = []
    for _ in range(7):
        started = time.perf_counter()
        python(f"import {module}")
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def interrupt_seconds() -> float:
    child = subprocess.Popen([sys.executable, "-c", INTERRUPT], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    child.stdout.readline()
    time.sleep(2.0)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    return float(child.communicate(timeout=60)[0].split()[0]) - sent


def certificate_share() -> dict[str, float]:
    """Seconds inside `certify`'s evaluation over seconds of the fit, by replacing the evaluation with a timed one."""
    import numpy as np
    import scipy.sparse as sp

    import maxmargin.solvers.dual_ascent as ascent
    from maxmargin import LinearSVC

    rng = np.random.default_rng(0)
    shares, spent = {}, [0.0]
    honest = ascent.conclude

    def timed(*arguments: object) -> object:
        started = time.perf_counter()
        found = honest(*arguments)  # type: ignore[arg-type]
        spent[0] += time.perf_counter() - started
        return found

    ascent.conclude = timed  # type: ignore[assignment]
    dense, sparse = rng.normal(size=(100000, 50)), sp.random_array((20000, 50000), density=0.002, rng=rng, format="csr")
    for name, X in {"dense": dense, "sparse": sparse}.items():
        y = np.asarray(X @ rng.normal(size=X.shape[1]) + rng.normal(size=X.shape[0]) > 0)
        for loss in ("hinge", "squared_hinge"):
            spent[0], started = 0.0, time.perf_counter()
            LinearSVC(loss=loss).fit(X, y)
            shares[f"{name}, {loss}"] = spent[0] / (time.perf_counter() - started)
    ascent.conclude = honest
    return shares


def reach(folder: Path) -> Iterator[str]:
    """How far LinearSVC gets towards 1e-4, all classes, free intercept, on its own word and on that of `verify`."""
    from benchmarks.problems import load
    from maxmargin import LinearSVC

    for data in ("a9a", "dense54-200k", "20news_ngram-l2", "news20_mc-l2", "20news_ngram", "news20_mc"):
        X, y = load(data, folder)
        for loss in ("squared_hinge", "hinge"):
            for C in (0.01, 1.0, 100.0):
                machine = LinearSVC(loss=loss, C=C, tol=1e-4, max_time=120.0, n_jobs=2)
                started = time.perf_counter()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    machine.fit(X, y)
                seconds = time.perf_counter() - started
                gap = machine.certificate_.verify(X, y).relative_gap
                yield f"{data:16s} {loss:13s} C={C:<5g} {seconds:8.2f} s  verified gap {gap:.1e}  {machine.status_.name}"


def main(folder: Path | None = None) -> None:
    for line in reach(folder) if folder is not None else ():
        print(line, flush=True)
    facts = {
        "import maxmargin / import sklearn.svm": import_seconds("maxmargin") / import_seconds("sklearn.svm"),
        "seconds from Ctrl-C to the published model": [interrupt_seconds() for _ in range(3)],
        "certificates' share of the fit": certificate_share(),
        "peak memory beyond the input, as a share of it": {
            f"{storage}, {solver}": float(python(MEMORY, storage, solver))
            for storage in ("dense", "sparse")
            for solver in ("auto", "newton")
        },
        "OPENBLAS_CORETYPE": os.environ.get("OPENBLAS_CORETYPE"),
    }
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
