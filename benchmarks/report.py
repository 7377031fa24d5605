"""docs/benchmarks.md and its figures, from stored results alone: the same JSON gives the same page."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

OURS = "maxmargin"
COLOURS = {
    OURS: "#0b6e4f", "scikit-learn": "#d95f02", "liblinear": "#7570b3", "snapml": "#e7298a",
    "scikit-learn-intelex": "#1f78b4", "vowpal-wabbit": "#a6761d",
}  # fmt: skip
TROUBLE = ("wrong", "failed", "timed out", "not run")


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One task, one target, one peer. `ratio` is its seconds over ours.

    Where it did not arrive (`bounded`), `theirs` is the time after which it was stopped, or 0 where it stopped by itself.
    """

    task: str
    family: str
    target: float
    peer: str
    ours: float
    theirs: float
    bounded: bool
    said: str

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def shown(self) -> str:
        if not self.bounded:
            return f"{self.ratio:.2f}"
        return f"> {self.ratio:.1f}" if self.theirs else "never"


def timing(peer: dict[str, Any], target: float, threads: int, coretype: str | None) -> dict[str, Any] | None:
    """The stored timing of a peer at a target; a peer with one thread has the same time on all."""
    for entry in peer.get("timings", []):
        same = entry["target"] == target and entry["coretype"] == (coretype or "unset") and "median" in entry
        if same and entry["threads"] == (threads if peer["threaded"] else 1):
            return dict(entry)
    return None


def comparisons(results: dict[str, Any], threads: int = 1) -> list[Comparison]:
    """Every peer against ours. Where we did not arrive there is no ratio; `shortfalls` lists those."""
    coretype = results["machine"]["OPENBLAS_CORETYPE"]
    found = []
    for row in measured(results):
        for target in row["task"]["targets"]:
            ours = timing(row["peers"].get(OURS, {}), target, threads, coretype)
            if ours is None:
                continue
            for name, peer in row["peers"].items():
                if name == OURS or "curve" not in peer:
                    continue
                theirs = timing(peer, target, threads, coretype)
                if theirs is not None:
                    seconds, bounded, said = theirs["median"], False, theirs["setting"]
                else:
                    seconds, bounded, said = stopped_after(peer["curve"]), True, shortfall(peer["curve"])
                found.append(
                    Comparison(row["name"], row["task"]["family"], target, name, ours["median"], seconds, bounded, said)
                )
    return found


def stopped_after(curve: list[dict[str, Any]]) -> float:
    """The seconds after which a fit was stopped; 0 where none was."""
    return max((point["seconds"] for point in curve if point["outcome"] == "timed out"), default=0.0)


def shortfall(curve: list[dict[str, Any]]) -> str:
    """How far a peer came, in words."""
    gaps = [point["gap"] for point in curve if "gap" in point and math.isfinite(point["gap"])]
    words = [f"best gap {min(gaps):.0e}"] if gaps else []
    words += sorted({point["outcome"] for point in curve if point["outcome"] in TROUBLE})
    return ", ".join(words) or "no answer"


def hardness(each: Comparison) -> tuple[bool, bool, float]:
    """Sorts rivals: those that arrived by ratio, then those that were stopped, then those that stopped short by themselves."""
    return each.bounded, each.bounded and not each.theirs, each.ratio


def geometric(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios if ratio > 0]
    return math.exp(math.fsum(logs) / len(logs)) if logs else math.nan


