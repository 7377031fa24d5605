"""The adversary: whatever goes in, a certificate never claims more than is true. Truth is rational arithmetic."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import maxmargin.certificate as judge
from maxmargin import (
    L1,
    Box,
    Certificate,
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    Huber,
    Intercept,
    Logistic,
    NonNegative,
    NoPenalty,
    Pinball,
    Problem,
    Ridge,
    SmoothedHinge,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
    as_design,
    certify,
    fit_problem,
)
from maxmargin.certificate import combined, dual_from_slopes, feasible
from maxmargin.losses import RegressionLoss
from maxmargin.penalties import ElasticNet
from maxmargin.testing import check_weak_duality
from rational import RationalProblem

LOSSES = [Hinge(), SquaredHinge()]
BOTH = pytest.mark.parametrize("loss", LOSSES, ids=repr)
ALL = pytest.mark.parametrize("loss", [*LOSSES, HardMargin()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
UNIT = 2.0**-53
PENALTY = Ridge(1.0)
PAIRS = [
    (Squared(), Ridge(0.7)),
    (Squared(), L1(0.8)),
    (Squared(), ElasticNet(0.6, 0.3)),
    (Squared(), Box(-0.1, 0.4)),
    (Squared(), NonNegative(0.5)),
    (Squared(), NoPenalty()),
    (EpsilonInsensitive(0.3), Ridge(0.7)),
    (SquaredEpsilonInsensitive(0.3), L1(0.2)),
    (Huber(0.5), Ridge(0.7)),
    (Huber(0.5), ElasticNet(0.2, 0.3)),
    (Pinball(0.3), Ridge(0.7)),
    (SmoothedHinge(0.5), Ridge(0.7)),
    (Hinge(), L1(0.3)),
    (SquaredHinge(), NonNegative(0.5)),
]


def draw(seed, n=5, d=2, wild=False, dtype=float):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    X = rng.normal(size=(n, d))
    cost = rng.uniform(0.1, 3.0, n)
    if wild:
        X *= 10.0 ** rng.integers(-6, 7, size=(n, 1))
        cost *= 10.0 ** rng.integers(-6, 7, size=n)
    return np.ascontiguousarray(X.astype(dtype)), y, cost


def both(X, y, cost, loss, intercept, penalty=PENALTY, scale=1.0):
    problem = Problem(as_design(X), y, loss, penalty, cost, intercept, scale)
    return problem, RationalProblem(X, y, cost, loss, penalty, intercept, scale)


def hostile_points(problem, best, seed):
    """(w, b, a): random, huge, tiny, zero, at the optimum, and a breath away from it."""
    rng = np.random.default_rng(seed)
    n, d = problem.design.n, problem.design.d
    none = problem.intercept is Intercept.NONE
    coef, intercept, dual = (np.array(part, dtype=float) for part in best)
    low, high = (np.clip(end, -1e9, 1e9) for end in problem.box())
    yield coef, float(intercept), dual
    for breath in (1e-16, 1e-9, 1e-4):
        shaken = coef * (1 + breath * rng.normal(size=d))
        yield shaken, 0.0 if none else float(intercept * (1 + breath)), dual * (1 + breath * rng.normal(size=n))
    for size in (0.0, 1e-300, 1e-8, 1.0, 1e8):
        yield (
            size * rng.normal(size=d),
            0.0 if none else float(size * rng.normal()),
            low + rng.uniform(size=n) * (high - low),
        )
    yield coef, float(intercept), 1e6 * rng.normal(size=n)
    yield -coef, -float(intercept), -dual


@ALL
@INTERCEPTS
@pytest.mark.parametrize("seed", range(6))
def test_adversary_against_the_rational_optimum(loss, intercept, seed):
    confront(loss, intercept, seed)


@pytest.mark.all
@ALL
@INTERCEPTS
@pytest.mark.parametrize("seed", range(100, 140))
def test_the_adversary_at_length(loss, intercept, seed):
    confront(loss, intercept, seed)


@pytest.mark.parametrize("side", ["_primal", "_dual"])
def test_adversary_catches_a_judge_that_is_too_kind(monkeypatch, side):
    honest = getattr(judge, side)
    kind = 1.0 + (2.0**-40 if side == "_dual" else -(2.0**-40))
    monkeypatch.setattr(judge, side, lambda *arguments: kind * honest(*arguments))
    with pytest.raises((AssertionError, ArithmeticError)):
        confront(SquaredHinge(), Intercept.FREE, 0)


@pytest.mark.parametrize(("loss", "penalty"), PAIRS, ids=repr)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=lambda i: i.value)
@pytest.mark.parametrize("seed", range(3))
def test_adversary_against_every_kind_of_pair(loss, penalty, intercept, seed):
    confront(loss, intercept, seed, penalty)


@pytest.mark.all
@pytest.mark.parametrize(("loss", "penalty"), PAIRS, ids=repr)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=lambda i: i.value)
@pytest.mark.parametrize("seed", range(100, 120))
def test_the_adversary_against_every_kind_of_pair_at_length(loss, penalty, intercept, seed):
    confront(loss, intercept, seed, penalty)


def confront(loss, intercept, seed, penalty=PENALTY):
    X, y, cost = draw(seed, n=4 + seed % 2 + (2 if isinstance(loss, SquaredHinge) else 0))
    if not loss.finite:  # separable, through the origin too, and one row left out of it all
        y = np.where(X @ [1.0, 0.5] > 0, 1.0, -1.0)
        cost[seed % 4] = 0.0
    if isinstance(loss, RegressionLoss):
        y = y + np.random.default_rng(seed).normal(size=y.size)
    problem, truth = both(X, y, cost, loss, intercept, penalty)
    best, *point = truth.solution()
    for w, b, a in hostile_points(problem, point, seed):
        reached = truth.primal(penalty.clip(w), b)
        certificate = certify(problem, w, b, a, precision="rigorous")
        assert certificate.primal >= reached >= best >= Fraction(max(certificate.dual, -1e300))
        assert not np.isfinite(certificate.gap) or certificate.gap >= reached - best
        assert certificate.relative_gap > 0 or reached == best
        near = certify(problem, w, b, a)
        assert not math.isnan(near.relative_gap)
        if reached == math.inf or near.primal == math.inf:  # a row on the edge of its domain: which side is up to rounding
            least = min(y * z for y, z, c in zip(truth.y, truth.scores(*map_exact(w, b)), truth.cost, strict=True) if c > 0)
            edge = 64 * UNIT * (1 + np.abs(X) @ np.abs(w) + abs(b)).max()
            assert near.primal == reached or abs(least - 1) <= edge
            continue
        residual = 1 + np.abs(X) @ np.abs(w) + abs(b) + np.abs(y)
        size = abs(near.primal) + float(np.abs(cost) @ residual) + (abs(near.dual) if np.isfinite(near.dual) else 0.0)
        assert float(reached - Fraction(near.primal)) <= 64 * UNIT * size
        assert near.dual <= float(best) + 64 * UNIT * size


def map_exact(w, b):
    return [Fraction(float(v)) for v in w], Fraction(b)


@INTERCEPTS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_published_keeps_every_hard_margin_in_rationals(intercept, dtype, seed):
    X, y, cost = draw(seed, n=7, d=3, dtype=dtype)
    X[3] *= 1e-3
    y = np.where(X @ [1.0, -0.5, 0.3] > 0, 1.0, -1.0)
    problem, truth = both(X, y, cost, HardMargin(), intercept)
    found = fit_problem(problem)
    reached = truth.primal(found.coef, found.intercept)
    assert reached < math.inf
    assert truth.dual(found.dual) is not None, "feasible in rationals"
    rigorous = certify(problem, found.coef, found.intercept, found.dual, precision="rigorous")
    assert reached <= rigorous.primal < math.inf
    assert (
        rigorous.relative_gap <= 1e-4 + 64 * np.finfo(dtype).eps * np.sqrt(2 * float(reached)) * np.abs(X).sum(axis=1).max()
    )


def test_a_hard_margin_that_is_not_kept_has_no_objective():
    X, y = np.array([[2.0], [-2.0], [0.1]]), np.array([1.0, -1.0, -1.0])
    for cost, primal in ((np.ones(3), math.inf), (np.array([1.0, 1.0, 0.0]), 0.125)):
        problem, truth = both(X, y, cost, HardMargin(), Intercept.NONE)
        assert problem.zero() == math.inf
        for precision in ("computed", "rigorous"):
            certificate = certify(problem, np.array([0.5]), 0.0, np.array([0.125, -0.125, 0.0]), precision)
            # exactly on the margin: rounding outwards cannot tell that from a row just inside
            assert certificate.primal == (math.inf if precision == "rigorous" else primal)
            assert certificate.zero == 0.0, "an infinite P(0) is no scale for a gap"
            assert (certificate.relative_gap == math.inf) == (certificate.primal == math.inf)
        assert truth.primal(np.array([0.5]), 0.0) == primal


def test_a_thin_gap_at_a_hard_margin_is_relative_to_the_objective():
    problem, _ = both(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), np.ones(2), HardMargin(), Intercept.FREE)
    certificate = certify(problem, np.array([2.0]), 0.0, np.array([0.5, -0.5]))
    assert (certificate.primal, certificate.dual, certificate.relative_gap) == (2.0, 0.5, 0.75)
    assert certify(problem, np.array([1.0]), 0.0, np.array([0.5, -0.5])).relative_gap == 0.0


@BOTH
@INTERCEPTS
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(4))
def test_rigorous_bounds_hold_on_wild_scales(loss, intercept, dtype, seed):
    X, y, cost = draw(100 + seed, n=12, d=3, wild=True, dtype=dtype)
    problem, truth = both(X, y, cost, loss, intercept, Ridge(0.7), scale=3.0)
    rng = np.random.default_rng(seed)
    low, high = (np.clip(end, -1e9, 1e9) for end in problem.box())
    for size in (1e-9, 1.0, 1e6):
        w = size * rng.normal(size=3)
        b = 0.0 if intercept is Intercept.NONE else size
        a = feasible(problem, low + rng.uniform(size=12) * (high - low))
        certificate = certify(problem, w, b, a, precision="rigorous")
        assert Fraction(certificate.primal) >= truth.primal(w, b)
        assert Fraction(certificate.dual) <= max(truth.dual(a), 0)


@BOTH
def test_a_rigorous_gap_is_barely_wider(loss):
    X, y, cost = draw(7, n=40, d=4)
    problem, _ = both(X, y, cost, loss, Intercept.FREE)
    solution = fit_problem(problem)
    near = certify(problem, solution.coef, solution.intercept, solution.dual)
    rigorous = certify(problem, solution.coef, solution.intercept, solution.dual, precision="rigorous")
    assert rigorous.gap >= near.gap - 1e-15 * near.primal
    assert rigorous.gap - near.gap <= 1e-12 * near.primal


@BOTH
@given(seed=st.integers(0, 2**32), size=st.integers(1, 40), spread=st.integers(0, 12))
def test_repaired_points_are_feasible_in_rationals(loss, seed, size, spread):
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], size)
    cost = rng.uniform(0.1, 1.0, size) * 10.0 ** rng.integers(-spread, spread + 1, size)
    cost[rng.uniform(size=size) < 0.1] = 0.0
    problem = Problem(as_design(np.ones((size, 1))), y, loss, Ridge(1.0), cost, Intercept.FREE)
    a = feasible(problem, rng.normal(size=size) * 10.0 ** rng.integers(-spread, spread + 1, size))
    assert math.fsum(a) == 0.0
    assert sum(map(Fraction, a.tolist())) == 0
    low, high = problem.box()
    assert np.all((low <= a) & (a <= high))
    for order in (a, a[::-1], rng.permutation(a)):
        assert np.add.reduce(order) == 0.0, "every partial sum is exact"


@BOTH
@INTERCEPTS
def test_repair_costs_little_near_the_optimum(loss, intercept):
    X, y, cost = draw(3, n=30, d=3)
    problem, _ = both(X, y, cost, loss, intercept)
    best = fit_problem(problem)
    shaken = feasible(problem, best.dual * (1 + 1e-9))
    assert problem.dual(shaken) >= problem.dual(best.dual) - 1e-7 * best.certificate.primal


@BOTH
@INTERCEPTS
def test_weak_duality(loss, intercept):
    X, y, cost = draw(11, n=25, d=4)
    check_weak_duality(both(X, y, cost, loss, intercept)[0])


@BOTH
@INTERCEPTS
def test_a_primal_point_alone_gets_a_dual_point_from_its_slopes(loss, intercept):
    X, y, cost = draw(5, n=60, d=3)
    problem, _ = both(X, y, cost, loss, intercept)
    best = fit_problem(problem)
    alone = certify(problem, best.coef, best.intercept)
    assert alone.primal == certify(problem, best.coef, best.intercept, best.dual).primal
    assert alone.dual <= best.certificate.primal * (1 + 1e-14)
    # For a smooth loss the slopes at the optimum are the optimal dual point; at a kink they are only feasible.
    assert alone.relative_gap <= (0.02 if isinstance(loss, SquaredHinge) else 1.0)


def test_slopes_of_a_zero_model_are_rescaled():
    X, y, cost = draw(2, n=50, d=3)
    problem, _ = both(X, y, cost, SquaredHinge(), Intercept.NONE)
    a = dual_from_slopes(problem, np.zeros(50))
    assert problem.dual(a) >= max(problem.dual(t * a) for t in (0.5, 0.9, 1.1, 2.0)) - 1e-6


@BOTH
def test_the_zero_dual_point_is_never_beaten_by_a_bad_one(loss):
    X, y, cost = draw(1)
    problem, _ = both(X, y, cost, loss, Intercept.NONE)
    certificate = certify(problem, np.zeros(2), 0.0, 1e9 * y)
    assert certificate.dual == 0.0
    assert certificate.relative_gap == 1.0


def test_relative_gap_of_a_fitted_zero():
    assert Certificate(0.0, 0.0, "computed", 5.0).relative_gap == 0.0
    assert Certificate(1e-30, 0.0, "computed", 5.0).relative_gap == 1e-30 / (2.0**-52 * 5.0)
    assert Certificate(2.0, 1.0, "computed", 5.0).relative_gap == 0.5
    assert Certificate(1.0, 1.0 + 1e-16, "computed", 5.0).relative_gap == 0.0


@pytest.mark.parametrize("primal", [math.inf, math.nan])
def test_no_number_is_no_promise(primal):
    certificate = Certificate(primal, 0.0, "computed", 1.0)
    assert certificate.gap == math.inf
    assert certificate.relative_gap == math.inf
    assert "No bound" in repr(certificate)


def test_combined_sums_parts():
    parts = (Certificate(2.0, 1.0, "computed", 3.0), Certificate(4.0, 4.0, "computed", 3.0))
    total = combined(parts)
    assert (total.primal, total.dual, total.precision, total.parts) == (6.0, 5.0, "computed", parts)
    assert combined(parts[:1]) is parts[0]
    assert combined((parts[0], Certificate(1.0, 0.0, "rigorous", 1.0))).precision == "computed"
    assert combined((parts[0], Certificate(1.0, -math.inf, "none", 1.0))).gap == math.inf


def test_repr_is_two_lines_of_english():
    lines = repr(Certificate(2.0, 1.5, "computed", 3.0)).splitlines()
    assert lines == [
        "The objective reached is 2; no predictor of this kind gets below 1.5.",
        "So it is within 0.25 of the best possible, relative to its size (evaluated in float64).",
    ]


def test_a_certificate_without_an_estimator_cannot_verify():
    with pytest.raises(ValueError, match="belongs to no estimator"):
        Certificate(1.0, 0.0, "computed", 1.0).verify(np.ones((1, 1)), [1])


def test_certificates_pickle():
    certificate = Certificate(2.0, 1.5, "computed", 3.0)
    assert pickle.loads(pickle.dumps(certificate)) == certificate


def test_a_dual_point_must_be_finite():
    X, y, cost = draw(1)
    problem, _ = both(X, y, cost, SquaredHinge(), Intercept.NONE)
    with pytest.raises(ValueError, match="must be finite"):
        certify(problem, np.zeros(2), 0.0, np.full(5, np.nan))


@BOTH
def test_storage_does_not_change_the_certificate(loss):
    X, y, cost = draw(9, n=30, d=6)
    X[np.abs(X) < 0.7] = 0.0
    rng = np.random.default_rng(0)
    w, a = rng.normal(size=6), rng.normal(size=30)
    dense = certify(both(X, y, cost, loss, Intercept.FREE)[0], w, 0.3, a)
    for index in (np.int32, np.int64):
        S = sp.csr_array(X)
        S.indices, S.indptr = S.indices.astype(index), S.indptr.astype(index)
        problem = Problem(as_design(S), y, loss, Ridge(1.0), cost, Intercept.FREE)
        sparse = certify(problem, w, 0.3, a)
        assert math.isclose(sparse.primal, dense.primal, rel_tol=1e-14)
        assert math.isclose(sparse.dual, dense.dual, rel_tol=1e-12)


def one_row(x, w, s, c, a=0.0, intercept=Intercept.NONE):
    """P and D of a problem of one number, by the judge and in rationals."""
    X, y, cost = np.array([[x]]), np.array([1.0]), np.array([c])
    problem, truth = both(X, y, cost, Hinge(), intercept, Ridge(s))
    certificate = certify(problem, np.array([w]), 0.0, np.array([a]), precision="rigorous")
    return certificate, truth.primal(np.array([w]), 0.0), truth.dual(np.array([a]))


@pytest.mark.parametrize("x", [1e-300, 1.0, 1e150])
@pytest.mark.parametrize("w", [1.5e-162, 1e-300, 1.0, 1e140])
@pytest.mark.parametrize("s", [1e-300, 1e-10, 1.0, 1e300])
@pytest.mark.parametrize("c", [0.0, 1e-162, 1.0, 1e200])
def test_underflow_is_never_scaled_up_into_a_false_bound(x, w, s, c):
    certificate, primal, dual = one_row(x, w, s, c, a=c)
    assert certificate.primal == math.inf or Fraction(certificate.primal) >= primal
    assert certificate.dual == -math.inf or Fraction(certificate.dual) <= max(dual, 0)


def test_sums_of_rigorous_certificates_are_rounded_outwards():
    parts = (Certificate(1.0, 0.0, "rigorous", 1.0), Certificate(2.0**-54, -(2.0**-54), "rigorous", 1.0))
    total = combined(parts)
    assert Fraction(total.primal) > 1
    assert Fraction(total.dual) < 0
    assert Fraction(Certificate(1.0, -(2.0**-54), "rigorous", 1.0).gap) > 1


def test_targets_that_a_loss_is_not_meant_for_are_refused():
    with pytest.raises(ValueError, match="targets must be -1 or"):
        both(np.ones((2, 1)), np.array([2.0, -2.0]), np.ones(2), Hinge(), Intercept.NONE)


def test_a_broken_promise_raises(monkeypatch):
    X, y, cost = draw(1)
    problem, _ = both(X, y, cost, Hinge(), Intercept.NONE)
    monkeypatch.setattr(judge, "_dual", lambda *arguments: 1e9)
    with pytest.raises(ArithmeticError, match="breaks its contract"):
        certify(problem, np.zeros(2), 0.0, np.zeros(5), precision="rigorous")


def test_overflow_is_a_gap_of_infinity():
    X, y = np.array([[1.0], [-1.0]]), np.array([1.0, -1.0])
    for loss, cost, w in ((Hinge(), 1e308, 0.0), (SquaredHinge(), 1e200, -1e200)):
        problem, _ = both(X, y, np.full(2, cost), loss, Intercept.NONE)
        for precision in ("computed", "rigorous"):
            certificate = certify(problem, np.array([w]), 0.0, precision=precision)
            assert certificate.gap == math.inf


def test_an_unknown_precision_is_refused():
    X, y, cost = draw(1)
    problem, _ = both(X, y, cost, Hinge(), Intercept.NONE)
    with pytest.raises(ValueError, match="computed"):
        certify(problem, np.zeros(2), 0.0, np.zeros(5), precision="none")


@pytest.mark.parametrize("penalty", [L1(0.3), ElasticNet(0.3, 0.1), NonNegative(0.5), Box(-1.0, 1.0)], ids=repr)
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=lambda i: i.value)
@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), EpsilonInsensitive(0.1), Pinball(0.2)], ids=repr)
def test_weak_duality_of_every_penalty(penalty, intercept, loss):
    X, y, cost = draw(12, n=25, d=4)
    check_weak_duality(both(X, 3.0 * y, cost, loss, intercept, penalty)[0])


@given(seed=st.integers(0, 2**32), spread=st.integers(0, 9), strength=st.sampled_from([1e-9, 0.1, 3.0, 1e6]))
def test_points_rescaled_into_the_ball_of_an_l1_penalty_are_feasible_in_rationals(seed, spread, strength):
    rng = np.random.default_rng(seed)
    X, y, cost = draw(seed, n=20, d=4)
    X *= 10.0 ** rng.integers(-spread, spread + 1, size=(20, 1))
    a = rng.normal(size=20) * 10.0 ** rng.integers(-spread, spread + 1, size=20)
    for intercept in (Intercept.NONE, Intercept.FREE):
        for loss in (Squared(), Huber(0.7)):
            problem, truth = both(X, y, cost, loss, intercept, L1(strength))
            rigorous = feasible(problem, a, "rigorous")
            assert truth.dual(rigorous) is not None
            computed = feasible(problem, a)
            assert np.isfinite(problem.dual(computed))
            u = problem.design.combine(np.clip(a, *problem.box()))
            if intercept is Intercept.NONE:  # no more is taken off than needed
                needed = min(1.0, strength / np.abs(u).max())
                assert np.allclose(computed, needed * np.clip(a, *problem.box()), rtol=1e-6)


def lasso_by_hand():
    """One column, squared loss, strength s: w = (x'y - s) / x'x, a = y - xw."""
    x, y, s = np.array([1.0, 2.0, -1.0]), np.array([2.0, 3.0, 0.0]), 2.0
    problem = Problem(as_design(x[:, None]), y, Squared(), L1(s), np.ones(3), Intercept.NONE)
    return problem, (x @ y - s) / (x @ x), x, y


@pytest.mark.parametrize("precision", ["computed", "rigorous"])
def test_a_solved_lasso_has_no_gap(precision):
    problem, w, x, y = lasso_by_hand()
    for a in (y - x * w, 5.0 * (y - x * w), None):  # rescaled by itself; found from the slopes alone
        certificate = certify(problem, np.array([w]), 0.0, a, precision)
        assert certificate.relative_gap <= 1e-13


def test_w_is_clipped_into_a_constraint():
    X, y, cost = draw(4, n=20, d=3)
    for penalty in (Box(-0.2, 0.1), NonNegative(2.0)):
        problem, _ = both(X, y, cost, Squared(), Intercept.FREE, penalty)
        w = np.array([5.0, -5.0, 0.05])
        assert problem.primal(w, 0.0) == math.inf
        assert certify(problem, w, 0.0) == certify(problem, penalty.clip(w), 0.0)
        assert np.isfinite(certify(problem, w, 0.0).gap)


@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=lambda i: i.value)
@pytest.mark.parametrize("factor", [1.0, 1e-60, 1e60])
def test_least_squares_without_penalty_is_bounded_by_its_curvature(intercept, factor):
    X, y, cost = draw(6, n=40, d=3)
    X[:, 0] *= factor  # the scale of a column does not matter
    problem, _ = both(X, y, cost, Squared(), intercept, NoPenalty())
    free = intercept is Intercept.FREE
    wide = np.column_stack([X, np.ones(40)]) if free else X
    root = np.sqrt(cost)[:, None]
    w = np.linalg.lstsq(wide * root / [factor, 1, 1, 1][: wide.shape[1]], y * root[:, 0])[0]
    w /= [factor, 1, 1, 1][: wide.shape[1]]
    for precision in ("computed", "rigorous"):
        solved = certify(problem, w[:3], float(w[3]) if free else 0.0, precision=precision)
        assert solved.precision == precision
        assert solved.relative_gap <= 1e-12
    near = certify(problem, w[:3] * (1 + 1e-3), float(w[3]) if free else 0.0)
    assert 1e-9 < near.relative_gap < 1e-2


def test_where_nothing_bounds_the_objective_the_certificate_says_so():
    X, y, cost = draw(6, n=40, d=3)
    words = "No bound on the best possible value is known."
    twice = np.ascontiguousarray(np.column_stack([X, X[:, 0]]))
    for loss, rows in ((Logistic(), X), (Hinge(), X), (Huber(), X), (Squared(), twice)):
        problem, _ = both(rows, y, cost, loss, Intercept.FREE, NoPenalty())
        for a in (None, y):
            certificate = certify(problem, np.ones(rows.shape[1]), 0.0, a)
            assert (certificate.precision, certificate.dual) == ("none", -math.inf)
            assert words in repr(certificate)


def test_an_interpolation_is_bounded_by_zero():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5, 20)), rng.normal(size=5)
    problem = Problem(as_design(X), y, Squared(), NoPenalty(), np.ones(5), Intercept.NONE)
    certificate = certify(problem, np.linalg.lstsq(X, y)[0], 0.0)
    assert (certificate.precision, certificate.dual) == ("computed", 0.0)
    assert certificate.relative_gap < 1e-10


def test_a_loss_of_nothing_is_bounded_by_zero_whatever_the_loss():
    problem = Problem(as_design(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), NoPenalty(), np.ones(2))
    assert certify(problem, np.ones(1)).gap == 0.0
    assert certify(problem, np.array([0.4])).gap == math.inf
