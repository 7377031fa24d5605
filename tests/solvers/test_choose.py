import numpy as np
import pytest

from maxmargin import (
    L1,
    Box,
    DualAscent,
    EpsilonInsensitive,
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
from maxmargin.penalties import ElasticNet
from maxmargin.solvers import SOLVERS, make_solver
from maxmargin.testing import planted_problem

TAKES_HINGE = [
    name for name in SOLVERS if name not in ("coordinate_descent", "least_squares", "maximum_margin", "newton_cholesky")
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
