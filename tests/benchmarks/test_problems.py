"""The planted optimum satisfies the optimality conditions; the suites are well formed."""

import numpy as np
import pytest

from benchmarks.problems import MADE, Task, load, planted, suite
from maxmargin import Hinge, Intercept, Problem, Ridge, SquaredHinge, as_design


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("C", [0.1, 1.0, 10.0])
@pytest.mark.parametrize("intercept", list(Intercept))
def test_no_direction_improves_the_planted_optimum(loss, C, intercept):
    """P is convex: a point from which no small step in any of many directions descends minimises it up to |step|²."""
    made = planted(400, 7, loss, C)
    phi = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}[loss]
    problem = Problem(as_design(made.X), 2.0 * made.y - 1.0, phi, Ridge(1.0), np.full(len(made.y), C), intercept)
    assert problem.primal(made.w, 0.0) == pytest.approx(made.optimum, rel=1e-12)
    rng = np.random.default_rng(1)
    for _ in range(50):
        step, shift = 1e-4 * rng.normal(size=7), 0.0 if intercept is Intercept.NONE else 1e-4 * rng.normal()
        assert problem.primal(made.w + step, shift) >= made.optimum * (1.0 - 1e-13)


@pytest.mark.parametrize("quick", [False, True])
def test_tasks_are_distinct_and_travel_as_json(quick):
    tasks = suite("linear", quick)
    assert len(set(tasks)) == len(tasks)
    assert all(Task.of_json(task.as_json()) == task for task in tasks)


def test_every_bar_of_the_suite_is_there():
    tasks = suite("linear")
    text = {(task.data, task.loss, task.C) for task in tasks if task.family == "text" and task.intercept == "penalized"}
    assert len(text) == 4 * 2 * 3
    dense = {(task.data, task.loss, task.C) for task in tasks if task.family == "dense" and task.intercept == "penalized"}
    assert len(dense) == 3 * 2 * 2
    assert {task.intercept for task in tasks} == {"none", "penalized", "free"}


def test_absent_data_is_named():
    with pytest.raises(FileNotFoundError, match="MAXMARGIN_DATA"):
        load("a9a", None)
    with pytest.raises(ValueError, match="must be one of"):
        suite("unheard of")


def test_bundled_data_needs_no_folder():
    X, y = MADE["breast_cancer"]()
    assert X.flags.c_contiguous
    assert set(Task("breast_cancer", "hinge", 1.0, "free", (1e-3,), 1).labels(y)) == {0, 1}
