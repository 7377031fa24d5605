"""python -m benchmarks run --suite text --data FOLDER: seconds to a verified relative gap, as a table and as JSON.

python -m benchmarks reach --data FOLDER --target 1e-4: the gaps that LinearSVC reaches alone, verified.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.judge import Judge
from benchmarks.peers import PEERS, Fit
from benchmarks.problems import Task, load, suite
from maxmargin import LinearSVC, _native


def once(fit: Fit, X: Any, y: np.ndarray) -> tuple[float, tuple[Any, Any]]:
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fit(X, y)
    return time.perf_counter() - started, found


def measure(task: Task, target: float, repeats: int, folder: Path | None) -> dict[str, Any]:
    """Each peer's fastest setting that reaches the target, timed `repeats` times in turn with the others'."""
    X, labels = load(task.data, folder)
    y = labels if task.positive is None else (labels == np.unique(labels)[task.positive]).astype(int)
    judge = Judge(task, X, y, target)
    row: dict[str, Any] = {"task": str(task), "target": target, "reference_gap": judge.reference_gap / abs(judge.lower)}
    fastest: dict[str, tuple[str, Fit]] = {}
    for name, settings in PEERS.items():
        tried = [(label, fit, *once(fit, X, y)) for label, fit in settings(task, target)]
        gaps = {label: judge.relative_gap(*found) for label, _, _, found in tried}
        arrived = [(seconds, label, fit) for label, fit, seconds, _ in tried if gaps[label] <= target]
        row[name] = {"sweep": {label: [seconds, gaps[label]] for label, _, seconds, _ in tried}}
        if arrived:
            _, label, fit = min(arrived, key=lambda each: each[0])
            fastest[name], row[name]["setting"] = (label, fit), label
    times: dict[str, list[float]] = {name: [] for name in fastest}
    for _ in range(repeats):
        for name, (_, fit) in fastest.items():
            times[name].append(once(fit, X, y)[0])
    for name, seconds in times.items():
        row[name]["seconds"] = [min(seconds), statistics.median(seconds), max(seconds)]
    return row


def reach(task: Task, target: float, folder: Path | None) -> dict[str, Any]:
    """What our estimator says of itself, and what `verify` finds from scratch: how near to the target it got, and when."""
    X, y = load(task.data, folder)
    machine = LinearSVC(loss=task.loss, C=task.C, tol=target, max_time=120.0, n_jobs=2)
    seconds, _ = once(lambda X, y: machine.fit(X, y), X, y)
    gap = machine.certificate_.verify(X, y).relative_gap
    return {"task": str(task), "seconds": seconds, "verified_gap": gap, "status": machine.status_.name}


def line(row: dict[str, Any]) -> str:
    def shown(name: str) -> str:
        if "seconds" in row[name]:
            return f"{row[name]['seconds'][1]:8.3f} s"
        best = min(gap for _, gap in row[name]["sweep"].values())
        slowest = max(seconds for seconds, _ in row[name]["sweep"].values())
        return f"did not arrive (gap {best:.0e} after {slowest:.1f} s)"

    both = all("seconds" in row[name] for name in PEERS)
    ratio = f"{row['scikit-learn']['seconds'][1] / row['maxmargin']['seconds'][1]:6.1f}x" if both else "      -"
    return f"{row['task']:60s} {ratio}  ours {shown('maxmargin')}  scikit-learn {shown('scikit-learn')}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("command", choices=["run", "reach"], help="time against peers, or ask how far ours gets alone")
    parser.add_argument("--suite", default="text")
    parser.add_argument("--data", type=Path, default=os.environ.get("MAXMARGIN_DATA"))
    parser.add_argument("--target", type=float, default=1e-3)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", default="", help="tasks whose name contains this")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    machine = {"cpu": platform.processor(), "isa": _native.isa(), "coretype": os.environ.get("OPENBLAS_CORETYPE")}
    rows = []
    if arguments.command == "reach":
        for task in suite("reach"):
            if arguments.only in str(task):
                rows.append(reach(task, arguments.target, arguments.data))
                print(
                    "{task:60s} {seconds:8.2f} s  verified gap {verified_gap:.1e}  {status}".format(**rows[-1]), flush=True
                )
        return
    with threadpool_limits(1):
        for task in suite(arguments.suite):
            if arguments.only in str(task):
                rows.append(measure(task, arguments.target, arguments.repeats, arguments.data))
                print(line(rows[-1]), flush=True)
    ratios = [
        row["scikit-learn"]["seconds"][1] / row["maxmargin"]["seconds"][1]
        for row in rows
        if all("seconds" in row[p] for p in PEERS)
    ]
    if ratios:
        print(
            f"geometric mean over {len(ratios)} tasks that both reached: {np.exp(np.mean(np.log(ratios))):.2f}x, worst {min(ratios):.2f}x"
        )
    if arguments.out:
        arguments.out.write_text(json.dumps({"machine": machine, "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
