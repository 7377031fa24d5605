import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import HardMargin, Hinge, Intercept, Newton, Problem, Quadratic, Ridge, SquaredHinge, Status, as_design
from maxmargin.solvers import Watch
from maxmargin.solvers.quadratic import MOST_ROWS, slack_program
from maxmargin.testing import check_solver, planted_problem

BOTH = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
ALL = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge(), HardMargin()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)


def labelled(loss, intercept, n=40, d=3, noise=1.0, seed=0, form=np.asarray):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    noise = noise if loss.finite else 0.0
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(as_design(form(X)), y, loss, Ridge(0.5), rng.uniform(0.5, 2.0, n), intercept, 2.0)


@BOTH
@pytest.mark.parametrize("tol", [1e-4, 1e-9])
def test_planted_optima(loss, tol):
    check_solver(Quadratic(tol=tol), loss, tol=tol)


@ALL
@INTERCEPTS
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_program_of_the_notes_has_the_value_of_the_problem(loss, intercept, form):
    """x'Px/2 + q'x at its optimum is P*, its multipliers are the dual point, and its first inequalities are the margins."""
    problem = labelled(loss, intercept, form=form)
    program, used = slack_program(problem)
    found = program.solve()
    assert found.solved
    assert used.tolist() == list(range(40))
    solution = Quadratic(tol=1e-8).solve(problem)
    assert solution.status is Status.SOLVED
    value = program.objective(found.x)
    assert value == pytest.approx(solution.certificate.primal, rel=1e-7)
    assert program.theta_dual(found.inequality, found.equality) == pytest.approx(value, rel=1e-7)
    a = problem.target * found.inequality[:40]
    assert found.x[:3] == pytest.approx(problem.design.combine(a) / 0.5, abs=1e-7)


@BOTH
@INTERCEPTS
def test_it_agrees_with_newton_within_the_certificates(loss, intercept):
    problem = labelled(loss, intercept)
    one, other = Quadratic(tol=1e-8).solve(problem), Newton(tol=1e-10).solve(problem)
    assert abs(one.certificate.primal - other.certificate.primal) <= one.certificate.gap + other.certificate.gap + 1e-13
    distance = np.linalg.norm(one.coef - other.coef)
    assert distance <= sum(np.sqrt(2 * (each.certificate.gap + 1e-13) / 0.5) for each in (one, other))


@ALL
def test_rows_without_cost_are_left_out(loss):
    problem = labelled(loss, Intercept.FREE)
    cost = problem.cost.copy()
    cost[5:9] = 0.0
    y = problem.target.copy()
    y[5:9] *= -1.0  # with a cost these would make hard margins impossible
    found = Quadratic(tol=1e-8).solve(dataclasses.replace(problem, cost=cost, target=y))
    assert found.status is Status.SOLVED
    assert not found.dual[5:9].any()
    nothing = Quadratic().solve(dataclasses.replace(problem, cost=np.zeros(40)))
    assert nothing.status is Status.SOLVED
    assert not nothing.coef.any()


def test_hard_margins_that_cannot_be_kept_have_no_objective():
    problem = Problem(
        as_design(np.array([[0.0], [1.0], [2.0]])), np.array([1.0, -1.0, 1.0]), HardMargin(), Ridge(1.0), np.ones(3)
    )
    found = Quadratic().solve(problem)
    assert found.status is Status.PRECISION
    assert found.certificate.primal == found.certificate.relative_gap == np.inf


def test_duplicates_and_badly_scaled_columns():
    for loss in (Hinge(), SquaredHinge()):
        problem = labelled(loss, Intercept.FREE)
        twice = np.vstack([problem.design.data] * 2)
        doubled = Problem(
            as_design(twice), np.tile(problem.target, 2), loss, Ridge(0.5), np.tile(problem.cost, 2), Intercept.FREE
        )
        assert Quadratic(tol=1e-7).solve(doubled).status is Status.SOLVED
        stretched = dataclasses.replace(problem, design=as_design(problem.design.data * [1e-3, 1.0, 1e3]))
        assert Quadratic(tol=1e-6).solve(stretched).status is Status.SOLVED


def test_what_it_cannot_solve_is_refused_in_words():
    n = MOST_ROWS + 1
    long = Problem(as_design(np.ones((n, 1))), np.ones(n), Hinge(), Ridge(1.0), np.ones(n))
    assert "2001 rows and 1 columns are more than its dense program takes" in Quadratic().refuse(long)
    wide = Problem(as_design(sp.csr_array((1, 5000))), np.ones(1), Hinge(), Ridge(1.0), np.ones(1))
    assert 'Use "auto"' in Quadratic().refuse(wide)
    with pytest.raises(ValueError, match="2001 rows"):
        Quadratic().solve(long)


def test_it_tells_the_listener_of_every_step():
    heard = []
    problem, _, _ = planted_problem(Hinge(), n=10, d=2)
    found = Quadratic().solve(problem, watch=Watch(listener=lambda progress: heard.append(progress)))
    assert [p.epoch for p in heard[:-1]] == list(range(len(heard) - 1))
    assert [p.certified for p in heard] == [False] * (len(heard) - 1) + [True]
    assert heard[-1].relative_gap == found.certificate.relative_gap


def test_limits_are_kept_and_named():
    problem = labelled(Hinge(), Intercept.FREE)
    hurried = Quadratic().solve(problem, watch=Watch(max_time=1e-9))
    assert (hurried.status, hurried.work.steps) == (Status.MAX_TIME, 0)
    stopped = Quadratic().solve(problem, watch=Watch(listener=lambda progress: progress.epoch == 2))
    assert stopped.status is Status.INTERRUPTED
    assert stopped.work.steps <= 2
    assert 0.0 < stopped.certificate.gap < np.inf
    assert Quadratic(tol=1e-300).solve(problem).status is Status.PRECISION
