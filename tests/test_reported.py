"""Problems that users of other libraries reported, and what becomes of them here. Numbers: issues of scikit-learn."""

import numpy as np
import pytest
import sklearn.svm
from sklearn.exceptions import ConvergenceWarning

from maxmargin import (
    HalfspaceLP,
    HardMarginSVC,
    Hinge,
    Inseparable,
    InseparableError,
    Intercept,
    LinearSVC,
    Problem,
    Ridge,
    Separable,
    Status,
    as_design,
    certify,
    margins,
    separability,
)

EXACT = ["dual_ascent", "newton", "interior_point", "quadratic_program"]


@pytest.mark.filterwarnings("ignore:Liblinear failed:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
def test_22283_the_hinge_does_not_stop_above_its_optimum(seed):
    """The report: C = 0.1, no intercept, tol=1e-12, and the objective stays above what plain coordinate descent finds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 80))
    y = np.where(X @ rng.normal(size=80) + 4.0 * rng.normal(size=150) > 0, 1.0, -1.0)
    problem = Problem(as_design(X), y, Hinge(), Ridge(1.0), np.full(150, 0.1), Intercept.NONE)
    ours = {name: LinearSVC(loss="hinge", C=0.1, fit_intercept=False, solver=name, tol=1e-8).fit(X, y) for name in EXACT}
    best = max(machine.certificate_.dual for machine in ours.values())
    for name, machine in ours.items():
        assert machine.status_ is Status.SOLVED, name
        proof = machine.certificate_.verify(X, y, precision="rigorous")
        assert proof.relative_gap <= 1.1e-8, name
        assert 0.0 <= proof.primal - best <= 1.1e-8 * proof.primal, name
    theirs = sklearn.svm.LinearSVC(C=0.1, loss="hinge", fit_intercept=False, tol=1e-12, random_state=0).fit(X, y)
    judged = certify(problem, theirs.coef_[0])
    assert judged.primal >= best * (1.0 - 1e-14), "nobody gets below a certified bound"


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("solver", EXACT)
def test_11715_a_shift_of_the_data_leaves_the_coefficients_alone(loss, solver):
    """The intercept is free of the penalty: x + t changes b by -w't and nothing else."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 4))
    y = np.where(X[:, 0] - X[:, 1] + rng.normal(size=100) > 0.7, 1, 0)
    shift = np.array([10.0, -3.0, 0.5, 7.0])
    here, there = (LinearSVC(loss=loss, solver=solver, tol=1e-9).fit(data, y) for data in (X, X + shift))
    # Both are within √(2 gap) of one optimum; the sum x + t is rounded, and so are the doubles of P.
    allowed = sum(np.sqrt(2.0 * (m.certificate_.gap + 1e-13 * m.certificate_.primal)) for m in (here, there))
    assert np.linalg.norm(here.coef_ - there.coef_) <= allowed
    assert (
        abs(here.certificate_.primal - there.certificate_.primal) <= here.certificate_.gap + there.certificate_.gap + 1e-11
    )
    if loss == "squared_hinge":  # strictly convex in b too: curvature of the rows before the margin at the optimum
        assert there.intercept_[0] == pytest.approx(here.intercept_[0] - here.coef_[0] @ shift, abs=20.0 * allowed)
    penalised = [
        LinearSVC(loss=loss, intercept="penalized", solver=solver, tol=1e-9).fit(d, y).coef_ for d in (X, X + shift)
    ]
    assert np.linalg.norm(penalised[0] - penalised[1]) > 0.01, "the defect of the report, on request"


THREE = np.array([[1.5, 2.5], [2.5, 1.5], [2.5, 2.5]]), np.array([True, True, False])


def test_18606_three_separable_points_are_separated():
    X, y = THREE
    machine = HardMarginSVC().fit(X, y)
    assert machine.score(X, y) == 1.0
    low, high = machine.margin_
    half_diagonal = np.sqrt(0.125)  # from (2.5, 2.5) to the middle (2, 2) of the other two, halved
    assert low * (1.0 - 1e-12) <= half_diagonal <= high * (1.0 + 1e-12)
    assert machine.coef_[0] == pytest.approx([-2.0, -2.0], rel=1e-5)
    assert machine.intercept_[0] == pytest.approx(9.0, rel=1e-5)
    assert isinstance(separability(X, y), Separable)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_18606_the_soft_margin_says_that_it_chose_not_to_separate_them(loss):
    """At C = 1 the penalty is worth more than the third point: the certificate shows that this is the optimum, not a failure."""
    X, y = THREE
    soft = LinearSVC(loss=loss, tol=1e-9).fit(X, y)
    assert soft.certificate_.verify(X, y, precision="rigorous").relative_gap <= 1e-8
    hard = LinearSVC(loss=loss, C=1e5, tol=1e-9).fit(X, y)
    assert hard.score(X, y) == 1.0
    signs = np.where(y, 1.0, -1.0)
    assert margins(X, signs, hard.coef_[0], hard.intercept_[0]).least == pytest.approx(np.sqrt(0.125), rel=1e-3)


@pytest.mark.parametrize(
    ("X", "y", "separable"),
    [
        (*THREE, True),
        ([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1], False),
        ([[0.0], [1.0], [1.0 + 1e-12], [2.0]], [0, 0, 1, 1], True),
        ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1], False),
    ],
    ids=["three points", "xor", "a hair apart", "touching"],
)
@pytest.mark.filterwarnings("ignore:HardMarginSVC stopped:sklearn.exceptions.ConvergenceWarning")
def test_15813_separability_is_answered_with_a_proof(X, y, separable):
    """The advice of the report, an enormous C and a look at the training error, has no answer in the last two cases."""
    verdict = separability(X, y)
    assert bool(verdict) is separable
    assert verdict.check(X, y)
    assert isinstance(HalfspaceLP().fit(X, y).separation_, Separable if separable else Inseparable)
    if separable:
        assert HardMarginSVC().fit(X, y).score(X, y) == 1.0
    else:
        with pytest.raises(InseparableError) as caught:
            HardMarginSVC().fit(X, y)
        assert caught.value.proof.check(X, y)


def test_a_fit_that_ends_early_says_how_good_it_is():
    rng = np.random.default_rng(1)
    X = 100.0 * rng.normal(size=(200, 20))
    y = rng.integers(0, 2, 200)
    with pytest.warns(ConvergenceWarning, match=r"stopped at a relative gap of \d.* \(asked 1.0e-10\)"):
        machine = LinearSVC(loss="hinge", tol=1e-10, max_iter=2).fit(X, y)
    assert machine.certificate_.verify(X, y).relative_gap == pytest.approx(machine.certificate_.relative_gap, rel=1e-6)
