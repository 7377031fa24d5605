import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import HardMargin, Hinge, Intercept, InteriorPoint, Newton, Problem, Ridge, SquaredHinge, Status, as_design
from maxmargin.solvers import Watch
from maxmargin.solvers.interior_point import MOST_COLUMNS
from maxmargin.testing import check_solver, planted_problem

BOTH = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)


def noisy(loss, intercept, n=80, d=4, seed=0, cost=1.0, form=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(as_design(form(X)), y, loss, Ridge(1.0), cost * rng.uniform(0.5, 2.0, n), intercept)


@BOTH
@pytest.mark.parametrize("tol", [1e-1, 1e-4, 1e-12])
def test_planted_optima(loss, tol):
    check_solver(InteriorPoint(tol=tol), loss, tol=tol)


@BOTH
@INTERCEPTS
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_it_agrees_with_newton_within_the_certificates(loss, intercept, form):
    problem = noisy(loss, intercept, form=form)
    one, other = InteriorPoint(tol=1e-9).solve(problem), Newton(tol=1e-9).solve(problem)
    assert one.status is other.status is Status.SOLVED
    gap, rounding = one.certificate.gap + other.certificate.gap, 1e-14 * one.certificate.primal
    assert abs(one.certificate.primal - other.certificate.primal) <= gap + rounding
    assert np.linalg.norm(one.coef - other.coef) <= sum(
        np.sqrt(2 * (each.certificate.gap + rounding)) for each in (one, other)
    )


@BOTH
@INTERCEPTS
def test_rows_without_cost_change_nothing(loss, intercept):
    problem = noisy(loss, intercept)
    n = problem.design.n
    X = np.vstack([problem.design.data, 1e3 * np.random.default_rng(9).normal(size=(20, 4))])
    padded = Problem(
        as_design(X),
        np.append(problem.target, np.ones(20)),
        loss,
        Ridge(1.0),
        np.append(problem.cost, np.zeros(20)),
        intercept,
    )
    one, other = InteriorPoint(tol=1e-10).solve(problem), InteriorPoint(tol=1e-10).solve(padded)
    assert other.status is Status.SOLVED
    assert not other.dual[n:].any()
    assert abs(one.certificate.primal - other.certificate.primal) <= one.certificate.gap + other.certificate.gap + 1e-13


@BOTH
@INTERCEPTS
def test_nothing_to_fit(loss, intercept):
    problem = dataclasses.replace(noisy(loss, intercept), cost=np.zeros(80))
    found = InteriorPoint().solve(problem)
    assert found.status is Status.SOLVED
    assert not found.coef.any()
    one_class = dataclasses.replace(noisy(loss, intercept), target=np.ones(80))
    assert InteriorPoint(tol=1e-9).solve(one_class).status is Status.SOLVED


@BOTH
@given(seed=st.integers(0, 10**6))
def test_duplicates_and_zero_rows(loss, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(40, 3)))
    y = rng.choice([-1.0, 1.0], 40)
    for intercept in Intercept:
        found = InteriorPoint(tol=1e-8).solve(Problem(as_design(X), y, loss, Ridge(1.0), np.ones(40), intercept))
        assert found.status is Status.SOLVED


@BOTH
@INTERCEPTS
@pytest.mark.parametrize("cost", [1e-8, 1e-3, 1e3, 1e8])
def test_costs_and_columns_of_any_size(loss, intercept, cost):
    problem = noisy(loss, intercept, cost=cost)
    assert InteriorPoint(tol=1e-8).solve(problem).status is Status.SOLVED
    stretched = dataclasses.replace(problem, design=as_design(problem.design.data * 10.0 ** np.arange(-3, 5, 2)))
    assert InteriorPoint(tol=1e-6).solve(stretched).status is Status.SOLVED


@BOTH
def test_the_number_of_steps_hardly_depends_on_the_size_of_the_cost(loss):
    steps = [InteriorPoint(tol=1e-8).solve(noisy(loss, Intercept.FREE, cost=c)).work.steps for c in (1e-2, 1.0, 1e2, 1e4)]
    assert max(steps) <= 40, "ten to forty, says the docstring"


def test_float32_keeps_its_type():
    problem = noisy(Hinge(), Intercept.FREE, form=lambda X: X.astype(np.float32))
    found = InteriorPoint(tol=1e-5).solve(problem)
    assert found.coef.dtype == np.float32
    assert found.status is Status.SOLVED


def test_limits_are_kept_and_named():
    problem = noisy(Hinge(), Intercept.FREE)
    stopped = InteriorPoint(tol=1e-300, max_steps=2).solve(problem)
    assert (stopped.status, stopped.work.steps) == (Status.MAX_ITER, 2)
    assert np.isfinite(stopped.certificate.gap)
    ended = InteriorPoint(tol=1e-300).solve(problem)
    assert ended.status in (Status.PRECISION, Status.MAX_ITER)
    assert ended.certificate.relative_gap <= 1e-12
    assert InteriorPoint(tol=1e-300).solve(problem, watch=Watch(max_time=1e-9)).status is Status.MAX_TIME
    assert (
        InteriorPoint(tol=1e-300).solve(problem, watch=Watch(listener=lambda p: p.epoch == 3)).status is Status.INTERRUPTED
    )


def test_what_it_cannot_solve_is_refused_in_words():
    problem, _, _ = planted_problem(Hinge(), n=10, d=2)
    hard = dataclasses.replace(problem, loss=HardMargin())
    assert "loss must be Hinge() or SquaredHinge(), not HardMargin()" in InteriorPoint().refuse(hard)
    wide = Problem(as_design(sp.csr_array((2, MOST_COLUMNS + 1))), np.array([1.0, -1.0]), Hinge(), Ridge(1.0), np.ones(2))
    assert '4001 columns are more than the 4000 that its system may have. Use "dual_ascent"' in InteriorPoint().refuse(wide)
    with pytest.raises(ValueError, match="4001 columns"):
        InteriorPoint().solve(wide)


def test_the_same_problem_gives_the_same_bits():
    problem = noisy(SquaredHinge(), Intercept.FREE)
    one, other = (InteriorPoint(tol=1e-6).solve(problem) for _ in range(2))
    assert np.array_equal(one.coef, other.coef)
    assert one.intercept == other.intercept
