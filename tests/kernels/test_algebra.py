import math
import pickle
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import kernels
from maxmargin.kernels import (
    Centered,
    Composed,
    Constant,
    Exponential,
    Gaussian,
    Laplacian,
    Linear,
    Normalized,
    Polynomial,
    PolynomialOf,
    Product,
    Restricted,
    Scaled,
    Sigmoid,
    Sum,
    Table,
    Weighted,
    check_mercer,
)
from maxmargin.kernels.rows import LARGEST_PART
from maxmargin.testing import check_kernel

K1, K2 = Gaussian(0.3), Polynomial(2, 1.0)


def draw(n, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def first_column(X):
    return (X.toarray() if sp.issparse(X) else X)[:, 0]


def squares(X):
    X = X.toarray() if sp.issparse(X) else X
    return np.hstack([X, X**2])


@dataclass(frozen=True)
class Times:
    """A feature map that is a value."""

    factor: float

    def __call__(self, X):
        return self.factor * X


NAMES = {"first_column": first_column, "squares": squares, "Times": Times}
RULES = [
    Constant(2.0),
    0.5 * K1,
    K1 + K2,
    K1 + 1,
    K1 * K2,
    K2**3,
    K1.polynomial((0.5, 0.0, 2.0)),
    Scaled(K2, 0.1).exp(),
    K1.weighted(first_column),
    K2.after(squares),
    K2.after(Times(2.0)),
    K2.on([2, 0]),
    K2.normalized(),
    K2.centered(draw(7, seed=5)),
    ((K1 + 2 * Linear()).normalized() * K2.on([1])).centered(draw(4, seed=6)) + Laplacian(),
]


@pytest.mark.parametrize("kernel", RULES, ids=range(len(RULES)))
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_laws(kernel, form):
    check_kernel(kernel, form(draw(15)), NAMES)


@pytest.mark.parametrize("kernel", RULES, ids=range(len(RULES)))
def test_values_survive_pickling(kernel):
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert np.array_equal(again.block(draw(5)), kernel.block(draw(5)))


def test_the_page_runs():
    """The code of docs/kernels.md, and its list of rules names what exists."""
    page = (Path(__file__).parents[2] / "docs" / "kernels.md").read_text()
    code = page.split("```python")[1].split("```")[0]
    A, B = draw(6), draw(5, seed=1)
    exec(code, {"A": A, "B": B, "x": A[0], "z": B[0]})
    for rule in ("weighted", "polynomial", "exp", "after", "on", "normalized", "centered"):
        assert f"`k.{rule}(" in page


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_every_rule_is_its_formula(form):
    X, Z = draw(9), draw(8, seed=1)
    A, B = form(X), form(Z)
    G, P = K1.block(A, B), K2.block(A, B)
    close = {"rtol": 1e-12, "atol": 1e-12}
    assert np.array_equal((0.5 * K1).block(A, B), 0.5 * G)
    assert np.array_equal((K1 + K2).block(A, B), G + P)
    assert np.array_equal((K1 * K2).block(A, B), G * P)
    assert np.allclose((K2**3).block(A, B), P**3, **close)
    assert np.allclose(K1.polynomial((0.5, 0.0, 2.0)).block(A, B), 0.5 + 2.0 * G**2, **close)
    assert np.array_equal((0.1 * K2).exp().block(A, B), np.exp(0.1 * P))
    assert np.allclose(K1.weighted(first_column).block(A, B), X[:, :1] * G * Z[:, 0], **close)
    assert np.allclose(K2.after(squares).block(A, B), K2.block(squares(X), squares(Z)), **close)
    assert np.allclose(K2.on([2, 0]).block(A, B), K2.block(X[:, [2, 0]], Z[:, [2, 0]]), **close)
    lengths = np.sqrt(np.outer(K2.diagonal(A), K2.diagonal(B)))
    assert np.allclose(K2.normalized().block(A, B), P / lengths, **close)
    assert np.allclose((K1 + 2).block(A, B), G + 2, **close)


def test_centering_is_the_mean_taken_off_in_feature_space():
    X, Z, R = draw(9), draw(8, seed=1), draw(5, seed=2)
    phi, mean = K2.features, K2.features(R).mean(axis=0)
    expected = (phi(X) - mean) @ (phi(Z) - mean).T
    assert np.allclose(K2.centered(R).block(X, Z), expected, rtol=1e-12, atol=1e-12)
    assert np.abs(K2.centered(R).block(R).mean(axis=0)).max() < 1e-13  # centred on its own rows, columns add up to 0
    assert np.array_equal(Linear().centered(sp.csr_matrix(R)).rows.array, R)


def test_the_gaussian_is_made_by_the_rules():
    """exp(-γ|x-z|²) = f(x) exp(2γ x'z) f(z), f(x) = exp(-γ|x|²): the proof, run; it is exp(x'z) normalised, too."""
    X = draw(12)
    made = (0.6 * Linear()).exp().normalized()
    assert (np.abs(made.block(X) - K1.block(X)) <= made.error(X) + K1.error(X)).all()


leaf = st.sampled_from([K1, K2, Linear(), Laplacian(0.5), Constant(0.25), K2.on((0, 2)), K1.centered(draw(3, seed=9))])
composites = st.recursive(
    leaf,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda two: two[0] + two[1]),
        st.tuples(inner, inner).map(lambda two: two[0] * two[1]),
        st.tuples(st.sampled_from([0.0, 0.5, 3.0]), inner).map(lambda two: two[0] * two[1]),
        inner.map(lambda k: k.normalized()),
        inner.map(lambda k: k.normalized().exp()),
        inner.map(lambda k: k.polynomial((0.1, 0.0, 0.3))),
        inner.map(lambda k: k.weighted(first_column)),
        inner.map(lambda k: k.after(Times(0.5))),
    ),
    max_leaves=4,
)


