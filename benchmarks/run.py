"""The sweep: every peer's curve of verified gap against seconds, and its fastest setting that arrives, timed in turn with ours.

A row of the results is one task. In it, `peers` holds for each peer either why it is not there ("absent", "refuses") or its
`curve`, one point per setting, and `timings`, one entry per target and surroundings. Time-outs, failures, answers that fall
short and answers that are wrong are points like the others.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from benchmarks import machine
from benchmarks.floors import Rates, floors_of, measure_rates
from benchmarks.judge import Judge
from benchmarks.peers import PEERS
from benchmarks.peers.base import Peer, Setting
from benchmarks.problems import Task, known_optimum, load, suite
from benchmarks.worker import Child, Reply, Surroundings

OURS = "maxmargin"
PATIENCE = 30.0  # a peer may take this many times as long as we do: beyond it, "more than 30 x" is the result


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds of one fit and of the whole run, and how often a setting is timed."""

    fit: float = 8.0
    least: float = 1.0  # what every peer has, however fast we are
    total: float = 18 * 60.0
    repeats: int = 3
    reference: float = 6.0

    @staticmethod
    def quick() -> Limits:
        """Enough to see everything happen."""
        return Limits(fit=2.0, least=0.5, total=240.0, reference=3.0)


@final
@dataclass(slots=True)
class Children:
    """The processes of one data set, one per peer and surroundings."""

    data: str
    folder: Path | None
    peers_module: str
    running: dict[tuple[str, Surroundings], Child] = field(default_factory=dict)

    def get(self, peer: str, around: Surroundings) -> Child:
        key = (peer, around)
        if key not in self.running:
            self.running[key] = Child(peer, self.data, self.folder, around, self.peers_module)
        return self.running[key]

    def close(self) -> None:
        for child in self.running.values():
            child.close()


def sweep(
    peer: Peer, task: Task, judge: Judge, child: Child, limit: float, deadline: float = float("inf")
) -> list[dict[str, Any]]:
    """One point per setting, judged; a family ends where a setting takes too long or
    the last target is well reached."""
    points: list[dict[str, Any]] = []
    ended: set[str] = set()
    for setting in peer.settings(task):
        if setting.family in ended:
            continue
        spent = sum(point["seconds"] for point in points)
        if time.perf_counter() > deadline or spent > 3.0 * limit:
            note = "three limits are spent on this peer" if spent > 3.0 * limit else "the time of the whole run was up"
            points.append({"setting": setting.label, "outcome": "not run", "note": note, "seconds": 0.0})
            break
        points.append(_point(peer, task, judge, setting, child.fit(task, setting.options, limit)))
        if points[-1]["outcome"] in ("timed out", "failed") or points[-1].get("gap", 1.0) <= 0.1 * min(task.targets):
            ended.add(setting.family)
    return points


def _point(peer: Peer, task: Task, judge: Judge, setting: Setting, reply: Reply) -> dict[str, Any]:
    point: dict[str, Any] = {"setting": setting.label, "options": setting.options, "seconds": reply.seconds}
    if reply.answer is None:
        return {**point, "outcome": reply.outcome, "note": reply.note}
    answer = reply.answer
    verdict = judge.verdict(
        answer.coef, answer.intercept, answer.dual, answer.claimed, strict=setting.strict and answer.converged
    )
    outcome = "wrong" if verdict.wrong else "arrived" if verdict.gap <= max(task.targets) else "did not arrive"
    return {
        **point, "outcome": outcome, "gap": verdict.gap, "primal": verdict.primal, "says_converged": answer.converged,
        "claimed": answer.claimed, "passes": answer.passes, "peak_bytes": reply.peak_bytes,
        "load_seconds": reply.load_seconds, **({"note": verdict.wrong} if verdict.wrong else {}),
    }  # fmt: skip


def fastest(points: list[dict[str, Any]], target: float) -> dict[str, Any] | None:
    """The point that reached the target in the least time, if one did. A wrong answer reaches nothing."""
    arrived = [point for point in points if point["outcome"] == "arrived" and point["gap"] <= target]
    return min(arrived, key=lambda point: point["seconds"], default=None)


def alternate(
    chosen: dict[str, dict[str, Any]], task: Task, children: Children, around: Surroundings, limits: Limits
) -> dict[str, dict[str, Any]]:
    """Each chosen setting timed `repeats` times, in an order that turns round after every round."""
    times: dict[str, list[float]] = {name: [] for name in chosen}
    notes: dict[str, str] = {}
    for turn in range(limits.repeats):
        for name in sorted(chosen, reverse=bool(turn % 2)):
            if name in notes:
                continue
            patience = max(limits.least, 10.0 * chosen[name]["seconds"])
            reply = children.get(name, around).fit(task, chosen[name]["options"], patience, keep=False)
            if reply.outcome == "done":
                times[name].append(reply.seconds)
            else:
                notes[name] = f"{reply.outcome} {reply.note}"
    told = {}
    for name, seconds in times.items():
        entry: dict[str, Any] = {"setting": chosen[name]["setting"], "gap": chosen[name]["gap"]}
        if seconds:
            entry |= {
                "median": statistics.median(seconds),
                "least": min(seconds),
                "most": max(seconds),
                "repeats": len(seconds),
            }
        told[name] = entry | ({"note": notes[name]} if name in notes else {})
    return told


