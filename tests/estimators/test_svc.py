import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import scale
from sklearn.svm import SVC as Theirs

from maxmargin import SVC, LinearSVC, PairAscent, Status
from maxmargin.kernels import Gaussian, Linear, Spectrum


def iris():
    X, y = load_iris(return_X_y=True)
    return scale(X), y


def two_classes(n=120, seed=0):
    X, y = make_classification(n, n_features=5, n_informative=3, flip_y=0.1, random_state=seed)
    return X, y


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("shape", ["ovr", "ovo"])
@pytest.mark.parametrize("load", [iris, two_classes])
def test_layout_signs_and_scores_are_scikit_learns(kernel, shape, load):
    X, y = load()
    ours = SVC(kernel=kernel, decision_function_shape=shape, tol=1e-11).fit(X, y)
    theirs = Theirs(kernel=kernel, decision_function_shape=shape, tol=1e-8).fit(X, y)
    assert np.array_equal(ours.predict(X), theirs.predict(X))
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-4)
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-4)
    common, mine, other = np.intersect1d(ours.support_, theirs.support_, return_indices=True)
    assert len(common) >= 0.9 * len(theirs.support_)
    difference = ours.dual_coef_[:, mine] - theirs.dual_coef_[:, other]
    assert np.median(np.abs(difference)) <= 1e-5
    assert np.array_equal(ours.support_vectors_, X[ours.support_])
    assert ours.n_support_.sum() == len(ours.support_)
    if kernel == "linear":
        assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-4)


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_a_linear_kernel_is_the_linear_machine(C):
    X, y = two_classes()
    kernel, linear = SVC(kernel="linear", C=C, tol=1e-8).fit(X, y), LinearSVC(loss="hinge", C=C, tol=1e-8).fit(X, y)
    one, other = kernel.certificate_, linear.certificate_
    assert max(one.dual, other.dual) <= min(one.primal, other.primal) * (1.0 + 1e-13)
    distance = np.linalg.norm(kernel.coef_ - linear.coef_)
    assert distance <= np.sqrt(2.0 * one.gap) + np.sqrt(2.0 * other.gap) + 1e-12


@pytest.mark.parametrize("load", [iris, two_classes])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_a_matrix_a_function_and_a_kernel_value_give_one_machine(load, multi_class):
    X, y = load()
    kernel = Gaussian(0.3)
    K = kernel.block(X)
    value = SVC(kernel=kernel, tol=1e-8, multi_class=multi_class).fit(X, y)
    function = SVC(kernel=lambda A, B: kernel.block(A, B), tol=1e-8, multi_class=multi_class).fit(X, y)
    matrix = SVC(kernel="precomputed", tol=1e-8, multi_class=multi_class).fit(K, y)
    for other, rows in ((function, X), (matrix, K), (matrix, K[:, matrix.support_])):
        assert other.decision_function(rows) == pytest.approx(value.decision_function(X), abs=1e-6)
        assert other.certificate_.relative_gap <= 1e-8
    assert matrix.certificate_.verify(K, y).relative_gap <= 1e-8


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, lambda X: X.astype(np.float32)])
def test_forms_of_the_rows(form):
    X, y = two_classes()
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32).astype(np.float64)
    dense, other = SVC(gamma=0.3, tol=1e-8).fit(X, y), SVC(gamma=0.3, tol=1e-8).fit(form(X), y)
    assert other.decision_function(form(X)) == pytest.approx(dense.decision_function(X), abs=1e-4)
    assert max(dense.certificate_.dual, other.certificate_.dual) <= dense.certificate_.primal * (1.0 + 1e-13)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0, 2: 0.5}])
@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_weight_k_is_k_rows_and_weight_0_is_none(class_weight, multi_class):
    X, y = iris()
    weight = np.random.default_rng(0).integers(0, 3, len(y))
    machine = SVC(class_weight=class_weight, multi_class=multi_class, tol=1e-9)
    weighted = machine.fit(X, y, sample_weight=weight)
    one = weighted.certificate_, weighted.decision_function(X)
    again = machine.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert again.certificate_.primal == pytest.approx(one[0].primal, rel=3e-9)
    assert again.decision_function(X) == pytest.approx(one[1], abs=1e-3)
    assert not np.any(weight[SVC().fit(X, y, weight).support_] == 0)


