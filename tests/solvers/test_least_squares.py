import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import L1, Huber, Intercept, LeastSquares, NoPenalty, Problem, Ridge, Squared, Status, as_design, certify
from rational import RationalProblem

INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
STORED = pytest.mark.parametrize("stored", [np.asarray, sp.csr_array])


def draw(n, d, seed=0, offset=3.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + offset
    return X, X @ rng.normal(size=d) + rng.normal(size=n) + 10.0, rng.uniform(0.0, 2.0, n) * (rng.uniform(size=n) < 0.9)


@INTERCEPTS
@STORED
@pytest.mark.parametrize("shape", [(80, 6), (12, 70)], ids=["columns", "rows"])
@pytest.mark.parametrize("strength", [1e-6, 1.0, 1e6])
def test_ridge_is_solved_up_to_rounding(intercept, stored, shape, strength):
    X, y, cost = draw(*shape)
    problem = Problem(as_design(stored(X)), y, Squared(), Ridge(strength), cost, intercept)
    solution = LeastSquares(tol=1e-10).solve(problem)
    assert solution.status is Status.SOLVED
    rigorous = certify(problem, solution.coef, solution.intercept, solution.dual, "rigorous")
    assert rigorous.gap <= 1e-10 * rigorous.primal + 1e-12 * rigorous.zero


@INTERCEPTS
@pytest.mark.parametrize("shape", [(6, 2), (3, 5)], ids=["columns", "rows"])
def test_ridge_is_that_of_rational_arithmetic(intercept, shape):
    X, y, cost = draw(*shape)
    cost[0] = 1.0
    best, w, b, _ = RationalProblem(X, y, cost, Squared(), Ridge(0.7), intercept).solution()
    solution = LeastSquares().solve(Problem(as_design(X), y, Squared(), Ridge(0.7), cost, intercept))
    assert abs(solution.certificate.primal - float(best)) <= 1e-12 * float(best)
    assert np.allclose(solution.coef, np.array(w, dtype=float), rtol=1e-9)
    assert np.isclose(solution.intercept, float(b), rtol=1e-9)


@STORED
@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=lambda i: i.value)
def test_least_squares_without_penalty(stored, intercept):
    X, y, cost = draw(60, 5)
    solution = LeastSquares(tol=1e-10).solve(Problem(as_design(stored(X)), y, Squared(), NoPenalty(), cost, intercept))
    wide = np.column_stack([X, np.ones(60)]) if intercept is Intercept.FREE else X
    expected = np.linalg.lstsq(wide * np.sqrt(cost)[:, None], y * np.sqrt(cost))[0]
    assert solution.status is Status.SOLVED
    assert np.allclose(solution.coef, expected[:5], rtol=1e-10)


@STORED
@pytest.mark.parametrize("kind", ["dependent", "wide", "constant"])
def test_dependent_columns_give_the_solution_of_least_norm_and_say_so(stored, kind):
    X, y, _ = draw(*((40, 6) if kind != "wide" else (10, 30)), offset=0.5)
    X[:, 1] = 2.0 if kind == "constant" else X[:, 0] if kind == "dependent" else X[:, 1]
    n = len(X)
    solution = LeastSquares().solve(Problem(as_design(stored(X)), y, Squared(), NoPenalty(), np.ones(n), Intercept.FREE))
    assert solution.status is Status.LEAST_NORM
    assert "least norm" in solution.status.value
    expected = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
    assert np.allclose(solution.coef, expected, atol=1e-8 * np.linalg.norm(expected))
    assert (solution.certificate.precision == "none") == (kind != "wide"), "an interpolation is bounded by 0"


@pytest.mark.parametrize("intercept", [Intercept.NONE, Intercept.FREE], ids=lambda i: i.value)
def test_a_vanishing_ridge_is_no_ridge(intercept):
    X, y, cost = draw(50, 4)
    small, none = (
        LeastSquares().solve(Problem(as_design(X), y, Squared(), penalty, cost, intercept))
        for penalty in (Ridge(1e-9), NoPenalty())
    )
    assert np.allclose(small.coef, none.coef, rtol=1e-7)


def test_nearly_dependent_columns_keep_their_digits():
    """Columns that differ by 1e-7: the normal equations alone would lose all digits."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[:, 1] = X[:, 0] + 1e-7 * X[:, 1]
    truth = np.array([1.0, 2.0, -1.0])
    problem = Problem(as_design(X), X @ truth, Squared(), NoPenalty(), np.ones(50), Intercept.NONE)
    assert np.allclose(LeastSquares().solve(problem).coef, truth, atol=1e-7)


@pytest.mark.parametrize(
    ("loss", "penalty", "words"),
    [(Huber(), Ridge(), "must be Squared"), (Squared(), L1(), "coordinate_descent")],
)
def test_what_it_cannot_do_is_refused_in_words(loss, penalty, words):
    X, y, cost = draw(10, 2)
    with pytest.raises(ValueError, match=words):
        LeastSquares().solve(Problem(as_design(X), y, loss, penalty, cost, Intercept.FREE))


def test_rows_without_any_cost():
    X = draw(3, 5)[0]
    for penalty in (Ridge(), NoPenalty()):
        for rows in (X, X.T[:, :2].copy()):
            problem = Problem(as_design(rows), np.ones(len(rows)), Squared(), penalty, np.zeros(len(rows)), Intercept.FREE)
            assert not LeastSquares().solve(problem).coef.any()
