from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.svm import SVC

from maxmargin.kernels import Gaussian, Kernel, Laplacian, Linear, Polynomial, Sigmoid, Table
from maxmargin.kernels.rows import LARGEST_PART, UNIT

KERNELS = [Linear(), Polynomial(3, 0.5), Gaussian(0.2), Laplacian(0.2), Sigmoid(0.1, -0.5)]
EVERY = pytest.mark.parametrize("kernel", KERNELS, ids=repr)


def draw(n, d=6, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, d))
    X[X < -0.5] = 0.0
    return X


@EVERY
def test_dense_and_sparse_and_mixed_agree_within_the_error(kernel):
    A, B = draw(30), draw(20, seed=1)
    K, error = kernel.block(A, B), kernel.error(A, B)
    for left in (A, sp.csr_matrix(A), sp.csr_array(A)):
        for right in (B, sp.csr_matrix(B), np.asfortranarray(B)):
            assert (np.abs(kernel.block(left, right) - K) <= 2 * error).all()
    assert error.max() <= 1e-12


@EVERY
def test_float32_rows_lose_nothing(kernel):
    """The block of float32 rows is the block of the same numbers in float64, up to the order in which BLAS adds them."""
    A = draw(30).astype(np.float32)
    wide = A.astype(np.float64)
    assert (np.abs(kernel.block(A) - kernel.block(wide)) <= 2 * kernel.error(wide)).all()


@EVERY
def test_a_block_of_many_tiles_is_made_of_its_tiles(kernel):
    A = draw(LARGEST_PART + 30, 2)
    K = kernel.block(A)
    assert np.array_equal(K, K.T)
    assert np.array_equal(np.diagonal(K), kernel.diagonal(A))
    part = slice(LARGEST_PART - 5, LARGEST_PART + 5)
    assert (np.abs(kernel.block(A[part], A) - K[part]) <= 2 * kernel.error(A[part], A)).all()


@EVERY
def test_calling_two_rows_gives_a_number_and_many_rows_a_block(kernel):
    A = draw(4)
    assert isinstance(kernel(A[0], A[1]), float)
    assert abs(kernel(A[0], A[1]) - kernel.block(A)[0, 1]) <= 2 * kernel.error(A)[0, 1]
    assert np.array_equal(kernel(A, A), kernel.block(A))
    assert np.array_equal(kernel(A), kernel.block(A))
    assert kernel([1, 2], [3, 4]) == kernel.block([[1, 2]], [[3, 4]])[0, 0]


def test_a_kernel_is_a_callable_kernel_of_scikit_learn():
    X = draw(40)
    y = X[:, 0] > 0.1
    ours, theirs = SVC(kernel=Gaussian(0.5)).fit(X, y), SVC(kernel="rbf", gamma=0.5).fit(X, y)
    # Both stop at |gradient| < 1e-3, at points whose scores differ by about as much.
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 1e-2


@EVERY
def test_no_rows_give_an_empty_block(kernel):
    assert kernel.block(np.empty((0, 6)), draw(3)).shape == (0, 3)
    assert kernel.block(np.empty((0, 6))).shape == (0, 0)
    assert kernel.diagonal(np.empty((0, 6))).shape == (0,)


def test_what_is_wrong_is_named():
    with pytest.raises(ValueError, match="rows of 6 and of 5 columns"):
        Linear().block(draw(3), draw(3, 5))
    with pytest.raises(TypeError, match="for numbers"):
        Linear().block(["ACGT"])
    with pytest.raises(OverflowError, match="Polynomial: a value is beyond the doubles"):
        Polynomial(400).block([[10.0]])
    with pytest.raises(OverflowError, match="beyond the doubles"):
        Polynomial(400).diagonal([[10.0]])
    with pytest.raises(TypeError):
        Kernel()


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda: Linear() * -1.0, r"Scaled\(factor=-1.0\): factor must be 0 or more"),
        (lambda: Linear() + -0.5, r"Constant\(value=-0.5\): value must be 0 or more"),
        (lambda: Linear() ** -1, r"kernel \*\* -1: the power must be a whole number"),
        (lambda: Linear() ** 0.5, r"kernel \*\* 0.5"),
        (lambda: Linear() ** True, r"kernel \*\* True"),
        (lambda: np.nan * Linear(), "factor must be 0 or more and finite"),
    ],
)
def test_a_broken_condition_is_an_error_in_words(broken, message):
    with pytest.raises(ValueError, match=message):
        broken()


def test_operators_take_numbers_of_numpy_and_refuse_the_rest():
    assert np.float64(2.0) * Linear() == 2 * Linear() == Linear() * 2.0
    assert np.float32(2.0) + Linear() == Linear() + 2
    assert eval(repr(np.float64(2.0) * Linear()), {**globals(), **vars(__import__("maxmargin").kernels)}) == 2 * Linear()
    for wrong in ("2", None, [1.0], True):
        with pytest.raises(TypeError):
            Linear() + wrong
        with pytest.raises(TypeError):
            wrong * Linear()


@dataclass(frozen=True, slots=True)
class Mine(Kernel):
    """k(x, z) = 3 x'z, written by somebody else."""

    @property
    def positive(self):
        return True

    def tile(self, pairs):
        return 3.0 * pairs.inner

    def own(self, rows):
        return 3.0 * rows.norms_sq


def test_a_kernel_of_somebody_else_has_a_default_error():
    X = draw(5)
    assert np.array_equal(Mine().block(X), 3.0 * Linear().block(X))
    assert (Mine().error(X) >= 2.0**-44 * 3.0 * Linear().block(X).max()).all()
    assert ((Mine() + Gaussian()).error(X) > Mine().error(X) * (1 - UNIT)).all()
    assert Table(X).array.shape == (5, 6)
