import numpy as np
import pytest

from maxmargin import (
    HardMargin,
    Hinge,
    Intercept,
    MaximumMargin,
    Newton,
    Problem,
    Ridge,
    SquaredHinge,
    as_design,
    kkt_residuals,
)
from maxmargin.kkt import KKT, Residual
from maxmargin.solvers import make_solver
from maxmargin.testing import planted_problem

LOSSES = [Hinge(), SquaredHinge()]
BOTH = pytest.mark.parametrize("loss", LOSSES, ids=repr)
ALL = pytest.mark.parametrize("loss", [*LOSSES, HardMargin()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
PARTS = ("stationarity", "primal_feasibility", "dual_feasibility", "complementarity")


def planted(loss, intercept, seed=0):
    """A problem with its optimum (w, b, a), and the rounding that its residuals may have."""
    if loss.finite:
        problem, w, b = planted_problem(loss, intercept, strength=0.5, seed=seed)
        a = -problem.cost * loss.slope(problem.target, problem.design.scores(w, b))
    else:  # two rows a side on the planes w'x = ±1, the others beyond; w = (1, 0, 0) and any a on the four with X'a = w
        X = np.array(
            [[1.0, 2.0, 0.0], [1.0, -2.0, 0.0], [-1.0, 0.0, 3.0], [-1.0, 0.0, -3.0], [4.0, 1.0, 1.0], [-5.0, 2.0, 1.0]]
        )
        y = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
        problem = Problem(as_design(X), y, loss, Ridge(0.5), np.ones(6), intercept)
        w, b, a = np.array([1.0, 0.0, 0.0]), 0.0, 0.5 * np.array([0.25, 0.25, -0.25, -0.25, 0.0, 0.0])
    size = 1.0 + np.abs(w).max() + abs(b) + np.abs(a).sum() * np.abs(problem.design.data).max()
    return problem, w, b, a, 1e-13 * size


@ALL
@INTERCEPTS
@pytest.mark.parametrize("seed", range(3))
def test_all_residuals_vanish_at_the_optimum(loss, intercept, seed):
    problem, w, b, a, rounding = planted(loss, intercept, seed)
    found = kkt_residuals(problem, w, b, a)
    assert found.largest <= rounding
    assert found.largest == max(getattr(found, part).value for part in PARTS)


@ALL
@INTERCEPTS
def test_a_coefficient_that_is_off_breaks_stationarity_in_its_column(loss, intercept):
    problem, w, b, a, rounding = planted(loss, intercept)
    w = w.copy()
    w[2] += 1e-3
    found = kkt_residuals(problem, w, b, a)
    assert found.stationarity.value == pytest.approx(0.5e-3, abs=rounding)
    assert found.stationarity.index == 2
    assert found.dual_feasibility.value <= rounding


@BOTH
def test_an_intercept_that_is_off_breaks_its_own_equation(loss):
    problem, w, b, a, rounding = planted(loss, Intercept.PENALIZED)
    found = kkt_residuals(problem, w, b + 0.1, a)
    assert found.stationarity.value == pytest.approx(0.05, abs=rounding)
    assert found.stationarity.index == -1
    problem, w, b, a, _ = planted(loss, Intercept.NONE)
    found = kkt_residuals(problem, w, 0.1, a)
    assert found.primal_feasibility == Residual(0.1, -1)


@ALL
@INTERCEPTS
def test_a_multiplier_outside_its_box_is_named(loss, intercept):
    problem, w, b, a, _ = planted(loss, intercept)
    a = a.copy()
    a[4] = -problem.target[4] * 50.0
    found = kkt_residuals(problem, w, b, a).dual_feasibility
    assert found.value == 50.0
    if intercept is not Intercept.FREE:
        assert found.index == 4


@ALL
def test_multipliers_out_of_balance_break_the_equation_of_a_free_intercept(loss):
    problem, w, b, a, rounding = planted(loss, Intercept.FREE)
    inside = int(np.flatnonzero(a)[0])
    a = a.copy()
    a[inside] *= 0.5
    found = kkt_residuals(problem, w, b, a)
    assert found.dual_feasibility.value == pytest.approx(abs(a[inside]), abs=rounding)
    assert found.dual_feasibility.index == -1


@ALL
@INTERCEPTS
def test_a_multiplier_that_does_not_fit_its_score_is_named(loss, intercept):
    problem, w, b, a, rounding = planted(loss, intercept)
    far = int(np.argmax(problem.target * problem.design.scores(w, b)))
    a = a.copy()
    assert a[far] == 0.0
    a[far] = 0.25 * problem.target[far] * problem.cost[far]
    found = kkt_residuals(problem, w, b, a).complementarity
    assert found.index == far
    z = problem.design.scores(w, b)[far]
    curved = a[far] ** 2 / (4.0 * problem.cost[far]) if isinstance(loss, SquaredHinge) else 0.0
    assert found.value == pytest.approx(abs(a[far]) * (problem.target[far] * z - 1.0) + curved, abs=rounding)


def test_a_row_inside_a_hard_margin_is_named_unless_it_has_no_cost():
    problem, w, b, a, _ = planted(HardMargin(), Intercept.FREE)
    found = kkt_residuals(problem, 0.25 * w, b, a)
    assert found.primal_feasibility == Residual(0.75, 0)
    free = Problem(problem.design, problem.target, problem.loss, problem.penalty, np.zeros(6), Intercept.FREE)
    assert kkt_residuals(free, 0.0 * w, b, 0.0 * a).largest == 0.0


@BOTH
@INTERCEPTS
def test_the_gap_is_the_sum_of_the_brackets_of_stationarity_and_complementarity(loss, intercept):
    """P - D = Σ [c φ + c φ* + a z] + [ψ + ψ* - w'X'a] + [β + β* - b Σ a], at any feasible points."""
    problem, w, b, a, _ = planted(loss, intercept)
    rng = np.random.default_rng(5)
    w = w + rng.normal(size=w.size)
    b = 0.0 if intercept is Intercept.NONE else b + 0.3
    a = 0.5 * np.where(rng.uniform(size=a.size) < 0.5, a, 0.0) if intercept is not Intercept.FREE else 0.0 * a
    z, u = problem.design.scores(w, b), problem.design.combine(a)
    rows = problem.loss_terms(z) + problem.conjugate_terms(a) + a * z
    columns = problem.penalty.terms(w) + problem.penalty.conjugate_terms(u) - w * u
    corner = problem.beta(b) + problem.beta_conjugate(float(a.sum())) - b * float(a.sum())
    gap = problem.primal(w, b) - problem.dual(a)
    assert rows.sum() + columns.sum() + corner == pytest.approx(gap, rel=1e-12)
    assert rows.min() >= -1e-14 * np.abs(z).max()
    found = kkt_residuals(problem, w, b, a)
    assert found.complementarity.value == pytest.approx(rows.max(), rel=1e-12)
    assert found.complementarity.index == int(rows.argmax())
    s_w = np.abs(0.5 * w - u)  # for a ridge each bracket is (s w - u)² / (2s)
    assert columns == pytest.approx(s_w**2 / (2.0 * 0.5), abs=1e-12 * (1.0 + gap))
    assert found.stationarity.value >= s_w.max()


def test_a_solution_has_small_residuals_and_a_wrong_one_has_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    y = np.where(X[:, 0] > 0.1, 1.0, -1.0)
    problem = Problem(as_design(X), y, HardMargin(), Ridge(1.0), np.ones(30), Intercept.FREE)
    best = MaximumMargin(tol=1e-12).solve(problem)
    # Each bracket is at most the gap, and (s w - u)² / (2s) is one of them.
    found = kkt_residuals(problem, best.coef, best.intercept, best.dual)
    assert found.primal_feasibility.value == 0.0
    rounding = 1e-14 * best.certificate.primal
    assert found.stationarity.value <= np.sqrt(2.0 * (best.certificate.gap + rounding))
    assert found.complementarity.value <= best.certificate.gap + rounding
    assert kkt_residuals(problem, 0.5 * best.coef, best.intercept, best.dual).largest > 0.1


@pytest.mark.parametrize("where", ["w", "b", "a"])
def test_what_is_not_a_number_is_never_optimal(where):
    problem, w, b, a, _ = planted(Hinge(), Intercept.FREE)
    w, a = w.copy(), a.copy()
    if where == "w":
        w[0] = np.nan
    elif where == "a":
        a[0] = np.nan
    assert kkt_residuals(problem, w, np.nan if where == "b" else b, a).largest == np.inf


def test_repr_says_where():
    lines = repr(KKT(Residual(1e-3, 2), Residual(0.0, -1), Residual(0.5, -1), Residual(2.0, 7))).splitlines()
    assert lines == [
        "stationarity        1.000e-03  at column 2",
        "primal feasibility  0.000e+00",
        "dual feasibility    5.000e-01",
        "complementarity     2.000e+00  at row 7",
    ]


@pytest.mark.parametrize("solver", ["dual_ascent", "newton", "interior_point", "quadratic_program", "gradient", "sgd"])
def test_the_cases_of_the_notes_hold_within_what_the_gap_allows(solver):
    """001:  a = 0 -> y f >= 1,  0 < a < c -> y f = 1,  a = c -> y f <= 1  at the optimum (w*, b*).

    A solution with gap g has |w - w*| <= √(2g), so its margins are off by |x_i| √(2g) + |b - b*| at most: every row whose case is
    known from the optimum's multipliers must show it to within that.
    """
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 4))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, 1.0, -1.0)
    problem = Problem(as_design(X), y, Hinge(), Ridge(1.0), rng.uniform(0.5, 2.0, 80), Intercept.FREE)
    best = Newton(tol=1e-14).solve(problem)
    found = make_solver(solver, problem, tol=1e-4, max_iter=2000).solve(problem)
    alpha = problem.target * best.dual
    margin = problem.target * problem.design.scores(found.coef, found.intercept)
    gap = found.certificate.gap + best.certificate.gap + 1e-12 * found.certificate.primal
    allowed = np.sqrt(problem.design.norms_sq) * np.sqrt(2.0 * gap) + abs(found.intercept - best.intercept) + 1e-9
    grid = 2.0**-50 * 2.5 * problem.cost.sum()  # a free intercept rounds the box down onto its grid
    lower, upper = alpha <= grid, alpha >= problem.cost - grid
    inside = ~lower & ~upper
    assert min(lower.sum(), upper.sum(), inside.sum()) >= 1, "each case of the notes is there"
    assert np.all(margin[lower] >= (1.0 - allowed)[lower])
    assert np.all(margin[upper] <= (1.0 + allowed)[upper])
    assert np.all(np.abs(margin - 1.0)[inside] <= allowed[inside])
