import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import (
    HardMargin,
    Hinge,
    Huber,
    Intercept,
    MaximumMargin,
    Pinball,
    Problem,
    Quadratic,
    Ridge,
    SquaredHinge,
    as_design,
    certify,
    fit_problem,
    margins,
)
from maxmargin.testing import planted_problem


def make(intercept=Intercept.FREE, loss=None, cost=None, scale=1.0):
    X = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])
    cost = np.array([1.0, 2.0, 0.5]) if cost is None else cost
    return Problem(as_design(X), np.array([1.0, -1.0, -1.0]), loss or Hinge(), Ridge(2.0), cost, intercept, scale)


def test_primal_by_hand():
    # z = [1.5, 2.5, 0.5] with b = 0.5; hinge 0, 3.5, 1.5.
    assert make().primal(np.array([1.0, 1.0]), 0.5) == 0.5 * 2 * 2 + 2 * 3.5 + 0.5 * 1.5
    assert make(Intercept.PENALIZED, scale=2.0).primal(np.array([1.0, 1.0]), 0.5) == 9.75 + 0.5 * (2 / 4) * 0.25
    assert make(Intercept.NONE).primal(np.zeros(2), 1.0) == math.inf
    assert make().zero() == 3.5


def test_dual_by_hand():
    a = np.array([1.0, -0.5, -0.5])  # X'a = [1.5, -1.5]
    assert make().dual(a) == 2.0 - 4.5 / 4
    assert make(loss=SquaredHinge()).dual(a) == 2.0 - 0.25 - 0.25 / 8 - 0.25 / 2 - 4.5 / 4
    assert make().dual(np.array([1.0, -0.5, -0.4])) == -math.inf
    assert make(Intercept.NONE).dual(np.array([1.0, 0.0, 0.0])) == 1.0 - 1 / 4
    assert make(Intercept.PENALIZED).dual(np.array([1.0, 0.0, 0.0])) == 1.0 - 1 / 4 - 1 / 4
    assert make().dual(np.array([1.0, -1.0 / 2**30, -0.5])) == -math.inf
    assert make().dual(np.array([1.5, -1.0, -0.5])) == -math.inf, "outside the box"


def test_a_row_without_cost_has_no_dual_value():
    problem = make(Intercept.NONE, SquaredHinge(), cost=np.array([0.0, 1.0, 1.0]))
    assert problem.dual(np.array([1e-9, 0.0, 0.0])) == -math.inf
    assert [end.tolist() for end in problem.box()] == [[0.0, -math.inf, -math.inf], [0.0, 0.0, 0.0]]


def test_a_row_without_cost_adds_nothing_even_where_its_loss_is_infinite():
    X, y = np.array([[-1.0], [1.0], [5.0]]), np.array([-1.0, 1.0, -1.0])
    problem = Problem(as_design(X), y, HardMargin(), Ridge(1.0), np.array([1.0, 1.0, 0.0]))
    w, a = np.array([1.0]), np.array([-0.5, 0.5, 0.0])
    assert problem.primal(w, 0.0) == problem.lagrangian(w, 0.0, X[:, 0], a) == problem.dual(a) == 0.5
    assert problem.primal(np.array([0.5]), 0.0) == problem.zero() == math.inf
    for precision in ("computed", "rigorous"):
        assert certify(problem, (1.0 + 2.0**-40) * w, 0.0, a, precision).relative_gap < 1e-11


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (np.ones(2), "one entry for each of the 3 rows"),
        (np.array([1.0, -1.0, 1.0]), "not negative"),
        (np.array([1.0, np.nan, 1.0]), "finite"),
        (np.array([1.0, np.inf, 1.0]), "finite"),
    ],
)
def test_costs_are_checked(cost, words):
    with pytest.raises(ValueError, match=words):
        make(cost=cost)


@pytest.mark.parametrize("scale", [0.0, -1.0, 1e-200, 1e200, np.inf, np.nan])
def test_the_scale_of_a_penalised_intercept_is_checked(scale):
    if scale == -1.0:
        make(Intercept.PENALIZED, scale=scale)  # only its square counts
        return
    with pytest.raises(ValueError, match="intercept_scale="):
        make(Intercept.PENALIZED, scale=scale)


def test_best_intercept_is_only_sought_where_it_is_free():
    z = np.zeros(3)
    assert make().best_intercept(z, 7.0) == -1.0
    assert make(Intercept.PENALIZED).best_intercept(z, 7.0) == 7.0
    assert make(Intercept.NONE).best_intercept(z, 0.0) == 0.0


def test_rows_without_cost_count_nothing_even_where_the_loss_is_infinite():
    problem = make(Intercept.NONE, HardMargin(), cost=np.array([1.0, 0.0, 1.0]))
    assert problem.primal(np.array([1.0, 0.0]), 0.0) == 1.0
    assert problem.loss_terms(np.array([1.0, 7.0, 0.5])).tolist() == [0.0, 0.0, math.inf]
    assert problem.zero() == math.inf
    assert make(loss=HardMargin(), cost=np.zeros(3)).zero() == 0.0


LOSSES = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), HardMargin()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)


