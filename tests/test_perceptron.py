"""The loop and its bound. Whole numbers make every sum exact, so that oracles in plain Python agree to the last bit."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from maxmargin import as_design, separability
from maxmargin.perceptron import (
    Ending,
    Halfplane,
    MistakeRecord,
    Updates,
    advance,
    record,
    reference_halfspace,
    row_lengths,
)
from maxmargin.solvers import Watch

ORDERS = ["cyclic", "shuffled", "worst"]
MASK = 2**64 - 1


def integers(seed, n=10, d=3):
    """Small whole numbers, most of them separable through the origin."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(n, d)).astype(float)
    X = X[X.any(axis=1)]
    y = np.where(X @ rng.integers(-3, 4, size=d) + 0.5 > 0, 1.0, -1.0)
    return X, y


class Below:
    """xorshift64*, seeded by one round of splitmix64; the high half of a product gives a number below a bound."""

    def __init__(self, seed):
        z = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        self.state = (z ^ (z >> 31)) | 1

    def __call__(self, bound):
        x = self.state
        x ^= x >> 12
        x = (x ^ (x << 25)) & MASK
        self.state = x = x ^ (x >> 27)
        return (((x * 0x2545F4914F6CDD1D) & MASK) >> 32) * bound >> 32


def oracle(X, y, updates, epochs):
    """The perceptron in plain Python on fractions (plain updates) or floats: w, b, and their sums over all visits."""
    n, d = X.shape
    number = float if updates.normalized else Fraction
    w, b = [number(0)] * d, number(0)
    sum_w, sum_b, visits, mistakes = [number(0)] * d, number(0), 0, 0
    draw, order = Below(updates.seed), list(range(n))
    rate = 1.0 / row_lengths(as_design(X), updates.intercept) if updates.normalized else np.ones(n)
    for _ in range(epochs):
        if updates.order == "shuffled":
            for i in range(n - 1, 0, -1):
                j = draw(i + 1)
                order[i], order[j] = order[j], order[i]
        before = mistakes
        for i in order:
            step = number(float(rate[i] * y[i]))
            if step * (sum((number(x) * v for x, v in zip(X[i], w, strict=True)), number(0)) + b) <= updates.margin:
                w = [v + step * number(x) for x, v in zip(X[i], w, strict=True)]
                b += step if updates.intercept else 0
                mistakes += 1
            sum_w, sum_b, visits = [s + v for s, v in zip(sum_w, w, strict=True)], sum_b + b, visits + 1
        if mistakes == before:
            return w, b, sum_w, sum_b, visits, mistakes, True
    return w, b, sum_w, sum_b, visits, mistakes, False


def run(X, y, updates, epochs=10**4):
    design = as_design(X)
    state, used = Halfplane.at_zero(design.d), np.arange(design.n)
    return state, advance(design, y, used, updates, state, epochs, Watch())


@given(
    seed=st.integers(0, 10**6),
    order=st.sampled_from(["cyclic", "shuffled"]),
    intercept=st.booleans(),
    margin=st.sampled_from([0.0, 2.0]),
    epochs=st.integers(1, 6),
)
def test_plain_updates_equal_the_loop_in_plain_python(seed, order, intercept, margin, epochs):
    X, y = integers(seed)
    assume(len(X) > 1)
    updates = Updates(False, order, margin, intercept, seed)
    state, ending = run(X, y, updates, epochs)
    w, b, sum_w, sum_b, visits, mistakes, separated = oracle(X, y, updates, epochs)
    assert (state.w.tolist(), state.b) == ([float(v) for v in w], float(b))
    assert (state.visits, state.mistakes) == (visits, mistakes)
    assert ending is (Ending.SEPARATED if separated else Ending.MAX_ITER)
    # Sums of whole numbers are exact below 2^53; the quotient and the difference round once each, at the size of w.
    average_w, average_b = state.average()
    size = 4 * 2.0**-53 * (1.0 + np.abs(state.w) + np.abs(state.late) / visits)
    assert np.all(np.abs(average_w - [float(s / visits) for s in sum_w]) <= size)
    assert abs(average_b - float(sum_b / visits)) <= 4 * 2.0**-53 * (1.0 + abs(state.b) + abs(state.b_late) / visits)


