import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    L1,
    Box,
    CoordinateDescent,
    EpsilonInsensitive,
    Hinge,
    Huber,
    Intercept,
    Logistic,
    NonNegative,
    NoPenalty,
    Problem,
    Ridge,
    SmoothedHinge,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    Status,
    as_design,
    certify,
    fit_problem,
)
from maxmargin.losses import RegressionLoss
from maxmargin.penalties import ElasticNet
from maxmargin.solvers import Watch
from maxmargin.testing import check_solver
from rational import RationalProblem

LOSSES = [Squared(), Huber(0.5), SquaredEpsilonInsensitive(0.1), SquaredHinge(), SmoothedHinge(0.5), Logistic()]
PENALTIES = [Ridge(1.0), L1(3.0), ElasticNet(1.0, 0.5), NonNegative(1.0), Box(-0.1, 0.3)]
INTERCEPTS = [Intercept.NONE, Intercept.FREE]
each = pytest.mark.parametrize


def problem_of(loss, penalty, intercept, n=60, d=20, seed=0, make=np.asarray, dtype=float):
    """Columns with an offset, two of them nearly parallel, one constant and one zero."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1.0
    X[:, 1] = X[:, 0] + 0.01 * X[:, 1]
    X[:, 2], X[:, 3] = 1.0, 0.0
    y = X[:, 4:8] @ rng.normal(size=4) + 0.5 * rng.normal(size=n) + 2.0
    target = y if isinstance(loss, RegressionLoss) else np.where(y > np.median(y), 1.0, -1.0)
    return Problem(as_design(make(X.astype(dtype))), target, loss, penalty, rng.uniform(0.5, 2.0, n), intercept)


@each("loss", LOSSES, ids=repr)
@each("penalty", PENALTIES, ids=repr)
@each("intercept", INTERCEPTS, ids=lambda i: i.value)
@each("shape", [(60, 20), (30, 150)], ids=["long", "wide"])
def test_every_pair_is_solved_to_a_certified_gap(loss, penalty, intercept, shape):
    problem = problem_of(loss, penalty, intercept, *shape)
    solution = CoordinateDescent(tol=1e-9).solve(problem)
    assert solution.status is Status.SOLVED
    certificate = certify(problem, solution.coef, solution.intercept, solution.dual, "rigorous")
    rounding = 1e-12 * certificate.zero  # all that can be proven where P* = 0, which wide boxes reach
    assert certificate.gap <= 1.001e-9 * certificate.primal + rounding


@each("loss", [SquaredHinge(), Logistic()], ids=repr)
def test_planted_optima(loss):
    check_solver(CoordinateDescent(tol=1e-10), loss, tol=1e-10)


@each("intercept", list(Intercept), ids=lambda i: i.value)
def test_it_agrees_with_newton_within_the_certificates(intercept):
    problem = problem_of(SquaredHinge(), Ridge(0.5), intercept)
    ours, newton = CoordinateDescent(tol=1e-8).solve(problem), fit_problem(problem, "newton")
    bound = np.sqrt(2 * ours.certificate.gap / 0.5) + np.sqrt(2 * newton.certificate.gap / 0.5)
    assert np.linalg.norm(ours.coef - newton.coef) <= bound + 1e-12


@each("penalty", [L1(0.8), ElasticNet(0.6, 0.3), NonNegative(0.5), Box(-0.1, 0.4)], ids=repr)
@each("seed", range(4))
def test_the_optimum_is_that_of_rational_arithmetic(penalty, seed):
    rng = np.random.default_rng(seed)
    X, y, cost = rng.normal(size=(8, 3)), rng.normal(size=8), rng.uniform(0.1, 2.0, 8)
    truth = RationalProblem(X, y, cost, Squared(), penalty, Intercept.FREE)
    best, w, _, _ = truth.solution()
    solution = CoordinateDescent(tol=1e-12).solve(Problem(as_design(X), y, Squared(), penalty, cost, Intercept.FREE))
    assert abs(solution.certificate.primal - float(best)) <= 1e-12 * float(best)
    assert np.allclose(solution.coef, np.array(w, dtype=float), atol=1e-5)
    assert np.array_equal(solution.coef == 0.0, np.array(w, dtype=float) == 0.0)


def test_orthogonal_columns_have_a_closed_form():
    """With X'X = I the lasso is the soft threshold of X'y."""
    rng = np.random.default_rng(0)
    X = np.linalg.qr(rng.normal(size=(50, 10)))[0]
    y = rng.normal(size=50)
    problem = Problem(as_design(np.ascontiguousarray(X)), y, Squared(), L1(0.5), np.ones(50), Intercept.NONE)
    solution = CoordinateDescent(tol=1e-12).solve(problem)
    assert np.allclose(solution.coef, L1(0.5).prox(X.T @ y, 1.0), atol=1e-13)


def test_no_weight_is_used_from_the_critical_strength_on():
    """w = 0 is optimal exactly where s >= max |X'(y - mean y)|."""
    problem = problem_of(Squared(), L1(1.0), Intercept.FREE)
    centred = problem.cost * (problem.target - np.average(problem.target, weights=problem.cost))
    critical = float(np.abs(problem.design.combine(centred)).max())
    for strength, used in ((critical * (1 + 1e-9), 0), (critical * (1 - 1e-3), 1)):
        at = Problem(problem.design, problem.target, Squared(), L1(strength), problem.cost, Intercept.FREE)
        assert np.count_nonzero(CoordinateDescent(tol=1e-10).solve(at).coef) == used


