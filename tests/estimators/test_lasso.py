import inspect

import numpy as np
import pytest
import sklearn.linear_model as theirs

from maxmargin import ElasticNet, Lasso, RidgeRegression


def draw(n=50, d=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, :3] @ np.array([2.0, -1.0, 0.5]) + 0.1 * rng.normal(size=n) + 4.0


@pytest.mark.parametrize("ours", [Lasso, ElasticNet])
def test_every_parameter_of_scikit_learns_class_is_taken_with_the_same_default(ours):
    mine = inspect.signature(ours).parameters
    for name, parameter in inspect.signature(getattr(theirs, ours.__name__)).parameters.items():
        assert (mine[name].default, mine[name].kind) == (parameter.default, parameter.kind), name


@pytest.mark.parametrize("make", [Lasso, ElasticNet])
@pytest.mark.parametrize(
    ("parameters", "replacement"),
    [
        ({"precompute": True}, "precompute=False"),
        ({"precompute": np.eye(8)}, "an array"),
        ({"warm_start": True}, "warm_start=False"),
        ({"positive": True}, r"RidgeRegression\(positive=True\)"),
        ({"selection": "random"}, "selection='cyclic'"),
        ({"alpha": 0.0}, "Use LinearRegression"),
        ({"alpha": np.inf}, "alpha"),
        ({"solver": "newton"}, "Newton: the loss must be"),
    ],
)
def test_what_is_not_offered_is_refused_with_its_replacement(make, parameters, replacement):
    with pytest.raises(ValueError, match=replacement):
        make(**parameters).fit(*draw())


def test_few_coefficients_are_used():
    machine = Lasso(0.2).fit(*draw())
    assert np.flatnonzero(machine.coef_).tolist() == [0, 1, 2]
    assert machine.dual_gap_ == machine.certificate_.gap


def test_ratios_at_the_ends_are_lasso_and_ridge():
    X, y = draw()
    assert np.allclose(ElasticNet(0.1, l1_ratio=1.0, tol=1e-12).fit(X, y).coef_, Lasso(0.1, tol=1e-12).fit(X, y).coef_)
    ridge = RidgeRegression(0.1 * len(X)).fit(X, y)
    assert np.allclose(ElasticNet(0.1, l1_ratio=0.0).fit(X, y).coef_, ridge.coef_)
