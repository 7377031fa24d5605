from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.kernels import Gaussian, Kernel, Linear, Polynomial, Sigmoid, check_mercer
from maxmargin.kernels.rows import gamma


def is_psd(K):
    """Whether a matrix of fractions is positive semidefinite: symmetric elimination with the largest pivot first."""
    K = [list(row) for row in K]
    while K:
        p = max(range(len(K)), key=lambda i: K[i][i])
        pivot = K[p][p]
        if pivot < 0 or (pivot == 0 and any(v != 0 for row in K for v in row)):
            return False
        if pivot == 0:
            return True
        rest = [i for i in range(len(K)) if i != p]
        K = [[K[i][j] - K[i][p] * K[p][j] / pivot for j in rest] for i in rest]
    return True


def exact(K):
    return [[Fraction(float(v)) for v in row] for row in K]


def form(K, z):
    z = [Fraction(float(v)) for v in z]
    return sum(p * v * q for p, row in zip(z, exact(K), strict=True) for v, q in zip(row, z, strict=True))


def judge(K):
    """The verdict, with its claim checked in rationals."""
    K = np.asarray(K, dtype=float)
    found = check_mercer(K)
    if found.verdict == "indefinite":
        assert form(K, found.witness) <= Fraction(found.value) < 0
        assert found.valid is False
    if found.verdict == "psd":
        shifted = exact(K)
        for i in range(len(K)):
            shifted[i][i] += Fraction(found.delta)
        assert is_psd(shifted)
        assert found.delta <= 40 * gamma(len(K) + 4) * np.abs(np.diagonal(K)).sum() + 1e-300
        assert found.valid is True
    return found


entries = st.integers(-4, 4)


@given(st.integers(1, 5).flatmap(lambda n: st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n)))
def test_small_integer_matrices_are_decided_as_in_rationals(rows):
    K = np.array(rows, dtype=float)
    K = K + K.T
    found = judge(K)
    assert found.verdict == ("psd" if is_psd(exact(K)) else "indefinite")


@given(st.integers(1, 6), st.integers(0, 4), st.integers(0, 99))
def test_singular_gram_matrices_of_integers_are_psd(n, rank, seed):
    X = np.random.default_rng(seed).integers(-9, 10, size=(n, rank)).astype(float)
    assert judge(X @ X.T).verdict == "psd"


@given(st.integers(2, 5), st.integers(0, 99), st.integers(10, 52))
def test_barely_indefinite_matrices_are_found_out(n, seed, bits):
    """A singular integer Gram matrix with one diagonal entry lowered by 2^-bits."""
    X = np.random.default_rng(seed).integers(-3, 4, size=(n, n - 1)).astype(float)
    K = X @ X.T
    K[0, 0] -= 2.0**-bits
    found = judge(K)  # "psd" with a δ beyond the change is right, too
    if is_psd(exact(K)):
        assert found.verdict == "psd"
    elif bits <= 40:
        assert found.verdict == "indefinite"


@pytest.mark.parametrize("a", [2.0**10, 2.0**25, 2.0**26])
def test_a_determinant_of_minus_one_is_seen(a):
    """[[a², a b], ...] with determinant -1: the smallest eigenvalue is 2^-54 of the largest."""
    K = np.array([[a + 1.0, a], [a, a - 1.0]])
    found = judge(K)
    assert found.verdict == "indefinite"


@pytest.mark.parametrize("size", [1e-200, 1e-5, 1e100, 1e200])
def test_indefiniteness_hidden_by_the_size_of_another_row(size):
    K = np.zeros((3, 3))
    K[0, 0] = 1.0
    K[1:, 1:] = size * np.array([[1.0, 1.001], [1.001, 1.0]])
    assert judge(K).verdict == "indefinite"


def test_the_counter_example_of_the_notes():
    """001: K(x, x) = -1 is not valid, because -1 is no |φ(x)|²."""
    found = check_mercer([[-1.0]])
    assert found.verdict == "indefinite"
    assert found.witness.tolist() == [1.0]
    assert found.value == pytest.approx(-1.0)
    assert found.smallest_eigenvalue == -1.0


