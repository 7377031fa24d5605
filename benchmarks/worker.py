"""A child process that holds one peer and one data set, and fits on request. So every peer has its own memory and BLAS, and
can be ended when it takes too long.

`Child` is the parent's end. A request and its reply are one line of JSON each; coefficients travel in a file.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, final

import numpy as np

from benchmarks.machine import memory_bytes, reset_peak
from benchmarks.peers.base import Answer, Peer
from benchmarks.problems import Task, load

ROOT = Path(__file__).parents[1]
START_LIMIT = 60.0  # seconds to import a peer, load the rows and warm up


@final
@dataclass(frozen=True, slots=True)
class Surroundings:
    """What surrounds a fit. `coretype` None: OPENBLAS_CORETYPE unset."""

    threads: int
    coretype: str | None

    def __str__(self) -> str:
        return f"{self.threads} thread{'s' if self.threads > 1 else ''}, OPENBLAS_CORETYPE {self.coretype or 'unset'}"

    def environment(self) -> dict[str, str]:
        """Of the child: every thread pool has the same size."""
        kept = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
        pools = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(self.threads))
        core = {"OPENBLAS_CORETYPE": self.coretype} if self.coretype else {}
        return {**kept, **pools, **core, "PYTHONPATH": str(ROOT)}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """One fit: `outcome` is "done", "timed out" or "failed"."""

    outcome: str
    seconds: float
    note: str = ""
    peak_bytes: int = 0
    load_seconds: float = 0.0
    answer: Answer | None = None


@final
class Child:
    """A process for one peer, one data set and one surroundings; started when it is first needed."""

    def __init__(
        self, peer: str, data: str, folder: Path | None, around: Surroundings, peers: str = "benchmarks.peers"
    ) -> None:
        self.arguments = [peer, data, str(folder or ""), str(around.threads), peers]
        self.around = around
        self._process: subprocess.Popen[str] | None = None
        self._files: tempfile.TemporaryDirectory[str] | None = None

    def fit(self, task: Task, options: dict[str, Any], limit: float, keep: bool = True) -> Reply:
        """Fit once. After `limit` seconds the process is ended; the next call starts another."""
        started = time.perf_counter()
        try:
            if self._process is None or self._files is None:
                self._start()
            assert self._files is not None
            request = {"task": task.as_json(), "options": options, "folder": self._files.name if keep else None}
            told = self._ask({"load": task.as_json()}, START_LIMIT)
            started = time.perf_counter()
            if "failed" not in told:
                told = self._ask(request, limit)
        except TimeoutError:
            self.close()
            return Reply("timed out", time.perf_counter() - started, f"after {limit:.3g} s")
        except (OSError, ValueError) as ended:
            self.close()
            return Reply("failed", time.perf_counter() - started, f"the process ended: {ended}")
        if "failed" in told:
            return Reply("failed", told["seconds"], told["failed"])
        answer = None
        if keep and self._files is not None:
            with np.load(Path(self._files.name) / "answer.npz") as stored:
                dual = stored["dual"] if "dual" in stored.files else None
                answer = Answer(
                    stored["coef"], stored["intercept"], told["converged"], dual, told["claimed"], told["passes"]
                )
        return Reply("done", told["seconds"], "", told["peak_bytes"], told["load_seconds"], answer)

    def close(self) -> None:
        """End the process and remove its files; another call of `fit` starts both again."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None
        if self._files is not None:
            self._files.cleanup()
            self._files = None

    def _start(self) -> None:
        self._files = tempfile.TemporaryDirectory(prefix="maxmargin-benchmarks-")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", *self.arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env={**self.around.environment(), "TMPDIR": self._files.name}, cwd=ROOT,
        )  # fmt: skip

    def _ask(self, request: dict[str, Any], limit: float) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], limit)[0]:
            raise TimeoutError
        told: dict[str, Any] = json.loads(self._process.stdout.readline())
        return told


def _timed_fit(peer: Peer, task: Task, loaded: Any, request: dict[str, Any], threads: int) -> dict[str, Any]:
    before = reset_peak()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.perf_counter()
        answer = peer.fit(task, loaded, request["options"], threads)
        seconds = time.perf_counter() - started
    peak = max(0, memory_bytes("VmHWM") - before)
    if request["folder"] is not None:
        arrays = {"coef": np.asarray(answer.coef), "intercept": np.asarray(answer.intercept)}
        np.savez(Path(request["folder"]) / "answer.npz", **arrays, **({} if answer.dual is None else {"dual": answer.dual}))
    return {
        "seconds": seconds, "peak_bytes": peak, "converged": bool(answer.converged), "passes": answer.passes,
        "claimed": None if answer.claimed is None else float(answer.claimed),
    }  # fmt: skip


def _warm_up(peer: Peer, task: Task, y: np.ndarray, X: Any, threads: int) -> None:
    """One fit of few rows of every class: code is loaded, threads and BLAS have started."""
    rows = np.sort(np.concatenate([np.flatnonzero(y == label)[:20] for label in np.unique(y)]))
    loaded = peer.load(task, X[rows], y[rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(task, loaded, peer.settings(task)[0].options, threads)


def main() -> None:
    """Answer requests until the input ends. Peers print as they like: their output goes nowhere."""
    replies = os.fdopen(os.dup(1), "w")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    name, data, folder, threads, peers = sys.argv[1:]
    peer: Peer = import_module(peers).PEERS[name]
    X, y = load(data, Path(folder) if folder else None)
    loaded: Any = None
    loaded_for: dict[str, Any] | None = None
    load_seconds = 0.0
    for line in sys.stdin:
        request = json.loads(line)
        started = time.perf_counter()
        try:
            if "load" in request:
                if request["load"] != loaded_for:
                    task = Task.of_json(request["load"])
                    labels = task.labels(y)
                    _warm_up(peer, task, labels, X, int(threads))
                    started = time.perf_counter()
                    loaded = peer.load(task, X, labels)
                    load_seconds, loaded_for = time.perf_counter() - started, request["load"]
                told: dict[str, Any] = {}
            else:
                told = {**_timed_fit(peer, task, loaded, request, int(threads)), "load_seconds": load_seconds}
        except Exception:  # a peer may raise anything: it is a row of the table
            told = {"failed": traceback.format_exc(limit=-1)[-300:], "seconds": time.perf_counter() - started}
        replies.write(json.dumps(told) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