@pytest.mark.parametrize("multi_class", ["ovo", "ovr"])
def test_certificates_verify_from_scratch_and_rigorously(multi_class):
    X, y = iris()
    machine = SVC(multi_class=multi_class).fit(X, y)
    assert machine.certificate_.relative_gap <= 1e-3
    assert len(machine.certificate_.parts) == 3
    again = machine.certificate_.verify(X, y)
    assert again.primal == pytest.approx(machine.certificate_.primal, rel=1e-13)
    assert machine.certificate_.verify(X, y, precision="rigorous").relative_gap <= 1.001e-3
    with pytest.raises(ValueError, match="Pass the data of the fit"):
        machine.certificate_.verify(X[:-1], y[:-1])
    with pytest.raises(ValueError, match="did not see"):
        machine.certificate_.verify(X, y + 1)


def test_an_unproved_kernel_warns_and_claims_nothing():
    X, y = two_classes()
    with pytest.warns(UserWarning, match="no certificate"):
        machine = SVC(kernel="sigmoid", gamma=1.0, coef0=-1.0).fit(X, y)
    assert machine.status_ is Status.STATIONARY
    assert machine.certificate_.precision == "none"
    with pytest.warns(UserWarning, match="mercer=True"):
        SVC(kernel="precomputed", mercer=False).fit(X @ X.T, y)
    assert SVC(kernel="precomputed", mercer=True).fit(X @ X.T, y).status_ is Status.SOLVED


def test_strings():
    words = ["abab", "abba", "baba", "aabb", "cdcd", "ddcc", "dcdc", "ccdd"]
    labels = ["ab"] * 4 + ["cd"] * 4
    machine = SVC(kernel=Spectrum(2, "abcd")).fit(words, labels)
    assert machine.predict(["abaab", "cddc"]).tolist() == ["ab", "cd"]
    assert machine.certificate_.verify(words, labels).relative_gap <= 1e-3


def test_ties_of_votes():
    X, y = iris()
    machine = SVC(break_ties=True).fit(X, y)
    assert np.array_equal(machine.predict(X), machine.decision_function(X).argmax(axis=1))
    with pytest.raises(ValueError, match="decision_function_shape='ovr'"):
        SVC(break_ties=True, decision_function_shape="ovo").fit(X, y).predict(X)


def test_limits_warn_with_the_number():
    X, y = two_classes()
    with pytest.warns(ConvergenceWarning, match=r"relative gap of .* \(asked 1.0e-10\)"):
        machine = SVC(C=1000.0, tol=1e-10, max_iter=5).fit(X, y)
    assert machine.status_ is Status.MAX_ITER
    assert machine.fit_status_ == 1
    with pytest.warns(ConvergenceWarning):
        assert SVC(C=1000.0, tol=1e-10, max_time=1e-9).fit(X, y).status_ is Status.MAX_TIME


@pytest.mark.parametrize("solver", ["textbook_smo", PairAscent(1e-3, cache_size=0.05)])
def test_solvers(solver):
    X, y = iris()
    assert SVC(solver=solver).fit(X, y).status_ is Status.SOLVED


def test_pickle():
    X, y = iris()
    machine = SVC().fit(X, y)
    assert np.array_equal(pickle.loads(pickle.dumps(machine)).decision_function(X), machine.decision_function(X))


def test_every_parameter_of_scikit_learns_class_is_taken_with_the_same_default():
    ours, theirs = inspect.signature(SVC).parameters, inspect.signature(Theirs).parameters
    for name, parameter in theirs.items():
        assert name in ours, name
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind) or name == "probability", name


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_every_attribute_of_scikit_learns_class_is_there(kernel):
    X, y = iris()
    ours, theirs = SVC(kernel=kernel).fit(X, y), Theirs(kernel=kernel).fit(X, y)
    public = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")} | {"n_support_"}
    assert public <= set(vars(ours))
    for name in ("class_weight_", "classes_", "shape_fit_", "n_features_in_", "fit_status_"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name
    assert hasattr(ours, "coef_") == (kernel == "linear")


@pytest.mark.parametrize(
    ("parameters", "replacement"),
    [
        ({"probability": True}, "CalibratedClassifierCV"),
        ({"C": np.inf}, "HardMarginSVC"),
        ({"class_weight": {0: -1.0}}, "not negative"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"kernel": "poly", "coef0": -1.0}, "offset"),
        ({"cache_size": 1e-6}, "Raise cache_size"),
        ({"C": 1e308}, "Lower C"),
    ],
)
def test_what_is_not_offered_is_refused_with_its_replacement(parameters, replacement):
    X, y = two_classes()
    with pytest.raises(ValueError, match=replacement):
        SVC(**parameters).fit(X, y)


def test_a_kernel_value_keeps_its_own_parameters():
    X, y = two_classes()
    assert SVC(kernel=Linear(), gamma=5.0, tol=1e-8).fit(X, y).coef_.shape == (1, 5)
    assert SVC(kernel=Gaussian(0.2)).fit(X, y)._kernel == Gaussian(0.2)