@given(composites, st.integers(0, 5))
def test_whatever_the_rules_make_is_a_kernel(kernel, seed):
    check_kernel(kernel, draw(8, seed=seed), NAMES, seed)


def decimal(f, value):
    """f in sixty digits."""
    with localcontext(prec=60):
        return Fraction(f(Decimal(value.numerator) / Decimal(value.denominator)))


def exact(k, x, z):
    """k(x, z) for rows of fractions, by its formula, to sixty digits."""
    match k:
        case Constant(value):
            return Fraction(value)
        case Linear():
            return sum(p * q for p, q in zip(x, z, strict=True))
        case Polynomial(degree, offset, gamma):
            return (Fraction(gamma) * exact(Linear(), x, z) + Fraction(offset)) ** degree
        case Gaussian(gamma):
            return decimal(Decimal.exp, -Fraction(gamma) * sum((p - q) ** 2 for p, q in zip(x, z, strict=True)))
        case Laplacian(gamma):
            return decimal(Decimal.exp, -Fraction(gamma) * sum(abs(p - q) for p, q in zip(x, z, strict=True)))
        case Scaled(kernel, factor):
            return Fraction(factor) * exact(kernel, x, z)
        case Sum(kernels=terms):
            return sum(exact(kernel, x, z) for kernel in terms)
        case Product(kernels=factors):
            return math.prod(exact(kernel, x, z) for kernel in factors)
        case PolynomialOf(kernel, coefficients):
            return sum(Fraction(a) * exact(kernel, x, z) ** p for p, a in enumerate(coefficients))
        case Exponential(kernel):
            return decimal(Decimal.exp, exact(kernel, x, z))
        case Restricted(kernel, columns):
            return exact(kernel, [x[j] for j in columns], [z[j] for j in columns])
        case Normalized(kernel):
            lengths = decimal(Decimal.sqrt, exact(kernel, x, x) * exact(kernel, z, z))
            return exact(kernel, x, z) / lengths if lengths else Fraction(0)
        case Weighted(kernel):  # by the first column
            return x[0] * exact(kernel, x, z) * z[0]
        case Composed(kernel, Times(factor)):
            return exact(kernel, [Fraction(factor) * v for v in x], [Fraction(factor) * v for v in z])
        case Centered(kernel, rows):
            R = [[Fraction(v) for v in row] for row in rows.array.tolist()]
            left, right = (sum(exact(kernel, a, r) for r in R) / len(R) for a in (x, z))
            return exact(kernel, x, z) - left - right + sum(exact(kernel, r, s) for r in R for s in R) / len(R) ** 2
    raise AssertionError(k)


