import copy
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from maxmargin import HardMarginSVC, Inseparable, InseparableError, MaximumMargin, Newton, Status, margins, separability
from maxmargin.estimators.hard_margin_svc import margin_of
from maxmargin.solvers import Watch


def planes(margin, n=24, d=3, seed=0, spread=0.0):
    """Rows on two parallel planes around mirrored points, so that their widest margin is `margin` along u; some beyond, by `spread`."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=d)
    u /= np.linalg.norm(u)
    flat = rng.normal(size=(n // 4, d))
    flat -= np.outer(flat @ u, u)
    flat = np.vstack([flat, -flat, flat, -flat])
    y = np.repeat([1, -1], len(flat) // 2)
    away = np.where(np.arange(len(flat)) % 3 == 2, spread * rng.uniform(size=len(flat)), 0.0)
    away[: n // 4] = away[n // 4 : n // 2] = away[n // 2 : 3 * n // 4] = away[-(n // 4) :] = away[: n // 4]
    return flat + np.outer(y * (margin + away) + 0.1 * margin, u), y, u


@pytest.mark.parametrize("margin", [1e-7, 1e-5, 1e-3, 1.0, 1e4])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", range(3))
def test_a_known_margin_lies_in_the_published_interval(margin, form, seed):
    X, y, u = planes(margin, seed=seed)
    machine = HardMarginSVC().fit(form(X), y)
    low, high = machine.margin_
    off = 8.0 * 2.0**-53 * np.abs(X).sum(axis=1).max() / margin  # the rows are rounded, and so is the margin that they have
    assert low * (1.0 - off - 1e-12) <= margin <= high * (1.0 + off + 1e-12)
    assert high / low <= 1.0 + 1e-6, "half the relative gap, at most"
    assert machine.score(form(X), y) == 1.0
    assert margins(X, y, machine.coef_[0], machine.intercept_[0]).least == pytest.approx(low, rel=1e-9 + 4 * off)
    rigorous = machine.certificate_.verify(form(X), y, precision="rigorous")
    assert np.isfinite(rigorous.primal), "every margin is kept, rounding included"
    assert np.linalg.norm(machine.coef_[0] * margin - u) <= 2e-3 + off


def test_a_margin_too_thin_for_its_tolerance_is_an_honest_interval():
    X, y, _ = planes(1e-9)
    with pytest.warns(ConvergenceWarning, match="Rounding allows no smaller gap"):
        machine = HardMarginSVC().fit(X, y)
    low, high = machine.margin_
    assert low <= 1e-9 * (1.0 + 1e-6) <= high * (1.0 + 2e-6)
    assert machine.score(X, y) == 1.0
    assert machine.status_ is not Status.SOLVED


@given(seed=st.integers(0, 10**6), intercept=st.booleans(), dtype=st.sampled_from([np.float32, np.float64]))
def test_it_agrees_with_the_quadratic_program_and_a_peer(seed, intercept, dtype):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(25, 3)).astype(dtype)
    y = np.where(X @ rng.normal(size=3) > 0, "up", "down")
    assume(len(set(y)) == 2)
    one = HardMarginSVC(tol=1e-4, fit_intercept=intercept).fit(X, y)
    assume(one.margin_[0] > 1e-2)
    other = HardMarginSVC(tol=1e-4, fit_intercept=intercept, solver="quadratic_program").fit(X, y)
    assert one.coef_.dtype == dtype
    assert max(one.margin_[0], other.margin_[0]) <= min(one.margin_[1], other.margin_[1]) * (1.0 + 1e-12), (
        "intervals that meet"
    )
    gaps = [each.certificate_.gap for each in (one, other)]
    assert np.linalg.norm(one.coef_ - other.coef_) <= sum(np.sqrt(2.0 * gap) for gap in gaps)
    if intercept and dtype is np.float64:
        theirs = SVC(kernel="linear", C=1e9, tol=1e-8).fit(X, y)
        signs = np.where(y == "up", 1.0, -1.0)
        assert margins(X, signs, theirs.coef_[0], theirs.intercept_[0]).least <= one.margin_[1] * (1.0 + 1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_rows(index, dtype):
    X, y, _ = planes(0.5, d=4)
    X[np.abs(X) < 0.1] = 0.0
    S = sp.csr_matrix(X.astype(dtype))
    S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
    machine = HardMarginSVC(tol=1e-4).fit(S, y)
    dense = HardMarginSVC(tol=1e-4).fit(X.astype(dtype), y)
    assert machine.margin_[0] <= dense.margin_[1] * (1.0 + 1e-12)
    assert dense.margin_[0] <= machine.margin_[1] * (1.0 + 1e-12)


INSEPARABLE = {
    "contradiction": ([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0]], [0, 0, 1]),
    "xor": ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]),
    "alternating": ([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1]),
    "touching": ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]),
    "inside": ([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [1.0, 1.0]], [0, 0, 0, 1]),
}


@pytest.mark.parametrize("case", INSEPARABLE)
@pytest.mark.parametrize("solver", ["auto", "quadratic_program"])
def test_inseparable_data_raises_a_proof_and_leaves_nothing_behind(case, solver):
    X, y = (np.array(each) for each in INSEPARABLE[case])
    machine = HardMarginSVC(solver=solver)
    before = dict(vars(machine))
    with pytest.raises(
        InseparableError, match=r"no hyperplane has every row strictly on its side(.|\n)*Use LinearSVC"
    ) as caught:
        machine.fit(X, y)
    assert caught.value.proof.check(X, y)
    assert caught.value.label is None
    assert vars(machine) == before
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.proof.multipliers) == (str(caught.value), caught.value.proof.multipliers)
    separable = HardMarginSVC(solver=solver).fit([[0.0], [1.0]], [0, 1])
    kept = copy.deepcopy(vars(separable))
    with pytest.raises(InseparableError):
        separable.fit(X, y)
    assert np.array_equal(separable.coef_, kept["coef_"]), "the model before stays as it was"
    assert separable.margin_ == kept["margin_"]


@settings(max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_it_fits_exactly_what_is_separable(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(10, 2)).astype(float)
    y = rng.integers(0, 2, size=10)
    y[:2] = 0, 1
    for intercept in (True, False):
        verdict = separability(X, y, intercept)
        machine = HardMarginSVC(fit_intercept=intercept)
        if isinstance(verdict, Inseparable):
            with pytest.raises(InseparableError) as caught:
                machine.fit(X, y)
            assert caught.value.proof.check(X, y)
        else:
            low, high = machine.fit(X, y).margin_
            assert low <= verdict.margin[1] * (1.0 + 1e-12)
            assert verdict.margin[0] <= high * (1.0 + 1e-12)


def test_many_classes_each_against_the_rest():
    X = np.array([[0.0, 0.0], [0.0, 0.5], [4.0, 0.0], [4.0, 0.5], [2.0, 4.0], [2.5, 4.0]])
    y = np.array(["a", "a", "b", "b", "c", "c"])
    machine = HardMarginSVC().fit(X, y)
    assert machine.coef_.shape == (3, 2)
    assert len(machine.margin_) == len(machine.certificate_.parts) == 3
    assert machine.score(X, y) == 1.0
    for k, label in enumerate("abc"):
        alone = HardMarginSVC().fit(X, y == label)
        assert alone.margin_ == pytest.approx(machine.margin_[k], rel=1e-6)


def test_the_class_that_is_not_separable_is_named():
    X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]), np.array(["a", "a", "b", "b", "c", "c"])
    with pytest.raises(InseparableError, match="class 'b' against the rest is Inseparable") as caught:
        HardMarginSVC().fit(X, y)
    assert caught.value.label == "b"
    assert caught.value.proof.check(X, y == "b")
    assert pickle.loads(pickle.dumps(caught.value)).label == "b"


def test_weight_0_removes_a_row_and_other_weights_change_nothing():
    X, y, _ = planes(1.0, seed=4)
    wrong = np.append(y, [1, -1])
    X = np.vstack([X, [[0.0, 0.0, 0.0]] * 2])  # between the planes, with both labels
    weight = np.append(np.random.default_rng(0).uniform(0.1, 5.0, len(y)), [0.0, 0.0])
    machine = HardMarginSVC().fit(X, wrong, weight)
    alone = HardMarginSVC().fit(X[:-2], y)
    assert machine.margin_ == pytest.approx(alone.margin_, rel=1e-6)
    assert not set(machine.support_) & {len(y), len(y) + 1}
    assert machine.certificate_.verify(X, wrong, weight, "rigorous").relative_gap <= 1e-5
    assert machine.certificate_.verify(X, wrong).gap == np.inf, "without the weights those rows count"
    with pytest.raises(InseparableError) as caught:
        HardMarginSVC().fit(X, wrong)
    assert caught.value.proof.check(X, wrong)
    weight[-2:] = 0.0, 1.0
    weight[:3] = 0.0
    one_left_out = HardMarginSVC()
    kept = np.flatnonzero(weight)
    if isinstance(separability(X[kept], wrong[kept]), Inseparable):
        with pytest.raises(InseparableError) as caught:
            one_left_out.fit(X, wrong, weight)
        assert np.all(weight[caught.value.proof.indices] > 0.0), "the proof uses no row without weight"
        assert caught.value.proof.check(X, wrong)
    with pytest.raises(ValueError, match="two classes or more are needed"):
        HardMarginSVC().fit(X, wrong, np.where(wrong > 0, 1.0, 0.0))


def test_a_class_without_weight_among_three_has_an_unbounded_margin():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 2])
    machine = HardMarginSVC().fit(X[[0, 2, 1]], y[[0, 2, 1]], [1.0, 1.0, 0.0])
    assert machine.margin_[1][1] == np.inf
    assert machine.predict([[0.0], [2.0]]).tolist() == [0, 2]


def test_rotations_shifts_and_units_do_not_change_the_margin():
    X, y, _ = planes(0.3, seed=6)
    base = HardMarginSVC().fit(X, y).margin_
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    for moved, factor in ((X @ turn, 1.0), (X + 10.0, 1.0), (64.0 * X, 64.0), (X / 1024.0, 1.0 / 1024.0)):
        low, high = HardMarginSVC().fit(moved, y).margin_
        assert low <= factor * base[1] * (1.0 + 1e-9)
        assert factor * base[0] <= high * (1.0 + 1e-9)


def test_limits_without_a_separating_hyperplane_raise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = np.where(X[:, 0] > 0, 1, 0)
    machine, said = HardMarginSVC(max_time=1e-9, tol=1e-15), None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            machine.fit(X, y)
        except TimeoutError as error:
            said = str(error)
    if said is None:  # one burst may be enough to separate: then the best hyperplane so far is published instead
        assert machine.status_ is Status.MAX_TIME
        assert machine.score(X, y) == 1.0
    else:
        assert "Raise max_time, or ask separability" in said


def test_ctrl_c_before_a_separating_hyperplane_is_found_is_handed_on(monkeypatch):
    def interrupted(self, problem, start=None, watch=None):
        watch.interrupt(by_signal=True)
        return solve(self, problem, start, watch)

    solve = MaximumMargin.solve
    monkeypatch.setattr(MaximumMargin, "solve", interrupted)
    original = Watch.share
    monkeypatch.setattr(Watch, "share", lambda self, parts: self)  # so that the signal is seen by the caller's watch
    machine = HardMarginSVC()
    with pytest.raises(KeyboardInterrupt):
        machine.fit(*INSEPARABLE["xor"])
    assert original is not Watch.share
    assert not hasattr(machine, "coef_")


def test_a_solver_that_cannot_is_refused_in_its_own_words():
    with pytest.raises(ValueError, match="Newton: the loss must be Hinge"):
        HardMarginSVC(solver=Newton()).fit([[0.0], [1.0]], [0, 1])
    assert HardMarginSVC(solver=MaximumMargin(tol=1e-3)).fit([[0.0], [1.0]], [0, 1]).status_ is Status.SOLVED
    with pytest.raises(ValueError, match="'solver' parameter"):
        HardMarginSVC(solver="dual_ascent").fit([[0.0], [1.0]], [0, 1])


def test_a_hair_between_two_doubles():
    """Two rows next to each other in floating point: separable, by a margin that no coefficient can show at its tolerance."""
    for X in ([[1.0], [np.nextafter(1.0, 2.0)]], [[1e-300], [2e-300]]):
        assert separability(X, [0, 1])
        with pytest.raises(
            ArithmeticError, match=r"separable, but by a margin between .* too thin for coefficients of type float64"
        ):
            HardMarginSVC().fit(X, [0, 1])


def test_the_interval_of_a_certificate():
    found = HardMarginSVC().fit([[0.0, 0.0], [3.0, 4.0]], [0, 1])
    assert margin_of(found.certificate_) == found.margin_
    assert found.margin_ == pytest.approx((2.5, 2.5), rel=1e-6)
    assert found.coef_[0] == pytest.approx([0.24, 0.32], rel=1e-6)
    assert found.intercept_[0] == pytest.approx(-1.0, rel=1e-6)


def test_no_solver_turns_silently_into_another(monkeypatch):
    """Where the quadratic program meets rounding, the hyperplane of the proof is published with its honest gap."""
    X, y, _ = planes(1e-9)
    monkeypatch.setattr(MaximumMargin, "solve", lambda *arguments, **named: pytest.fail("this solver was not asked for"))
    with pytest.warns(ConvergenceWarning, match="Rounding allows no smaller gap"):
        machine = HardMarginSVC(solver="quadratic_program").fit(X, y)
    assert machine.score(X, y) == 1.0
    assert machine.margin_[0] <= 1e-9 * (1.0 + 1e-6) <= machine.margin_[1] * (1.0 + 2e-6)


def test_its_plan_knows_the_hard_margin():
    X, y, _ = planes(1.0)
    found = HardMarginSVC().plan(X, y)
    assert found.solver == "maximum_margin"
    assert set(found.estimates) == {"maximum_margin", "quadratic_program"}
