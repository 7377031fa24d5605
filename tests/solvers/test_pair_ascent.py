import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import (
    Dense,
    DualAscent,
    Gram,
    Hinge,
    Intercept,
    PairAscent,
    Problem,
    QuadraticProgram,
    Ridge,
    SquaredHinge,
    Status,
    TextbookSMO,
    _native,
    certify,
    fit_problem,
)
from maxmargin.kernels import Gaussian, Linear, Polynomial, Sigmoid
from maxmargin.solvers import Watch
from maxmargin.testing import planted_problem

KERNELS = pytest.mark.parametrize("kernel", [Gaussian(0.5), Linear(), Polynomial(3, 1.0, 0.5)], ids=repr)


def problem_of(kernel, n=60, d=3, seed=0, strength=1.5, form=np.asarray, cost=(0.5, 2.0)):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + 0.7 * rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(Gram.of_kernel(kernel, form(X)), y, Hinge(), Ridge(strength), rng.uniform(*cost, n))


@KERNELS
def test_it_agrees_with_the_textbook_and_with_the_quadratic_program(kernel):
    """min α'Qα/2 - e'α, Q = y y' K / s, 0 <= α <= c, y'α = 0 is -D*."""
    problem = problem_of(kernel)
    one, other = PairAscent(1e-9, single=False).solve(problem), TextbookSMO(1e-5).solve(problem)
    assert one.status is other.status is Status.SOLVED
    assert max(one.certificate.dual, other.certificate.dual) <= min(one.certificate.primal, other.certificate.primal)
    n, y = 60, problem.target
    K = problem.design.inner(np.arange(n), np.arange(n))
    Q = y[:, None] * y * K / 1.5
    program = QuadraticProgram(
        Q, -np.ones(n), np.vstack([np.eye(n), -np.eye(n)]), np.append(problem.cost, np.zeros(n)), y[None], [0.0]
    )
    found = program.solve(1e-9)
    assert -program.objective(found.x) == pytest.approx(one.certificate.primal, rel=1e-7)
    distance = np.sqrt((one.coef - other.coef) @ K @ (one.coef - other.coef))
    assert distance <= sum(np.sqrt(2.0 * each.certificate.gap / 1.5) for each in (one, other)) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_the_linear_kernel_reaches_planted_optima(seed):
    rows, w, b = planted_problem(Hinge(), Intercept.FREE, seed=seed)
    gram = Problem(Gram.of_kernel(Linear(), rows.design.data), rows.target, Hinge(), rows.penalty, rows.cost)
    solution = PairAscent(1e-8).solve(gram)
    best = rows.primal(w, b)
    assert solution.status is Status.SOLVED
    assert solution.certificate.dual - 1e-12 * best <= best <= solution.certificate.primal + 1e-12 * best
    found = rows.design.combine(solution.coef)
    assert np.linalg.norm(found - w) <= np.sqrt(2.0 * solution.certificate.gap) + 1e-9
    again = DualAscent(1e-8).solve(rows)
    assert abs(again.certificate.primal - solution.certificate.primal) <= again.certificate.gap + solution.certificate.gap


@KERNELS
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32)])
def test_storage_and_rows_in_float32_cost_no_digits(kernel, single, form):
    problem = problem_of(kernel, n=150, form=form)
    solution = PairAscent(1e-8, single=single).solve(problem)
    assert solution.status is Status.SOLVED
    assert certify(problem, solution.coef, solution.intercept, solution.dual, "rigorous").relative_gap <= 1.1e-8
    assert np.sum(solution.dual) == 0.0
    low, high = problem.box()
    assert np.all((solution.dual >= low) & (solution.dual <= high))


def test_a_matrix_gives_what_its_kernel_gives():
    problem = problem_of(Gaussian(0.5))
    K = Gaussian(0.5).block(problem.design.products.rows)
    plain = Gram.of_matrix(K)
    matrix = Gram.of_matrix(K, plain.check_mercer())
    other = Problem(matrix, problem.target, Hinge(), problem.penalty, problem.cost)
    ours, theirs = (PairAscent(1e-6).solve(each) for each in (problem, other))
    assert np.array_equal(ours.dual, theirs.dual)


def test_a_small_cache_changes_nothing_but_the_work():
    problem = problem_of(Gaussian(2.0), n=300)
    large = PairAscent(1e-6).solve(problem)
    small = PairAscent(1e-6, cache_size=16 * 300 * 4 / 2**20).solve(problem)
    assert small.status is large.status is Status.SOLVED
    assert small.work.visits > large.work.visits
    assert abs(small.certificate.primal - large.certificate.primal) <= small.certificate.gap + large.certificate.gap


def test_some_rows_of_a_gram_are_solved_as_those_rows():
    problem, rows = problem_of(Gaussian(0.5)), np.arange(5, 45)[::-1].copy()
    part = Problem(problem.design.take(rows), problem.target[rows], Hinge(), problem.penalty, problem.cost[rows])
    alone = Gram.of_kernel(Gaussian(0.5), problem.design.products.rows.take(rows))
    other = Problem(alone, part.target, Hinge(), problem.penalty, part.cost)
    ours, theirs = PairAscent(1e-9).solve(part), PairAscent(1e-9).solve(other)
    assert abs(ours.certificate.primal - theirs.certificate.primal) <= ours.certificate.gap + theirs.certificate.gap


