import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Gram, Hinge, Problem, Ridge, certify
from maxmargin.design import Dense
from maxmargin.kernels import Called, Gaussian, Linear, Sigmoid, check_mercer
from maxmargin.testing import check_weak_duality


def data(n=30, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.uniform(size=(n, d)) < 0.7, rng.normal(size=(n, d)), 0.0)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    return X, y, rng.uniform(0.5, 2.0, n), rng


def test_products_are_those_of_the_matrix():
    X, _, _, rng = data()
    K = Gaussian(0.3).block(X)
    gram, v = Gram.of_kernel(Gaussian(0.3), X), np.where(rng.uniform(size=30) < 0.5, rng.normal(size=30), 0.0)
    slack = 40 * 2.0**-53 * (np.abs(K) @ np.abs(v) + 3.0)
    assert np.all(np.abs(gram.scores(v, 2.0) - (K @ v + 2.0)) <= slack)
    assert np.all(np.abs(gram.scores(v, -2.0, absolute=True) - (np.abs(K) @ np.abs(v) + 2.0)) <= slack)
    assert np.array_equal(gram.combine(v), v)
    assert np.array_equal(gram.norms_sq, np.ones(30))
    both = np.stack([v, 2.0 * v], axis=1)
    assert np.array_equal(gram.scores(both, np.array([0.0, 1.0]))[:, 1], gram.scores(2.0 * v, 1.0))


def test_tiles_cover_all_pairs(monkeypatch):
    X, _, _, rng = data()
    v = rng.normal(size=30)
    whole = Gram.of_kernel(Gaussian(0.3), X).scores(v)
    monkeypatch.setattr("maxmargin.gram.TILE", 7)
    monkeypatch.setattr("maxmargin.gram.TALL", 11)
    assert Gram.of_kernel(Gaussian(0.3), X).scores(v) == pytest.approx(whole, rel=1e-12)


def test_some_rows_share_the_products_and_the_cache():
    X, _, _, rng = data()
    gram, rows, v = Gram.of_kernel(Gaussian(0.3), X), np.array([4, 1, 20]), rng.normal(size=3)
    part = gram.take(rows)
    assert part.scores(v) == pytest.approx(Gram.of_kernel(Gaussian(0.3), X[rows]).scores(v), rel=1e-12)
    assert part.take(np.array([2])).index.tolist() == [20]
    assert part.row_cache(1.0, np.float32) is gram.row_cache(1.0, np.float32)


@pytest.mark.parametrize("precision", ["computed", "rigorous"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_linear_gram_has_the_certificates_of_its_rows(precision, form):
    """w = X'v: P and D are the same numbers, so that each bound of the one lies beyond the exact value of the other."""
    X, y, cost, rng = data()
    v, b = rng.normal(size=30), 0.3
    a = np.abs(rng.normal(size=30)) * 0.2 * y
    gram = Problem(Gram.of_kernel(Linear(), form(X)), y, Hinge(), Ridge(0.7), cost)
    rows = Problem(Dense(X), y, Hinge(), Ridge(0.7), cost)
    ours, theirs = certify(gram, v, b, a, precision), certify(rows, X.T @ v, b, a, precision)
    assert ours.primal == pytest.approx(theirs.primal, rel=1e-11)
    assert ours.dual == pytest.approx(theirs.dual, rel=1e-11)
    if precision == "rigorous":
        plain = certify(gram, v, b, a)
        assert ours.primal > plain.primal
        assert ours.dual < plain.dual


def test_the_rounding_of_the_kernel_is_in_the_rigorous_bounds():
    """Rows far from the origin: distances lose ten digits, and the bounds say so."""
    X, y, cost, rng = data()
    v = 0.1 * rng.normal(size=30)
    near, far = (Problem(Gram.of_kernel(Gaussian(0.3), X + at), y, Hinge(), Ridge(1.0), cost) for at in (0.0, 1e5))
    width = [certify(each, v, 0.0, v, "rigorous").primal - certify(each, v, 0.0, v).primal for each in (near, far)]
    assert 0.0 < width[0] < 1e-10 < width[1]


def test_weak_duality_and_the_dual_from_slopes():
    X, y, cost, _ = data()
    problem = Problem(Gram.of_kernel(Gaussian(0.3), X), y, Hinge(), Ridge(0.5), cost)
    check_weak_duality(problem)
    found = certify(problem, np.zeros(30))
    assert found.dual > 0.0


def test_without_a_proof_of_positivity_nothing_is_certified():
    X, y, cost, _ = data()
    gram = Gram.of_kernel(Sigmoid(2.0, -1.0), X)
    assert gram.check_mercer().verdict == "indefinite"
    found = certify(Problem(gram, y, Hinge(), Ridge(1.0), cost), np.zeros(30))
    assert found.precision == "none"
    assert found.dual == -np.inf
    K = Gaussian(0.3).block(X)
    assert not Gram.of_matrix(K).positive
    assert Gram.of_matrix(K, check_mercer(K)).positive


def test_rigorous_is_refused_where_rounding_has_no_bound():
    X, y, cost, _ = data()
    gram = Gram.of_kernel(Called(lambda A, B: A @ B.T + 1.0), X, check_mercer(X @ X.T + 1.0))
    problem = Problem(gram, y, Hinge(), Ridge(1.0), cost)
    with pytest.raises(ValueError, match="precision='computed'"):
        certify(problem, np.ones(30), precision="rigorous")


def test_only_a_ridge_can_be_told():
    class Other(Ridge.__base__):
        __slots__ = ()
        terms = conjugate_terms = prox = None

    X, y, cost, _ = data()
    with pytest.raises(ValueError, match="Use Ridge"):
        Problem(Gram.of_kernel(Linear(), X), y, Hinge(), Other(), cost)
    gram = Gram.of_kernel(Linear(), X)
    for product in (lambda: gram.rows(np.arange(2)), lambda: gram.weighted_gram(np.ones(30))):
        with pytest.raises(TypeError, match="Use inner"):
            product()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_cache_holds_what_was_asked_last_and_no_more(dtype):
    X, _, _, rng = data(n=64)
    K = Gaussian(0.3).block(X).astype(dtype)
    cache = Gram.of_kernel(Gaussian(0.3), X).row_cache(8 * 64 * np.dtype(dtype).itemsize / 2**20, dtype)
    assert cache.capacity == 8
    assert cache.values.nbytes <= 8 * 64 * np.dtype(dtype).itemsize
    for _ in range(50):
        rows = rng.choice(64, size=rng.integers(1, 9), replace=False)
        slots = cache.slots(rows)
        assert len(set(slots.tolist())) == len(rows)
        assert np.allclose(cache.values[slots], K[rows], rtol=1e-6)
        before = cache.computed
        cache.slots(rows)
        assert cache.computed == before
    held = cache.row_in[cache.row_in >= 0]
    assert np.array_equal(np.sort(held), np.flatnonzero(cache.slot_of >= 0))


def test_a_cache_too_small_for_two_rows_is_refused():
    X, _, _, _ = data(n=64)
    with pytest.raises(ValueError, match="Raise cache_size"):
        Gram.of_kernel(Linear(), X).row_cache(1e-4, np.float64)


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="must be square"):
        Gram.of_matrix(np.ones((2, 3)))
