import inspect

import numpy as np
import pytest
import sklearn.linear_model as theirs

from examples import data
from maxmargin import LogisticRegression, Status


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_two_classes_have_the_minimiser_of_scikit_learn(fit_intercept, C):
    X, y = data()
    ours = LogisticRegression(C=C, fit_intercept=fit_intercept, tol=1e-12).fit(X, y)
    peer = theirs.LogisticRegression(
        C=C, fit_intercept=fit_intercept, tol=1e-12, max_iter=10_000, solver="newton-cholesky"
    ).fit(X, y)
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-6 * max(1.0, C))
    assert np.allclose(ours.predict_proba(X), peer.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("solver", ["auto", "newton_cholesky", "coordinate_descent", "gradient"])
def test_the_certificate_verifies_from_scratch(classes, solver):
    X, y = data(classes=classes)
    machine = LogisticRegression(solver=solver, C=0.1, max_iter=1000).fit(X, y)
    assert machine.status_ is Status.SOLVED
    assert machine.certificate_.verify(X, y, precision="rigorous").relative_gap <= 1.01e-4


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_at_any_score(classes):
    X, y = data(classes=classes)
    machine = LogisticRegression().fit(X, y)
    for size in (1.0, 1e3, 1e300):
        p, logs = machine.predict_proba(size * X), machine.predict_log_proba(size * X)
        assert np.all((p >= 0.0) & (p <= 1.0))
        assert np.allclose(p.sum(axis=1), 1.0, rtol=1e-15)
        assert np.isfinite(logs).all()
        assert np.allclose(np.exp(logs), p, atol=1e-15)
        chosen = np.searchsorted(machine.classes_, machine.predict(size * X))
        assert np.array_equal(p[np.arange(len(p)), chosen], p.max(axis=1))  # far out two classes may both read 1/2


def test_separable_data_does_not_explode():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    machine = LogisticRegression(C=1e6).fit(X, y)
    assert machine.status_ is Status.SOLVED
    assert np.isfinite(machine.coef_).all()


def test_every_parameter_of_scikit_learns_class_is_taken():
    assert set(inspect.signature(theirs.LogisticRegression).parameters) <= set(
        inspect.signature(LogisticRegression).parameters
    )


@pytest.mark.parametrize(
    ("parameters", "replacement"),
    [
        ({"penalty": "l1"}, "penalty='l2'"),
        ({"penalty": None}, "fit_problem"),
        ({"l1_ratio": 0.5}, "l1_ratio=0.0"),
        *[({"solver": name}, "use solver='auto'") for name in ("lbfgs", "liblinear", "newton-cg", "sag", "saga")],
        ({"dual": True}, "dual=False"),
        ({"warm_start": True}, "warm_start=False"),
        ({"intercept_scaling": 2.0}, "intercept_scaling=1"),
    ],
)
def test_what_is_not_offered_is_refused_with_its_replacement(parameters, replacement):
    with pytest.raises(ValueError, match=replacement):
        LogisticRegression(**parameters).fit([[0.0], [1.0]], [0, 1])
