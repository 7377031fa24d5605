import dataclasses
from itertools import product

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import DualAscent, Hinge, Intercept, Problem, Ridge, SquaredHinge, Status, as_design, certify
from maxmargin.penalties import Penalty
from maxmargin.solvers import Watch
from maxmargin.solvers.dual_ascent import _Ascent
from maxmargin.testing import check_solver, planted_problem

LOSSES = [Hinge(), SquaredHinge()]
BOTH = pytest.mark.parametrize("loss", LOSSES, ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)


def text_like(seed=0, n=300, d=800, dtype=float):
    S = sp.random_array((n, d), density=0.02, rng=np.random.default_rng(seed), format="csr", dtype=dtype)
    y = np.where(np.random.default_rng(seed + 1).uniform(size=n) < 0.3, 1.0, -1.0)
    return S, y


@BOTH
@pytest.mark.parametrize("finish", [True, False])
def test_planted_optima(loss, finish):
    check_solver(DualAscent(tol=1e-5, max_epochs=20_000, finish=finish), loss, tol=1e-5)


@BOTH
@INTERCEPTS
def test_tight_tolerances_are_reached(loss, intercept):
    problem, _, _ = planted_problem(loss, intercept, n=100, d=8)
    solution = DualAscent(tol=1e-12, max_epochs=5000).solve(problem)
    assert solution.status is Status.SOLVED
    assert certify(problem, solution.coef, solution.intercept, solution.dual).relative_gap <= 1e-12


@BOTH
@INTERCEPTS
def test_dense_and_sparse_visit_the_same_rows(loss, intercept):
    S, y = text_like()
    solutions, orders = [], []
    for X in (S, S.toarray()):
        problem = Problem(as_design(X), y, loss, Ridge(1.0), np.ones(len(y)), intercept)
        solutions.append(DualAscent(tol=1e-6, finish=False).solve(problem))
        ascent = _Ascent(DualAscent(), problem, None, Watch())
        orders.append([])
        for _ in range(10):
            ascent.native.run(1, 10**9)
            orders[-1].append(ascent.order[: ascent.native.active].tolist())
    sparse, dense = solutions
    assert orders[0] == orders[1]
    assert sparse.work.epochs == dense.work.epochs
    assert abs(sparse.certificate.primal - dense.certificate.primal) <= sparse.certificate.gap + dense.certificate.gap


@BOTH
def test_the_same_seed_gives_the_same_bits(loss):
    S, y = text_like()
    problem = Problem(as_design(S), y, loss, Ridge(1.0), np.ones(len(y)), Intercept.FREE)
    first, second, other = (DualAscent(seed=seed, finish=False).solve(problem) for seed in (3, 3, 4))
    assert np.array_equal(first.coef, second.coef)
    assert np.array_equal(first.dual, second.dual)
    assert not np.array_equal(first.coef, other.coef)


@BOTH
@INTERCEPTS
def test_shrinking_changes_nothing_but_the_work(loss, intercept):
    S, y = text_like(n=500)
    problem = Problem(as_design(S), y, loss, Ridge(1.0), np.full(len(y), 10.0), intercept)
    with_, without = (
        DualAscent(tol=1e-8, shrink=shrink, finish=False, max_epochs=5000).solve(problem) for shrink in (True, False)
    )
    assert with_.status is without.status is Status.SOLVED
    assert with_.work.visits < without.work.visits
    assert abs(with_.certificate.primal - without.certificate.primal) <= with_.certificate.gap + without.certificate.gap


@BOTH
@INTERCEPTS
@given(seed=st.integers(0, 10**6))
def test_weight_two_is_two_rows_and_weight_zero_is_none(loss, intercept, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], 20)
    y[:2] = 1.0, -1.0
    times = rng.integers(0, 3, 20)
    times[:2] = 1
    weighted = Problem(as_design(X), y, loss, Ridge(1.0), times.astype(float), intercept)
    repeated = Problem(
        as_design(np.repeat(X, times, axis=0)), np.repeat(y, times), loss, Ridge(1.0), np.ones(times.sum()), intercept
    )
    one, other = DualAscent(tol=1e-9).solve(weighted), DualAscent(tol=1e-9).solve(repeated)
    slack = 1e-14 * one.certificate.primal
    assert abs(one.certificate.primal - other.certificate.primal) <= one.certificate.gap + other.certificate.gap + slack
    assert np.linalg.norm(one.coef - other.coef) <= np.sqrt(2 * (one.certificate.gap + slack)) + np.sqrt(
        2 * (other.certificate.gap + slack)
    )


