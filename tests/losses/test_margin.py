import numpy as np
import pytest

from maxmargin import Hinge, SmoothedHinge, SquaredHinge
from maxmargin.testing import check_loss

ALL = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), SmoothedHinge(0.5)], ids=repr)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), *map(SmoothedHinge, (1e-6, 0.3, 1.0, 40.0))], ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_laws(loss, seed):
    check_loss(loss, seed=seed)


@ALL
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


def test_the_smoothed_hinge_lies_within_half_its_width_of_the_hinge():
    rng = np.random.default_rng(0)
    y, z = rng.choice([-1.0, 1.0], 1000), rng.normal(scale=3.0, size=1000)
    hinge = Hinge().value(y, z)
    for width in (1e-300, 1e-9, 0.5):
        smooth = SmoothedHinge(width).value(y, z)
        assert np.all(smooth <= hinge)
        assert np.all(smooth >= hinge - 0.5 * width - 1e-15 * (1 + hinge))


def test_the_smoothed_hinge_of_great_width_is_the_squared_hinge_in_other_units():
    rng = np.random.default_rng(1)
    y, z = rng.choice([-1.0, 1.0], 1000), rng.normal(scale=3.0, size=1000)
    assert np.allclose(2e3 * SmoothedHinge(1e3).value(y, z), SquaredHinge().value(y, z), rtol=1e-14)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("width", [1e-12, 1e-3, 1.0, 50.0])
def test_best_intercept_of_the_smoothed_hinge_is_stationary(width, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 30))
    y, z, cost = rng.choice([-1.0, 1.0], n), rng.normal(size=n), rng.uniform(0.1, 2, n)
    y[:2] = 1.0, -1.0
    loss = SmoothedHinge(width)
    b = loss.best_intercept(y, z, cost)
    rounding = 2.0**-52 * (4 + np.abs(z).max() + abs(b)) * (1 + 1 / width)
    before, after = (cost @ loss.slope(y, z + b + side * rounding) for side in (-1, 1))
    assert before <= 1e-12 * cost.sum()
    assert after >= -1e-12 * cost.sum()


def test_the_smoothed_hinge_keeps_the_conventions_of_intervals():
    y, z, cost = np.array([1.0, -1.0]), np.array([3.0, -3.0]), np.ones(2)
    assert SmoothedHinge().best_intercept(y, z, cost) == 0.0  # any b in [-2, 2]
    assert SmoothedHinge().best_intercept(y, z + 5.0, cost) == -5.0
    assert SmoothedHinge().best_intercept(y, z, np.array([1.0, 0.0])) == -2.0
    assert SmoothedHinge().best_intercept(y, z, np.zeros(2)) == 0.0


@pytest.mark.parametrize("width", [0.0, -1.0, np.inf, np.nan])
def test_widths_are_checked(width):
    with pytest.raises(ValueError, match=r"SmoothedHinge\(width=.*positive and finite"):
        SmoothedHinge(width)
