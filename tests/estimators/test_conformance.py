"""scikit-learn's contract: every check it yields, without expected failures, and the checks it defines but does not yield."""

import functools
import inspect

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale
from sklearn.svm import LinearSVC as Theirs
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from maxmargin import (
    SVC,
    ElasticNet,
    HalfspaceLP,
    HardMarginSVC,
    InseparableError,
    Lasso,
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    Perceptron,
    RidgeRegression,
)

# Some checks compare two fits to 1e-7, which a relative gap of tol = 1e-4 cannot promise: |w - w*| <= sqrt(2 tol P). The
# Newton finish goes far below 1e-12. Without an intercept no machine passes the check on class weights, scikit-learn's neither.
INSTANCES = [
    LinearSVC(tol=1e-12),
    LinearSVC(tol=1e-10, loss="hinge", C=0.1),
    LinearSVC(tol=1e-12, intercept="penalized", solver="newton"),
    Perceptron(),
    Perceptron(update="normalized", order="shuffled", averaged=True),
    HalfspaceLP(),
    SVC(tol=1e-13),
    SVC(kernel="linear", multi_class="ovr", tol=1e-12, decision_function_shape="ovo"),
    Lasso(alpha=0.01, tol=1e-12),
    ElasticNet(alpha=0.01, tol=1e-12),
    RidgeRegression(),
    RidgeRegression(positive=True, tol=1e-12),
    LinearRegression(),
    LogisticRegression(tol=1e-12),
]
NOT_YIELDED = [
    "check_param_validation",
    "check_dataframe_column_names_consistency",
    "check_class_weight_balanced_classifiers",
    "check_estimator_sparse_tag",
    "check_estimators_overwrite_params",
]


@pytest.mark.filterwarnings("ignore:Perceptron stopped:sklearn.exceptions.ConvergenceWarning")  # their data is inseparable
@parametrize_with_checks(INSTANCES)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@parametrize_with_checks([HardMarginSVC(tol=1e-14)])
@pytest.mark.filterwarnings(
    "ignore:HardMarginSVC stopped:sklearn.exceptions.ConvergenceWarning"
)  # such a tol is beyond doubles
def test_scikit_learn_checks_of_the_hard_margin_wherever_their_data_is_separable(estimator, check, monkeypatch):
    """Half of the checks draw labels at random. There, and only there, `fit` must raise, and its proof is checked on the spot."""
    fit, proved = HardMarginSVC.fit, []

    @functools.wraps(fit)
    def watched(self, X, y, sample_weight=None):
        try:
            return fit(self, X, y, sample_weight)
        except InseparableError as error:
            proved.append(error)
            labels = np.ravel(np.asarray(y))
            holds = error.proof.check(X, labels if error.label is None else labels == error.label)
        assert holds, "the proof does not hold"
        raise proved[-1]

    monkeypatch.setattr(HardMarginSVC, "fit", watched)
    try:
        check(estimator)
    except Exception:
        if not proved:
            raise


@pytest.mark.parametrize("name", NOT_YIELDED)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_checks_that_are_not_yielded(name, loss):
    check = getattr(estimator_checks, name)
    estimator = LinearSVC(loss=loss, tol=1e-12)
    if name == "check_class_weight_balanced_classifiers":
        X, y = make_classification(200, n_features=10, n_informative=2, weights=[0.8, 0.2], random_state=0)
        X = scale(X)
        check("LinearSVC", LinearSVC(loss=loss, C=0.01), X[:100], y[:100], X[100:], y[100:], [0.8, 0.2])
        return
    check("LinearSVC", estimator)


@pytest.mark.parametrize("name", [name for name in NOT_YIELDED if "class_weight" not in name])
@pytest.mark.parametrize("machine", [Lasso, ElasticNet, RidgeRegression, LinearRegression])
def test_checks_of_regressors_that_are_not_yielded(name, machine):
    getattr(estimator_checks, name)(machine.__name__, machine())


def test_every_parameter_of_scikit_learns_class_is_taken_with_the_same_default():
    ours, theirs = inspect.signature(LinearSVC).parameters, inspect.signature(Theirs).parameters
    for name, parameter in theirs.items():
        assert name in ours, name
        assert (ours[name].default, ours[name].kind) == (parameter.default, parameter.kind), name


def test_every_attribute_of_scikit_learns_class_is_there():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1]
    ours, theirs = LinearSVC().fit(X, y), Theirs().fit(X, y)
    public = {name for name in vars(theirs) if name.endswith("_") and not name.startswith("_")}
    assert public <= set(vars(ours))
    for method in ("fit", "predict", "decision_function", "score", "sparsify", "densify", "get_params", "set_params"):
        assert callable(getattr(ours, method))


@pytest.mark.parametrize(
    ("parameters", "replacement"),
    [
        ({"penalty": "l1"}, "penalty='l2'"),
        ({"multi_class": "crammer_singer"}, "multi_class='ovr'"),
        ({"dual": False}, "solver='newton'"),
    ],
)
def test_what_is_not_offered_is_refused_with_its_replacement(parameters, replacement):
    with pytest.raises(ValueError, match=replacement):
        LinearSVC(**parameters).fit([[0.0], [1.0]], [0, 1])