@settings(max_examples=40)
@given(composites, st.integers(0, 5), st.sampled_from([0.03, 1.0, 3.0]))
def test_the_error_bounds_of_composites_hold_against_sixty_digits(kernel, seed, size):
    A, B = size * draw(2, seed=seed), size * draw(2, seed=seed + 50)
    try:
        K, error = kernel.block(A, B), kernel.error(A, B)
    except OverflowError:
        return
    for i, x in enumerate(A.tolist()):
        for j, z in enumerate(B.tolist()):
            truth = exact(kernel, [Fraction(v) for v in x], [Fraction(v) for v in z])
            assert abs(Fraction(float(K[i, j])) - truth) <= Fraction(float(error[i, j]))


@pytest.mark.parametrize("kernel", [k for k in RULES if "squares" not in repr(k)], ids=repr)
def test_the_error_bounds_hold_on_the_diagonal_too(kernel):
    X = draw(3, seed=8)
    K, error, diagonal = kernel.block(X), kernel.error(X), kernel.diagonal(X)
    for i, x in enumerate(X.tolist()):
        row = [Fraction(v) for v in x]
        assert abs(Fraction(float(K[i, i])) - exact(kernel, row, row)) <= Fraction(float(error[i, i]))
        assert diagonal[i] == K[i, i]


def test_terms_and_factors_are_flat_and_compare():
    assert K1 + K2 + Linear() == Sum((K1, K2, Linear()))
    assert K1 * K2 * Linear() == Product((K1, K2, Linear()))
    assert hash(K1 + K2) == hash(Sum([K1, K2]))
    assert K1 + K2 != K2 + K1  # other sums of floats
    assert Linear() ** 2 == PolynomialOf(Linear(), (0.0, 0.0, 1.0))
    assert Linear().exp() == Exponential(Linear())
    assert Linear().on(range(2)) == Restricted(Linear(), (0, 1))
    assert Linear().normalized() == Normalized(Linear())


def test_kernels_with_functions_print_as_themselves():
    kernel = K1.weighted(first_column).after(squares) + K2.after(Times(3.0))
    assert eval(repr(kernel), {**vars(kernels), **NAMES}) == kernel
    centered = K1.centered([[0.1, 1 / 3]])
    assert eval(repr(centered), vars(kernels)) == centered
    assert centered.rows == Table([[0.1, 1 / 3]])


def test_indefinite_parts_make_no_claim():
    for kernel in (Sigmoid() + K1, Sigmoid() * K1, 2 * Sigmoid(), Sigmoid() ** 2, Sigmoid().exp(), Sigmoid().on([0])):
        assert not kernel.positive
    for kernel in (Sigmoid().weighted(first_column), Sigmoid().after(squares), Sigmoid().centered([[1.0]])):
        assert not kernel.positive
    assert (K1 + K2 * Linear()).exp().positive


def no_number(X):
    return np.full(X.shape[0], np.nan)


def one_number(X):
    return np.ones(1)


