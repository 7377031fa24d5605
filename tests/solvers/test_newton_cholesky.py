import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    L1,
    CoordinateDescent,
    Hinge,
    Huber,
    Intercept,
    Logistic,
    NewtonCholesky,
    Problem,
    Ridge,
    SmoothedHinge,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    Status,
    as_design,
    certify,
)
from maxmargin.losses import RegressionLoss
from maxmargin.solvers import Watch
from maxmargin.testing import check_solver

LOSSES = [Logistic(), Squared(), Huber(0.5), SmoothedHinge(0.5), SquaredHinge(), SquaredEpsilonInsensitive(0.1)]
EACH = pytest.mark.parametrize("loss", LOSSES, ids=repr)


def problem_of(loss, intercept=Intercept.FREE, strength=1.0, n=80, d=6, seed=0, make=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1.0
    y = X @ rng.normal(size=d) + rng.normal(size=n) + 2.0
    target = y if isinstance(loss, RegressionLoss) else np.where(y > np.median(y), 1.0, -1.0)
    return Problem(as_design(make(X)), target, loss, Ridge(strength), rng.uniform(0.5, 2.0, n), intercept)


@EACH
@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
@pytest.mark.parametrize("strength", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_every_smooth_loss_is_solved(loss, intercept, strength, make):
    problem = problem_of(loss, intercept, strength, make=make)
    solution = NewtonCholesky(tol=1e-9).solve(problem)
    assert solution.status is Status.SOLVED
    assert certify(problem, solution.coef, solution.intercept, solution.dual, "rigorous").relative_gap <= 2e-9


@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge()], ids=repr)
def test_planted_optima(loss):
    check_solver(NewtonCholesky(tol=1e-10), loss, tol=1e-10)


@EACH
def test_it_agrees_with_coordinate_descent_within_the_certificates(loss):
    problem = problem_of(loss)
    newton, coordinates = NewtonCholesky(tol=1e-9).solve(problem), CoordinateDescent(tol=1e-9).solve(problem)
    bound = np.sqrt(2 * newton.certificate.gap) + np.sqrt(2 * coordinates.certificate.gap)
    assert np.linalg.norm(newton.coef - coordinates.coef) <= bound + 1e-12


def test_limits_are_kept_and_named():
    problem = problem_of(Logistic())
    assert NewtonCholesky(tol=1e-300, max_steps=1).solve(problem).status is Status.MAX_ITER
    exact = NewtonCholesky(tol=1e-300).solve(problem)
    assert exact.status is Status.PRECISION or exact.certificate.gap == 0.0
    assert exact.work.steps < 20
    assert NewtonCholesky(tol=1e-300).solve(problem, watch=Watch(max_time=1e-9)).status is Status.MAX_TIME


@pytest.mark.parametrize(
    ("loss", "penalty", "words"), [(Hinge(), Ridge(), "kinks"), (Logistic(), L1(), "coordinate_descent")]
)
def test_what_it_cannot_do_is_refused_in_words(loss, penalty, words):
    problem = Problem(as_design(np.eye(2)), np.array([1.0, -1.0]), loss, penalty, np.ones(2))
    with pytest.raises(ValueError, match=words):
        NewtonCholesky().solve(problem)