def measure(
    task: Task, folder: Path | None, peers: dict[str, Peer], children: Children, limits: Limits, rates: Rates,
    deadline: float = float("inf"),
) -> dict[str, Any]:  # fmt: skip
    """The row of a task."""
    started = time.perf_counter()
    X, y = load(task.data, folder)
    row: dict[str, Any] = {"task": task.as_json(), "name": str(task), "load_seconds": time.perf_counter() - started}
    judge = Judge(task, X, y, limits.reference)
    coretype, cores = os.environ.get("OPENBLAS_CORETYPE"), os.cpu_count() or 1
    alone = Surroundings(1, coretype)
    row["peers"] = {}
    points: dict[str, list[dict[str, Any]]] = {}
    limit = limits.fit
    for name, peer in peers.items():
        if not peer.present():
            row["peers"][name] = {"absent": True}
        elif reason := peer.refuse(task):
            row["peers"][name] = {"refuses": reason}
        else:
            points[name] = sweep(peer, task, judge, children.get(name, alone), limit, deadline)
            row["peers"][name] = {"curve": points[name], "threaded": peer.threaded, "timings": []}
            if name == OURS and (best := fastest(points[name], min(task.targets))):
                limit = min(limits.fit, max(limits.least, PATIENCE * best["seconds"]))
    row["limit"] = limit
    everywhere = [alone] + ([Surroundings(cores, coretype)] if cores > 1 else [])
    if task.widely and coretype:
        everywhere.append(Surroundings(1, None))
    for target in task.targets:
        best_points = {name: fastest(found, target) for name, found in points.items()}
        chosen = {name: best for name, best in best_points.items() if best is not None}
        for around in everywhere:
            # More threads change nothing for a peer that has one: its time on one thread is its time.
            here = {name: best for name, best in chosen.items() if around.threads == 1 or peers[name].threaded}
            if around.coretype != coretype:
                here = {name: best for name, best in here.items() if peers[name].uses_blas}
            if time.perf_counter() > deadline:
                break
            for name, entry in alternate(here, task, children, around, limits).items():
                facts = {"target": target, "threads": around.threads, "coretype": around.coretype or "unset"}
                row["peers"][name]["timings"].append({**facts, **entry})
    best_ours = fastest(points[OURS], min(task.targets)) if OURS in points else None
    row["floors"] = floors_of(X, rates, best_ours["passes"] if best_ours else None)
    row["reference_gap"], row["dual"], row["primal"] = judge.reference_gap, judge.dual, judge.best_primal
    optimum = known_optimum(task)
    if optimum is not None:
        row["known_optimum"] = optimum
        row["known_optimum_inside"] = bool(judge.dual <= optimum * (1 + 1e-9) and optimum <= judge.best_primal * (1 + 1e-9))
    row["seconds"] = time.perf_counter() - started
    return row


def line(row: dict[str, Any]) -> str:
    """A row in words, for the terminal."""
    if "not_run" in row:
        return f"{row['name']}: {row['not_run']}"
    told = []
    for name, peer in row["peers"].items():
        if "curve" not in peer:
            continue
        timed = {entry["target"]: entry for entry in peer["timings"] if entry["threads"] == 1 and "median" in entry}
        shown = [f"{timed[target]['median']:.3g} s" if target in timed else "-" for target in row["task"]["targets"]]
        wrong = ", wrong" if any(point["outcome"] == "wrong" for point in peer["curve"]) else ""
        told.append(f"{name} {' / '.join(shown)}{wrong}")
    return f"{row['name']} ({row['seconds']:.0f} s): " + "; ".join(told)


def run(
    suite_name: str, folder: Path | None, out: Path, names: list[str] | None = None, quick: bool = False, only: str = "",
    limits: Limits | None = None, peers: dict[str, Peer] | None = None, peers_module: str = "benchmarks.peers",
) -> dict[str, Any]:  # fmt: skip
    """Every task of a suite. The file is written after each, so that a run that is cut keeps what it has."""
    limits = limits or (Limits.quick() if quick else Limits())
    every = peers or PEERS
    taken = {name: peer for name, peer in every.items() if names is None or name in names or name == OURS}
    deadline = time.perf_counter() + limits.total
    tasks = [task for task in suite(suite_name, quick) if only in str(task)]
    rates = measure_rates()
    results: dict[str, Any] = {
        "suite": suite_name, "quick": quick, "machine": machine.facts(), "rates": rates.as_json(),
        "limits": {"fit": limits.fit, "least": limits.least, "repeats": limits.repeats, "patience": PATIENCE}, "rows": [],
    }  # fmt: skip
    children = Children("", folder, peers_module)
    try:
        for k, task in enumerate(tasks):
            row: dict[str, Any] = {"task": task.as_json(), "name": str(task)}
            if time.perf_counter() > deadline:
                row["not_run"] = f"not run: the {limits.total / 60:.0f} minutes of the run were up"
            else:
                if children.data != task.data:
                    children.close()
                    children = Children(task.data, folder, peers_module)
                try:
                    row = measure(task, folder, taken, children, limits, rates, deadline)
                except FileNotFoundError as absent:
                    row["not_run"] = f"not run: {absent}"
            results["rows"].append(row)
            write(results, out)
            print(f"[{k + 1}/{len(tasks)}] {line(row)}", flush=True)
    finally:
        children.close()
    return results


def write(results: dict[str, Any], out: Path) -> None:
    """Replace the file in one step: a reader sees the old one or the new one."""
    out.parent.mkdir(parents=True, exist_ok=True)
    fresh = out.with_suffix(".part")
    fresh.write_text(json.dumps(results, indent=1, default=float) + "\n")
    fresh.replace(out)