def test_limits_in_the_parameters():
    def solve(loss, penalty):
        return CoordinateDescent(tol=1e-12).solve(problem_of(loss, penalty, Intercept.FREE))

    ridge, lasso = solve(Squared(), Ridge(1.0)), solve(Squared(), L1(3.0))
    assert np.allclose(solve(Squared(), ElasticNet(1e-9, 1.0)).coef, ridge.coef, atol=1e-6)
    assert np.allclose(solve(Squared(), ElasticNet(3.0, 1e-9)).coef, lasso.coef, atol=1e-5)
    assert np.allclose(solve(Huber(1e4), L1(3.0)).coef, lasso.coef, atol=1e-6)
    assert np.allclose(solve(SquaredEpsilonInsensitive(1e-9), L1(6.0)).coef, lasso.coef, atol=1e-5)


@each("penalty", PENALTIES, ids=repr)
@each("dtype", [np.float32, np.float64])
def test_storage_does_not_change_the_solution(penalty, dtype):
    dense, sparse = (
        CoordinateDescent(tol=1e-6).solve(problem_of(Squared(), penalty, Intercept.FREE, make=make, dtype=dtype))
        for make in (np.asarray, sp.csr_array)
    )
    rounding = 1e-13 * dense.certificate.primal  # of float64 sums, which a computed gap does not hold
    assert (
        abs(dense.certificate.primal - sparse.certificate.primal)
        <= dense.certificate.gap + sparse.certificate.gap + rounding
    )
    assert dense.coef.dtype == sparse.coef.dtype == dtype


def test_a_weight_of_two_is_two_rows():
    rng = np.random.default_rng(0)
    X, y, times = rng.normal(size=(40, 6)), rng.normal(size=40), rng.integers(0, 4, 40)
    one = Problem(as_design(X), y, Squared(), L1(2.0), times.astype(float), Intercept.FREE)
    many = Problem(as_design(np.repeat(X, times, axis=0)), np.repeat(y, times), Squared(), L1(2.0), np.ones(times.sum()))
    one, many = (CoordinateDescent(tol=1e-12).solve(problem) for problem in (one, many))
    assert np.allclose(one.coef, many.coef, atol=1e-8)


def test_a_start_is_used():
    problem = problem_of(Squared(), L1(3.0), Intercept.FREE, 200, 100)
    first = CoordinateDescent(tol=1e-10).solve(problem)
    assert CoordinateDescent(tol=1e-8).solve(problem, start=first).work.epochs == 0


def test_limits_are_kept_and_named():
    problem = problem_of(Logistic(), L1(0.1), Intercept.FREE)
    assert CoordinateDescent(tol=1e-300, max_rounds=1).solve(problem).status is Status.MAX_ITER
    assert CoordinateDescent(tol=1e-300).solve(problem).status is Status.PRECISION
    assert CoordinateDescent(tol=1e-300).solve(problem, watch=Watch(max_time=1e-9)).status is Status.MAX_TIME


@each(
    ("loss", "penalty", "words"),
    [
        (Hinge(), L1(), "smooth loss"),
        (EpsilonInsensitive(), Ridge(), "smooth loss"),
        (Squared(), NoPenalty(), "may leave no minimiser"),
    ],
)
def test_what_it_cannot_do_is_refused_in_words(loss, penalty, words):
    with pytest.raises(ValueError, match=words):
        CoordinateDescent().solve(problem_of(loss, penalty, Intercept.FREE))


def test_the_fit_of_nothing():
    for n, d in itertools.product((1, 3), (0, 2)):
        problem = Problem(as_design(np.zeros((n, d))), np.ones(n), Squared(), L1(), np.ones(n), Intercept.FREE)
        solution = CoordinateDescent().solve(problem)
        assert solution.status is Status.SOLVED
        assert solution.intercept == 1.0