@dataclass(frozen=True, slots=True)
class Negative(Kernel):
    """k(x, z) = -1."""

    @property
    def positive(self):
        return False

    def tile(self, pairs):
        return -np.ones((pairs.left.n, pairs.right.n))

    def own(self, rows):
        return -np.ones(rows.n)


def test_kernels_are_checked_on_points():
    X = np.random.default_rng(0).normal(size=(30, 3))
    assert check_mercer(Negative(), X).valid is False
    assert check_mercer(Sigmoid(), X).valid is False
    assert check_mercer(Gaussian(1.0), X).delta == 0.0
    found = check_mercer(Polynomial(2, 1.0), X)  # 30 points in 10 dimensions
    assert found.valid
    assert 0.0 < found.delta < 1e-9


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("d", [1, 2, 7])
def test_rounding_of_a_singular_kernel_is_not_called_indefinite(d, seed):
    """The computed matrix of more points than columns has truly negative eigenvalues; the kernel has none."""
    X = np.random.default_rng(seed).normal(size=(40, d))
    assert check_mercer(Linear(), X).valid is True


def test_rows_far_from_the_origin_are_psd_with_a_larger_shift():
    """Cancelled digits make the computed matrix of a Gaussian indefinite by more than its Cholesky factor would."""
    rng = np.random.default_rng(0)
    X = (1000.0 + 1e-3 * rng.normal(size=(40, 1)))[rng.integers(0, 40, size=40)]
    K = Gaussian(1.0).block(X)
    assert judge(K).verdict == "indefinite"
    found = check_mercer(Gaussian(1.0), X)
    assert found.valid
    assert found.delta < 1e-6


def test_a_matrix_means_itself():
    """Without its kernel, the computed matrix may be proved to be indefinite, and rightly."""
    X = np.random.default_rng(0).normal(size=(12, 1))
    judge(Linear().block(X))


def test_large_matrices_are_decided_without_fractions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 300))
    K = X @ X.T + 1e-3 * np.eye(300)
    found = check_mercer(K)
    assert found.delta == 0.0
    K -= (found.smallest_eigenvalue + 1e-6) * np.eye(300)
    assert check_mercer(K).verdict == "indefinite"


def test_what_rounding_hides_is_undecided():
    found = check_mercer(np.full((3, 3), 1.7e308))
    assert found.verdict == "undecided"
    assert found.valid is None
    assert found.delta == np.inf


def test_a_kernel_of_which_rounding_leaves_nothing_is_undecided():
    """Near its only centre a normalised kernel is noise: a large δ can be proved, and is not called psd."""
    row = np.array([[1e3, 1e3]])
    X = np.vstack([np.nextafter(row, np.inf), [[1.0, -2.0]]])
    found = check_mercer(Polynomial(2, 1.0).centered(row).normalized(), X)
    assert found.verdict == "undecided"
    assert 0.1 < found.delta < np.inf


def test_the_zero_matrix_is_psd():
    assert check_mercer(np.zeros((4, 4))).valid
    assert check_mercer(0 * Gaussian(), np.eye(3)).valid


def test_reports_take_two_lines():
    for K in (np.eye(2), -np.eye(2), np.full((3, 3), 1.7e308), np.ones((3, 3))):
        lines = repr(check_mercer(K)).splitlines()
        assert len(lines) == 2
        assert " on these " in lines[0]
    assert repr(check_mercer([[1.0]])).startswith("psd: on this point every eigenvalue is proved to be at least 0.\n")


def test_no_points_are_psd():
    assert check_mercer(np.empty((0, 0))).valid
    assert check_mercer(Gaussian(), np.empty((0, 2))).valid


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.ones((2, 3)),), ValueError, "square and finite"),
        ((np.array([[np.nan]]),), ValueError, "square and finite"),
        ((np.array([[1.0, 2.0], [2.5, 1.0]]),), ValueError, r"K\[0, 1\] = 2.0 and K\[1, 0\] = 2.5"),
        ((np.eye(2), np.eye(2)), TypeError, "without X"),
        ((Gaussian(),), TypeError, "give the points X"),
    ],
)
def test_what_cannot_be_checked_is_named(arguments, error, message):
    with pytest.raises(error, match=message):
        check_mercer(*arguments)
