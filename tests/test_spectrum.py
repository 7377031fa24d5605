"""The proven bound against exact rational arithmetic: M - λI is positive semidefinite by an exact LDL' factorisation."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import as_design
from maxmargin.spectrum import curvature_below


def is_positive_definite(matrix):
    """By exact elimination."""
    matrix = [list(row) for row in matrix]
    for k in range(len(matrix)):
        if matrix[k][k] <= 0:
            return False
        for r in range(k + 1, len(matrix)):
            factor = matrix[r][k] / matrix[k][k]
            matrix[r] = [p - factor * q for p, q in zip(matrix[r], matrix[k], strict=True)]
    return True


def exact_gram(X, cost, intercept, scale):
    rows = [[Fraction(float(x)) for x in row] + ([Fraction(1)] if intercept else []) for row in X]
    c, s = [Fraction(float(v)) for v in cost], [Fraction(float(v)) for v in scale]
    p = len(rows[0])
    return [[s[j] * s[k] * sum(v * r[j] * r[k] for v, r in zip(c, rows, strict=True)) for k in range(p)] for j in range(p)]


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_the_bound_holds_in_rationals_and_is_sharp(intercept, seed):
    rng = np.random.default_rng(seed)
    n, d = 12, 3
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-100, 100, size=d)
    X[:, 1] = X[:, 0] * (X[0, 1] / X[0, 0]) + 10.0 ** -(seed + 1.0) * X[:, 1]  # nearly dependent
    cost = rng.uniform(0.1, 2.0, n)
    for stored in (X, sp.csr_array(X)):
        scale, least = curvature_below(as_design(stored), cost, intercept)
        gram = exact_gram(X, cost, intercept, scale)
        true = float(np.linalg.eigvalsh(np.array(gram, dtype=float))[0])
        rounding = 4 * 8 * 64 * 2.0**-53  # 4 tr(M) (γ_29 + γ_6), with a trace below 8
        if least == 0.0:
            assert true < 4 * rounding
            continue
        for j in range(len(gram)):
            gram[j][j] -= Fraction(least)
        assert is_positive_definite(gram)
        assert least >= true - 3 * rounding


def test_dependent_columns_get_no_bound():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    X[:, 3] = X[:, 0] - X[:, 1]
    assert curvature_below(as_design(X), np.ones(30), False)[1] == 0.0
    assert curvature_below(as_design(np.ones((30, 1))), np.ones(30), True)[1] == 0.0, "a constant column and an intercept"
    assert curvature_below(as_design(np.zeros((3, 2))), np.ones(3), False)[1] == 0.0


def test_more_columns_than_can_be_factored_get_no_bound():
    wide = sp.csr_array((3, 5000))
    assert curvature_below(as_design(wide), np.ones(3), False)[1] == 0.0