@pytest.mark.parametrize("cost", [1e-6, 1.0, 1e8])
@pytest.mark.parametrize(
    "X",
    [np.zeros((2, 1)), np.zeros((6, 2)), np.repeat(np.eye(2), 3, axis=0), np.array([[0.0], [1.0]]), np.ones((4, 1)) * 1e3],
    ids=["two at zero", "zeros", "duplicates", "two rows", "equal"],
)
def test_degenerate_rows(X, cost):
    y = np.where(np.arange(len(X)) % 2 == 0, 1.0, -1.0)
    problem = Problem(Gram.of_kernel(Linear(), X), y, Hinge(), Ridge(1.0), np.full(len(X), cost))
    solution = PairAscent(1e-6).solve(problem)
    assert solution.status is Status.SOLVED


def test_one_class_without_cost():
    problem = problem_of(Gaussian(0.5))
    cost = np.where(problem.target > 0, problem.cost, 0.0)
    solution = PairAscent().solve(Problem(problem.design, problem.target, Hinge(), Ridge(1.0), cost))
    assert solution.status is Status.SOLVED
    assert solution.certificate.gap == 0.0
    assert not solution.dual.any()


def test_an_indefinite_kernel_ends_at_a_stationary_point_without_a_certificate():
    solution = PairAscent().solve(problem_of(Sigmoid(1.0, -1.0)))
    assert solution.status is Status.STATIONARY
    assert solution.certificate.precision == "none"


def test_limits():
    problem = problem_of(Gaussian(0.5), cost=(100.0, 200.0))
    assert PairAscent(1e-12, max_steps=3).solve(problem).status is Status.MAX_ITER
    watch = Watch()
    watch.interrupt()
    assert PairAscent(1e-12).solve(problem, watch=watch).status is Status.INTERRUPTED
    assert PairAscent(1e-12).solve(problem, watch=Watch(1e-9)).status is Status.MAX_TIME
    assert PairAscent(1e-30).solve(problem).status is Status.PRECISION


def test_a_start_is_used():
    problem = problem_of(Gaussian(0.5))
    first = PairAscent(1e-6).solve(problem)
    again = PairAscent(1e-6).solve(problem, start=first)
    assert again.work.steps == 0
    assert again.status is Status.SOLVED


def test_the_same_input_gives_the_same_bits():
    one, other = (PairAscent(1e-8).solve(problem_of(Gaussian(0.5), n=200)) for _ in range(2))
    assert np.array_equal(one.dual, other.dual)


def test_what_it_does_not_take_is_refused():
    problem = problem_of(Linear())
    rows = Problem(Dense(np.ones((2, 1))), np.array([1.0, -1.0]), Hinge(), Ridge(1.0), np.ones(2))
    squared = Problem(problem.design, problem.target, SquaredHinge(), Ridge(1.0), problem.cost)
    none = Problem(problem.design, problem.target, Hinge(), Ridge(1.0), problem.cost, Intercept.NONE)
    for refused, words in ((rows, "must be a Gram"), (squared, "Hinge"), (none, "FREE")):
        with pytest.raises(ValueError, match=words):
            PairAscent().solve(refused)
    assert fit_problem(problem).status is Status.SOLVED
    with pytest.raises(ValueError, match="Use PairAscent"):
        fit_problem(problem, DualAscent())


@pytest.mark.parametrize("seed", range(20))
def test_the_working_set_holds_the_pair_that_violates_most(seed):
    rng = np.random.default_rng(seed)
    n, size = 50, int(rng.choice([2, 8, 16]))
    g, low, high = rng.normal(size=n), np.zeros(n), np.ones(n)
    a = rng.choice([0.0, 0.5, 1.0], n)
    last, chosen = rng.choice(n, size=size, replace=False), np.empty(size, dtype=np.int64)
    count = _native.choose_working_set(g, a, low, high, last, chosen)
    chosen = chosen[:count].tolist()
    assert len(set(chosen)) == count <= size
    assert int(np.argmax(np.where(a < high, g, -np.inf))) in chosen
    assert int(np.argmin(np.where(a > low, g, np.inf))) in chosen


def test_steps_on_two_rows_are_exact():
    """max (g_1 - g_2) t - η t²/2 on the boxes, by hand."""
    for k12, room in itertools.product([-0.5, 0.0, 0.9], [0.1, 10.0]):
        K = np.array([[1.0, k12], [k12, 2.0]])
        a, g = np.zeros(2), np.array([1.0, -1.0])
        _native.ascend_pairs(K, np.array([0.0, -room]), np.array([room, 0.0]), a, g, 1.0, 0.0, 5)
        t = min(2.0 / (3.0 - 2.0 * k12), room)
        assert a == pytest.approx([t, -t], rel=1e-15)
        assert g == pytest.approx(np.array([1.0, -1.0]) - K @ a, abs=1e-15)
