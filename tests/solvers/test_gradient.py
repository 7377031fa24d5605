import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    Gradient,
    HardMargin,
    Hinge,
    Intercept,
    Newton,
    Problem,
    Ridge,
    SquaredHinge,
    Status,
    as_design,
    certify,
)
from maxmargin.solvers import Watch
from maxmargin.solvers.gradient import _curvature
from maxmargin.testing import check_solver, planted_problem

BOTH = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)


def noisy(loss, intercept, n=60, d=4, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = scale * rng.normal(size=(n, d))
    y = np.where(X[:, 0] + scale * rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(as_design(X), y, loss, Ridge(0.8), rng.uniform(0.5, 2.0, n), intercept, 1.5)


@pytest.mark.parametrize(("loss", "tol"), [(Hinge(), 1e-3), (SquaredHinge(), 1e-10)], ids=repr)
def test_planted_optima(loss, tol):
    check_solver(Gradient(tol=tol, max_steps=100_000), loss, tol=tol)


@BOTH
@INTERCEPTS
def test_it_agrees_with_newton_within_the_certificates(loss, intercept):
    problem = noisy(loss, intercept)
    one, other = Gradient(tol=1e-3, max_steps=10**5).solve(problem), Newton(tol=1e-10).solve(problem)
    assert one.status is Status.SOLVED
    assert abs(one.certificate.primal - other.certificate.primal) <= one.certificate.gap + other.certificate.gap
    distance = np.linalg.norm(one.coef - other.coef)
    assert distance <= sum(np.sqrt(2 * each.certificate.gap / 0.8) for each in (one, other))
    again = certify(problem, one.coef, one.intercept, one.dual)
    assert again.relative_gap == pytest.approx(one.certificate.relative_gap, rel=1e-6)


def longest_subgradient(problem, steps):
    """G: the steps in plain NumPy, with the slopes of the best intercept, and the longest s w - X'a that they meet."""
    s, w, longest = 0.8, np.zeros(problem.design.d), 0.0
    for t in range(steps):
        z = problem.design.scores(w)
        a = -problem.cost * problem.loss.slope(problem.target, z)
        u = problem.design.combine(a)
        longest = max(longest, float(np.linalg.norm(s * w - u)))
        w = w + 2.0 / (t + 2.0) * (u / s - w)
    return longest


def test_the_bound_of_its_docstring_holds_for_a_kinked_loss():
    """P - P* <= 2 G² / (s (t + 1)) after t steps."""
    for problem in (noisy(Hinge(), Intercept.NONE), planted_problem(Hinge(), Intercept.NONE, strength=0.8)[0]):
        best = Newton(tol=1e-12).solve(problem).certificate.dual
        G = longest_subgradient(problem, 1000)
        for t in (1, 3, 10, 30, 100, 300, 1000):
            found = Gradient(tol=1e-300, max_steps=t).solve(problem)
            assert found.work.steps == t
            assert found.certificate.primal - best <= 2.0 * G * G / (0.8 * (t + 1.0))


@INTERCEPTS
def test_the_bound_of_its_docstring_holds_for_a_smooth_loss(intercept):
    """P - P* <= (1 - s/L)^t (P(0) - P*), L a bound of the curvature."""
    problem = noisy(SquaredHinge(), intercept)
    best = Newton(tol=1e-13).solve(problem).certificate.dual
    L = _curvature(problem)
    start = problem.primal(np.zeros(4), problem.best_intercept(np.zeros(60), 0.0)) - best
    for t in (1, 3, 10, 30, 100):
        found = Gradient(tol=1e-300, max_steps=t).solve(problem)
        assert found.certificate.primal - best <= (1.0 - 0.8 / L) ** t * start * (1.0 + 1e-12) + 1e-12 * best


@INTERCEPTS
@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1.0, 1e3, 1e150])
def test_its_curvature_bounds_the_largest_eigenvalue(intercept, scale):
    problem = noisy(SquaredHinge(), intercept, scale=scale)
    X = problem.design.data
    if intercept is Intercept.PENALIZED:
        X = np.hstack([X, np.full((60, 1), 1.5)])
    largest = (
        max(1.0, np.abs(X).max()) ** 2
        * np.linalg.norm(np.sqrt(problem.cost)[:, None] * X / max(1.0, np.abs(X).max()), 2) ** 2
    )
    L = _curvature(problem)
    assert 0.8 + 2.0 * largest <= L <= 0.8 + 1.1 * 2.0 * largest * (1.0 + 1e-12)


