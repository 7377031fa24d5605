import numpy as np
import pytest

from maxmargin import EpsilonInsensitive, Hinge, Huber, Logistic, Pinball, SmoothedHinge, Squared, SquaredEpsilonInsensitive
from maxmargin.losses import Loss, SquaredHinge

ALL = [
    Hinge(),
    SquaredHinge(),
    SmoothedHinge(0.5),
    Logistic(),
    Squared(),
    Huber(0.5),
    EpsilonInsensitive(0.3),
    SquaredEpsilonInsensitive(0.3),
    Pinball(0.3),
]


def test_the_base_class_is_abstract():
    with pytest.raises(TypeError):
        Loss()


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_curvature_bounds_the_rise_of_the_slope_and_bend_is_its_derivative(loss):
    rng = np.random.default_rng(0)
    y, z = rng.choice([-1.0, 1.0], 2000), rng.normal(scale=2.0, size=2000)
    step = 1e-4
    rise = (loss.slope(y, z + step) - loss.slope(y, z - step)) / (2 * step)
    assert np.all(rise >= 0.0)
    assert np.all(rise <= loss.curvature * (1 + 1e-9))
    assert np.all((loss.bend(y, z) >= 0.0) & (loss.bend(y, z) <= loss.curvature))
    ends = loss.bend(y, z - step), loss.bend(y, z + step)
    inside = np.isclose(*ends, atol=1e-4)  # no kink of the slope within the step
    inside &= rise < 10.0 if np.isinf(loss.curvature) else True
    assert inside.mean() > 0.99
    assert np.allclose(rise[inside], loss.bend(y, z)[inside], atol=1e-4)


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_targets_are_checked(loss):
    with pytest.raises(ValueError, match="targets must be"):
        loss.check_target(np.array([1.0, np.nan]))
    loss.check_target(np.array([1.0, -1.0]))


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_no_cost_and_no_rows_give_the_intercept_0(loss):
    assert loss.best_intercept(np.array([1.0, -1.0]), np.array([3.0, 4.0]), np.zeros(2)) == 0.0


@pytest.mark.parametrize("loss", ALL, ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_a_weight_of_two_is_two_rows(loss, seed):
    rng = np.random.default_rng(seed)
    y, z, times = rng.choice([-1.0, 1.0], 15), rng.normal(size=15), rng.integers(1, 4, 15)
    one = loss.best_intercept(y, z, times.astype(float))
    many = loss.best_intercept(np.repeat(y, times), np.repeat(z, times), np.ones(times.sum()))
    assert abs(one - many) <= 1e-12
