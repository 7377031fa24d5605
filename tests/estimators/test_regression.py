import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.linear_model as theirs
from sklearn.exceptions import ConvergenceWarning

from maxmargin import ElasticNet, Lasso, LeastSquares, LinearRegression, RidgeRegression, Status

ALL = [Lasso(0.1), ElasticNet(0.1), RidgeRegression(0.5), RidgeRegression(0.5, positive=True), LinearRegression()]
EACH = pytest.mark.parametrize("machine", ALL, ids=repr)


def draw(n=60, d=6, targets=None, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype) + 2
    truth = rng.normal(size=(d,) if targets is None else (d, targets))
    return X, X @ truth + rng.normal(size=(n,) if targets is None else (n, targets)) + 5.0


@EACH
@pytest.mark.parametrize("targets", [None, 1, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_certificate_verifies_from_scratch(machine, targets, weighted):
    X, y = draw(targets=targets)
    weight = np.random.default_rng(1).uniform(0.0, 2.0, 60) if weighted else None
    machine.fit(X, y, sample_weight=weight)
    assert machine.status_ is Status.SOLVED
    assert machine.certificate_.relative_gap <= 1e-4
    again = machine.certificate_.verify(X, y, sample_weight=weight)
    assert again.primal == pytest.approx(machine.certificate_.primal, rel=1e-12)
    rigorous = machine.certificate_.verify(X, y, sample_weight=weight, precision="rigorous")
    assert (rigorous.precision, rigorous.relative_gap <= 2e-4) == ("rigorous", True)
    assert machine.coef_.shape == ((6,) if targets is None else (targets, 6))
    assert machine.predict(X).shape == y.shape
    assert np.ndim(machine.intercept_) == (0 if targets is None else 1)
    with pytest.raises(ValueError, match="the fit saw 60 rows of 6 features"):
        machine.certificate_.verify(X[:30], y[:30])


@pytest.mark.parametrize(
    ("ours", "peer"),
    [
        (Lasso(0.1, tol=1e-12), theirs.Lasso(0.1, tol=1e-12, max_iter=100_000)),
        (ElasticNet(0.1, l1_ratio=0.3, tol=1e-12), theirs.ElasticNet(0.1, l1_ratio=0.3, tol=1e-12, max_iter=100_000)),
        (RidgeRegression(0.7), theirs.Ridge(0.7)),
        (LinearRegression(), theirs.LinearRegression()),
    ],
    ids=["lasso", "elastic net", "ridge", "least squares"],
)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("targets", [None, 2])
def test_the_objective_is_that_of_scikit_learn(ours, peer, fit_intercept, targets):
    X, y = draw(targets=targets)
    ours, peer = (machine.set_params(fit_intercept=fit_intercept).fit(X, y) for machine in (ours, peer))
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-6)
    assert np.allclose(ours.intercept_, peer.intercept_, atol=1e-5)
    weight = np.random.default_rng(2).uniform(0.1, 2.0, 60)
    ours, peer = (machine.fit(X, y, sample_weight=weight) for machine in (ours, peer))
    assert np.allclose(ours.coef_, peer.coef_, atol=1e-6)


@EACH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_and_dtype(machine, dtype):
    X, y = draw(dtype=dtype)
    X[np.abs(X) < 1.0] = 0.0
    dense = machine.fit(X, y).coef_
    certificate = machine.certificate_
    sparse = machine.fit(sp.csr_array(X), y).coef_
    assert dense.dtype == sparse.dtype == dtype
    gap = certificate.gap + machine.certificate_.gap + 1e-12 * certificate.primal
    assert abs(certificate.primal - machine.certificate_.primal) <= gap


@EACH
def test_a_failed_refit_leaves_the_estimator_as_it_was(machine):
    X, y = draw()
    before = dict(vars(machine.fit(X, y)))
    with pytest.raises(ValueError, match="NaN"):
        machine.fit(np.full((3, 6), np.nan), [0.0, 1.0, 2.0])
    assert vars(machine) == before


def test_an_early_end_warns_with_the_number():
    X, y = draw(100, 60)
    with pytest.warns(
        ConvergenceWarning, match=r"Lasso stopped at a relative gap of \d.*\(asked 1.0e-13\) after .* s: The epoch"
    ):
        machine = Lasso(0.01, tol=1e-13, max_iter=1).fit(X, y)
    assert machine.status_ is Status.MAX_ITER


def test_a_solver_of_your_own():
    X, y = draw()
    machine = RidgeRegression(solver=LeastSquares(tol=1e-9)).fit(X, y)
    assert machine.certificate_.relative_gap <= 1e-9


def test_no_warning_where_all_is_well():
    X, y = draw()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for machine in ALL:
            machine.fit(X, y)
