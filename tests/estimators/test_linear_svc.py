import json
import os
import pickle
import signal
import subprocess
import sys
import time
import tracemalloc
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from maxmargin import DualAscent, LinearSVC, Status, reductions
from maxmargin.solvers import Solver


def data(n=120, d=5, classes=2, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    scores = X @ rng.normal(size=(d, classes)) + 0.5 * rng.normal(size=(n, classes))
    return X, scores.argmax(axis=1)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_certificate_verifies_from_scratch(classes, loss):
    X, y = data(classes=classes)
    machine = LinearSVC(loss=loss).fit(X, y)
    rows = 1 if classes == 2 else classes
    assert machine.coef_.shape == (rows, 5)
    assert machine.intercept_.shape == (rows,)
    assert machine.certificate_.relative_gap <= 1e-4
    assert machine.status_ is Status.SOLVED
    again = machine.certificate_.verify(X, y)
    assert again.primal == pytest.approx(machine.certificate_.primal, rel=1e-13)
    assert again.dual == pytest.approx(machine.certificate_.dual, rel=1e-13)
    rigorous = machine.certificate_.verify(X, y, precision="rigorous")
    assert rigorous.precision == "rigorous"
    assert rigorous.relative_gap <= 1.01e-4
    assert len(again.parts) == (0 if classes == 2 else classes)
    everything = machine.dual_coef_ @ X[machine.support_]
    for k, part in enumerate(machine.certificate_.parts or (machine.certificate_,)):
        assert np.linalg.norm(everything[k] - machine.coef_[k]) <= 2 * np.sqrt(2 * part.gap) + 1e-9
        assert machine.dual_coef_[k].sum() == 0.0


def test_verify_tells_of_changed_data_and_refuses_other_rows():
    X, y = data()
    machine = LinearSVC().fit(X, y)
    assert machine.certificate_.verify(X + 0.1, y).gap > machine.certificate_.gap
    with pytest.raises(ValueError, match="the fit saw 120 rows of 5 features"):
        machine.certificate_.verify(X[:50], y[:50])
    with pytest.raises(ValueError, match="labels that the fit did not see"):
        machine.certificate_.verify(X, y + 7)


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


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_matrix])
def test_sparse_and_dense_agree_within_their_certificates(index, make):
    X, y = data(seed=3)
    X[np.abs(X) < 0.5] = 0.0
    S = make(X)
    if S.format in ("csr", "csc"):
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    dense, sparse = LinearSVC().fit(X, y), LinearSVC().fit(S, y)
    gaps = np.sqrt(2 * dense.certificate_.gap) + np.sqrt(2 * sparse.certificate_.gap)
    assert np.linalg.norm(dense.coef_ - sparse.coef_) <= gaps
    assert np.mean(dense.predict(X) != sparse.predict(S)) <= 0.02


def test_float32_stays_float32_and_is_not_copied():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 500)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    tracemalloc.start()
    machine = LinearSVC(solver="dual_ascent", tol=1e-2).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert machine.coef_.dtype == np.float32
    assert peak < 0.5 * X.nbytes, "a float64 copy would be twice the input"
    assert machine.certificate_.verify(X, y).relative_gap <= 1e-2
    with pytest.warns(ConvergenceWarning, match="Rounding allows no smaller gap"):
        tight = LinearSVC(loss="hinge", tol=1e-13).fit(X[:200, :5], y[:200])
    assert tight.status_ is Status.PRECISION


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
    ("parameters", "words"),
    [
        ({"C": 0}, "'C' parameter of LinearSVC must be a float in the range"),
        ({"C": -1.0}, "'C' parameter"),
        ({"C": np.inf}, "finite|'C' parameter"),
        ({"tol": 0.0}, "'tol' parameter"),
        ({"max_iter": 0}, "'max_iter' parameter"),
        ({"max_time": -1}, "'max_time' parameter"),
        ({"loss": "log"}, "'loss' parameter"),
        ({"solver": "smo"}, "'solver' parameter"),
        ({"intercept": "none"}, "'intercept' parameter"),
        ({"class_weight": {0: -1.0}}, "weights must be finite and not negative"),
        ({"class_weight": {5: 1.0}}, r"\['5'\] are not classes of y, and the classes \['0', '1'\] have no weight"),
        ({"C": 1e308}, "Lower C"),
        ({"n_jobs": 0}, "n_jobs must be None"),
        ({"intercept": "penalized", "intercept_scaling": 1e200}, "intercept_scale=1e"),
        ({"intercept": "penalized", "intercept_scaling": 1e-200}, "intercept_scale=1e"),
    ],
)
def test_bad_parameters_are_refused_by_name(parameters, words):
    X, y = data()
    with pytest.raises(ValueError, match=words):
        LinearSVC(**parameters).fit(X, y)


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


