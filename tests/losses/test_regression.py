from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import EpsilonInsensitive, Huber, Pinball, Squared, SquaredEpsilonInsensitive
from maxmargin.testing import check_loss

ALL = [
    Squared(),
    Huber(),
    Huber(1e-6),
    Huber(40.0),
    EpsilonInsensitive(),
    EpsilonInsensitive(0.0),
    SquaredEpsilonInsensitive(),
    SquaredEpsilonInsensitive(2.0),
    Pinball(),
    Pinball(0.1),
    Pinball(0.999),
]
UNIT = Fraction(1, 2**53)
FLOATS = st.floats(-1e12, 1e12)


@pytest.mark.parametrize("loss", ALL, ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_laws(loss, seed):
    rng = np.random.default_rng(seed)
    check_loss(loss, targets=rng.normal(scale=2.0, size=50), seed=seed)


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_values_are_frozen_and_read_back(loss):
    assert eval(repr(loss)) == loss
    with pytest.raises((AttributeError, TypeError)):
        loss.width = 1.0


def test_exact_points():
    y, z = np.zeros(5), np.array([-3.0, -0.5, 0.0, 1.0, 2.0])
    assert Squared().value(y, z).tolist() == [4.5, 0.125, 0.0, 0.5, 2.0]
    assert Huber(1.0).value(y, z).tolist() == [2.5, 0.125, 0.0, 0.5, 1.5]
    assert EpsilonInsensitive(0.5).value(y, z).tolist() == [2.5, 0.0, 0.0, 0.5, 1.5]
    assert EpsilonInsensitive(0.5).slope(y, z).tolist() == [-1.0, -0.5, 0.0, 1.0, 1.0]
    assert SquaredEpsilonInsensitive(0.5).value(y, z).tolist() == [6.25, 0.0, 0.0, 0.25, 2.25]
    assert Pinball(0.25).value(y, z).tolist() == [0.75, 0.125, 0.0, 0.75, 1.5]
    assert Pinball(0.25).slope(y, z).tolist() == [-0.25, -0.25, 0.25, 0.75, 0.75]


def rational(loss, y, z):
    r = Fraction(z) - Fraction(y)
    size = abs(r)
    match loss:
        case Squared():
            return r * r / 2
        case Huber():
            width = Fraction(loss.width)
            return r * r / 2 if size <= width else width * (size - width / 2)
        case EpsilonInsensitive():
            return max(Fraction(0), size - Fraction(loss.width))
        case SquaredEpsilonInsensitive():
            return max(Fraction(0), size - Fraction(loss.width)) ** 2
        case Pinball():
            return max(-Fraction(loss.quantile) * r, (1 - Fraction(loss.quantile)) * r)
    raise AssertionError


def rational_conjugate(loss, y, u):
    y, u = Fraction(y), Fraction(u)
    match loss:
        case Squared() | Huber():
            return u * u / 2 + u * y
        case EpsilonInsensitive():
            return u * y + Fraction(loss.width) * abs(u)
        case SquaredEpsilonInsensitive():
            return u * y + Fraction(loss.width) * abs(u) + u * u / 4
        case Pinball():
            return u * y
    raise AssertionError


@pytest.mark.parametrize("make", [Squared, Huber, EpsilonInsensitive, SquaredEpsilonInsensitive, Pinball])
@given(y=FLOATS, z=FLOATS, parameter=st.floats(1e-9, 1e11))
def test_values_keep_their_promise_in_rationals(make, y, z, parameter):
    loss = make() if make is Squared else make(parameter / 2e11 if make is Pinball else parameter)
    points = [z]
    if make is not Squared and make is not Pinball:
        points += [y + parameter, np.nextafter(y + parameter, np.inf), y - parameter * (1 + 1e-12)]
    for at in points:
        found, true = Fraction(float(loss.value(np.array([y]), np.array([at]))[0])), rational(loss, y, at)
        assert abs(found - true) <= 16 * UNIT * (1 + true + abs(Fraction(y)) + abs(Fraction(at)))


@pytest.mark.parametrize("make", [Squared, Huber, EpsilonInsensitive, SquaredEpsilonInsensitive, Pinball])
@given(y=FLOATS, u=st.floats(-1.0, 1.0), size=st.floats(1e-9, 1e11), parameter=st.floats(1e-9, 1e11))
def test_conjugates_keep_their_promise_in_rationals(make, y, u, size, parameter):
    loss = make() if make is Squared else make(parameter / 2e11 if make is Pinball else parameter)
    u = u * size if np.isinf(loss.box(np.ones(1))[1][0]) else u
    low, high = (float(end[0]) for end in loss.box(np.array([y])))
    v = float(np.clip(-u, low, high))
    for moved in (v, np.clip(v * (1 + 2.0**-53), low, high), np.clip(v * (1 - 2.0**-53), low, high)):
        found, true = float(loss.conjugate(np.array([y]), np.array([-moved]))[0]), rational_conjugate(loss, y, -v)
        size_v = abs(Fraction(v))
        assert abs(Fraction(found) - true) <= 16 * UNIT * ((1 + size_v) * (1 + size_v + abs(Fraction(y))) + abs(true))


@given(quantile=st.floats(1e-300, 1.0, exclude_max=True))
def test_the_box_of_the_pinball_lies_inside_the_exact_one(quantile):
    low, high = Pinball(quantile).box(np.zeros(1))
    assert Fraction(quantile) - 1 <= Fraction(float(low[0])) <= 0
    assert Fraction(float(high[0])) == Fraction(quantile)
    assert np.nextafter(low[0], -1.0) <= float(Fraction(quantile) - 1)


@pytest.mark.parametrize("loss", ALL, ids=repr)
@pytest.mark.parametrize("seed", range(10))
def test_best_intercept_is_stationary(loss, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    y, z, cost = rng.normal(size=n), rng.normal(size=n), rng.uniform(0.1, 2.0, n)
    b = loss.best_intercept(y, z, cost)
    step = 2.0**-50 * (4 + np.abs(y).max() + np.abs(z).max())
    slack = 1e-14 * cost.sum() * (1 + min(loss.curvature, 2.0))
    assert cost @ loss.slope(y, z + (b - step)) <= slack
    assert cost @ loss.slope(y, z + (b + step)) >= -slack


def test_an_interval_of_best_intercepts_gives_its_midpoint():
    y, z, cost = np.array([0.0, 4.0]), np.zeros(2), np.ones(2)
    assert Squared().best_intercept(y, z, cost) == 2.0
    assert Pinball(0.5).best_intercept(y, z, cost) == 2.0
    assert EpsilonInsensitive(0.5).best_intercept(y, z, cost) == 2.0
    assert EpsilonInsensitive(3.0).best_intercept(y, z, cost) == 2.0  # no loss for b in [1, 3]
    assert SquaredEpsilonInsensitive(3.0).best_intercept(y, z, cost) == 2.0
    assert Huber(0.5).best_intercept(y, z, cost) == 2.0


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.75])
def test_the_pinball_finds_the_quantile(quantile):
    y = np.arange(1.0, 102.0)
    b = Pinball(quantile).best_intercept(y, np.zeros(101), np.ones(101))
    assert b == np.quantile(y, quantile, method="inverted_cdf")


