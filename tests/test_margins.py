import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import margins
from maxmargin.margins import best_intercept

FORMS = [np.asarray, np.asfortranarray, sp.csr_array, sp.csc_array, lambda X: np.asarray(X, dtype=int).tolist()]


def integers(seed, n=8, d=3):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-5, 6, size=(n, d)).astype(float), rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    return X, y, rng.integers(1, 5, size=d) * rng.choice([-1.0, 1.0], d), float(rng.integers(-3, 4))


@given(seed=st.integers(0, 10**6))
def test_both_margins_are_their_formulas(seed):
    X, y, w, b = integers(seed)
    found = margins(X, y, w, b)
    assert found.functional.tolist() == (y * (X @ w + b)).tolist(), "whole numbers are exact"
    assert found.geometric == pytest.approx(y * (X @ w + b) / np.sqrt(w @ w), rel=1e-15)
    assert found.least == found.geometric.min() == found.geometric[found.nearest]


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.25, 2.0, 1024.0]))
def test_the_geometric_margin_does_not_grow_with_w(seed, scale):
    X, y, w, b = integers(seed)
    one, other = margins(X, y, w, b), margins(X, y, scale * w, scale * b)
    assert np.array_equal(other.functional, scale * one.functional)
    assert np.array_equal(other.geometric, one.geometric)


def test_the_geometric_margin_is_the_distance_from_the_plane():
    rng = np.random.default_rng(0)
    X, w, b = rng.normal(size=(10, 4)), rng.normal(size=4), 0.3
    found = margins(X, np.ones(10), w, b)
    feet = X - np.outer(found.geometric, w / np.linalg.norm(w))
    assert feet @ w + b == pytest.approx(np.zeros(10), abs=1e-14)


@pytest.mark.parametrize("form", FORMS)
def test_every_storage_has_the_same_margins(form):
    X, y, w, b = integers(3)
    assert np.array_equal(margins(form(X), y.astype(int), w.tolist(), b).functional, margins(X, y, w, b).functional)
    assert best_intercept(form(X), y, w) == best_intercept(X, y, w)


def test_whole_numbers_and_float32_in_sparse_rows():
    for dtype in (int, np.int8, np.float32, bool):
        found = margins(sp.csr_array(np.eye(2, dtype=dtype)), [1, -1], [3.0, 4.0])
        assert found.functional.tolist() == [3.0, -4.0]


@given(seed=st.integers(0, 10**6))
def test_no_intercept_is_better_than_the_best_one(seed):
    """b* of note 001, its signs put right: halfway between the nearest rows of both classes."""
    X, y, w, _ = integers(seed)
    b = best_intercept(X, y, w)
    assert b == -0.5 * ((X @ w)[y < 0].max() + (X @ w)[y > 0].min())
    at_best = margins(X, y, w, b)
    for step in (-2.0, -0.5, 0.5, 2.0):
        assert margins(X, y, w, b + step).least < at_best.least
    nearest = [at_best.functional[y == sign].min() for sign in (-1.0, 1.0)]
    assert nearest[0] == nearest[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((np.eye(2), [1, -1], [0.0, 0.0]), r"margins\(w\): w = 0 is no direction"),
        ((np.eye(2), [1, 0], [1.0, 0.0]), r"margins\(y\): one label of -1 or \+1"),
        ((np.eye(2), [1], [1.0, 0.0]), "each of the 2 rows"),
        ((np.eye(2), [1, -1], [1.0]), r"margins\(w\): 2 numbers"),
        ((np.eye(2), [1, -1], np.eye(2)), r"not shape \(2, 2\)"),
        (([1.0, 2.0], [1, -1], [1.0]), r"margins\(X\): rows of equal length are needed, not shape \(2,\)"),
    ],
)
def test_bad_arguments_are_refused_in_words(arguments, words):
    with pytest.raises(ValueError, match=words):
        margins(*arguments)


def test_one_class_has_no_best_intercept():
    with pytest.raises(ValueError, match="both labels are needed"):
        best_intercept(np.eye(2), [1, 1], [1.0, 0.0])