def two_rows(X):
    return np.ones((2, 2))


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: -2 * K1, ValueError, r"Scaled\(factor=-2.0\): factor must be 0 or more"),
        (lambda: Constant(-1.0), ValueError, "never negative"),
        (lambda: K1.polynomial((1.0, -0.5)), ValueError, r"the coefficient of k\^1 is -0.5"),
        (lambda: K1.polynomial(()), ValueError, "constant coefficient"),
        (lambda: Sum(()), ValueError, r"Sum\(kernels=\(\)\): give at least one"),
        (lambda: Product((K1, "rbf")), TypeError, "kernel must be a Kernel value"),
        (lambda: Scaled("rbf", 1.0), TypeError, "kernel must be a Kernel value"),
        (lambda: Sigmoid().normalized(), ValueError, "must be positive semidefinite"),
        (lambda: K1.weighted(lambda X: X[:, 0]), ValueError, "must have a name"),
        (lambda: K1.after(3), TypeError, "must be a function"),
        (lambda: K1.on([]), ValueError, "at least one"),
        (lambda: K1.on([-1]), ValueError, "0 or more"),
        (lambda: K1.on([1, 1]), ValueError, "each column once"),
        (lambda: K1.on([0, 3]).block(draw(2)), ValueError, "the rows have 3 columns"),
        (lambda: K1.on([0]).block(["A"]), TypeError, "strings have no columns"),
        (lambda: K1.centered(np.empty((0, 3))), ValueError, "at least one row"),
        (lambda: K1.centered(draw(2, 4)).block(draw(2)), ValueError, "columns"),
        (lambda: K1.weighted(no_number).block(draw(2)), ValueError, "one finite number per row"),
        (lambda: K1.weighted(one_number).block(draw(2)), ValueError, r"for 2 rows it gave an array of shape \(1,\)"),
        (lambda: K1.after(two_rows).block(draw(3)), ValueError, "3 rows went in and 2 came out"),
        (lambda: (Linear() * 1e3).exp().block(draw(3)), OverflowError, "Exponential: a value is beyond the doubles"),
    ],
)
def test_broken_conditions_are_said_in_words(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_why_the_conditions():
    """A negative multiple, and a polynomial with a negative coefficient, of a kernel are refuted by points."""
    K = K1.block(draw(4))
    assert check_mercer(-K).valid is False
    assert check_mercer(K - 2.0 * K**2).valid is False


def test_rows_of_length_0_in_feature_space_normalise_to_0():
    X = np.array([[0.0, 0.0], [3.0, 4.0]])
    kernel = Linear().normalized()
    assert kernel.block(X).tolist() == [[0.0, 0.0], [0.0, 1.0]]
    assert kernel.diagonal(X).tolist() == [0.0, 1.0]
    assert kernel.error(X)[0].tolist() == pytest.approx([0.0, 0.0], abs=1e-300)


def test_lengths_lost_to_rounding_leave_the_cosine_unknown():
    """Centred on one row that is almost its own, φ(x) - m is beyond the digits: its direction may be any."""
    row = np.array([[1e3, 1e3]])
    kernel = K2.centered(row).normalized()
    X = np.vstack([np.nextafter(row, np.inf), [[1.0, -2.0]]])
    truth = exact(kernel, *[[Fraction(v) for v in each] for each in X.tolist()])
    assert abs(truth) > 0.01
    assert abs(Fraction(float(kernel.block(X)[0, 1])) - truth) <= Fraction(float(kernel.error(X)[0, 1]))


class Counting(Gaussian.__base__):
    """Counts how many values one call asks for."""

    def __init__(self):
        self.largest, self.calls = 0, 0

    @property
    def positive(self):
        return True

    def tile(self, pairs):
        self.largest, self.calls = max(self.largest, pairs.left.n * pairs.right.n), self.calls + 1
        return np.ones((pairs.left.n, pairs.right.n))

    def own(self, rows):
        return np.ones(rows.n)


def test_composites_are_evaluated_in_whole_tiles_of_bounded_size():
    counting = Counting()
    kernel = (counting + 1.0) * counting
    kernel.block(np.zeros((3000, 1)))
    assert counting.largest == LARGEST_PART**2
    assert counting.calls == 2 * 6  # three parts: six tiles on and below the diagonal, twice in the formula


def test_functions_see_each_row_of_a_part_once_per_block():
    seen = []

    def watched(X):
        seen.append(X.shape[0])
        return np.ones(X.shape[0])

    K1.weighted(watched).block(np.zeros((3000, 1)))
    assert sum(seen) == 3000


def test_sums_share_their_inner_products(monkeypatch):
    """Several kernels of one tile form x'z once."""
    count = 0
    plain = np.asarray

    class Watched(np.ndarray):
        def __matmul__(self, other):
            nonlocal count
            count += 1
            return plain(self) @ plain(other)

    X = draw(5).view(Watched)
    pairs = kernels.Pairs(kernels.rows.Numbers(X), kernels.rows.Numbers(draw(4)))
    (Gaussian(0.1) + Gaussian(1.0) + Polynomial(2) * Linear()).tile(pairs)
    assert count == 1


def test_composed_may_lead_from_strings_to_numbers():
    def lengths(strings):
        return np.array([[float(len(each))] for each in strings])

    assert Composed(Linear(), lengths).block(["AB", "ABC"]).tolist() == [[4.0, 6.0], [6.0, 9.0]]
    assert Weighted(Composed(Linear(), lengths), len_of).block(["AB"]).tolist() == [[16.0]]
    assert Centered(Composed(Linear(), lengths), ["A", "ABC"]).block(["AB"]).tolist() == [[0.0]]


def len_of(strings):
    return np.array([float(len(each)) for each in strings])
