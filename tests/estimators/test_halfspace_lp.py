import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from examples import data
from maxmargin import HalfspaceLP, Inseparable, Separable

BOTH = pytest.mark.parametrize("objective", ["slack", "violation"])


def labelled(seed, noise, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + 0.3 + noise * rng.normal(size=n) > 0, 1, -1)
    y[:2] = -1, 1
    if noise == 0.0:
        X[0], X[1] = 0.0, 0.0  # the two rows whose labels were set are left to what separates the rest
        X[0, 0], X[1, 0] = -50.0, 50.0
    return X, y


@BOTH
@given(seed=st.integers(0, 10**6), noise=st.sampled_from([0.0, 0.1, 3.0]))
def test_its_answer_is_proved_either_way(objective, seed, noise):
    X, y = labelled(seed, noise)
    machine = HalfspaceLP(objective).fit(X, y)
    assert machine.separation_.check(X, y)
    separable = isinstance(machine.separation_, Separable)
    assert (machine.value_[0] <= 1e-9) == separable
    w, b = machine.coef_[0], machine.intercept_[0]
    functional = y * (X @ w + b)
    if separable:
        assert functional.min() >= 1.0 - 1e-6
        assert machine.score(X, y) == 1.0
        return
    slacks = np.maximum(0.0, 1.0 - functional)
    reached = slacks.sum() if objective == "slack" else slacks.max()
    assert reached == pytest.approx(machine.value_[0], rel=1e-6)
    a = machine.multipliers_[0]
    assert a.min() >= 0.0
    assert a.sum() == pytest.approx(machine.value_[0], rel=1e-6), "strong duality"
    assert np.abs((a * y) @ np.hstack([X, np.ones((30, 1))])).max() <= 1e-6 * a.sum() * np.abs(X).max()


@BOTH
@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, np.asfortranarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_storage_does_not_change_the_value(objective, form, dtype):
    X, y = labelled(1, 1.0)
    X = np.round(X * 64) / 64  # the same numbers in both types
    X[np.abs(X) < 0.3] = 0.0
    one, other = HalfspaceLP(objective).fit(X, y), HalfspaceLP(objective).fit(form(X.astype(dtype)), y)
    assert one.value_ == pytest.approx(other.value_, rel=1e-9)
    assert other.separation_.check(form(X.astype(dtype)), y)


@BOTH
def test_without_an_intercept_the_hyperplane_goes_through_the_origin(objective):
    X, y = np.array([[1.0], [2.0]]), [0, 1]
    with_ = HalfspaceLP(objective).fit(X, y)
    assert isinstance(with_.separation_, Separable)
    without = HalfspaceLP(objective, fit_intercept=False).fit(X, y)
    assert isinstance(without.separation_, Inseparable)
    assert without.intercept_.tolist() == [0.0]
    assert without.separation_.check(X, y)


def test_many_classes_each_have_a_program_and_a_proof():
    X = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 3.0], [2.0, 1.0]])  # the last row lies inside the triangle of the others
    y = np.array(["a", "b", "c", "d"])
    machine = HalfspaceLP().fit(X, y)
    assert machine.coef_.shape == (4, 2)
    assert machine.multipliers_.shape == (4, 4)
    assert [type(each) for each in machine.separation_] == [Separable] * 3 + [Inseparable]
    for label, proof in zip(machine.classes_, machine.separation_, strict=True):
        assert proof.check(X, y == label)
    assert (machine.value_ <= 1e-9).tolist() == [True, True, True, False]


def test_the_proof_can_be_left_out_and_is_dropped():
    X, y = labelled(0, 1.0)
    machine = HalfspaceLP(proof=False).fit(X, y)
    assert not hasattr(machine, "separation_")
    machine.set_params(proof=True).fit(X, y)
    assert machine.separation_.check(X, y)
    assert not hasattr(machine.set_params(proof=False).fit(X, y), "separation_")


def test_the_time_limit_raises_and_leaves_nothing_behind():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 60))
    y = np.where(rng.uniform(size=4000) < 0.5, 1, -1)
    machine = HalfspaceLP(max_time=1e-6)
    with pytest.raises(TimeoutError, match=r"HalfspaceLP\(max_time=1e-06\).*Raise max_time"):
        machine.fit(X, y)
    assert not hasattr(machine, "coef_")


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-12, 1e-15])
def test_thin_separations_and_thin_overlaps_are_told_apart(gap):
    """Two rows a side, the classes apart by `gap`, or overlapping by it: the published halfspace separates exactly where it can."""
    low, high = np.array([[0.0], [1.0]]), np.array([[1.0 + gap], [2.0]])
    apart = HalfspaceLP().fit(np.vstack([low, high]), [0, 0, 1, 1])
    assert isinstance(apart.separation_, Separable)
    assert apart.score(np.vstack([low, high]), [0, 0, 1, 1]) == 1.0
    assert apart.value_.tolist() == pytest.approx([0.0], abs=1e-6)
    overlap = HalfspaceLP().fit(np.vstack([low + gap, high - 2 * gap]), [0, 0, 1, 1])
    assert isinstance(overlap.separation_, Inseparable)
    assert overlap.separation_.check(np.vstack([low + gap, high - 2 * gap]), [0, 0, 1, 1])


def test_one_class_and_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="two classes or more"):
        HalfspaceLP().fit([[0.0], [1.0]], [1, 1])
    for bad in ({"objective": "hinge"}, {"max_time": -1.0}, {"proof": "yes"}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            HalfspaceLP(**bad).fit(*data())