def test_squares_beyond_the_doubles_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="Scale the features"):
        LinearSVC().fit(X * 1e200, y)


def test_weights_of_classes_that_are_not_there_are_ignored_where_all_others_have_one():
    X, y = data()
    with_, without = (LinearSVC(class_weight=weights).fit(X, y) for weights in ({0: 1, 1: 2, 2: 3}, {0: 1, 1: 2}))
    assert np.array_equal(with_.coef_, without.coef_)


def test_a_column_of_labels_verifies_too():
    X, y = data()
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        machine = LinearSVC().fit(X, y[:, None])
    assert machine.certificate_.verify(X, y[:, None]).relative_gap <= 1e-4


def test_corrupt_csr_is_refused_not_read():
    S = sp.csr_matrix(np.eye(4))
    S.indices[2] = 10**6
    with pytest.raises(ValueError, match="corrupt CSR"):
        LinearSVC().fit(S, [0, 1, 0, 1])
    fitted = LinearSVC().fit(np.eye(4), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="corrupt CSR"):
        fitted.predict(S)


def test_a_failed_refit_leaves_the_estimator_as_it_was():
    X, y = data()
    machine = LinearSVC().fit(X, y)
    before = dict(vars(machine))
    with pytest.raises(ValueError, match="NaN"):
        machine.fit(np.full((3, 2), np.nan), [0, 1, 0])
    assert vars(machine) == before
    assert machine.predict(X).shape == (120,)


def test_an_early_end_keeps_the_best_model_and_warns_with_the_number():
    X, y = data(n=400, d=60)
    with pytest.warns(
        ConvergenceWarning, match=r"stopped at a relative gap of \d.*\(asked 1.0e-12\) after .* s: The epoch limit"
    ):
        machine = LinearSVC(max_iter=1, tol=1e-12, C=100.0).fit(X, y)
    assert machine.status_ is Status.MAX_ITER
    assert 0 < machine.certificate_.relative_gap < 1
    assert machine.n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="The time limit came first"):
        hurried = LinearSVC(max_time=1e-6, tol=1e-12, C=100.0).fit(X, y)
    assert hurried.status_ is Status.MAX_TIME
    assert np.isfinite(hurried.certificate_.gap)


