import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    L1,
    Box,
    DualAscent,
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    Huber,
    Intercept,
    Logistic,
    Newton,
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
    fit_problem,
)
from maxmargin.penalties import ElasticNet, Penalty
from maxmargin.solvers import SOLVERS, Watch, make_solver, plan
from maxmargin.solvers.choose import ESTIMATES, GENERAL, automatic
from maxmargin.testing import planted_problem

TAKES_HINGE = [
    name
    for name in SOLVERS
    if name not in ("coordinate_descent", "least_squares", "maximum_margin", "newton_cholesky", "pair_ascent")
]


def test_names_make_solvers():
    problem, _, _ = planted_problem(Hinge())
    assert make_solver("dual_ascent", problem, 1e-3, 7, 5) == DualAscent(1e-3, 7, 5)
    assert make_solver("newton", problem, 1e-3, 7, 5) == Newton(1e-3, 7)
    assert make_solver("auto", problem) == DualAscent()


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match="'auto', 'coordinate_descent', 'dual_ascent', 'interior_point'"):
        fit_problem(planted_problem(Hinge())[0], "simplex")


@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
def test_all_solvers_agree_within_the_sum_of_their_certificates(intercept):
    problem, _, _ = planted_problem(Hinge(), intercept, n=150, d=6)
    found = {name: fit_problem(problem, name) for name in TAKES_HINGE}
    best = max(solution.certificate.dual for solution in found.values())
    for solution in found.values():
        assert solution.certificate.primal >= best - 1e-13 * abs(best)
        distance = np.linalg.norm(solution.coef - found["newton"].coef)
        assert distance <= sum(np.sqrt(2 * each.certificate.gap) for each in (solution, found["newton"])) + 1e-12


@pytest.mark.all
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
@pytest.mark.parametrize("kind", ["noise", "blobs", "duplicates", "regular labels"])
def test_small_problems_are_solved_to_1e_9_by_all_solvers(loss, intercept, kind):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(6, 60)), int(rng.integers(1, 12))
        X = rng.normal(size=(n, d))
        X = np.round(X) if kind == "duplicates" else X
        y = np.where(X[:, 0] + (3.0 if kind == "noise" else 0.3) * rng.normal(size=n) > 0, 1.0, -1.0)
        y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0) if kind == "regular labels" else y
        y[:2] = 1.0, -1.0
        for C in (0.1, 1.0, 100.0):
            problem = Problem(as_design(X), y, loss, Ridge(1.0), np.full(n, C), intercept)
            for name in ("dual_ascent", "newton", "interior_point", "quadratic_program"):
                gap = make_solver(name, problem, tol=1e-9).solve(problem).certificate.relative_gap
                assert gap <= 1e-9, (name, seed, n, d, C, gap)


def drawn(n, d, loss, cost=1.0, form=np.asarray):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return Problem(as_design(form(X)), np.where(X[:, 0] > 0, 1.0, -1.0), loss, Ridge(1.0), np.full(n, cost), Intercept.FREE)


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), HardMargin()], ids=repr)
def test_a_plan_tells_every_solver_or_why_not(loss):
    found = plan(drawn(30, 4, loss))
    assert set(found.estimates) | set(found.refusals) == set(SOLVERS) == set(ESTIMATES)
    assert not set(found.estimates) & set(found.refusals)
    weighed = automatic(found.estimates)
    assert found.solver in weighed
    assert not set(weighed) & set(GENERAL), "dual ascent and Newton are made for these losses"
    for estimate in found.estimates.values():
        assert 0.0 < estimate.seconds < np.inf
        assert 0.0 < estimate.bytes < np.inf
    assert (found.seconds, found.bytes) == (found.estimates[found.solver].seconds, found.estimates[found.solver].bytes)
    others = [found.estimates[name].seconds for name in weighed]
    assert found.seconds == min(others), "the cheapest of those that are picked without being named"
    if loss == HardMargin():
        assert set(found.estimates) == {"maximum_margin", "quadratic_program"}
        assert "loss must be Hinge()" in found.refusals["newton"]
    else:
        assert "loss must be HardMargin()" in found.refusals["maximum_margin"]