@BOTH
@INTERCEPTS
def test_every_iterate_carries_a_feasible_dual_point(loss, intercept):
    problem = noisy(loss, intercept)
    for steps in (1, 2, 7, 50):
        found = Gradient(tol=1e-300, max_steps=steps).solve(problem)
        assert np.isfinite(problem.dual(found.dual))
        assert found.certificate.relative_gap <= 1.0


@BOTH
def test_rows_without_cost_duplicates_and_nothing_to_fit(loss):
    problem = noisy(loss, Intercept.FREE)
    cost = problem.cost.copy()
    cost[::3] = 0.0
    some = Gradient(tol=1e-2, max_steps=10**5).solve(dataclasses.replace(problem, cost=cost))
    assert some.status is Status.SOLVED
    assert not some.dual[::3].any()
    assert Gradient().solve(dataclasses.replace(problem, cost=np.zeros(60))).status is Status.SOLVED
    same = dataclasses.replace(problem, design=as_design(np.repeat(problem.design.data[:5], 12, axis=0)))
    assert Gradient(tol=1e-2, max_steps=10**5).solve(same).status is Status.SOLVED


@BOTH
def test_squares_near_the_largest_double_end_without_a_crash(loss):
    for scale, cost in ((1e150, 1.0), (1.0, 1e200)):
        problem = noisy(loss, Intercept.FREE, scale=scale)
        found = Gradient(max_steps=5).solve(dataclasses.replace(problem, cost=cost * problem.cost))
        assert np.isfinite(found.coef).all()


@BOTH
def test_dense_and_sparse_take_the_same_way(loss):
    problem = noisy(loss, Intercept.FREE)
    sparse = dataclasses.replace(problem, design=as_design(sp.csr_array(problem.design.data)))
    one, other = (Gradient(tol=1e-2, max_steps=10**4).solve(each) for each in (problem, sparse))
    assert one.work.steps == other.work.steps
    assert one.coef == pytest.approx(other.coef, rel=1e-9)


def test_limits_are_kept_and_named():
    problem = noisy(Hinge(), Intercept.FREE)
    stopped = Gradient(tol=1e-300, max_steps=3).solve(problem)
    assert (stopped.status, stopped.work.steps) == (Status.MAX_ITER, 3)
    assert Gradient(tol=1e-300).solve(problem, watch=Watch(max_time=1e-9)).status is Status.MAX_TIME
    heard = []
    watch = Watch(listener=lambda progress: heard.append(progress) or len(heard) == 4)
    assert Gradient(tol=1e-300).solve(problem, watch=watch).status is Status.INTERRUPTED
    assert Gradient(tol=1e-300, max_steps=0).solve(problem).certificate.gap < np.inf


@BOTH
def test_a_start_near_the_end_saves_the_way(loss):
    problem = noisy(loss, Intercept.PENALIZED)
    near = Newton(tol=1e-10).solve(problem)
    found = Gradient(tol=1e-2, max_steps=10**5).solve(problem, start=near)
    assert found.status is Status.SOLVED
    if isinstance(loss, SquaredHinge):
        assert found.work.steps <= 1


def test_what_it_cannot_solve_is_refused_in_words():
    problem = dataclasses.replace(noisy(Hinge(), Intercept.FREE), loss=HardMargin())
    assert 'no sub-gradients where it is infinite. Use "maximum_margin"' in Gradient().refuse(problem)
    with pytest.raises(ValueError, match="maximum_margin"):
        Gradient().solve(problem)