def measured(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows that were run."""
    return [row for row in results["rows"] if "peers" in row]


def table(head: list[str], rows: Iterable[Iterable[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def seconds(value: float) -> str:
    return f"{value:.3g}"


def page(suites: dict[str, dict[str, Any]], scaling: dict[str, Any] | None, figures: dict[str, str]) -> str:
    """The whole page; `figures` maps a name to a path relative to it."""
    parts = [HEAD]
    for name, results in suites.items():
        parts += _suite(name, results, figures)
    if scaling is not None:
        parts += _scaling(scaling, figures)
    return "\n\n".join(parts) + "\n"


HEAD = """# Benchmarks

Made by `python -m benchmarks report` from the files in `benchmarks/results`; change those, not this page.

Everyone solves the same problem, min |w|²/2 + C Σ φ + the intercept's term, and one judge says how far each is from its optimum:
the primal value of the coefficients, evaluated from scratch, against the best dual value that any certificate gave for that
problem. Where an answer brings its own dual point, that point must carry it. Settings of every peer are swept from loose to
tight; the fastest that arrives is timed again, in turn with ours, in a process of its own after a fit that warms it up. Times
are medians, without reading or converting the rows. A free intercept is replaced by the best one for the coefficients, for all.

`ratio` is the peer's time over ours, so below 1 the peer is faster. `> r`: no peer arrived, and one was stopped after r times our
time. `never`: every peer stopped by itself short of the gap. The floors are explained in `benchmarks/floors.py`: `least` is three
passes over the rows, `method` the passes that our fit made."""


def _suite(name: str, results: dict[str, Any], figures: dict[str, str]) -> list[str]:
    compared = comparisons(results)
    cores = results["machine"]["cores"]
    parts = [f"## Suite {name}", _machine(results)]
    if results["quick"]:
        parts.append("**A quick run: it proves that everything works, and its times mean little.**")
    parts += ["### Worst first", _worst(compared)]
    parts += ["### Geometric means", _means(compared, comparisons(results, cores) if cores > 1 else [], cores)]
    parts += ["### Distance to the floor, farthest first", _floors(results)]
    for family in sorted({row["task"]["family"] for row in measured(results)}):
        if figure := figures.get(f"{name}-{family}"):
            parts.append(f"![Verified gap against seconds: {family}]({figure})")
    parts += ["### The BLAS kernel", _kernels(results)]
    parts += ["### Memory and loading", _memory(results)]
    parts += ["### Wrong, failed, timed out, not run, not reached by us", _trouble(results)]
    return parts


def _machine(results: dict[str, Any]) -> str:
    machine, rates = results["machine"], results["rates"]
    kernels = {
        key: "/".join(sorted({each["architecture"] or "?" for each in found})) for key, found in machine["blas"].items()
    }
    peers = ", ".join(f"{name} {version}" for name, version in machine["peers"].items())
    bandwidth = ", ".join(f"{rate / 1e9:.0f} GB/s at {int(size) / 2**20:g} MiB" for size, rate in rates["bandwidth"].items())
    gather = ", ".join(f"{rate / 1e9:.2g} G/s of {int(size):,d}" for size, rate in rates["gather"].items())
    limits = results["limits"]
    return "\n".join(
        [
            f"{machine['when']}, commit {machine['commit']}, {machine['cpu']}, {machine['cores']} cores, {machine['system']}, "
            f"our instruction set {machine['isa']}.",
            f"OPENBLAS_CORETYPE={machine['OPENBLAS_CORETYPE'] or 'unset'} gives {kernels['as set']}; unset {kernels['unset']}. "
            + ", ".join(f"{key} {value}" for key, value in machine["versions"].items()) + ".",
            f"Peers: {peers}.",
            f"One thread: copy {bandwidth}; dgemm {rates['dgemm'] / 1e9:.0f}, sgemm {rates['sgemm'] / 1e9:.0f} GF/s; "
            f"exp {rates['exp'] / 1e9:.2g} G/s; gather {gather}.",
            f"A fit has {limits['patience']:g} times our seconds, at least {limits['least']:g} and at most {limits['fit']:g} s; "
            f"{limits['repeats']} repeats.",
        ]
    )  # fmt: skip


def _worst(compared: list[Comparison]) -> str:
    best: dict[tuple[str, float], Comparison] = {}
    for each in compared:
        key = (each.task, each.target)
        if key not in best or hardness(each) < hardness(best[key]):
            best[key] = each
    ordered = sorted(best.values(), key=hardness)
    rows = [
        [
            each.shown,
            each.task,
            f"{each.target:g}",
            seconds(each.ours),
            each.peer,
            seconds(each.theirs) if each.theirs else "-",
            each.said,
        ]
        for each in ordered
    ]
    return table(["ratio", "problem", "gap", "ours, s", "hardest peer", "its s", "its setting, or how far it came"], rows)


def _means(alone: list[Comparison], together: list[Comparison], cores: int) -> str:
    rows = []
    for threads, compared in ((1, alone), (cores, together)):
        groups: dict[tuple[str, str, float], list[Comparison]] = defaultdict(list)
        for each in compared:
            groups[each.family, each.peer, each.target].append(each)
        for (family, peer, target), group in sorted(groups.items()):
            arrived = [each.ratio for each in group if not each.bounded]
            mean, least = (f"{geometric(arrived):.2f}", f"{min(arrived):.2f}") if arrived else ("-", "-")
            rows.append([family, peer, f"{target:g}", str(threads), mean, least, f"{len(arrived)} of {len(group)}"])
    return table(["family", "peer", "gap", "threads", "geometric mean", "worst", "arrived"], rows)


def _floors(results: dict[str, Any]) -> str:
    coretype, found = results["machine"]["OPENBLAS_CORETYPE"], []
    for row in measured(results):
        target = min(row["task"]["targets"])
        ours = timing(row["peers"].get(OURS, {}), target, 1, coretype)
        if ours is not None:
            distances = {key: ours["median"] / value for key, value in row["floors"].items()}
            found.append((distances["least"], row["name"], target, ours["median"], row["floors"], distances))
    rows = [
        [name, f"{target:g}", seconds(ours), seconds(floors["least"])]
        + [f"{distances[key]:.1f}" if key in distances else "-" for key in ("least", "gram", "method")]
        for _, name, target, ours, floors, distances in sorted(found, key=lambda each: -each[0])
    ]
    return table(["problem", "gap", "ours, s", "least, s", "times least", "times gram", "times method"], rows)


def _kernels(results: dict[str, Any]) -> str:
    coretype = results["machine"]["OPENBLAS_CORETYPE"]
    if not coretype:
        return "OPENBLAS_CORETYPE was not set, so there is one kernel to time."
    rows = []
    for row in measured(results):
        for target in row["task"]["targets"]:
            for name, peer in row["peers"].items():
                as_set, unset = timing(peer, target, 1, coretype), timing(peer, target, 1, None)
                if as_set and unset:
                    change = unset["median"] / as_set["median"]
                    rows.append(
                        [
                            row["name"],
                            f"{target:g}",
                            name,
                            seconds(as_set["median"]),
                            seconds(unset["median"]),
                            f"{change:.2f}",
                        ]
                    )
    return table(["problem", "gap", "who", f"{coretype}, s", "unset, s", "unset / set"], rows) if rows else "Not timed."


def _memory(results: dict[str, Any]) -> str:
    rows = []
    for row in measured(results):
        peaks = [
            f"{name} {max(point['peak_bytes'] for point in done) / 2**20:.0f} MiB, {max(point['load_seconds'] for point in done):.2g} s"
            for name, peer in row["peers"].items()
            if (done := [point for point in peer.get("curve", []) if "peak_bytes" in point])
        ]
        rows.append([row["name"], "; ".join(peaks)])
    return "Peak beyond the loaded rows, and the seconds of converting them to the peer's form.\n\n" + table(
        ["problem", "peers"], rows
    )


def _trouble(results: dict[str, Any]) -> str:
    coretype = results["machine"]["OPENBLAS_CORETYPE"]
    rows = [[row["name"], "-", row["not_run"]] for row in results["rows"] if "not_run" in row]
    for row in measured(results):
        for target in row["task"]["targets"]:
            if timing(row["peers"].get(OURS, {}), target, 1, coretype) is None:
                rows.append(
                    [row["name"], f"**{OURS}**", f"did not reach {target:g}: {shortfall(row['peers'][OURS]['curve'])}"]
                )
        if row.get("known_optimum_inside") is False:
            rows.append([row["name"], "**the judge**", "the known optimum lies outside its interval"])
        for name, peer in row["peers"].items():
            for outcome in TROUBLE:
                points = [point for point in peer.get("curve", []) if point["outcome"] == outcome]
                if points:
                    rows.append(
                        [row["name"], name, f"{outcome}: {points[-1]['setting']}: {_plain(points[-1].get('note', ''))}"]
                    )
            rows += [[row["name"], name, _plain(entry["note"])] for entry in peer.get("timings", []) if "note" in entry]
    absent = sorted({name for row in measured(results) for name, peer in row["peers"].items() if peer.get("absent")})
    refusals = sorted(
        {(name, peer["refuses"]) for row in measured(results) for name, peer in row["peers"].items() if "refuses" in peer}
    )
    told = [
        f"Absent: {', '.join(absent) or 'none'}.",
        *(f"{name} does not pose some of the problems: {why}." for name, why in refusals),
    ]
    return "\n".join(told) + "\n\n" + (table(["problem", "who", "what"], rows) if rows else "Nothing.")


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")[-160:]


def _scaling(scaling: dict[str, Any], figures: dict[str, str]) -> list[str]:
    rows = []
    for axis in scaling["axes"]:
        sizes, times = [point["size"] for point in axis["points"]], [point["seconds"] for point in axis["points"]]
        memory = [point["peak_bytes"] / 2**20 for point in axis["points"]]
        slopes = [f"{axis[key]:.2f}" if axis[key] is not None else "-" for key in ("time_slope", "memory_slope")]
        shown = [" ".join(f"{value:.3g}" for value in values) for values in (sizes, times, memory)]
        rows.append([axis["name"], *shown, *slopes])
    parts = ["## Scaling", "Time and memory beyond the rows of one fit as one size grows; slopes of log against log."]
    parts.append(table(["what grows", "sizes", "seconds", "MiB", "slope of time", "slope of memory"], rows))
    if "scaling" in figures:
        parts.append(f"![Seconds against size]({figures['scaling']})")
    return parts


def report(folder: Path, out: Path) -> None:
    """Read every stored suite in the folder, draw, and write the page."""
    stored = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
    scaling = stored.pop("scaling", None)
    if not stored and scaling is None:
        raise FileNotFoundError(f"{folder} holds no results: python -m benchmarks run")
    from benchmarks.figures import draw

    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(stored, scaling, draw(stored, scaling, out.parent)))
