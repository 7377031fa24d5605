import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from examples import data
from maxmargin import LinearSVC


def test_a_score_of_zero_is_the_lower_class():
    X = np.array([[-1.0], [1.0]])
    machine = LinearSVC().fit(X, ["a", "b"])
    machine.coef_, machine.intercept_ = np.zeros((1, 1)), np.zeros(1)
    assert machine.predict(X).tolist() == ["a", "a"]


@pytest.mark.parametrize("container", ["strided", "fortran", "read-only", "memmap", "object", "list", "pandas", "polars"])
def test_what_holds_the_numbers_does_not_matter(container, tmp_path):
    X, y = data()
    plain = LinearSVC().fit(X, y)
    if container == "strided":
        held = np.repeat(np.hstack([X, X]), 3, axis=0)[::3, :5]
    elif container == "fortran":
        held = np.asfortranarray(X)
    elif container == "read-only":
        held = X.copy()
        held.flags.writeable = False
    elif container == "memmap":
        np.save(tmp_path / "X.npy", X)
        held = np.load(tmp_path / "X.npy", mmap_mode="r")
    elif container == "object":
        held = X.astype(object)
    elif container == "list":
        held = X.tolist()
    elif container == "pandas":
        held = pd.DataFrame(X, columns=list("abcde"))
    else:
        held = pl.DataFrame(X, schema=list("abcde"))
    machine = LinearSVC().fit(held, y)
    assert np.array_equal(machine.coef_, plain.coef_)
    assert np.array_equal(machine.predict(held), plain.predict(X))


BAD = {
    "nan": (np.array([[np.nan], [1.0]]), [0, 1], "NaN"),
    "inf": (np.array([[np.inf], [1.0]]), [0, 1], "infinity"),
    "one class": (np.ones((3, 1)), [2, 2, 2], "two classes or more.*1 class"),
    "empty": (np.ones((0, 2)), [], "0 sample"),
    "no features": (np.ones((3, 0)), [0, 1, 0], "0 feature"),
    "regression": (np.ones((3, 1)), [0.5, 1.5, 2.25], "Unknown label type"),
    "lengths": (np.ones((3, 1)), [0, 1], "inconsistent numbers of samples"),
    "3-d": (np.ones((2, 2, 2)), [0, 1], "dim 3|3D|3 dimensions"),
    "1-d": (np.ones(2), [0, 1], "1D array"),
    "ragged": ([[1.0], [1.0, 2.0]], [0, 1], "inhomogeneous|sequence"),
    "strings": ([["a"], ["b"]], [0, 1], "string|convert"),
    "complex": (np.array([[1j], [1.0]]), [0, 1], "Complex data"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data_is_refused_and_leaves_no_trace(case):
    X, y, words = BAD[case]
    machine = LinearSVC()
    with pytest.raises((ValueError, TypeError), match=words):
        machine.fit(X, y)
    assert vars(machine) == vars(LinearSVC())


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (-np.ones(120), "Negative values"),
        (np.zeros(120), "zero"),
        (np.full(120, np.nan), "NaN"),
        (np.ones(3), r"sample_weight.shape"),
        (np.r_[np.ones(1), np.zeros(119)], "1 class with positive weight"),
    ],
)
def test_bad_weights_are_refused(weight, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        LinearSVC().fit(X, y, sample_weight=weight)


def test_corrupt_csr_is_refused_not_read():
    S = sp.csr_matrix(np.eye(4))
    S.indices[2] = 10**6
    with pytest.raises(ValueError, match="corrupt CSR"):
        LinearSVC().fit(S, [0, 1, 0, 1])
    fitted = LinearSVC().fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="corrupt CSR"):
        fitted.predict(S)


def test_pickle_keeps_everything():
    X, y = data(classes=3)
    machine = LinearSVC().fit(X, y)
    back = pickle.loads(pickle.dumps(machine))
    assert np.array_equal(back.coef_, machine.coef_)
    assert back.certificate_ == machine.certificate_
    assert back.certificate_.verify(X, y).primal == machine.certificate_.verify(X, y).primal


def test_sparsify_and_back():
    X, y = data()
    machine = LinearSVC().fit(X, y)
    scores = machine.decision_function(X)
    assert sp.issparse(machine.sparsify().coef_)
    assert np.array_equal(machine.decision_function(X), scores)
    assert isinstance(machine.densify().coef_, np.ndarray)
