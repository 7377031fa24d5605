import math
from fractions import Fraction

import numpy as np
import pytest

from maxmargin import Hinge, Huber, Intercept, Pinball, Problem, Ridge, SquaredHinge, as_design


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
