"""The logistic loss against fifty digits."""

import mpmath
import numpy as np
import pytest

from maxmargin import Logistic
from maxmargin.testing import check_loss

UNIT = 2.0**-53
EXTREME = [0.0, 5e-324, 1e-300, 1e-17, 1e-8, 0.5, 1.0, 30.0, 36.7, 37.5, 700.0, 709.8, 745.0, 746.0, 1e3, 1e16, 1e308]


@pytest.mark.parametrize("seed", range(5))
def test_laws(seed):
    check_loss(Logistic(), seed=seed)


def test_values_are_frozen_and_read_back():
    assert eval(repr(Logistic())) == Logistic()


def exact(y, z):
    """ln(1 + e^{-yz}) and its slope."""
    m = mpmath.mpf(y) * mpmath.mpf(z)
    if m > 10**6:
        return mpmath.mpf(0), mpmath.mpf(0)
    if m < -(10**6):
        return -m, mpmath.mpf(-y)
    return mpmath.log1p(mpmath.exp(-m)), -y / (1 + mpmath.exp(m))


@pytest.mark.parametrize("size", EXTREME)
def test_value_and_slope_at_extreme_scores(size):
    with mpmath.workdps(60):
        for y in (-1.0, 1.0):
            for z in (-size, size):
                value, slope = (float(f(np.array([y]), np.array([z]))[0]) for f in (Logistic().value, Logistic().slope))
                true_value, true_slope = exact(y, z)
                assert abs(mpmath.mpf(value) - true_value) <= 8 * UNIT * true_value + 2.0**-1020
                assert abs(mpmath.mpf(slope) - true_slope) <= 8 * UNIT * abs(true_slope) + 2.0**-1020


@pytest.mark.parametrize("v", [0.0, 5e-324, 1e-300, 1e-17, 1e-9, 0.3, 0.5, 1 - 1e-9, 1 - 2.0**-53, 1.0])
def test_the_conjugate_keeps_its_promise(v):
    with mpmath.workdps(60):
        for y in (-1.0, 1.0):
            for moved in (v, np.nextafter(v, 0.5)):  # the promise covers an argument that is off by a unit in the last place
                found = float(Logistic().conjugate(np.array([y]), np.array([-y * moved]))[0])
                m = mpmath.mpf(v)
                true = sum(x * mpmath.log(x) for x in (m, 1 - m) if x > 0)
                assert abs(mpmath.mpf(found) - true) <= 16 * UNIT * (1 + v) * (2 + v)


def test_the_conjugate_is_infinite_outside_the_box():
    y = np.array([1.0, 1.0, -1.0])
    assert np.all(np.isinf(Logistic().conjugate(y, np.array([1e-300, -1.0 - 2.0**-52, -1e-300]))))


@pytest.mark.parametrize("spread", [0.0, 1e-3, 1.0, 50.0, 1e4])
@pytest.mark.parametrize("seed", range(6))
def test_the_best_intercept_brackets_the_root(spread, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    y, z, cost = rng.choice([-1.0, 1.0], n), spread * rng.normal(size=n) + 7.0, rng.uniform(0.01, 2.0, n)
    y[:2] = 1.0, -1.0
    b = Logistic().best_intercept(y, z, cost)
    step = 2.0**-50 * (1 + abs(b) + np.abs(z).max())
    assert cost @ Logistic().slope(y, z + (b - step)) <= 1e-15
    assert cost @ Logistic().slope(y, z + (b + step)) >= -1e-15


def test_equal_scores_have_a_closed_form():
    y, cost = np.array([1.0, 1.0, -1.0]), np.array([1.0, 2.0, 1.5])
    assert Logistic().best_intercept(y, np.full(3, 4.0), cost) == pytest.approx(np.log(2.0) - 4.0, rel=1e-15)


def test_one_class_alone_reaches_a_loss_of_0():
    y, z = np.array([1.0, -1.0]), np.array([3.0, -2.0])
    for cost in (np.array([1.0, 0.0]), np.array([0.0, 1.0])):
        b = Logistic().best_intercept(y, z, cost)
        assert np.isfinite(b)
        assert cost @ Logistic().value(y, z + b) == 0.0