def test_limits():
    rng = np.random.default_rng(0)
    y, z = rng.normal(size=(2, 1000))
    squared = Squared().value(y, z)
    assert np.allclose(Huber(1e3).value(y, z), squared, rtol=1e-14)  # wide: squared
    assert np.allclose(Huber(1e-9).value(y, z) / 1e-9, np.abs(z - y), atol=1e-9)  # narrow: absolute
    assert np.allclose(SquaredEpsilonInsensitive(0.0).value(y, z), 2 * squared, rtol=1e-14)
    assert np.allclose(EpsilonInsensitive(0.0).value(y, z), np.abs(z - y), rtol=1e-14)
    assert np.allclose(2 * Pinball(0.5).value(y, z), np.abs(z - y), rtol=1e-14)
    assert np.all(EpsilonInsensitive(1e-9).value(y, z) >= np.abs(z - y) - 1.0001e-9)


def test_overflow_is_an_infinite_loss_and_nothing_worse():
    with np.errstate(over="ignore"):
        for loss in (Squared(), SquaredEpsilonInsensitive()):
            assert loss.value(np.array([-1e308]), np.array([1e308]))[0] == np.inf
        assert EpsilonInsensitive().value(np.array([-1e307]), np.array([1e307]))[0] == 2e307


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Huber(0.0), r"Huber\(width=0.0\): width must be positive"),
        (lambda: Huber(np.inf), "finite"),
        (lambda: EpsilonInsensitive(-1.0), "not negative"),
        (lambda: SquaredEpsilonInsensitive(np.nan), "finite"),
        (lambda: Pinball(0.0), "strictly between 0 and 1"),
        (lambda: Pinball(1.0), "strictly between 0 and 1"),
    ],
)
def test_parameters_are_checked(make, words):
    with pytest.raises(ValueError, match=words):
        make()
