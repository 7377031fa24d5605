import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from examples import data
from maxmargin import SGD, DualAscent, Intercept, InteriorPoint, LinearSVC, Newton, Problem, Ridge, Status, as_design
from maxmargin.estimators.linear_svc import LOSSES


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


def test_weights_of_classes_that_are_not_there_are_ignored_where_all_others_have_one():
    X, y = data()
    with_, without = (LinearSVC(class_weight=weights).fit(X, y) for weights in ({0: 1, 1: 2, 2: 3}, {0: 1, 1: 2}))
    assert np.array_equal(with_.coef_, without.coef_)


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


def stream_of(n=4000, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X @ rng.normal(size=(5, classes)) + 0.5 + rng.normal(size=(n, classes))).argmax(axis=1)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["free", "penalized"])
@pytest.mark.parametrize("C", [1e-3, 1e-2])
def test_partial_fit_over_chunks_approaches_the_batch_optimum(loss, intercept, C):
    X, y = stream_of()
    problem = Problem(
        as_design(X), np.where(y == 1, 1.0, -1.0), LOSSES[loss], Ridge(1.0), np.full(4000, C), Intercept(intercept)
    )
    best = Newton(tol=1e-10).solve(problem).certificate.primal
    machine = LinearSVC(loss=loss, intercept=intercept, C=C, solver="sgd")
    above = []
    for start in range(0, 4000, 100):
        machine.partial_fit(X[start : start + 100], y[start : start + 100], classes=[0, 1])
        above.append(problem.primal(machine.coef_[0], machine.intercept_[0]) / best - 1.0)
    assert 0.0 < above[-1] <= 0.1
    assert above[-1] < above[0]
    assert machine.status_ is Status.ONLINE
    assert machine.certificate_.precision == "none"
    assert machine.certificate_.gap == np.inf
    assert "No bound" in repr(machine.certificate_)


def test_partial_fit_of_all_rows_at_once_is_one_epoch_of_the_solver():
    X, y = stream_of(300, classes=3)
    online = LinearSVC(solver="sgd", random_state=3).partial_fit(X, y, classes=[0, 1, 2])
    with pytest.warns(ConvergenceWarning):
        fitted = LinearSVC(solver="sgd", random_state=3, max_iter=1, tol=1e-12).fit(X, y)
    assert np.array_equal(online.coef_, fitted.coef_)  # the intercept of a fit is the best one for them
    assert online.n_iter_ == fitted.n_iter_ == 1


def test_partial_fit_takes_the_options_of_its_solver():
    X, y = stream_of(200)
    default, last, other = (
        LinearSVC(solver=solver).partial_fit(X, y, classes=[0, 1]).coef_
        for solver in ("sgd", SGD(averaged=False), SGD(order="random"))
    )
    assert not np.array_equal(default, last)
    assert not np.array_equal(default, other)
    assert np.array_equal(default, LinearSVC(solver=SGD()).partial_fit(X, y, classes=[0, 1]).coef_)


@pytest.mark.parametrize("solver", ["auto", "newton", DualAscent(), InteriorPoint()])
def test_other_solvers_have_no_partial_fit(solver):
    machine = LinearSVC(solver=solver)
    assert not hasattr(machine, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        machine.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1])
    assert hasattr(LinearSVC(solver="sgd"), "partial_fit")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda m, X, y: m.partial_fit(X, y), "first call must name all classes"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0]), r"two classes or more are needed, not \[0\]"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 2]), "labels that the first call did not name"),
        (
            lambda m, X, y: m.partial_fit(X, y, classes=[0, 1]).partial_fit(X, y, classes=[0, 2]),
            r"first call named \[0, 1\]",
        ),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 1]).partial_fit(X[:, :2], y), "2 features"),
        (lambda m, X, y: m.partial_fit(X, y, classes=[0, 1], sample_weight=-np.ones(len(y))), "[Nn]egative"),
        (lambda m, X, y: m.partial_fit(1e200 * X, y, classes=[0, 1]), "squares of a row"),
    ],
)
def test_what_partial_fit_cannot_learn_is_refused_and_leaves_nothing_behind(call, words):
    X, y = stream_of(50)
    machine = LinearSVC(solver="sgd")
    with pytest.raises(ValueError, match=words):
        call(machine, X, y)
    if "first call named" not in words and "features" not in words:
        assert not hasattr(machine, "coef_")


def test_fit_starts_over_whatever_partial_fit_had_seen():
    X, y = stream_of(60, classes=3)
    machine = LinearSVC(solver="sgd", tol=0.9).partial_fit(X, y, classes=[0, 1, 2])
    machine.fit(X[:, :2], y % 2)
    with pytest.raises(ValueError, match="first call must name all classes"):
        machine.partial_fit(X[:, :2], y % 2)
    machine.partial_fit(X, y, classes=[0, 1, 2])
    assert np.array_equal(machine.coef_, LinearSVC(solver="sgd").partial_fit(X, y, classes=[0, 1, 2]).coef_)


def test_rows_without_weight_teach_nothing():
    X, y = stream_of(100)
    weight = np.where(np.arange(100) < 60, 1.0, 0.0)
    one = LinearSVC(solver="sgd").partial_fit(X, y, classes=[0, 1], sample_weight=weight)
    again = LinearSVC(solver="sgd").partial_fit(X, np.where(weight > 0, y, 1 - y), classes=[0, 1], sample_weight=weight)
    assert np.array_equal(one.coef_, again.coef_)


def test_the_objective_of_a_pass_is_that_of_the_published_numbers():
    X, y = stream_of(100)
    X = X.astype(np.float32)
    machine = LinearSVC(solver="sgd").partial_fit(X, y, classes=[0, 1])
    assert machine.coef_.dtype == np.float32
    assert machine.certificate_.verify(X, y).primal == pytest.approx(machine.certificate_.primal, rel=1e-14)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_plan_of_an_estimator_is_the_plan_of_its_problem(loss):
    X, y = data()
    machine = LinearSVC(loss=loss)
    found = machine.plan(X, y)
    assert found.solver in ("dual_ascent", "newton")
    assert not hasattr(machine, "n_features_in_"), "nothing is fitted"
    named, auto = LinearSVC(loss=loss, solver=found.solver).fit(X, y), LinearSVC(loss=loss).fit(X, y)
    assert np.array_equal(named.coef_, auto.coef_)
    weight = np.zeros(len(y))
    weight[:7] = 1.0
    assert machine.plan(X, y, weight).estimates.keys() == found.estimates.keys()


@pytest.mark.parametrize("solver", ["dual_ascent", "newton", "interior_point", "quadratic_program", "gradient", "sgd"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_named_solver_fits_within_its_certificate(solver, classes):
    X, y = data(classes=classes)
    machine = LinearSVC(solver=solver, C=0.1, tol=0.05, max_iter=10**4).fit(X, y)
    assert machine.status_ is Status.SOLVED
    best = LinearSVC(solver="newton", C=0.1, tol=1e-10).fit(X, y).certificate_
    rounding = 1e-13 * best.primal
    assert machine.certificate_.dual <= best.primal + rounding
    assert best.dual - rounding <= machine.certificate_.primal <= best.primal + machine.certificate_.gap + rounding


def test_a_solver_that_cannot_is_refused_in_its_own_words():
    with pytest.raises(ValueError, match="MaximumMargin: the loss must be HardMargin"):
        LinearSVC(solver="maximum_margin").fit(*data())
