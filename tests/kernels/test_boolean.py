import itertools
import math

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.kernels import BooleanMonomials, Conjunctions, check_mercer
from maxmargin.testing import check_kernel


def cube(d):
    return np.array(list(itertools.product([0, 1], repeat=d)))


@pytest.mark.parametrize("kernel", [BooleanMonomials(), Conjunctions(1), Conjunctions(2), Conjunctions(3)], ids=repr)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_laws(kernel, form):
    check_kernel(kernel, form(cube(4)))


def test_the_exercises_of_the_notes():
    """002: x = 1100, z = 1101 give 2³ = 8; 001 and 011 agree on two columns, which gives 4."""
    assert BooleanMonomials()([1, 1, 0, 0], [1, 1, 0, 1]) == 8.0
    assert BooleanMonomials()([0, 0, 1], [0, 1, 1]) == 4.0
    assert BooleanMonomials().features([[1, 1, 0, 0]]).shape == (1, 81)
    assert Conjunctions(3)([1, 1, 0, 0], [1, 1, 0, 1]) == 1.0


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_counts_of_conjunctions_by_brute_force(d):
    X = cube(d)
    literals = [(None, 0, 1)] * d  # each column: left out, negated, plain
    conjunctions = list(itertools.product(*literals))
    truth = np.array([[all(v is None or x[j] == v for j, v in enumerate(c)) for c in conjunctions] for x in X], dtype=float)
    sizes = np.array([sum(v is not None for v in c) for c in conjunctions])
    assert np.array_equal(BooleanMonomials().block(X), truth @ truth.T)
    for size in range(1, d + 2):
        chosen = truth[:, sizes == size]
        assert np.array_equal(Conjunctions(size).block(X), chosen @ chosen.T)


@pytest.mark.parametrize("d", [1, 3, 4])
def test_features_are_the_conjunctions(d):
    X = cube(d)
    features = BooleanMonomials().features(X)
    assert np.array_equal(features @ features.T, BooleanMonomials().block(X))
    assert features.shape[1] == 3**d
    for size in range(1, d + 2):
        features = Conjunctions(size).features(X)
        assert features.shape[1] == math.comb(d, size) * 2**size
        assert np.array_equal(features @ features.T, Conjunctions(size).block(X))


def test_monomials_are_the_sum_of_all_sizes():
    X = cube(4)
    total = sum((Conjunctions(size) for size in (2, 3, 4)), start=Conjunctions(1) + 1.0)  # the empty conjunction is 1
    assert np.array_equal(total.block(X), BooleanMonomials().block(X))


def test_large_values_are_exact_or_refused():
    x = np.ones((1, 1023))
    assert BooleanMonomials().block(x)[0, 0] == 2.0**1023
    with pytest.raises(OverflowError, match="Use Conjunctions"):
        BooleanMonomials().block(np.ones((1, 1024)))
    assert Conjunctions(30).block(np.ones((1, 100)))[0, 0] == float(math.comb(100, 30))
    with pytest.raises(OverflowError, match=r"C\(3000, 1500\) is beyond the doubles"):
        Conjunctions(1500).block(np.ones((1, 3000)))


@pytest.mark.parametrize("kernel", [BooleanMonomials(), Conjunctions(2)], ids=repr)
def test_other_values_are_named(kernel):
    for wrong in (np.array([[0.0, 2.0]]), sp.csr_matrix(np.array([[0.0, 2.0]]))):
        with pytest.raises(ValueError, match=r"must be 0 or 1; the rows hold 2\.0"):
            kernel.block(wrong)
        with pytest.raises(ValueError, match="must be 0 or 1"):
            kernel.features(wrong)


def test_broken_conditions_are_said_in_words():
    with pytest.raises(ValueError, match=r"Conjunctions\(size=0\): size must be a whole number of 1 or more"):
        Conjunctions(0)
    with pytest.raises(ValueError, match="the limit is 100,000"):
        BooleanMonomials().features(np.ones((1, 20)))


def test_the_cube_is_psd_outright():
    found = check_mercer(BooleanMonomials(), cube(5))  # the eigenvalues are 3^k, k = 0 to 5
    assert found.valid
    assert found.delta == 0.0
    assert found.smallest_eigenvalue == pytest.approx(1.0)