def small(loss, intercept, seed=0):
    """A separable problem of 6 rows and 2 columns, and its optimum."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 2))
    y = np.where(X @ [1.0, 0.5] > 0, 1.0, -1.0)
    problem = Problem(as_design(X), y, loss, Ridge(0.7), rng.uniform(0.5, 2.0, 6), intercept, 1.5)
    return problem, fit_problem(problem, "quadratic_program")


@LOSSES
@INTERCEPTS
def test_the_greatest_lagrangian_over_the_prices_is_the_primal(loss, intercept):
    problem, best = small(loss, intercept)
    rng = np.random.default_rng(1)
    w, b = best.coef, best.intercept
    z = problem.design.scores(w, b)
    primal = problem.primal(w, b)
    for size in (0.0, 1.0, 100.0):
        assert problem.lagrangian(w, b, z, size * rng.normal(size=6)) == pytest.approx(primal, rel=1e-12)
    off = z + problem.target  # a copy of the scores that is no copy: some price makes it as dear as one likes
    prices = [problem.lagrangian(w, b, off, size * problem.target) for size in (0.0, 1.0, 1e6)]
    assert prices == sorted(prices)
    assert prices[-1] >= 5e6


@LOSSES
@INTERCEPTS
def test_the_least_lagrangian_over_w_b_and_z_is_the_dual(loss, intercept):
    """Term by term: z_i where -a_i/c_i is a slope of φ, w = X'a / s, b = Σ a / s_b."""
    problem, best = small(loss, intercept)
    a = best.dual
    dual = problem.dual(a)
    w = problem.design.combine(a) / 0.7
    b = float(a.sum()) / problem.intercept_strength if intercept is Intercept.PENALIZED else 0.0
    h = -problem.target * a / (2.0 * problem.cost) if isinstance(loss, SquaredHinge) else np.zeros(6)
    z = problem.target * (1.0 + h)  # for the hinge and the hard margin the kink serves every slope
    size = 1e-12 * (1.0 + abs(dual) + np.abs(a).sum())
    assert problem.lagrangian(w, b, z, a) == pytest.approx(dual, abs=size)
    rng = np.random.default_rng(2)
    for scale in (1e-3, 1.0, 10.0):
        for _ in range(10):
            near_w, near_z = w + scale * rng.normal(size=2), z + scale * rng.normal(size=6)
            near_b = 0.0 if intercept is Intercept.NONE else b + scale * float(rng.normal())
            assert problem.lagrangian(near_w, near_b, near_z, a) >= dual - 100 * size


@LOSSES
@INTERCEPTS
def test_planted_optima_are_saddle_points(loss, intercept):
    if not loss.finite:
        problem, best = small(loss, intercept)
        w, b, a = best.coef, best.intercept, best.dual
    else:
        problem, w, b = planted_problem(loss, intercept, n=10, d=3)
        a = -problem.cost * loss.slope(problem.target, problem.design.scores(w, b))
    z = problem.design.scores(w, b)
    value = problem.lagrangian(w, b, z, a)
    assert value == pytest.approx(problem.primal(w, b), rel=1e-12)
    rng = np.random.default_rng(3)
    for _ in range(20):
        other_b = 0.0 if intercept is Intercept.NONE else b + float(rng.normal())
        above = problem.lagrangian(w + rng.normal(size=w.size), other_b, z + rng.normal(size=z.size), a)
        assert above >= value - 1e-6 * abs(value)
        assert problem.lagrangian(w, b, z, a + rng.normal(size=a.size)) <= value + 1e-12 * abs(value)


@given(seed=st.integers(0, 10**6))
def test_the_three_programs_of_the_widest_margin_are_one(seed):
    """#1 max γ s.t. y_i (x_i'w + b) >= γ, |w| = 1;  #2 max γ/|w| s.t. y_i (x_i'w + b) >= γ;  #3 min |w|²/2 with γ = 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 3))
    y = np.where(X @ [1.0, -1.0, 0.5] + 0.2 > 0, 1.0, -1.0)
    y[:2], X[0], X[1] = (1.0, -1.0), (1.0, 0.0, 0.0), (-1.0, 0.5, 0.0)
    problem = Problem(as_design(X), y, HardMargin(), Ridge(1.0), np.ones(12), Intercept.FREE)
    third = MaximumMargin(tol=1e-9).solve(problem)
    if not np.isfinite(third.certificate.primal):
        return  # the two rows that were put in made the others inseparable
    w, b = third.coef, third.intercept
    length = np.linalg.norm(w)
    unit = margins(X, y, w / length, b / length)
    assert unit.functional.min() == pytest.approx(1.0 / length, rel=1e-9), "#3 scaled to |w| = 1 reaches γ = 1/|w| in #1"
    assert unit.functional == pytest.approx(unit.geometric, rel=1e-12)
    for scale in (1e-3, 0.5, 7.0):
        assert margins(X, y, scale * w, scale * b).least == pytest.approx(unit.least, rel=1e-12), "#2 knows no scale"
    widest = 1.0 / np.sqrt(2.0 * third.certificate.dual)
    for _ in range(20):
        v, c = w / length + 0.1 * rng.normal(size=3), b / length + 0.1 * float(rng.normal())
        assert margins(X, y, v, c).least <= widest * (1.0 + 1e-12), "no other plane beats the bound of #3 in #1 or #2"
    again = Quadratic().solve(problem).certificate
    assert abs(again.primal - third.certificate.primal) <= again.gap + third.certificate.gap


@pytest.mark.parametrize("loss", [Huber(0.1), Pinball(0.3)], ids=repr)
def test_ends_of_the_box_lie_inside_the_exact_one(loss):
    rng = np.random.default_rng(0)
    cost = np.concatenate([rng.uniform(0.0, 3.0, 500), [5e-324, 1e-310, 1e308, 0.0]])
    problem = Problem(as_design(np.ones((504, 1))), np.zeros(504), loss, Ridge(), cost)
    for end, exact in zip(problem.box(), loss.box(np.zeros(1)), strict=True):
        limit = Fraction(float(exact[0]))
        assert all(abs(Fraction(a)) <= abs(limit * Fraction(c)) for a, c in zip(end.tolist(), cost.tolist(), strict=True))
        assert np.allclose(end, exact * cost, rtol=1e-15, atol=5e-324)
        assert np.isfinite(problem.conjugate_terms(end)).all()
