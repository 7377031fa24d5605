from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.design import as_design
from maxmargin.separation import Inseparable, Separable, margin_interval, separability


def proves(verdict, X, y, intercept):
    """The proof, checked once more by plain fractions."""
    signs = [1 if label == max(y) else -1 for label in y]
    rows = [
        [s * Fraction(float(v)) for v in row] + ([Fraction(s)] if intercept else [])
        for s, row in zip(signs, np.asarray(X), strict=True)
    ]
    if isinstance(verdict, Separable):
        w = [Fraction(v) if isinstance(v, int) else Fraction(float(v)) for v in verdict.w]
        w += [Fraction(verdict.b)] if intercept else []
        return all(sum(x * v for x, v in zip(row, w, strict=True)) > 0 for row in rows)
    parts = [[m * v for v in rows[i]] for i, m in zip(verdict.indices, verdict.multipliers, strict=True)]
    return all(m > 0 for m in verdict.multipliers) and not any(sum(column) for column in zip(*parts, strict=True))


def checked(X, y, intercept=True):
    verdict = separability(X, y, intercept)
    assert verdict.check(X, y)
    assert proves(verdict, X.toarray() if sp.issparse(X) else X, y, intercept)
    return verdict


@settings(max_examples=150)
@given(data=st.data(), d=st.integers(1, 4), n=st.integers(2, 10), intercept=st.booleans())
def test_every_verdict_is_proved(data, d, n, intercept):
    kind = data.draw(st.sampled_from(["grid", "wide", "doubles"]))
    values = {
        "grid": st.integers(-2, 2).map(float),
        "wide": st.integers(-(2**50), 2**50).map(float),
        "doubles": st.floats(-1e6, 1e6, allow_subnormal=False),
    }[kind]
    X = data.draw(arrays(float, (n, d), elements=values))
    y = np.where(np.arange(n) % 2, 1, -1)
    checked(X, y, intercept)


@pytest.mark.parametrize("margin", [1.0, 1e-3, 1e-9, 1e-12, 1e-15])
def test_thin_margins_are_seen_and_thin_overlaps_too(margin):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(60, 4)), 2)
    y = np.where(rng.uniform(size=60) < 0.5, 1, -1)
    X[:, 0] = np.where(y > 0, 1.0 + margin, 1.0)
    X[:, 1:] = np.round(X[:, 1:] * 8)
    assert isinstance(checked(X, y), Separable)
    X[0, 0] = X[y != y[0], 0][0] + (-margin if y[0] > 0 else margin)
    X[:, 1:] = 1.0
    assert isinstance(checked(X, y), Inseparable)


def test_the_margin_interval_holds_the_widest_margin():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 4.0]])
    verdict = checked(X, [0, 0, 1, 1])
    low, high = verdict.margin
    assert low <= 1.5 <= high
    y = np.array([-1.0, -1.0, 1.0, 1.0])
    exact = margin_interval(as_design(X), y, np.array([1.0, 0.0]), -1.5, True, np.array([-1.0, 0.0, 1.0, 0.0]))
    assert exact[0] <= 1.5 <= exact[1]
    assert exact[1] - exact[0] <= 1e-13


def test_two_point_proofs_come_first():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [0.0, 0.0]])
    for rows in (X, sp.csr_array(X)):
        duplicate = checked(rows, [0, 0, 1, 1])
        assert duplicate.indices.tolist() == [0, 2]
        zero = checked(rows, [0, 0, 0, 1], intercept=False)
        assert zero.indices.tolist() == [3]
    opposite = checked(np.array([[1.0, 2.0], [-1.0, -2.0], [5.0, 1.0]]), [1, 1, 0], intercept=False)
    assert opposite.indices.tolist() == [0, 1]


def test_stored_zeros_and_negative_zeros_are_zeros():
    X = sp.csr_array((np.array([1.0, 0.0, 1.0]), np.array([0, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    assert checked(X, [0, 1]).indices.tolist() == [0, 1]
    assert checked(np.array([[0.0, 1.0], [-0.0, 1.0]]), [0, 1]).indices.tolist() == [0, 1]


def test_entries_stored_twice_are_added():
    X = sp.csr_array((np.array([1.0, 2.0, 3.0, 1.0]), np.array([0, 0, 0, 1]), np.array([0, 2, 3, 4])), shape=(3, 2))
    assert checked(X, [0, 1, 1]).indices.tolist() == [0, 1]
    assert X.nnz == 4


def test_xor_and_the_same_rows_sparse():
    X, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), ["a", "a", "b", "b"]
    for rows in (X, sp.csr_array(X), sp.csc_array(X.astype(np.float32))):
        verdict = checked(rows, y)
        assert verdict.multipliers == (1, 1, 1, 1)
        assert "add up to exactly 0" in repr(verdict)


def test_more_columns_than_the_rational_simplex_takes():
    rng = np.random.default_rng(0)
    X = sp.random_array((50, 3000), density=0.05, rng=rng, format="csr")
    y = rng.integers(0, 2, 50)
    verdict = separability(X, y)
    assert isinstance(verdict, Separable)
    assert verdict.check(X, y)


def test_checks_fail_on_other_data():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 0, 1])
    verdict = separability(X, y)
    assert not verdict.check(X, [0, 1, 0])
    assert not verdict.check(X[:, [0, 0]], y)
    refuted = separability(X, [0, 1, 0])
    assert not refuted.check(X, y)
    assert not Inseparable(refuted.indices, (0,) * len(refuted.indices), True).check(X, [0, 1, 0])
    assert not Inseparable(np.array([7]), (1,), True).check(X, [0, 1, 0])


def test_a_proposal_that_is_no_proof_is_mended():
    """Coordinates of very different sizes lead the linear program astray; the verdict must not follow."""
    rng = np.random.default_rng(3)
    for scale in (1e-12, 1e12):
        X = rng.integers(-3, 4, size=(30, 3)) * np.array([1.0, scale, 1.0 / scale])
        for y in (rng.integers(0, 2, 30), (X @ np.array([1.0, 1.0 / scale, scale]) > 0.5).astype(int)):
            checked(X, y)


@pytest.mark.parametrize("y", [[0, 0, 0], [0, 1, 2], [0.5, 1.5, 2.5]])
def test_two_labels_are_needed(y):
    with pytest.raises(ValueError, match=r"two labels|Unknown label type"):
        separability(np.eye(3), y)


@pytest.mark.all
def test_ten_thousand_small_instances():
    rng = np.random.default_rng(0)
    for _ in range(10_000):
        n, d = rng.integers(2, 12), rng.integers(1, 4)
        X = rng.integers(-2, 3, size=(n, d)) * 10.0 ** rng.integers(-12, 3, size=d)
        y = rng.integers(0, 2, n)
        y[:2] = 0, 1
        checked(X, y, bool(rng.integers(2)))
