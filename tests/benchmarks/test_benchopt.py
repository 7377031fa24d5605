"""The solver for benchopt answers benchopt's own objective, with a stand-in where benchopt is not installed."""

import importlib.util
import sys
import types

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.guard import ROOT


@pytest.fixture
def solver(monkeypatch):
    stand_in = types.ModuleType("benchopt")
    stand_in.BaseSolver = type("BaseSolver", (), {})
    monkeypatch.setitem(sys.modules, "benchopt", stand_in)
    path = ROOT / "benchmarks" / "benchopt" / "solver_maxmargin.py"
    spec = importlib.util.spec_from_file_location("solver_maxmargin", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Solver()


@pytest.mark.parametrize("storage", [np.asarray, sp.csc_matrix])
def test_it_minimises_the_objective(solver, storage):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.where(X @ rng.normal(size=4) + 0.5 * rng.normal(size=60) > 0, 1, -1)

    def objective(beta):
        return 0.1 * np.maximum(1 - y * (X @ beta), 0).sum() + 0.5 * beta @ beta

    solver.solver = "auto"
    assert solver.skip(storage(X), y, 0.1)[0] is False
    solver.set_objective(storage(X), y, 0.1)
    reached = []
    for tolerance in (1e38, 1e-3, 0.0):
        solver.run(tolerance)
        reached.append(objective(solver.get_result()["beta"]))
    assert reached[2] <= reached[1] * (1 + 1e-12) <= reached[0] * (1 + 1e-11)
    assert reached[1] <= reached[2] / (1 - 1e-3)


def test_it_refuses_many_classes(solver):
    assert solver.skip(np.eye(3), np.arange(3), 1.0) == (True, "two classes are needed")