def test_the_repr_of_a_plan_is_a_table():
    problem = drawn(3000, 4, Hinge())
    lines = repr(plan(problem)).splitlines()
    assert lines[0].startswith("solver='auto' is '")
    assert lines[0].endswith("MiB beyond the data.")
    assert len(lines) == 1 + len(SOLVERS)
    costs = [float(line.split()[1]) for line in lines[1:] if " no: " not in line]
    assert costs == sorted(costs)
    assert sum("(only by name)" in line for line in lines) == 3
    assert any(line.startswith("  quadratic_program  no: Quadratic: 3000 rows and 4 columns") for line in lines)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-10])
def test_auto_is_a_function_of_the_problem_and_the_tolerance_alone(tol):
    for loss in (Hinge(), SquaredHinge()):
        for n, d, cost in ((30, 4, 1.0), (500, 20, 100.0), (20, 300, 1e-3)):
            problem = drawn(n, d, loss, cost)
            before = plan(problem, tol)
            fit_problem(problem, "newton", Watch())  # no measurement is taken and none is remembered
            problem.design.threads = 3
            again = plan(drawn(n, d, loss, cost), tol)
            assert (before.solver, before.estimates) == (again.solver, again.estimates)
            assert plan(problem, tol).estimates == before.estimates
            assert make_solver("auto", problem, tol) == make_solver(before.solver, problem, tol)


def test_estimates_grow_with_the_work():
    for name in ESTIMATES:
        loss = HardMargin() if name == "maximum_margin" else Hinge()
        small, large = (ESTIMATES[name](drawn(n, 8, loss), 1e-4) for n in (100, 1000))
        assert small.seconds < large.seconds, name
        assert small.bytes < large.bytes, name
        tight = ESTIMATES[name](drawn(100, 8, loss), 1e-8)
        assert small.seconds <= tight.seconds, name


DEGENERATE = {
    "no cost": lambda: drawn(5, 3, Hinge(), cost=0.0),
    "zeros": lambda: dataclasses.replace(drawn(5, 3, Hinge()), design=as_design(np.zeros((5, 3)))),
    "empty rows": lambda: Problem(as_design(sp.csr_array((5, 10**6))), np.ones(5), SquaredHinge(), Ridge(1.0), np.ones(5)),
    "one number": lambda: drawn(1, 1, Hinge()),
}


@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_problems_have_a_plan(name):
    found = plan(DEGENERATE[name]())
    assert all(np.isfinite([each.seconds, each.bytes]).all() for each in found.estimates.values())


@dataclasses.dataclass(frozen=True, slots=True)
class Flat(Penalty):
    def terms(self, w):
        return 0 * w

    def conjugate_terms(self, v):
        return np.where(v == 0, 0.0, np.inf)

    def prox(self, w, step):
        return w


def test_a_problem_that_nobody_takes_is_refused_with_every_reason():
    problem = Problem(as_design(np.eye(2)), np.array([1.0, -1.0]), Hinge(), Flat(), np.ones(2), Intercept.NONE)
    with pytest.raises(ValueError, match="No solver accepts this problem") as caught:
        plan(problem)
    for word in ("DualAscent:", "InteriorPoint:", "MaximumMargin:", "Newton:", "Quadratic:", "Gradient:", "SGD:"):
        assert word in str(caught.value)


LOSSES = [
    Hinge(), SquaredHinge(), SmoothedHinge(0.5), Logistic(), Squared(), Huber(), EpsilonInsensitive(),
    SquaredEpsilonInsensitive(), Pinball(),
]  # fmt: skip
PENALTIES = [NoPenalty(), Ridge(), L1(), ElasticNet(), Box(), NonNegative()]


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_every_pair_is_solved_or_refused_in_words(loss, penalty):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.where(np.arange(40) % 2, 1.0, -1.0)
    problem = Problem(as_design(X), y, loss, penalty, np.ones(40), Intercept.FREE)
    smooth = np.isfinite(loss.curvature)
    solved = isinstance(penalty, Ridge) or (smooth and not isinstance(penalty, NoPenalty)) or isinstance(loss, Squared)
    if solved:
        solution = fit_problem(problem)
        assert solution.certificate.relative_gap <= (1e-4 if smooth or isinstance(loss, Hinge) else 0.1)
        return
    with pytest.raises(ValueError, match=r"No solver accepts this problem\. .*CoordinateDescent: "):
        fit_problem(problem)