@BOTH
def test_scaling_rows_and_cost_together_changes_nothing(loss):
    S, y = text_like()
    small = Problem(as_design(S), y, loss, Ridge(1.0), np.ones(len(y)), Intercept.NONE)
    large = Problem(as_design(S * 4.0), y, loss, Ridge(16.0), np.ones(len(y)), Intercept.NONE)
    one, other = (DualAscent(finish=False).solve(problem) for problem in (small, large))
    assert np.array_equal(one.coef, 4.0 * other.coef), "powers of two are exact"


@BOTH
def test_a_zero_row_and_a_zero_column_do_no_harm(loss):
    X = np.array([[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [2.0, 0.0]])
    y = np.array([1.0, 1.0, -1.0, -1.0])
    for intercept in Intercept:
        problem = Problem(as_design(X), y, loss, Ridge(1.0), np.ones(4), intercept)
        solution = DualAscent(tol=1e-6).solve(problem)
        assert solution.status is Status.SOLVED
        assert solution.coef[1] == 0.0


def test_limits_are_kept_and_named():
    S, y = text_like()
    problem = Problem(as_design(S), y, SquaredHinge(), Ridge(1.0), np.full(len(y), 1e4), Intercept.FREE)
    stopped = DualAscent(tol=1e-300, max_epochs=3, finish=False).solve(problem)
    assert (stopped.status, stopped.work.epochs) == (Status.MAX_ITER, 3)
    assert np.isfinite(stopped.certificate.gap)
    hurried = DualAscent(tol=1e-300, finish=False).solve(problem, watch=Watch(max_time=1e-9))
    assert hurried.status is Status.MAX_TIME
    told = []
    watch = Watch(listener=lambda progress: told.append(progress) or len(told) == 2)
    assert DualAscent(tol=1e-300, finish=False).solve(problem, watch=watch).status is Status.INTERRUPTED
    assert told[-1].epoch >= 1


def test_a_start_near_the_end_saves_the_way():
    S, y = text_like(n=600)
    problem = Problem(as_design(S), y, Hinge(), Ridge(1.0), np.full(len(y), 30.0), Intercept.FREE)
    cold = DualAscent(tol=1e-7, finish=False, max_epochs=5000).solve(problem)
    warm = DualAscent(tol=1e-6, finish=False, max_epochs=5000).solve(problem, start=cold)
    assert warm.status is Status.SOLVED
    assert warm.work.epochs < cold.work.epochs / 2


@dataclasses.dataclass(frozen=True, slots=True)
class Flat(Penalty):
    def terms(self, w):
        return 0 * w

    def conjugate_terms(self, v):
        return np.where(v == 0, 0.0, np.inf)

    def prox(self, w, step):
        return w


@pytest.mark.parametrize("solver", [DualAscent()], ids=repr)
def test_what_it_cannot_solve_is_refused_in_words(solver):
    X, y, one = np.eye(2), np.array([1.0, -1.0]), np.ones(2)
    problem = Problem(as_design(X), y, Hinge(), Flat(), one, Intercept.NONE)
    assert "penalty must be Ridge" in solver.refuse(problem)
    with pytest.raises(ValueError, match="penalty must be Ridge"):
        solver.solve(problem)


@pytest.mark.parametrize(("dtype", "C"), list(product([np.float32, np.float64], [0.01, 1.0, 100.0])))
@BOTH
def test_costs_over_four_decades(loss, dtype, C):
    S, y = text_like(dtype=dtype)
    problem = Problem(as_design(S), y, loss, Ridge(1.0), np.full(len(y), C), Intercept.FREE)
    solution = DualAscent(tol=1e-4).solve(problem)
    assert solution.status is Status.SOLVED
    assert solution.coef.dtype == dtype
