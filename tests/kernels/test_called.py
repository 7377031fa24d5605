import numpy as np
import pytest

from maxmargin.kernels import Called, Gaussian


def gaussian(A, B):
    return Gaussian(0.5).block(np.asarray(A), np.asarray(B))


def test_blocks_and_the_diagonal_are_those_of_the_function():
    X = np.random.default_rng(0).normal(size=(150, 3))
    K, k = gaussian(X, X), Called(gaussian)
    assert np.allclose(k.block(X), K, rtol=0, atol=1e-15)
    assert np.array_equal(np.diagonal(k.block(X)), k.diagonal(X))
    assert k.block(X[:4], X[5:8]) == pytest.approx(K[:4, 5:8], abs=1e-15)


def test_nothing_is_promised():
    k = Called(gaussian)
    assert not k.positive
    with pytest.raises(ValueError, match="promises no bound"):
        k.error(np.ones((2, 2)))


def test_a_wrong_shape_is_refused():
    with pytest.raises(ValueError, match=r"it must return \(3, 3\)"):
        Called(lambda A, B: np.ones(2)).block(np.eye(3))
