import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.kernels import Gaussian, Laplacian
from maxmargin.testing import check_kernel

KERNELS = [Gaussian(0.3), Gaussian(30.0), Laplacian(0.3), Laplacian(5.0)]
EVERY = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def draw(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@EVERY
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_laws(kernel, form):
    check_kernel(kernel, form(draw(25)))


def exact(kernel, x, z):
    """exp(-γ q) to fifty digits, q in rationals."""
    differences = [Fraction(float(p)) - Fraction(float(q)) for p, q in zip(x, z, strict=True)]
    q = sum(abs(v) for v in differences) if isinstance(kernel, Laplacian) else sum(v * v for v in differences)
    t = -Fraction(kernel.gamma) * q
    with localcontext(prec=50):
        return Fraction((Decimal(t.numerator) / Decimal(t.denominator)).exp())


@EVERY
@pytest.mark.parametrize(("scale", "shift"), [(1e-3, 0.0), (1.0, 0.0), (1.0, 1e4), (20.0, 0.0), (1e-4, 1e3)])
def test_the_error_bound_holds_against_fifty_digits(kernel, scale, shift):
    A, B = scale * draw(6, seed=1) + shift, scale * draw(5, seed=2) + shift
    K, error = kernel.block(A, B), kernel.error(A, B)
    for i, x in enumerate(A):
        for j, z in enumerate(B):
            assert abs(Fraction(float(K[i, j])) - exact(kernel, x, z)) <= Fraction(float(error[i, j]))


@EVERY
def test_the_error_bound_is_of_the_order_of_rounding(kernel):
    assert kernel.error(draw(20)).max() <= 1e3 * 2.0**-53 * (1.0 + 30.0 * kernel.gamma)


@EVERY
def test_the_diagonal_is_one_and_the_values_lie_between_0_and_1(kernel):
    A = 1e4 + draw(30)  # where |x|² + |x|² - 2 x'x is not 0 in floats
    K = kernel.block(A)
    assert (np.diagonal(K) == 1.0).all()
    assert K.min() >= 0.0
    assert K.max() <= 1.0


def test_the_three_widths_of_the_notes():
    """001 divides by 2σ², 002 by c and calls it σ²: c = 2σ²."""
    x, z = np.array([1.0, 2.0]), np.array([0.0, 4.0])
    assert Gaussian(0.125)(x, z) == Gaussian.from_sigma(2.0)(x, z) == Gaussian.from_c(8.0)(x, z) == math.exp(-0.625)
    assert Gaussian.from_c(2 * 3.0**2) == Gaussian.from_sigma(3.0)


def test_limits_of_the_notes():
    """c -> 0: the identity. c -> ∞: the matrix of ones (002 calls it a unit matrix)."""
    X = draw(10)
    assert np.array_equal(Gaussian.from_c(1e-9).block(X), np.eye(10))
    assert np.array_equal(Gaussian.from_c(1e18).block(X), np.ones((10, 10)))
    closest = Gaussian.from_c(1.0).block(X)
    for c in (2.0, 4.0, 8.0):
        wider = Gaussian.from_c(c).block(X)
        assert (wider >= closest).all()  # rising in c
        closest = wider


@given(st.integers(1, 3), st.integers(0, 9), st.sampled_from([0.01, 0.1, 0.5]), st.integers(0, 3))
def test_the_cut_series_is_as_near_as_its_remainder_says(d, order, rate, seed):
    kernel, X = Gaussian(rate), draw(6, d, seed)
    features = kernel.features(X, order)
    assert features.shape[1] == math.comb(d + order, order)
    difference = np.abs(features @ features.T - kernel.block(X))
    assert (difference <= kernel.remainder(X, order) + 1e-13).all()


def test_the_remainder_goes_to_0():
    X = draw(6)
    rest = [Gaussian(0.2).remainder(X, order) for order in (5, 10, 20, 40)]
    assert rest == sorted(rest, reverse=True)
    assert rest[-1] < 1e-15
    assert Gaussian(0.2).remainder(np.zeros((2, 2)), 0) == 0.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Gaussian(gamma=-1.0), r"Gaussian\(gamma=-1.0\): gamma must be positive and finite"),
        (lambda: Gaussian(gamma="scale"), r"Gaussian\(gamma='scale'\)"),
        (lambda: Gaussian(gamma=np.inf), "gamma must be positive and finite"),
        (lambda: Laplacian(gamma=0.0), r"Laplacian\(gamma=0.0\)"),
        (lambda: Gaussian.from_sigma(-1.0), r"from_sigma\(sigma=-1.0\): sigma must be positive"),
        (lambda: Gaussian.from_c(0.0), r"from_c\(c=0.0\): c must be positive"),
        (lambda: Gaussian().features(np.ones((1, 50)), 10), "the limit is 100,000"),
    ],
)
def test_broken_conditions_are_said_in_words(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_distances_of_mixed_storage_agree():
    A, B = draw(5), draw(4, seed=1)
    A[A < 0] = 0.0
    K, error = Laplacian().block(A, B), Laplacian().error(A, B)
    for left, right in ((sp.csr_matrix(A), B), (A, sp.csr_matrix(B)), (sp.csr_matrix(A), sp.csr_matrix(B))):
        assert (np.abs(Laplacian().block(left, right) - K) <= 2 * error).all()
