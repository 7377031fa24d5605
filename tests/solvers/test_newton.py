import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Hinge, Intercept, Newton, Problem, Ridge, SquaredHinge, Status, as_design, fit_problem
from maxmargin.solvers import Watch
from maxmargin.testing import check_solver, planted_problem

BOTH = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)


@BOTH
def test_planted_optima(loss):
    check_solver(Newton(tol=1e-10), loss, tol=1e-10)


@BOTH
@INTERCEPTS
@pytest.mark.parametrize("shape", [(300, 5), (40, 200)], ids=["columns", "rows"])
def test_it_agrees_with_dual_ascent_within_the_certificates(loss, intercept, shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape)
    y = np.where(X[:, 0] + rng.normal(size=shape[0]) > 0, 1.0, -1.0)
    for design in (as_design(X), as_design(sp.csr_array(X))):
        problem = Problem(design, y, loss, Ridge(1.0), rng.uniform(0.5, 2.0, shape[0]), intercept)
        newton, ascent = Newton(tol=1e-9).solve(problem), fit_problem(problem)
        assert newton.status is Status.SOLVED
        gap = newton.certificate.gap + ascent.certificate.gap
        assert abs(newton.certificate.primal - ascent.certificate.primal) <= gap
        assert np.linalg.norm(newton.coef - ascent.coef) <= np.sqrt(2 * newton.certificate.gap) + np.sqrt(
            2 * ascent.certificate.gap
        )


@BOTH
def test_more_rows_than_one_block_and_duplicates(loss):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(9000, 3)), 1)
    y = np.where(X[:, 0] + rng.normal(size=9000) > 0, 1.0, -1.0)
    problem = Problem(as_design(X), y, loss, Ridge(1.0), np.ones(9000), Intercept.FREE)
    solution = Newton(tol=1e-8).solve(problem)
    assert solution.status is Status.SOLVED


def test_badly_scaled_columns():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 6)) * 10.0 ** np.arange(-3, 3)
    y = np.where(X[:, 3] + rng.normal(size=200) > 0, 1.0, -1.0)
    for loss in (Hinge(), SquaredHinge()):
        problem = Problem(as_design(X), y, loss, Ridge(1.0), np.ones(200), Intercept.FREE)
        assert Newton(tol=1e-7).solve(problem).status is Status.SOLVED


def test_limits_are_kept_and_named():
    problem, _, _ = planted_problem(Hinge(), n=200, d=10)
    assert Newton(tol=1e-300, max_steps=2).solve(problem).status is Status.MAX_ITER
    assert Newton(tol=1e-300).solve(problem).status is Status.PRECISION
    watch = Watch(max_time=1e-9)
    assert Newton(tol=1e-300).solve(problem, watch=watch).status is Status.MAX_TIME


def test_separable_data_without_any_row_inside():
    problem = Problem(as_design(np.array([[5.0], [-5.0]])), np.array([1.0, -1.0]), Hinge(), Ridge(1.0), np.full(2, 1e-3))
    solution = Newton(tol=1e-9).solve(problem)
    assert solution.status is Status.SOLVED
    assert np.isclose(solution.coef[0], 1e-2)