@given(seed=st.integers(0, 10**6), order=st.sampled_from(["cyclic", "shuffled"]), intercept=st.booleans())
def test_normalised_updates_equal_the_loop_in_plain_python(seed, order, intercept):
    X, y = integers(seed)
    assume(len(X) > 1)
    updates = Updates(True, order, 0.0, intercept, seed)
    state, _ = run(X, y, updates, 1)
    w, b, *_, mistakes, _ = oracle(X, y, updates, 1)
    # One epoch has few rows, and the sums of equal terms may be taken in another order or fused.
    assert state.mistakes == mistakes
    assert state.w == pytest.approx(w, abs=1e-14)
    assert state.b == pytest.approx(b, abs=1e-14)


@given(seed=st.integers(0, 10**6))
def test_the_worst_row_is_corrected_first(seed):
    X, y = integers(seed)
    assume(len(X) > 1)
    updates = Updates(order="worst")
    state, ending = run(X, y, updates, 3)
    w, b, visits = np.zeros(3), 0.0, 0
    sum_w = np.zeros(3)
    while visits < 3 * len(X) and (y * (X @ w + b)).min() <= 0.0:
        i = int((y * (X @ w + b)).argmin())
        w, b, visits = w + y[i] * X[i], b + y[i], visits + 1
        sum_w += w
    assert (state.w.tolist(), state.b, state.visits, state.mistakes) == (w.tolist(), b, visits, visits)
    assert (ending is Ending.SEPARATED) == bool((y * (X @ w + b)).min() > 0.0)
    assert state.average()[0] == pytest.approx(sum_w / max(visits, 1), abs=1e-12)
    assert state.epochs <= 3


@given(
    seed=st.integers(0, 10**6),
    normalized=st.booleans(),
    order=st.sampled_from(ORDERS),
    margin=st.sampled_from([0.0, 0.5, 3.0]),
    intercept=st.booleans(),
)
def test_mistakes_keep_within_the_bound_and_both_invariants_hold(seed, normalized, order, margin, intercept):
    X, y = integers(seed)
    assume(len(set(y)) == 2)
    assume(separability(X, y, intercept))
    updates = Updates(normalized, order, margin, intercept, seed)
    state, ending = run(X, y, updates, 10**5)
    assert ending is Ending.SEPARATED
    used = np.arange(len(X))
    reference = reference_halfspace(X, y, used, updates, Watch())
    found = record(as_design(X), y, used, updates, state, reference)
    assert found.mistakes == state.mistakes <= found.bound
    assert found.holds
    assert found.progress >= found.mistakes * (1.0 - 1e-12)
    # The record's γ is a lower bound of the widest margin, which the proof of separability bounds from above.
    lengths = row_lengths(as_design(X), intercept)
    rows = np.hstack([X, np.full((len(X), 1), float(intercept))])
    rows = rows / lengths[:, None] if normalized else rows
    above = min(np.linalg.norm(y @ (rows * share[:, None])) for share in shares(len(X)))
    assert 0.0 < found.gamma <= above * (1.0 + 1e-12)
    # margin reached by the run itself: min y (w, b)'(x, 1) / |(w, b)|
    at = np.append(state.w, state.b)
    assert found.margin == pytest.approx((y * (rows @ at)).min() / np.linalg.norm(at), rel=1e-9)
    assert found.margin <= found.gamma * 1.01 / 0.99 + 1e-12


def shares(n):
    """Convex weights a: |Σ a_i y_i x_i| is at least the widest margin, for any of them."""
    rng = np.random.default_rng(0)
    yield np.full(n, 1.0 / n)
    for _ in range(20):
        a = rng.exponential(size=n) ** 4
        yield a / a.sum()


