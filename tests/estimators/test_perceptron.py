import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import maxmargin.estimators.perceptron as module
from maxmargin import Perceptron, margins, separability
from maxmargin.perceptron import Ending

ORDERS = ["cyclic", "shuffled", "worst"]


def separable(n=40, d=3, classes=2, seed=0):
    """Whole numbers, each class on its own ray; separable one against the rest."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    corners = np.eye(max(d, classes))[:classes, :d] * 8
    return (corners[y] + rng.integers(-1, 2, size=(n, d))).astype(float), y


@given(
    seed=st.integers(0, 10**6),
    update=st.sampled_from(["plain", "normalized"]),
    order=st.sampled_from(ORDERS),
    margin=st.sampled_from([0.0, 1.0]),
    intercept=st.booleans(),
)
def test_it_separates_within_its_bound(seed, update, order, margin, intercept):
    rng = np.random.default_rng(seed)
    X = rng.integers(-4, 5, size=(12, 3)).astype(float)
    X = X[X.any(axis=1)]
    y = np.where(X @ rng.integers(-3, 4, size=3) + 0.5 > 0, 1, -1)
    assume(len(set(y)) == 2)
    assume(separability(X, y, intercept))
    machine = Perceptron(update, order, margin=margin, fit_intercept=intercept, max_iter=10**5, random_state=seed % 7)
    machine.fit(X, y)
    assert machine.status_ is Ending.SEPARATED
    assert machine.score(X, y) == 1.0
    found = machine.mistakes_
    assert found.mistakes <= found.bound < np.inf
    assert found.holds
    functional = margins(X, y, machine.coef_[0], machine.intercept_[0]).functional
    lengths = np.sqrt((X**2).sum(axis=1) + intercept) if update == "normalized" else 1.0
    assert (functional / lengths).min() >= margin * (1.0 - 1e-12)


@pytest.mark.parametrize("update", ["plain", "normalized"])
@pytest.mark.parametrize("order", ORDERS)
def test_one_pass_of_partial_fit_is_one_epoch_of_fit(update, order):
    X, y = separable(classes=3, seed=2)
    X[0] = X[1]  # two labels in one place: no run separates
    with pytest.warns(ConvergenceWarning, match="epoch limit"):
        fitted = Perceptron(update, order, max_iter=1, random_state=3).fit(X, y)
    online = Perceptron(update, order, random_state=3).partial_fit(X, y, classes=[0, 1, 2])
    assert np.array_equal(fitted.coef_, online.coef_)
    assert np.array_equal(fitted.intercept_, online.intercept_)
    assert fitted.n_iter_ == online.n_iter_ == 1
    assert not hasattr(online, "mistakes_")


@pytest.mark.parametrize("averaged", [False, True])
def test_rows_in_two_calls_are_the_same_rows_in_one(averaged):
    X, y = separable(seed=4)
    once = Perceptron(averaged=averaged).partial_fit(X, y, classes=[0, 1])
    twice = Perceptron(averaged=averaged).partial_fit(X[:15], y[:15], classes=[0, 1]).partial_fit(X[15:], y[15:])
    assert np.array_equal(once.coef_, twice.coef_)
    assert np.array_equal(once.intercept_, twice.intercept_)
    assert (once.n_iter_, twice.n_iter_) == (1, 2)


def test_partial_fit_until_separated_ends_where_fit_ends():
    X, y = separable(seed=5)
    fitted = Perceptron(proof=False).fit(X, y)
    online = Perceptron()
    for _ in range(fitted.n_iter_):
        online.partial_fit(X, y, classes=[0, 1])
    assert np.array_equal(fitted.coef_, online.coef_)
    assert online.status_ is Ending.SEPARATED


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, X, y: m.partial_fit(X, y), "first call must name all classes"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0]), "y holds labels|two classes or more"),
        (lambda m, X, y: m.partial_fit(X, 0 * y, classes=[0]), r"two classes or more are needed, not \[0\]"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 2]), "labels that the first call did not name"),
        (
            lambda m, X, y: m.partial_fit(X, y, classes=[0, 1]).partial_fit(X, y, classes=[0, 2]),
            r"first call named \[0, 1\]",
        ),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 1]).partial_fit(X, y + 1), "labels that the first call did not"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 1]).partial_fit(X[:, :1], y), "1 features"),
        (lambda m, X, y: m.fit(X, 0 * y), "two classes or more are needed"),
        (lambda m, X, y: m.fit(1e200 * X, y), "squares of a row"),
    ],
)
def test_what_cannot_be_learnt_is_refused_in_words(call, words):
    X, y = separable()
    with pytest.raises(ValueError, match=words):
        call(Perceptron(), X, y)


def test_a_failed_or_copied_partial_fit_leaves_the_model_alone(monkeypatch):
    X, y = separable(classes=3, seed=6)
    machine = Perceptron().partial_fit(X[:5], y[:5], classes=[0, 1, 2])
    before = pickle.dumps(machine)
    twin = copy.copy(machine)
    twin.partial_fit(X, y)
    assert pickle.dumps(machine) == before, "a shallow copy learns for itself"
    calls = []

    def failing(*arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return advance(*arguments)

    advance = module.advance
    monkeypatch.setattr(module, "advance", failing)
    with pytest.raises(KeyboardInterrupt):
        machine.partial_fit(X, y)
    assert pickle.dumps(machine) == before


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [None, np.int32, np.int64])
def test_every_storage_of_whole_numbers_gives_the_same_coefficients(order, dtype, index):
    X, y = separable(classes=3, seed=8)
    stored = X.astype(dtype)
    if index is not None:
        stored = sp.csr_matrix(stored)
        stored.indices, stored.indptr = stored.indices.astype(index), stored.indptr.astype(index)
    plain, other = Perceptron(order=order).fit(X, y), Perceptron(order=order).fit(stored, y)
    assert np.array_equal(plain.coef_, other.coef_)
    assert np.array_equal(plain.intercept_, other.intercept_)
    assert [r.mistakes for r in plain.mistakes_] == [r.mistakes for r in other.mistakes_]
    assert all(r.mistakes <= r.bound for r in other.mistakes_)


def test_the_average_is_published_where_it_is_asked_for():
    X, y = separable(seed=9)
    last, mean = Perceptron().fit(X, y), Perceptron(averaged=True).fit(X, y)
    assert last.mistakes_.mistakes == mean.mistakes_.mistakes
    assert not np.array_equal(last.coef_, mean.coef_)
    assert np.linalg.norm(mean.coef_) <= 2 * np.linalg.norm(last.coef_)


def test_zero_rows_are_left_out_where_nothing_can_separate_them():
    X, y = separable(seed=10)
    X = np.vstack([X, np.zeros((2, 3))])
    y = np.append(y, [0, 1])
    with pytest.warns(ConvergenceWarning, match="A row is zero"):
        machine = Perceptron(fit_intercept=False).fit(X, y)
    assert machine.status_ is Ending.ZERO_ROW
    assert np.array_equal(machine.coef_, Perceptron(fit_intercept=False).fit(X[:-2], y[:-2]).coef_)
    assert machine.mistakes_.mistakes <= machine.mistakes_.bound
    with pytest.warns(ConvergenceWarning, match="A row is zero"):
        nothing = Perceptron(fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert not nothing.coef_.any()
    assert (nothing.mistakes_.mistakes, nothing.mistakes_.bound) == (0, np.inf)
    with_intercept = Perceptron().fit(X[:-1], y[:-1])
    assert with_intercept.status_ is Ending.SEPARATED, "a constant feature is not zero"


def test_inseparable_data_ends_at_a_limit_with_a_warning_and_no_bound():
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 0]
    for order in ORDERS:
        with pytest.warns(ConvergenceWarning, match="inseparable, no number of epochs"):
            machine = Perceptron(order=order, max_iter=5).fit(X, y)
        assert machine.status_ is Ending.MAX_ITER
        assert machine.n_iter_ == 5
        assert machine.mistakes_.bound == np.inf
        assert machine.mistakes_.holds
    with pytest.warns(ConvergenceWarning, match="time limit"):
        assert Perceptron(max_iter=10**9, max_time=1e-3).fit(X, y).status_ is Ending.MAX_TIME


def test_the_proof_can_be_left_out():
    X, y = separable()
    found = Perceptron(proof=False).fit(X, y).mistakes_
    assert found.progress is found.gamma is None
    assert "No separating hyperplane is known" in repr(found)


def test_the_same_seed_gives_the_same_bits_and_another_seed_another_run():
    X, y = separable(n=60, seed=11)
    one, same, other = (Perceptron(order="shuffled", random_state=s).fit(X, y).coef_ for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    default = Perceptron(order="shuffled")
    assert np.array_equal(default.fit(X, y).coef_, clone(default).fit(X, y).coef_)


@pytest.mark.parametrize(
    "parameters",
    [{"update": "fast"}, {"order": "best"}, {"margin": -1.0}, {"max_iter": 0}, {"max_time": 0.0}, {"n_jobs": 0}],
)
def test_bad_parameters_are_refused_by_name(parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        Perceptron(**parameters).fit(*separable())
