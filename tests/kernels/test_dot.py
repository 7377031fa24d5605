import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.kernels import Linear, Polynomial, QuadraticForm, Sigmoid, check_mercer
from maxmargin.kernels.rows import gamma
from maxmargin.testing import check_kernel

SHAPE = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
KERNELS = [Linear(), Polynomial(1), Polynomial(2), Polynomial(4, 0.3, 0.7), QuadraticForm(SHAPE), Sigmoid(0.1, 0.2)]
EVERY = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def draw(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@EVERY
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_laws(kernel, form):
    check_kernel(kernel, form(draw(25)))


def exact(kernel, x, z):
    """k(x, z) in rationals, or to fifty digits."""
    x, z = [Fraction(float(v)) for v in x], [Fraction(float(v)) for v in z]
    inner = sum(p * q for p, q in zip(x, z, strict=True))
    if isinstance(kernel, Linear):
        return inner
    if isinstance(kernel, Polynomial):
        return (Fraction(kernel.gamma) * inner + Fraction(kernel.offset)) ** kernel.degree
    if isinstance(kernel, QuadraticForm):
        return sum(p * Fraction(float(kernel.A.array[i, j])) * q for i, p in enumerate(x) for j, q in enumerate(z))
    t = Fraction(kernel.gamma) * inner + Fraction(kernel.offset)
    with localcontext(prec=50):
        e = (2 * Decimal(t.numerator) / Decimal(t.denominator)).exp()
        return Fraction((e - 1) / (e + 1))


@EVERY
@pytest.mark.parametrize("scale", [1e-3, 1.0, 10.0])
def test_the_error_bound_holds_against_exact_values(kernel, scale):
    A, B = scale * draw(6, seed=1), scale * draw(5, seed=2)
    K, error = kernel.block(A, B), kernel.error(A, B)
    for i, x in enumerate(A):
        for j, z in enumerate(B):
            assert abs(Fraction(float(K[i, j])) - exact(kernel, x, z)) <= Fraction(float(error[i, j]))


@EVERY
def test_the_error_bound_is_of_the_order_of_rounding(kernel):
    A = draw(20)
    assert (kernel.error(A) <= 1e3 * 2.0**-53 * (1.0 + kernel.diagonal(A).max())).all()


@pytest.mark.parametrize("kernel", KERNELS[:-1], ids=repr)
def test_the_kernel_is_the_inner_product_of_its_features(kernel):
    A, B = draw(8, seed=1), draw(7, seed=2)
    left, right = kernel.features(A), kernel.features(B)
    # Each feature is a product of a few rounded numbers, and the sum of their products adds its own.
    allowed = gamma(left.shape[1] + 40) * (np.abs(left) @ np.abs(right).T) + kernel.error(A, B)
    assert (np.abs(left @ right.T - kernel.block(A, B)) <= allowed).all()
    assert np.array_equal(kernel.features(sp.csr_matrix(A)), left)


@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from([0.0, 0.5, 2.0]), st.integers(0, 3))
def test_features_of_polynomials_have_the_dimension_of_the_notes(degree, d, offset, seed):
    kernel, X = Polynomial(degree, offset), draw(4, d, seed)
    features = kernel.features(X)
    # 001: all monomials up to degree p are C(n + p, p); homogeneous ones C(n + p - 1, p), n(n + 1)/2 for p = 2.
    assert features.shape[1] == (math.comb(d + degree, degree) if offset else math.comb(d + degree - 1, degree))
    size = np.abs(features) @ np.abs(features).T
    assert (np.abs(features @ features.T - kernel.block(X)) <= 1e-13 * size + kernel.error(X)).all()


def test_the_quadratic_map_of_the_notes_lacks_cross_terms_and_roots():
    """002 gives φ(x) = (1, x1, ..., xn, x1², ..., xn²) for (1 + x'z)²; the theorem holds with these columns added and weighted."""
    x, z = np.array([[2.0, 3.0]]), np.array([[5.0, -1.0]])
    as_noted = [np.hstack([np.ones((1, 1)), a, a**2]) for a in (x, z)]
    assert (as_noted[0] @ as_noted[1].T)[0, 0] == 1 + 7 + 100 + 9
    assert Polynomial(2, 1.0)(x[0], z[0]) == (1 + 7) ** 2
    phi = Polynomial(2, 1.0).features(x)[0]
    root = math.sqrt(2)
    assert phi == pytest.approx([1, root * 2, root * 3, 4, root * 6, 9], rel=1e-15)


def test_the_map_of_all_products_counts_each_cross_term_twice():
    """001's φ for (x'z)² lists x_i x_j for all i, j: the same inner product as one √2 x_i x_j."""
    x = np.array([[1.0, 2.0, 3.0]])
    everything = np.outer(x, x).ravel()
    assert everything @ everything == Polynomial(2)(x[0], x[0]) == 196.0


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Polynomial(0), r"Polynomial\(degree=0\): degree must be a whole number of 1 or more"),
        (lambda: Polynomial(2.5), "degree must be"),
        (lambda: Polynomial(True), "degree must be"),
        (lambda: Polynomial(2, -1.0), r"Polynomial\(offset=-1.0\): .* with a negative offset it is no kernel"),
        (lambda: Polynomial(2, 0.0, 0.0), r"gamma must be positive"),
        (lambda: Sigmoid(gamma=-1.0), r"Sigmoid\(gamma=-1.0\)"),
        (lambda: Sigmoid(offset=np.inf), "offset must be finite"),
        (lambda: QuadraticForm([[1.0, 2.0]]), "square and symmetric"),
        (lambda: QuadraticForm([[1.0, 2.0], [0.0, 1.0]]), "square and symmetric"),
        (lambda: QuadraticForm([[1.0, 2.0], [2.0, 1.0]]), "must be positive semidefinite. indefinite"),
        (lambda: QuadraticForm([[-1e-9]]), "must be positive semidefinite"),
        (lambda: QuadraticForm(SHAPE).block(np.ones((2, 2))), "the rows have 2 columns"),
        (lambda: Polynomial(20, 1.0).features(np.ones((1, 20))), "the limit is 100,000"),
    ],
)
def test_broken_conditions_are_said_in_words(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_negative_offset_is_no_kernel():
    """Why the condition: (x'z - 1)³ at x = 0 is -1."""
    assert check_mercer(np.array([[(0.0 * 0.0 - 1.0) ** 3]])).valid is False


@given(st.integers(1, 6), st.integers(1, 6), st.integers(0, 5))
def test_a_form_computed_in_floats_from_its_factor_is_accepted(d, rank, seed):
    L = draw(d, rank, seed)
    A = L @ L.T
    assert QuadraticForm((A + A.T) / 2).positive


def test_the_sigmoid_is_indefinite_on_points_that_show_it():
    points = np.array([[1.0], [2.0]])  # tanh(1) tanh(4) < tanh(2)²
    found = check_mercer(Sigmoid(), points)
    assert found.valid is False
    assert not Sigmoid().positive


def test_values_read_back_as_plain_numbers():
    kernel = Polynomial(np.int64(2), np.float32(0.5))
    assert repr(kernel) == "Polynomial(degree=2, offset=0.5, gamma=1.0)"
    with pytest.raises((AttributeError, TypeError)):
        kernel.degree = 3