@pytest.mark.parametrize("form", ["float32", "csr", "csr float32", "csr int64", "strided"])
@pytest.mark.parametrize("order", ORDERS)
def test_every_storage_of_whole_numbers_gives_the_same_bits(form, order):
    X, y = integers(7, n=40, d=6)
    updates = Updates(order=order, seed=5)
    dense, _ = run(X, y, updates, 20)
    stored = X.astype(np.float32) if "float32" in form else X
    if "csr" in form:
        stored = sp.csr_array(stored)
        if "int64" in form:
            stored.indices, stored.indptr = stored.indices.astype(np.int64), stored.indptr.astype(np.int64)
    if form == "strided":
        stored = np.hstack([X, X])[:, :6]
    other, _ = run(stored, y, updates, 20)
    for part in ("w", "late"):
        assert np.array_equal(getattr(dense, part), getattr(other, part))
    assert (dense.b, dense.mistakes, dense.visits, dense.epochs) == (other.b, other.mistakes, other.visits, other.epochs)


def test_bursts_change_nothing(monkeypatch):
    X, y = integers(9, n=30, d=4)
    whole, _ = run(X, y, Updates(order="shuffled"), 50)
    monkeypatch.setattr("maxmargin.perceptron.BURST", 1)  # a visit or so per call
    pieces, _ = run(X, y, Updates(order="shuffled"), 50)
    assert np.array_equal(whole.w, pieces.w)
    assert np.array_equal(whole.late, pieces.late)
    assert (whole.visits, whole.epochs, whole.b_late) == (pieces.visits, pieces.epochs, pieces.b_late)


def test_a_copy_goes_its_own_way():
    X, y = integers(3)
    state, _ = run(X, y, Updates(), 1)
    before = state.w.copy()
    advance(as_design(X), y, np.arange(len(X)), Updates(), state.copy(), 5, Watch())
    assert np.array_equal(state.w, before)


@pytest.mark.parametrize("order", ORDERS)
def test_limits_are_named(order):
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, -1.0, 1.0])
    state, ending = run(X, y, Updates(order=order), 7)
    assert ending is Ending.MAX_ITER
    assert state.epochs == 7
    design, used = as_design(X), np.arange(3)
    for watch, wanted in ((Watch(max_time=1e-9), Ending.MAX_TIME), (interrupted(), Ending.INTERRUPTED)):
        assert advance(design, y, used, Updates(order=order), Halfplane.at_zero(1), 10**9, watch) is wanted


def interrupted():
    watch = Watch()
    watch.interrupt()
    return watch


def test_a_record_that_breaks_an_invariant_says_so():
    good = MistakeRecord(4, 2.0, 0.0, 0.1, 16.0, 4.0, 0.5)
    assert good.holds
    assert good.bound == pytest.approx(16.0)
    assert not MistakeRecord(4, 2.0, 0.0, 0.1, 16.1, 4.0, 0.5).holds
    assert not MistakeRecord(4, 2.0, 0.0, 0.1, 16.0, 3.9, 0.5).holds
    assert MistakeRecord(4, 2.0, 0.5, 0.1, 20.0).holds
    assert MistakeRecord(4, 2.0, 0.5, 0.1, 20.0).bound == np.inf
    assert "no run makes more than 16" in repr(good)
    assert "no bound" in repr(MistakeRecord(4, 2.0, 0.5, 0.1, 20.0))


def test_corrections_that_cancel_leave_a_margin_of_0():
    X, y = np.array([[1.0], [1.0]]), np.array([1.0, -1.0])
    for order in ("cyclic", "worst"):
        state, _ = run(X, y, Updates(order=order), 1)
        found = record(as_design(X), y, np.arange(2), Updates(order=order), state, None)
        assert (found.mistakes, found.margin, found.length_sq) == (2, 0.0, 0.0)


def test_every_ending_is_a_sentence():
    for ending in Ending:
        assert ending.value[0].isupper()
        assert ending.value.endswith(".")
