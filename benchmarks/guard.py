"""Instruction counts of the native loops on fixed inputs, here and at the merge base, by valgrind's callgrind.

Counts of the same input are the same on every run, so a few per cent can be seen on any machine, however busy. They are not
seconds: they see no cache and no port. `benchmarks/guarded` holds one small program per loop, and counts it with every kind of
rows. Valgrind knows no AVX-512, so the baseline and AVX2 builds are counted.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

ROOT = Path(__file__).parents[1]
PROGRAMS = ROOT / "benchmarks" / "guarded"
ALLOWED: Final = 1.03
STORAGES: Final = ("dense float64", "dense float32", "sparse float64", "sparse float32")
CASES: Final = {"dual_ascent": ("hinge", "squared hinge")}  # of a program that goes through the storages more than once
ISAS: Final = {"base": (), "avx2": ("-mavx2", "-mfma")}
FLAGS: Final = ("-std=c++20", "-O3", "-DNDEBUG", "-fopenmp", "-fopenmp-simd")  # those of CMakeLists.txt in a release

Counts = dict[str, int]  # "avx2 dual_ascent hinge, sparse float32" -> instructions


def loops() -> list[str]:
    """The programs that count."""
    return sorted(path.stem for path in PROGRAMS.glob("*.cpp") if path.stem != "counted")


def uncounted(tree: Path) -> list[str]:
    """Loops that the core offers and no program counts."""
    offered = re.findall(r"\(\*(\w+)\)\(", (tree / "cpp" / "maxmargin" / "core.hpp").read_text())
    return sorted(set(offered) - set(loops()))


def missing_tools() -> list[str]:
    """What the guard needs and this machine lacks."""
    return [tool for tool in ("valgrind", _compiler()) if shutil.which(tool) is None]


def count(
    tree: Path, folder: Path, names: Iterable[str] | None = None, isas: Iterable[str] = ISAS
) -> tuple[Counts, list[str]]:
    """Counts of a source tree, and the loops that it does not have in this form. `folder` takes what is built."""
    counts: Counts = {}
    lacking: list[str] = []
    names = loops() if names is None else list(names)
    for isa in isas:
        flags = [*FLAGS, *ISAS[isa], f"-DMAXMARGIN_ISA={isa}", f"-I{tree / 'cpp'}", f"-I{PROGRAMS}"]
        core = folder / f"core_{isa}.o"
        _compile([*flags, "-c", str(tree / "cpp" / "core.cpp"), "-o", str(core)], must=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            built = pool.map(lambda name: _build(name, flags, core, folder / f"{name}_{isa}"), names)  # noqa: B023
            found = list(
                pool.map(lambda made: _counts_of(made[1], made[0]) if made[1] else None, zip(names, built, strict=True))
            )
        for name, sums in zip(names, found, strict=True):
            if sums is None:
                lacking.append(f"{isa} {name}")
                continue
            cases = [f"{case}, {each}".lstrip(", ") for case in CASES.get(name, ("",)) for each in STORAGES]
            counts |= {f"{isa} {name} {case}": value for case, value in zip(cases, sums, strict=True)}
    return counts, lacking


def compare(here: Counts, there: Counts) -> tuple[list[str], bool]:
    """One line per loop that both have, the worst first, and whether all are within the allowance."""
    ratios = sorted(((here[name] / there[name], name) for name in here if name in there), reverse=True)
    lines = []
    for ratio, name in ratios:
        mark = "SLOWER" if ratio > ALLOWED else "faster" if ratio < 1.0 / ALLOWED else ""
        lines.append(f"{ratio:8.4f}  {here[name]:>12,d}  {there[name]:>12,d}  {name:45s} {mark}".rstrip())
    return lines, all(ratio <= ALLOWED for ratio, _ in ratios)


def merge_base(base: str | None) -> str | None:
    """The commit to compare with: of the given one, of origin/main or of main, the merge base with HEAD.

    Where that is HEAD itself and the loops are as committed, its first parent: a tree compared with itself says nothing.
    """
    for name in [base] if base else ["origin/main", "main"]:
        found = _git("merge-base", "HEAD", name)
        if found and found == _git("rev-parse", "HEAD") and not _git("status", "--porcelain", "--", "cpp"):
            return _git("rev-parse", "--verify", "--quiet", "HEAD^") or None
        if found:
            return found
    return None


def guard(base: str | None = None) -> int:
    """0 where no loop needs 3 % more instructions than at the base; 1 where one does; 2 where nothing can be said."""
    if missing := missing_tools():
        print(f"GUARD DID NOT RUN: {' and '.join(missing)} must be installed (Debian: apt-get install valgrind g++).")
        return 2
    commit = merge_base(base)
    if commit is None:
        print(f"GUARD DID NOT RUN: HEAD has no merge base with {base or 'origin/main or main'}. Name a commit by --base.")
        return 2
    with tempfile.TemporaryDirectory(prefix="maxmargin-guard-") as name:
        folder = Path(name)
        tree = folder / "tree"
        for each in ("here", "there"):
            (folder / each).mkdir()
        if not _git("worktree", "add", "--detach", "--force", str(tree), commit, full=True):
            print(f"GUARD DID NOT RUN: git could not check {commit[:12]} out.")
            return 2
        try:
            there, lacking = count(tree, folder / "there")
        finally:
            _git("worktree", "remove", "--force", str(tree))
        here, broken = count(ROOT, folder / "here")
    print(f"instructions here and at {commit[:12]}, their ratio first; allowed: {ALLOWED}")
    lines, within = compare(here, there)
    print("\n".join(lines))
    for loop in lacking:
        print(f"the base does not have {loop} in this form: nothing to compare with")
    for loop in uncounted(ROOT):
        print(f"NOT COUNTED: {loop} has no program in benchmarks/guarded")
    for loop in broken:
        print(f"BROKEN: the program of {loop} does not compile here")
    if not lines:
        print("NOTHING COMPARED")
        return 2
    green = within and not broken
    print("guard: green" if green else "guard: RED")
    return 0 if green else 1


def _compiler() -> str:
    return os.environ.get("CXX", "g++")


def _compile(arguments: list[str], must: bool = False) -> bool:
    done = subprocess.run([_compiler(), *arguments], capture_output=True, text=True, check=False)
    if must and done.returncode:
        raise RuntimeError(done.stderr[-2000:])
    return done.returncode == 0


def _build(name: str, flags: list[str], core: Path, program: Path) -> Path | None:
    sources = [str(PROGRAMS / f"{name}.cpp"), str(PROGRAMS / "counted.cpp"), str(core)]
    return program if _compile([*flags, *sources, "-o", str(program)]) else None


def _counts_of(program: Path, name: str) -> list[int]:
    """One sum per call of `counted`, in order."""
    out = program.with_suffix(".callgrind")
    command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=counted", "--dump-after=counted"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    subprocess.run([*command, f"--callgrind-out-file={out}", str(program)], check=True, capture_output=True, env=environment)
    parts = sorted(out.parent.glob(f"{out.name}.*"), key=lambda path: int(path.suffix[1:]))
    sums = [re.search(r"^(?:summary|totals): (\d+)", part.read_text(), re.MULTILINE) for part in parts]
    found = [int(each[1]) for each in sums if each is not None and int(each[1]) > 0]
    if len(found) != len(CASES.get(name, ("",))) * len(STORAGES):
        raise RuntimeError(f"{name}: callgrind wrote {len(found)} sums")
    return found


def _git(*arguments: str, full: bool = False) -> str:
    """What git says, or "" where it fails; with `full`, whether it succeeded, as a word."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        return ""
    return done.stdout.strip() or ("done" if full else "")
