import inspect

import numpy as np
import pytest
import sklearn.linear_model as theirs

from maxmargin import RidgeRegression


def draw(n=50, d=8, targets=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X @ rng.normal(size=(d, targets)) + rng.normal(size=(n, targets))


def test_every_parameter_of_scikit_learns_class_is_taken_with_the_same_default():
    mine = inspect.signature(RidgeRegression).parameters
    for name, parameter in inspect.signature(theirs.Ridge).parameters.items():
        assert (mine[name].default, mine[name].kind) == (parameter.default, parameter.kind), name


@pytest.mark.parametrize(
    ("parameters", "replacement"),
    [
        *[
            ({"solver": name}, "use solver='auto'")
            for name in ("svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs")
        ],
        ({"alpha": 0.0}, "Use LinearRegression"),
        ({"alpha": [1.0, 2.0, 3.0]}, "3 strengths for 2 targets"),
        ({"alpha": [1.0, -2.0]}, "positive and finite"),
    ],
)
def test_what_is_not_offered_is_refused_with_its_replacement(parameters, replacement):
    with pytest.raises(ValueError, match=replacement):
        RidgeRegression(**parameters).fit(*draw())


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
def test_each_target_may_have_its_own_strength(shape):
    X, Y = draw(*shape)
    both = RidgeRegression([0.1, 10.0]).fit(X, Y)
    for k, alpha in enumerate((0.1, 10.0)):
        assert np.allclose(both.coef_[k], RidgeRegression(alpha).fit(X, Y[:, k]).coef_)
        assert np.allclose(both.coef_[k], theirs.Ridge(alpha).fit(X, Y[:, k]).coef_)


def test_positive_coefficients():
    X, Y = draw()
    ours = RidgeRegression(0.5, positive=True, tol=1e-12).fit(X, Y[:, 0])
    assert (ours.coef_ >= 0.0).all()
    assert np.allclose(ours.coef_, theirs.Ridge(0.5, positive=True, tol=1e-12).fit(X, Y[:, 0]).coef_, atol=1e-5)
