"""Problems x solvers: all of them, and one solver that is not ours, agree within the sum of their certificates."""

import clarabel
import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import Gram, HardMargin, Hinge, Intercept, Problem, Ridge, SquaredHinge, as_design, certify, fit_problem
from maxmargin.kernels import Linear
from maxmargin.solvers import SOLVERS, make_solver
from maxmargin.testing import planted_problem

TOL = 1e-4  # what is asked for; counted as solved from 1e-3 on
ENOUGH = 1e-3
REFUSED = {
    Hinge: {"maximum_margin", "least_squares", "coordinate_descent", "newton_cholesky"},
    SquaredHinge: {"maximum_margin", "least_squares"},
}
FIRST_ORDER = ("gradient", "sgd")  # a digit costs them ten times the work, so they need not arrive everywhere


def drawn(n, d, noise, scale=None, seed=0, dtype=float, repeat=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (1.0 if scale is None else scale)
    direction = rng.normal(size=d)
    score = X @ direction
    y = np.where(score + noise * score.std() * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = (1.0, -1.0) if noise else y[:2]
    return np.repeat(X, repeat, axis=0).astype(dtype), np.repeat(y, repeat)


def text_like(seed=0):
    S = sp.random_array((80, 200), density=0.05, rng=np.random.default_rng(seed), format="csr")
    return S, np.where(np.arange(80) % 3 == 0, 1.0, -1.0)


DATA = {
    "noise": drawn(60, 4, 3.0),
    "overlap": drawn(120, 6, 0.5),
    "separable": drawn(60, 5, 0.0),
    "wide": drawn(20, 80, 0.5),
    "sparse": text_like(),
    "float32": drawn(60, 4, 1.0, dtype=np.float32),
    "duplicates": drawn(15, 3, 1.0, repeat=4),
    "columns of all sizes": drawn(60, 4, 0.5, scale=10.0 ** np.arange(-2, 2)),
}


def problem_of(name, loss, intercept, C):
    X, y = DATA[name]
    return Problem(as_design(X), y, loss, Ridge(0.5), np.full(len(y), C), intercept, 2.0)


def reference(problem):
    """(w, b, a) from clarabel (Goulart and Chen 2024), for  min s|w|²/2 + s_b b²/2 + Σ c ξ [c ξ²]  s.t.  y (x'w + b) >= 1 - ξ,  ξ >= 0.

    Its form is min x'Px/2 + q'x s.t. Ax + t = h, t >= 0, with multipliers of Ax <= h, of which the first n are y a.
    """
    X = sp.csc_array(
        problem.design.data.astype(float) if sp.issparse(problem.design.data) else np.asarray(problem.design.data, float)
    )
    y, c, (n, d) = problem.target, problem.cost, X.shape
    slacks = 0 if isinstance(problem.loss, HardMargin) else n
    squared = isinstance(problem.loss, SquaredHinge)
    free = int(problem.intercept is not Intercept.NONE)
    s_b = problem.intercept_strength if problem.intercept is Intercept.PENALIZED else 0.0
    P = sp.diags_array(
        np.concatenate([np.full(d, 0.5), np.full(free, s_b), np.full(slacks, 0.0) + squared * 2.0 * c[:slacks]])
    )
    q = np.concatenate([np.zeros(d + free), np.zeros(slacks) if squared else c[:slacks]])
    signed = [-(sp.diags_array(y) @ X)] + ([sp.csc_array(-y[:, None])] if free else [])
    eye = sp.eye_array(n)
    rows = [[*signed, -eye], [None] * len(signed) + [-eye]] if slacks else [signed]
    A = sp.block_array(rows, format="csc")
    h = np.concatenate([-np.ones(n), np.zeros(slacks)])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(sp.csc_matrix(P), q, sp.csc_matrix(A), h, [clarabel.NonnegativeConeT(len(h))], settings)
    found = solver.solve()
    x, multipliers = np.array(found.x), np.array(found.z)
    w = x[:d]
    b = problem.best_intercept(problem.design.scores(w), float(x[d]) if free else 0.0)
    return w, b, y * multipliers[:n]


@pytest.mark.parametrize("C", [pytest.param(1e-2, marks=pytest.mark.all), 1.0, pytest.param(1e2, marks=pytest.mark.all)])
@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("name", DATA)
def test_all_solvers_agree_within_the_sum_of_their_certificates(name, loss, intercept, C):
    problem = problem_of(name, loss, intercept, C)
    found = {}
    for each in SOLVERS:
        solver = make_solver(each, problem, TOL, 300)
        if solver.refuse(problem) is None:
            solution = solver.solve(problem)
            found[each] = certify(problem, solution.coef, solution.intercept, solution.dual), solution.coef
    if isinstance(loss, Hinge) and intercept is Intercept.FREE:  # the same problem, its rows known by inner products alone
        gram = Problem(Gram.of_kernel(Linear(), problem.design.data), problem.target, loss, Ridge(0.5), problem.cost)
        solution = make_solver("pair_ascent", gram, TOL).solve(gram)
        w = problem.design.combine(solution.coef)
        found["pair_ascent"] = certify(problem, w, solution.intercept, solution.dual), w
    w, b, a = reference(problem)
    found["clarabel"] = certify(problem, w, b, a), w
    assert set(found) - {"pair_ascent"} == {*SOLVERS, "clarabel"} - REFUSED[type(loss)] - {"pair_ascent"}
    agree(found, 0.5)
    arrived = {each for each, (certificate, _) in found.items() if certificate.relative_gap <= ENOUGH}
    assert arrived >= set(found) - set(FIRST_ORDER), {each: c.relative_gap for each, (c, _) in found.items()}


@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
def test_hard_margins_agree_too(intercept):
    problem = problem_of("separable", HardMargin(), intercept, 1.0)
    found = {}
    for each in ("auto", "maximum_margin", "quadratic_program"):
        solution = fit_problem(problem, each)
        found[each] = certify(problem, solution.coef, solution.intercept, solution.dual), solution.coef
    agree(found, 0.5)
    assert all(certificate.relative_gap <= ENOUGH for certificate, _ in found.values())
    # Its point keeps the margins to 1e-8 only, so P is ∞ there; its multipliers bound P* from below all the same.
    w, b, a = reference(problem)
    best = found["auto"][0]
    theirs = certify(problem, w * (1.0 + 1e-6), b * (1.0 + 1e-6), a)
    assert best.dual <= theirs.primal
    assert (1.0 - ENOUGH) * best.primal <= theirs.dual <= best.primal * (1.0 + 1e-12)


@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
def test_the_reference_finds_planted_optima(loss, intercept):
    """So that the table leans on a reference that is itself held to constructed truth."""
    problem, w, b = planted_problem(loss, intercept, strength=0.5)
    best = problem.primal(w, b)
    certificate = certify(problem, *reference(problem))
    assert certificate.dual - 1e-12 * best <= best <= certificate.primal + 1e-12 * best
    assert certificate.relative_gap <= 1e-6


def agree(found, strength):
    """No primal value lies below a dual one, and coefficients are as close as the gaps say: |w - w'| <= Σ √(2 gap / s)."""
    highest = max(certificate.dual for certificate, _ in found.values())
    for name, (certificate, w) in found.items():
        assert certificate.primal >= highest - 1e-12 * abs(highest), name
        for other, (gap, v) in found.items():
            allowed = sum(np.sqrt(2.0 * (each.gap + 1e-13 * each.primal) / strength) for each in (certificate, gap))
            assert np.linalg.norm(w - v) <= allowed, (name, other)
