import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import HardMargin, Hinge, SmoothedHinge, SquaredHinge
from maxmargin.losses import Loss
from maxmargin.testing import check_loss

ALL = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), SmoothedHinge(0.5), HardMargin()], ids=repr)


@pytest.mark.parametrize(
    "loss", [Hinge(), SquaredHinge(), HardMargin(), *map(SmoothedHinge, (1e-6, 0.3, 1.0, 40.0))], ids=repr
)
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


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError):
        Loss()


def test_hard_margin_by_hand():
    loss, y = HardMargin(), np.array([1.0, 1.0, -1.0, -1.0])
    assert loss.value(y, np.array([1.0, 0.999, -2.0, 0.0])).tolist() == [0.0, np.inf, 0.0, np.inf]
    assert loss.conjugate(y, np.array([-2.0, 0.5, 3.0, -0.5])).tolist() == [-2.0, np.inf, -3.0, np.inf]
    assert [end.tolist() for end in loss.box(y)] == [[0.0, 0.0, -np.inf, -np.inf], [np.inf, np.inf, 0.0, 0.0]]
    with pytest.raises(ValueError, match="targets must be -1 or"):
        loss.check_target(np.array([0.0, 1.0]))


@given(seed=st.integers(0, 10**6))
def test_the_hard_margin_is_the_hinge_of_infinite_cost(seed):
    """c times the hinge grows to it from below, and so c φ*(u / c) falls to its conjugate."""
    rng = np.random.default_rng(seed)
    y, z, u = rng.choice([-1.0, 1.0], 20), rng.normal(scale=2.0, size=20), rng.normal(size=20)
    for c in (1.0, 1e6):
        assert np.all(c * Hinge().value(y, z) <= HardMargin().value(y, z))
        assert np.all(c * Hinge().conjugate(y, u / c) >= HardMargin().conjugate(y, u) - 1e-15 * np.abs(u))
    inside = y * u <= 0.0
    assert np.allclose(1e6 * Hinge().conjugate(y, u / 1e6)[inside], HardMargin().conjugate(y, u)[inside], rtol=1e-15)


@given(seed=st.integers(0, 10**6))
def test_the_best_intercept_of_a_hard_margin_is_halfway_between_the_nearest_rows(seed):
    rng = np.random.default_rng(seed)
    y, z, cost = rng.choice([-1.0, 1.0], 12), rng.normal(size=12), rng.choice([0.0, 1.0], 12)
    y[:2], cost[:2] = (1.0, -1.0), 1.0
    b = HardMargin().best_intercept(y, z, cost)
    used = cost > 0
    assert b == pytest.approx(-0.5 * (z[used & (y < 0)].max() + z[used & (y > 0)].min()), abs=1e-15)
    least = (y * (z + b))[used].min()
    for step in (-1.0, -1e-3, 1e-3, 1.0):
        assert (y * (z + b + step))[used].min() < least, "no other intercept has a wider margin"


def test_the_best_intercept_of_one_class_keeps_its_margin():
    loss, z = HardMargin(), np.array([0.3, -2.0])
    for label in (1.0, -1.0):
        y = np.full(2, label)
        b = loss.best_intercept(y, z, np.ones(2))
        assert (y * (z + b)).min() == 1.0
    assert loss.best_intercept(np.array([1.0, -1.0]), z, np.zeros(2)) == 0.0


def test_the_least_scale_brings_the_least_margin_to_1():
    loss, y = HardMargin(), np.array([1.0, -1.0])
    assert loss.least_scale(y, np.array([0.25, -9.0]), np.array([9.0, -0.5])) == 4.0
    assert loss.least_scale(y, np.array([-0.25, -1.0]), np.array([9.0, -1.0])) == 1.0, "no scale will do"
    assert loss.least_scale(y[:0], y[:0], y[:0]) == 1.0
    assert Hinge().least_scale(y, y, y) == 1.0


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
