"""One figure per family of problems: verified gap against seconds, one panel per task; and one of the scaling."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path
from typing import Any

from benchmarks.report import COLOURS, measured

PANELS = 12  # of one figure; of a larger family every so many tasks are drawn
MARKS = {"wrong": "x", "timed out": ">", "failed": "X"}


def draw(suites: dict[str, dict[str, Any]], scaling: dict[str, Any] | None, folder: Path) -> dict[str, str]:
    """Names of figures and their paths relative to the page; none where matplotlib is absent."""
    if importlib.util.find_spec("matplotlib") is None:
        return {}
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update({"font.size": 8, "savefig.dpi": 110, "axes.spines.top": False, "axes.spines.right": False})
    (folder / "figures").mkdir(parents=True, exist_ok=True)
    drawn = {}
    for name, results in suites.items():
        families: dict[str, list[dict[str, Any]]] = {}
        for row in measured(results):
            families.setdefault(row["task"]["family"], []).append(row)
        for family, rows in families.items():
            drawn[f"{name}-{family}"] = _save(
                _curves(rows[:: math.ceil(len(rows) / PANELS)], name, family), folder, f"benchmarks-{name}-{family}.png"
            )
    if scaling is not None:
        drawn["scaling"] = _save(_axes_of_scaling(scaling), folder, "benchmarks-scaling.png")
    return drawn


def _save(figure: Any, folder: Path, name: str) -> str:
    from matplotlib import pyplot

    figure.savefig(folder / "figures" / name, metadata={"Software": None})
    pyplot.close(figure)
    return f"figures/{name}"


def _grid(count: int) -> tuple[Any, list[Any]]:
    from matplotlib import pyplot

    columns = min(4, count)
    lines = math.ceil(count / columns)
    figure, axes = pyplot.subplots(
        lines, columns, figsize=(2.9 * columns, 2.5 * lines + 0.6), squeeze=False, layout="constrained"
    )
    panels = list(axes.ravel())
    for spare in panels[count:]:
        spare.set_visible(False)
    return figure, panels[:count]


def _curves(rows: list[dict[str, Any]], suite: str, family: str) -> Any:
    figure, panels = _grid(len(rows))
    handles: dict[str, Any] = {}
    for panel, row in zip(panels, rows, strict=True):
        lowest = 0.1 * min(row["task"]["targets"])
        panel.set(xscale="log", yscale="log", ylim=(0.5 * lowest, 2.0))
        for name, peer in row["peers"].items():
            done = [point for point in peer.get("curve", []) if "gap" in point and math.isfinite(point["gap"])]
            done.sort(key=lambda point: point["seconds"])
            best = _frontier([(point["seconds"], max(point["gap"], lowest)) for point in done])
            colour = COLOURS.get(name, "#555555")
            if best:
                handles[name] = panel.plot(
                    *zip(*best, strict=True), "o-", color=colour, markersize=3, linewidth=1.2, label=name
                )[0]
            for point in peer.get("curve", []):
                if point["outcome"] in MARKS:
                    height = min(1.0, max(point.get("gap", 1.0), lowest))
                    panel.plot(point["seconds"], height, MARKS[point["outcome"]], color=colour, markersize=5)
        panel.axvline(row["floors"]["least"], color="#999999", linewidth=0.8, linestyle=":")
        for target in row["task"]["targets"]:
            panel.axhline(target, color="#cccccc", linewidth=0.8)
        task = row["task"]
        who = "" if task["positive"] is not None else ", all classes"
        panel.set_title(f"{task['data']}{who}\n{task['loss']}, C={task['C']:g}, {task['intercept']}", fontsize=8)
    for panel in panels:
        panel.set_xlabel("seconds")
    panels[0].set_ylabel("verified relative gap")
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles) or 1, frameon=False)
    figure.suptitle(f"{suite}: {family} (dotted: three passes over the rows; > timed out, x wrong)", fontsize=9)
    return figure


def _frontier(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Of points sorted by time, those with a smaller gap than all before."""
    best: list[tuple[float, float]] = []
    for point in points:
        if not best or point[1] < best[-1][1]:
            best.append(point)
    return best


def _axes_of_scaling(scaling: dict[str, Any]) -> Any:
    axes = scaling["axes"]
    figure, panels = _grid(len(axes))
    for panel, axis in zip(panels, axes, strict=True):
        sizes = [point["size"] for point in axis["points"]]
        panel.plot(sizes, [point["seconds"] for point in axis["points"]], "o-", color=COLOURS["maxmargin"], markersize=3)
        panel.set(xscale="log", yscale="log", xlabel=axis["grows"])
        panel.minorticks_off()
        panel.set_xticks(sizes, labels=[f"{size:,d}" for size in sizes])
        slope = "" if axis["time_slope"] is None else f", slope {axis['time_slope']:.2f}"
        panel.set_title(f"{axis['name']}{slope}", fontsize=8)
    panels[0].set_ylabel("seconds")
    return figure
