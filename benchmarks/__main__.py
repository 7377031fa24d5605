"""python -m benchmarks run | report | guard | scaling | house."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
QUICK = ROOT / "build" / "benchmarks"  # quick runs prove that all works; they are not results


def main(arguments: list[str] | None = None) -> int:
    """Each command imports what it needs alone."""
    asked = _parser().parse_args(arguments)
    if asked.command == "run":
        from benchmarks.run import Limits, run

        out = asked.out or (QUICK if asked.quick else RESULTS) / f"{asked.suite}.json"
        limits = replace(Limits.quick() if asked.quick else Limits(), **_asked_limits(asked))
        run(asked.suite, asked.data, out, asked.peers, asked.quick, asked.only, limits)
        print(f"written to {out}")
    elif asked.command == "report":
        from benchmarks.report import report

        report(asked.results, asked.out)
        print(f"written to {asked.out}")
    elif asked.command == "guard":
        from benchmarks.guard import guard

        return guard(asked.base)
    elif asked.command == "scaling":
        from benchmarks.scaling import scaling

        out = asked.out or (QUICK if asked.quick else RESULTS) / "scaling.json"
        scaling(out, asked.quick)
        print(f"written to {out}")
    else:
        from benchmarks.house import main as house

        house(asked.data)
    return 0


def _asked_limits(asked: argparse.Namespace) -> dict[str, float]:
    total = {} if asked.minutes is None else {"total": 60.0 * asked.minutes}
    return total if asked.limit is None else {**total, "fit": asked.limit}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="curves of verified gap against seconds, ours and the peers'")
    run.add_argument("--suite", default="linear")
    run.add_argument("--peers", type=lambda text: text.split(","), help="names with commas between; all by default")
    run.add_argument("--quick", action="store_true", help="a few small tasks: proves that everything works")
    data = os.environ.get("MAXMARGIN_DATA")
    run.add_argument("--data", type=Path, default=Path(data) if data else None, help="folder; default MAXMARGIN_DATA")
    run.add_argument("--only", default="", help="tasks whose name contains this")
    run.add_argument("--minutes", type=float, help="of the whole run; tasks beyond it are listed as not run")
    run.add_argument("--limit", type=float, help="seconds of one fit")
    run.add_argument("--out", type=Path)
    report = commands.add_parser("report", help="docs/benchmarks.md and its figures, from stored results")
    report.add_argument("--results", type=Path, default=RESULTS)
    report.add_argument("--out", type=Path, default=ROOT / "docs" / "benchmarks.md")
    guard = commands.add_parser("guard", help="instruction counts of the loops against the merge base")
    guard.add_argument("--base", help="a commit; default: the merge base with origin/main")
    scaling = commands.add_parser("scaling", help="time and memory against n, d, nnz, threads, classes")
    scaling.add_argument("--quick", action="store_true")
    scaling.add_argument("--out", type=Path)
    house = commands.add_parser(
        "house", help="import time, Ctrl-C, memory, the share of certificates; with data, how far it gets"
    )
    house.add_argument("--data", type=Path, default=Path(data) if data else None, help="folder; default MAXMARGIN_DATA")
    return parser


if __name__ == "__main__":
    sys.exit(main())
