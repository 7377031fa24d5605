"""The house rules: imports point down, one door to the core, optional packages by name only, no traces of the workshop."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import maxmargin

SOURCE = Path(maxmargin.__file__).parent
ROOT = Path(__file__).parents[1]
MODULES = sorted(path.relative_to(SOURCE).with_suffix("").as_posix() for path in SOURCE.rglob("*.py"))

# Each floor may import from the floors above it in this list, and from its own folder.
FLOORS = [
    {"_native"},
    {"design", "losses", "penalties", "kernels", "spectrum", "gram"},
    {"problem"},
    {"certificate", "halfspace", "quadratic", "kkt", "margins", "datasets"},
    {"separation", "solution", "model"},
    {"solvers"},
    {"reductions", "perceptron"},
    {"estimators"},
    {"versions", "testing"},
    {"__init__"},
    {"cli"},
]
RUNTIME = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "maxmargin"}  # joblib, threadpoolctl: scikit-learn's


def floor(module):
    top = module.split("/")[0]
    return next(k for k, names in enumerate(FLOORS) if top in names)


def imports(module):
    tree = ast.parse((SOURCE / f"{module}.py").read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            yield node.module if node.module != "maxmargin" else f"maxmargin.{node.names[0].name}"


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    for name in imports(module):
        if not name.startswith("maxmargin."):
            continue
        target = name.removeprefix("maxmargin.").split(".")[0]
        if target == "_core":
            assert module == "_native", f"{module}: only _native imports the extension"
        elif module == "cli":
            assert (SOURCE / f"{target}.py").exists() is False or target == "cli", "the command line uses the public API"
        elif module.split("/")[0] != target:
            above = next(k for k, names in enumerate(FLOORS) if target in names)
            assert above < floor(module) or (above == floor(module) == 1), f"{module} imports {target}"


@pytest.mark.parametrize("module", MODULES)
def test_only_the_runtime_packages_are_imported(module):
    for name in imports(module):
        top = name.split(".")[0]
        assert top in RUNTIME or top in sys.stdlib_module_names, f"{module} imports {top}"


def test_import_loads_no_optional_package_that_scikit_learn_does_not():
    code = "import sys, {}; print(' '.join(sorted({{name.split('.')[0] for name in sys.modules}})))"
    ours, theirs = (
        set(
            subprocess.run(
                [sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True
            ).stdout.split()
        )
        for name in ("maxmargin", "sklearn.svm, sklearn.base")
    )
    assert {name for name in ours - theirs if name not in sys.stdlib_module_names} <= {"maxmargin"}


@pytest.mark.parametrize("module", [m for m in MODULES if not m.endswith("__init__")])
def test_every_module_has_its_test_file(module):
    folder, _, name = module.rpartition("/")
    if name == "_core":
        return
    assert (ROOT / "tests" / folder / f"test_{name.lstrip('_')}.py").exists()


def test_the_core_is_free_of_python_and_of_globals():
    for header in (ROOT / "cpp" / "maxmargin").glob("*.hpp"):
        text = header.read_text()
        for word in ("nanobind", "Python.h", "#include <iostream>", "std::rand", "throw ", "getenv", "static int"):
            assert word not in text, f"{header.name}: {word}"


def test_no_weak_symbol_is_shared_between_instruction_sets():
    """A function compiled for AVX-512 that the linker may keep for all would crash smaller processors."""
    objects = list((ROOT / "build").rglob("core_*.dir/cpp/core.cpp.o"))
    if not objects:
        pytest.skip("the objects of the build are not here")
    for path in objects:
        listed = subprocess.run(["nm", "-C", path], capture_output=True, text=True, check=True).stdout
        weak = [line for line in listed.splitlines() if " W " in line or " V " in line or " u " in line]
        foreign = [line for line in weak if "maxmargin::base::" not in line and "maxmargin::avx" not in line]
        assert not foreign, foreign[:3]


def test_the_tree_that_the_design_draws_is_the_tree_that_exists():
    lines = (ROOT / "docs" / "design.md").read_text().split("```")[1].splitlines()
    drawn = {line.split()[0].rstrip("/") for line in lines if line.strip() and not line.startswith("  ")}
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    existing = {path.split("/")[0] for path in listed.stdout.splitlines()}
    assert drawn == existing
