import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import (
    DualAscent,
    HardMargin,
    Hinge,
    Intercept,
    MaximumMargin,
    Problem,
    Quadratic,
    Ridge,
    Status,
    as_design,
    certify,
    margins,
)
from maxmargin.solvers import Watch

INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)


def planes(margin, n=40, d=4, seed=0, shift=0.0):
    """Rows on two parallel planes, a margin's width from the middle, in any direction u; on each plane around one point, so that
    the widest margin is `margin`: the two means are feet of each other."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    flat = rng.normal(size=(n // 2, d))
    flat -= np.outer(flat @ u, u)
    flat = np.vstack([flat, -flat])
    y = np.tile([1.0, -1.0], n // 2)
    rows = np.empty((n, d))
    rows[y > 0], rows[y < 0] = flat[: n // 2], flat[n // 2 :]
    rows = np.vstack([rows, -rows])  # both planes hold each row and its mirror image
    y = np.append(y, y)
    return np.ascontiguousarray(rows + np.outer(y * margin + shift, u)), y, u


def problem_of(X, y, intercept=Intercept.FREE, strength=1.0, cost=None):
    cost = np.ones(len(y)) if cost is None else cost
    return Problem(as_design(X), y, HardMargin(), Ridge(strength), cost, intercept)


@pytest.mark.parametrize("margin", [1e-3, 1e-2, 1.0, 1e3])
@pytest.mark.parametrize("d", [2, 30])
@pytest.mark.parametrize("seed", range(3))
def test_two_parallel_planes_have_the_margin_they_were_built_with(margin, d, seed):
    X, y, u = planes(margin, d=d, seed=seed, shift=0.5 * margin)
    found = MaximumMargin(tol=1e-6, max_iter=10**4).solve(problem_of(X, y))
    assert found.status is Status.SOLVED
    # The rows are rounded at the size of X, so the built margin is off by that much.
    off = 8.0 * 2.0**-53 * np.abs(X).sum(axis=1).max() / margin
    low, high = (1.0 / np.sqrt(2.0 * bound) for bound in (found.certificate.primal, found.certificate.dual))
    assert low * (1.0 - off) <= margin * (1.0 + 1e-12)
    assert margin <= high * (1.0 + off + 1e-12)
    assert np.linalg.norm(found.coef * margin - u) <= np.sqrt(2.0 * found.certificate.gap) * margin + off + 1e-12
    assert margins(X, y, found.coef, found.intercept).least == pytest.approx(margin, rel=1e-6)


def labelled(seed, n=30, d=3, through_origin=True):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + (0.0 if through_origin else 0.3) > 0, 1.0, -1.0)
    return X, y


@INTERCEPTS
@settings(max_examples=30)
@given(seed=st.integers(0, 10**6), form=st.sampled_from([np.asarray, sp.csr_array]))
def test_it_agrees_with_the_quadratic_program_within_the_certificates(intercept, seed, form):
    X, y = labelled(seed)
    problem = problem_of(form(X), y, intercept, strength=0.5)
    one, other = MaximumMargin(tol=1e-6).solve(problem), Quadratic(tol=1e-6).solve(problem)
    assert one.status is Status.SOLVED
    assert one.certificate.dual <= other.certificate.primal * (1.0 + 1e-12), "whatever the other one reached"
    if np.isfinite(other.certificate.gap):
        assert abs(one.certificate.primal - other.certificate.primal) <= (one.certificate.gap + other.certificate.gap) * (
            1.0 + 1e-9
        )
        distance = np.linalg.norm(one.coef - other.coef)
        assert distance <= sum(np.sqrt(2 * each.certificate.gap / 0.5) for each in (one, other)) + 1e-12 * np.linalg.norm(
            one.coef
        )
    again = certify(problem, one.coef, one.intercept, one.dual)
    assert again.relative_gap <= 1e-6


@INTERCEPTS
def test_its_multipliers_bound_the_cost_of_the_soft_problem(intercept):
    """α <= Σ α = 2 P, so the soft margin with twice the objective as its cost is the hard one."""
    X, y = labelled(3)
    hard = MaximumMargin(tol=1e-9).solve(problem_of(X, y, intercept))
    a = np.abs(hard.dual)
    assert a.sum() == pytest.approx(2.0 * hard.certificate.primal, rel=1e-6)
    soft = dataclasses.replace(problem_of(X, y, intercept), loss=Hinge(), cost=np.full(30, 2.0 * hard.certificate.primal))
    found = DualAscent(tol=1e-8, max_epochs=10**4).solve(soft)
    assert abs(found.certificate.primal - hard.certificate.primal) <= found.certificate.gap + hard.certificate.gap


def test_wide_data_goes_by_dual_ascent_and_narrow_data_by_interior_point():
    for n, d in ((300, 3), (20, 60)):
        X, y = labelled(1, n, d)
        found = MaximumMargin(tol=1e-6).solve(problem_of(X, y))
        assert found.status is Status.SOLVED
        assert (found.work.epochs == 0) == (n >= d)


@INTERCEPTS
def test_rows_without_cost_are_not_there(intercept):
    X, y = labelled(5)
    cost = np.ones(30)
    cost[4:8] = 0.0
    wrong = y.copy()
    wrong[4:8] *= -1.0
    found = MaximumMargin(tol=1e-8).solve(problem_of(X, wrong, intercept, cost=cost))
    alone = MaximumMargin(tol=1e-8).solve(problem_of(np.delete(X, range(4, 8), 0), np.delete(y, range(4, 8)), intercept))
    assert found.status is Status.SOLVED
    assert not found.dual[4:8].any()
    assert abs(found.certificate.primal - alone.certificate.primal) <= (found.certificate.gap + alone.certificate.gap) * (
        1.0 + 1e-9
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_do_not_matter(dtype, scale):
    X, y = labelled(6)
    found = MaximumMargin(tol=1e-4).solve(problem_of((scale * X).astype(dtype), y))
    assert found.status is Status.SOLVED
    assert found.coef.dtype == dtype
    assert np.all(y * ((scale * X).astype(dtype).astype(float) @ found.coef.astype(float) + found.intercept) >= 1.0)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.array([[1.0, 2.0], [1.0, 2.0], [3.0, 1.0]]), np.array([1.0, -1.0, 1.0])),
        (np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([1.0, 1.0, -1.0, -1.0])),
        (np.arange(12.0)[:, None], np.tile([1.0, -1.0], 6)),
        (np.zeros((2, 1)), np.array([1.0, -1.0])),
    ],
    ids=["contradiction", "xor", "overlap", "zero"],
)
def test_inseparable_data_has_no_objective_and_ends(X, y):
    found = MaximumMargin().solve(problem_of(X, y))
    assert found.certificate.primal == found.certificate.relative_gap == np.inf
    assert found.status is not Status.SOLVED


def test_one_class_needs_no_weights():
    found = MaximumMargin().solve(problem_of(labelled(0)[0], np.ones(30)))
    assert found.status is Status.SOLVED
    assert np.abs(found.coef).max() <= 1e-300
    assert (found.certificate.primal, found.intercept) == (0.0, 1.0)


def test_a_separating_start_needs_a_single_soft_solve():
    X, y = labelled(7)
    problem = problem_of(X, y)
    first = MaximumMargin(tol=0.5).solve(problem)
    again = MaximumMargin(tol=1e-6).solve(problem, start=first)
    assert again.status is Status.SOLVED
    assert again.certificate.relative_gap <= 1e-6


def test_limits_are_kept_and_named():
    X, y = labelled(8)
    assert MaximumMargin(tol=1e-300).solve(problem_of(X, y), watch=Watch(max_time=1e-9)).status is Status.MAX_TIME
    watch = Watch()
    watch.interrupt()
    assert MaximumMargin(tol=1e-300).solve(problem_of(X, y), watch=watch).status is Status.INTERRUPTED
    ended = MaximumMargin(tol=1e-300).solve(problem_of(X, y))
    assert ended.status in (Status.PRECISION, Status.MAX_ITER)
    assert ended.certificate.relative_gap <= 1e-9


def test_what_it_cannot_solve_is_refused_in_words():
    X, y = labelled(9)
    soft = dataclasses.replace(problem_of(X, y), loss=Hinge())
    assert "loss must be HardMargin(), not Hinge()" in MaximumMargin().refuse(soft)
    with pytest.raises(ValueError, match="HardMargin"):
        MaximumMargin().solve(soft)