INTERRUPT = """
import json, sys, time, warnings, numpy as np
from maxmargin import LinearSVC, DualAscent
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 300)); y = rng.integers(0, 4, 20000)
machine = LinearSVC(solver=DualAscent(tol=1e-300, max_epochs=10**9, finish=False), n_jobs=2, loss="hinge", C=100.0)
print("ready", flush=True)
warnings.simplefilter("ignore")
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print(json.dumps({"status": machine.status_.name, "at": time.time(), "gap": machine.certificate_.gap}), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_the_fit_with_the_best_model():
    child = subprocess.Popen([sys.executable, "-c", INTERRUPT], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert child.stdout.readline().strip() == "ready"
    time.sleep(1.0)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    told = json.loads(child.communicate(timeout=60)[0].strip())
    assert told["status"] == "INTERRUPTED"
    assert np.isfinite(told["gap"])
    assert told["at"] - sent < 20.0, "the half second that is promised is measured by the benchmarks"


@dataclass(frozen=True, slots=True)
class Patient(Solver):
    """Starts when it is interrupted."""

    tol: float = 1e-4

    def refuse(self, problem):
        return None

    def solve(self, problem, start=None, watch=None):
        while not watch.interrupted:
            time.sleep(0.01)
        return DualAscent(tol=1e-300).solve(problem, watch=watch)


def test_an_interrupted_refit_publishes_the_new_model(monkeypatch):
    X, y = data()
    machine = LinearSVC(solver=Patient())

    def pressed(futures, **how):
        monkeypatch.undo()
        raise KeyboardInterrupt

    for columns in (5, 3):
        monkeypatch.setattr(reductions, "wait", pressed)
        with pytest.warns(ConvergenceWarning), pytest.raises(KeyboardInterrupt):
            machine.fit(X[:, :columns], y)
        assert machine.coef_.shape == (1, columns)
        assert machine.status_ is Status.INTERRUPTED


def test_ctrl_c_after_the_last_solve_is_handed_on(monkeypatch):
    X, y = data()
    machine = LinearSVC()
    honest = reductions.wait

    def pressed(futures, **how):
        monkeypatch.undo()
        honest(futures)
        raise KeyboardInterrupt

    monkeypatch.setattr(reductions, "wait", pressed)
    with pytest.raises(KeyboardInterrupt):
        machine.fit(X, y)
    assert machine.status_ is Status.SOLVED


@pytest.mark.parametrize("solver", ["auto", "newton"])
@pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])
def test_newton_makes_no_wide_copy_either(solver, stored):
    rng = np.random.default_rng(0)
    X = stored(rng.normal(size=(60_000, 60)).astype(np.float32))
    y = rng.integers(0, 2, 60_000)
    tracemalloc.start()
    LinearSVC(solver=solver, C=10.0).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    size = X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes
    assert peak < 1.3 * size, f"{peak / size:.2f} times the input"


def test_seeds_and_threads_give_the_same_bits():
    X, y = data(n=500, d=30, classes=5)
    machines = [LinearSVC(random_state=seed, n_jobs=jobs).fit(X, y) for seed, jobs in ((None, 1), (None, 2), (None, -1))]
    for machine in machines[1:]:
        assert np.array_equal(machine.coef_, machines[0].coef_)
    assert np.array_equal(LinearSVC(random_state=7).fit(X, y).coef_, LinearSVC(random_state=7).fit(X, y).coef_)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["free", "penalized"])
def test_balanced_weights_equal_the_weights_they_stand_for(loss, intercept):
    X, y = data(n=90, classes=3)
    counts = np.bincount(y)
    by_hand = {k: 90 / (3 * count) for k, count in enumerate(counts)}
    one = LinearSVC(loss=loss, intercept=intercept, class_weight="balanced").fit(X, y)
    other = LinearSVC(loss=loss, intercept=intercept, class_weight=by_hand).fit(X, y)
    assert np.allclose(one.coef_, other.coef_)
    third = LinearSVC(loss=loss, intercept=intercept).fit(X, y, sample_weight=[by_hand[k] for k in y])
    assert np.allclose(one.coef_, third.coef_)


def test_balanced_counts_weights():
    X, y = data(n=60)
    times = np.random.default_rng(0).integers(1, 4, 60)
    weighted = LinearSVC(class_weight="balanced", tol=1e-12).fit(X, y, sample_weight=times)
    repeated = LinearSVC(class_weight="balanced", tol=1e-12).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-6)


def test_intercepts_are_what_they_say():
    X, y = data()
    X += 5.0
    free = LinearSVC(tol=1e-10).fit(X, y)
    none = LinearSVC(fit_intercept=False, tol=1e-10).fit(X, y)
    penalized = LinearSVC(intercept="penalized", tol=1e-10).fit(X, y)
    wide = LinearSVC(intercept="penalized", intercept_scaling=1e3, tol=1e-10).fit(X, y)
    assert none.intercept_.tolist() == [0.0]
    assert free.certificate_.primal <= wide.certificate_.primal <= penalized.certificate_.primal <= none.certificate_.primal
    assert np.allclose(wide.coef_, free.coef_, atol=1e-3)
    column = LinearSVC(fit_intercept=False, tol=1e-10).fit(np.column_stack([X, np.ones(len(X))]), y)
    assert np.allclose(column.coef_[0, :-1], penalized.coef_[0], atol=1e-6)
    assert column.certificate_.primal == pytest.approx(penalized.certificate_.primal, rel=1e-9)


def test_it_takes_part_in_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), LinearSVC())
    assert cross_validate(pipe, X, y, cv=3)["test_score"].min() > 0.93
    search = GridSearchCV(pipe, {"linearsvc__C": [0.01, 1.0], "linearsvc__loss": ["hinge", "squared_hinge"]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert "LinearSVC" in LinearSVC(C=2)._repr_html_()
    assert clone(LinearSVC(C=3, solver=DualAscent(tol=1e-3))).get_params()["C"] == 3


def test_metadata_routing_passes_weights():
    X, y = data()
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        machine = LinearSVC().set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), machine).fit(X, y, sample_weight=weight)
    assert np.allclose(pipe[-1].coef_, LinearSVC().fit(StandardScaler().fit_transform(X), y, weight).coef_, atol=1e-3)


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


def test_verbose_tells_the_gap(capsys):
    X, y = data()
    LinearSVC(verbose=2).fit(X, y)
    out = capsys.readouterr().out
    assert "certified relative gap" in out
    assert "estimated relative gap" in out
    LinearSVC().fit(X, y)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("factor", [1e-150, 1e-8, 1e8, 1e100])
def test_wild_scales_end_soon_with_a_true_certificate(loss, factor):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X) * factor
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        machine = LinearSVC(loss=loss, max_time=5.0).fit(X, y)
    rigorous = machine.certificate_.verify(X, y, precision="rigorous")
    assert rigorous.gap >= 0
    assert rigorous.primal <= rigorous.zero * (1 + 1e-12), "never worse than no model"
    assert machine.status_ is not Status.SOLVED or machine.certificate_.relative_gap <= 1e-4


def test_ten_classes():
    X, y = load_digits(return_X_y=True)
    machine = LinearSVC().fit(X / 16, y)
    assert machine.score(X / 16, y) > 0.95
    assert machine.decision_function(X / 16).shape == (1797, 10)
