import inspect

import numpy as np
import pytest
import sklearn.linear_model as theirs

from maxmargin import LinearRegression, Status


def test_every_parameter_of_scikit_learns_class_is_taken_with_the_same_default():
    mine = inspect.signature(LinearRegression).parameters
    for name, parameter in inspect.signature(theirs.LinearRegression).parameters.items():
        assert (mine[name].default, mine[name].kind) == (parameter.default, parameter.kind), name


def test_signs_are_refused_with_a_replacement():
    with pytest.raises(ValueError, match=r"RidgeRegression\(alpha, positive=True\)"):
        LinearRegression(positive=True).fit([[1.0], [2.0]], [1.0, 2.0])


def test_a_planted_plane_is_found():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) + 100.0
    truth = np.array([1.0, -2.0, 3.0, 0.5])
    machine = LinearRegression().fit(X, X @ truth - 7.0)
    assert np.allclose(machine.coef_, truth, atol=1e-11)
    assert np.isclose(machine.intercept_, -7.0, atol=1e-9)


@pytest.mark.parametrize("shape", [(40, 6), (6, 40)])
def test_dependent_columns_give_least_norm_and_say_so(shape):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    X[:, 1] = X[:, 0]
    machine = LinearRegression().fit(X, y)
    assert machine.status_ is Status.LEAST_NORM
    assert np.allclose(machine.coef_, theirs.LinearRegression().fit(X, y).coef_, atol=1e-10)
    assert np.isclose(machine.coef_[0], machine.coef_[1])
    if shape[0] > shape[1]:
        assert machine.certificate_.precision == "none"
        assert "No bound" in repr(machine.certificate_)


def test_repeated_rows_do_not_hide_the_rank():
    """More rows than columns, of lower rank: singular values at the level of rounding are not inverted."""
    rng = np.random.default_rng(42)
    X, y = rng.uniform(size=(15, 30)), rng.integers(0, 3, 15).astype(float)
    times = rng.integers(1, 5, 15)
    weighted = LinearRegression().fit(X, y, sample_weight=times)
    repeated = LinearRegression().fit(X.repeat(times, axis=0), y.repeat(times))
    assert np.allclose(weighted.coef_, repeated.coef_, atol=1e-9)
