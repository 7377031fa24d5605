import numpy as np
import pytest

from maxmargin import Hinge, SquaredHinge
from maxmargin.losses import Loss
from maxmargin.testing import check_loss

BOTH = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_laws(loss, seed):
    check_loss(loss, seed=seed)


@BOTH
def test_values_are_frozen_and_read_back(loss):
    assert eval(repr(loss)) == loss
    with pytest.raises((AttributeError, TypeError)):
        loss.width = 1.0


def test_exact_points():
    y, z = np.array([1.0, 1.0, -1.0, -1.0]), np.array([0.5, 2.0, 0.5, -1.0])
    assert Hinge().value(y, z).tolist() == [0.5, 0.0, 1.5, 0.0]
    assert SquaredHinge().value(y, z).tolist() == [0.25, 0.0, 2.25, 0.0]
    assert Hinge().slope(y, z).tolist() == [-1.0, 0.0, 1.0, 0.5]
    assert SquaredHinge().slope(y, z).tolist() == [-1.0, 0.0, 3.0, 0.0]


def brute_intercept(loss, y, z, cost):
    kinks = np.sort(y - z)
    candidates = np.concatenate([kinks, 0.5 * (kinks[1:] + kinks[:-1])])
    return min(float(cost @ loss.value(y, z + b)) for b in candidates)


@pytest.mark.parametrize("seed", range(20))
def test_best_intercept_of_the_hinge_is_exact(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    y, z = rng.choice([-1.0, 1.0], n), np.round(rng.normal(size=n), 1)
    cost = np.round(rng.uniform(0, 2, n), 1)
    b = Hinge().best_intercept(y, z, cost)
    assert float(cost @ Hinge().value(y, z + b)) <= brute_intercept(Hinge(), y, z, cost) + 1e-13


@pytest.mark.parametrize("seed", range(20))
def test_best_intercept_of_the_squared_hinge_is_stationary(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    y, z, cost = rng.choice([-1.0, 1.0], n), rng.normal(size=n), rng.uniform(0, 2, n)
    b = SquaredHinge().best_intercept(y, z, cost)
    assert abs(cost @ SquaredHinge().slope(y, z + b)) <= 1e-12


def test_an_interval_of_best_intercepts_gives_its_midpoint():
    y, z, cost = np.array([1.0, -1.0]), np.array([3.0, -3.0]), np.ones(2)
    assert Hinge().best_intercept(y, z, cost) == 0.0  # any b in [-2, 2]
    assert SquaredHinge().best_intercept(y, z, cost) == 0.0
    assert Hinge().best_intercept(y, z + 5.0, cost) == -5.0


def test_a_half_line_of_best_intercepts_gives_its_end():
    y, z = np.array([1.0, 1.0, -1.0]), np.array([0.0, -2.0, 0.0])
    assert Hinge().best_intercept(y, z, np.array([1.0, 1.0, 0.0])) == 3.0
    assert Hinge().best_intercept(-y, -z, np.array([1.0, 1.0, 0.0])) == -3.0
    assert Hinge().best_intercept(y, z, np.zeros(3)) == 0.0


def test_equal_costs_that_do_not_add_up_exactly_still_give_the_midpoint():
    # 0.1 + 0.1 + 0.1 is not 0.3 in doubles: a zero slope is a slope below the rounding.
    y = np.array([1.0] * 3 + [-1.0] * 3)
    z = np.where(y > 0, 3.0, -3.0)
    assert Hinge().best_intercept(y, z, np.full(6, 0.1)) == 0.0


def test_offsets_do_not_cost_digits():
    rng = np.random.default_rng(0)
    y, z, cost = rng.choice([-1.0, 1.0], 50), rng.normal(size=50), np.ones(50)
    near = SquaredHinge().best_intercept(y, z, cost)
    far = SquaredHinge().best_intercept(y, z + 2.0**20, cost)
    assert abs(far + 2.0**20 - near) <= 1e-9


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError):
        Loss()
