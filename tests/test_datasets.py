import numpy as np
import pytest

from maxmargin import Perceptron, margins, separability
from maxmargin.datasets import misleading_average, slow_perceptron


@pytest.mark.parametrize("d", range(1, 11))
@pytest.mark.parametrize("order", ["cyclic", "shuffled"])
@pytest.mark.parametrize("intercept", [True, False])
def test_every_perceptron_is_slow_on_it(d, order, intercept):
    X, y = slow_perceptron(d)
    machine = Perceptron(order=order, fit_intercept=intercept, max_iter=10**6, proof=False).fit(X, y)
    assert margins(X, y, machine.coef_[0], machine.intercept_[0]).functional.min() > 0
    assert machine.mistakes_.mistakes >= 2 ** (d - 1)
    w = machine.coef_[0]
    assert np.all(w >= 2.0 ** np.arange(d)), "the induction of its docstring"


def test_correcting_the_worst_row_is_slow_too():
    X, y = slow_perceptron(6)
    machine = Perceptron(order="worst", max_iter=10**4, proof=False).fit(X, y)
    assert machine.mistakes_.mistakes >= 2**5


@pytest.mark.parametrize("d", range(1, 9))
def test_it_is_separable_with_the_weights_that_its_induction_names(d):
    X, y = slow_perceptron(d)
    assert (X.shape, y.tolist()) == ((2 * d, d), [1] * d + [-1] * d)
    assert set(np.unique(X)) <= {-1.0, 0.0, 1.0}
    assert (y * (X @ 2.0 ** np.arange(d))).tolist() == [1.0] * (2 * d)


def test_slow_perceptron_needs_a_dimension():
    with pytest.raises(ValueError, match=r"slow_perceptron\(d=0\): d must be 1 or more"):
        slow_perceptron(0)


def test_the_average_of_the_signed_rows_misleads_on_separable_data():
    X, y = misleading_average()
    assert separability(X, y)
    assert margins(X, y, [0.0, 1.0]).least == 1.0
    U = (y[:, None] * X).mean(axis=0)
    assert margins(X, y, U).least < 0.0, "U has rows on the wrong side"
    highest = max(margins(X, y, U, b).least for b in np.linspace(-50.0, 50.0, 201))
    assert highest < 0.0, "and no intercept mends it"
