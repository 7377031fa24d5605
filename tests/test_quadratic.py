import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin import QuadraticProgram

UNIT = 2.0**-53


def random_program(seed, n=5, inequalities=7, equalities=2, rank=None):
    """A program with a strictly feasible point: P = MM' of the given rank, h = G x0 + positive, b = A x0."""
    rng = np.random.default_rng(seed)
    M, x0 = rng.normal(size=(n, n if rank is None else rank)), rng.normal(size=n)
    G, A = rng.normal(size=(inequalities, n)), rng.normal(size=(equalities, n))
    P = M @ M.T
    P = 0.5 * (P + P.T)
    q = rng.normal(size=n) if rank is None else P @ rng.normal(size=n) + G.T @ -rng.uniform(size=inequalities)
    h = G @ x0 + rng.uniform(0.1, 1.0, size=inequalities)
    return QuadraticProgram(P, q, G, h, A, A @ x0), x0


def kkt(program, found):
    """The largest violation of the four conditions, for data of size about 1."""
    x, lam, nu = found.x, found.inequality, found.equality
    stationarity = program.P @ x + program.q + program.G.T @ lam + program.A.T @ nu
    slack = program.h - program.G @ x
    parts = (stationarity, program.A @ x - program.b, np.minimum(slack, 0.0), np.minimum(lam, 0.0), lam * slack)
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)


@given(seed=st.integers(0, 10**6), equalities=st.integers(0, 3), inequalities=st.integers(0, 12))
def test_the_karush_kuhn_tucker_conditions_hold_and_both_values_agree(seed, equalities, inequalities):
    program, _ = random_program(seed, inequalities=inequalities, equalities=equalities)
    found = program.solve()
    assert found.solved
    # solve's tol of 1e-10 is relative to 1 + the largest number of q, h, b, and to 1 + |objective| for the products.
    size = 1.0 + max(np.abs(v).max(initial=0.0) for v in (program.q, program.h, program.b)) + abs(program.objective(found.x))
    assert kkt(program, found) <= 1e-10 * size
    best = program.theta_primal(found.x)
    assert program.theta_dual(found.inequality, found.equality) == pytest.approx(best, abs=1e-8 * size)


@given(seed=st.integers(0, 10**6), rank=st.sampled_from([None, 0, 2]))
def test_every_dual_value_is_below_every_primal_value(seed, rank):
    program, x0 = random_program(seed, rank=rank, equalities=0)
    rng = np.random.default_rng(seed)
    found = program.solve()
    for _ in range(5):
        x = x0 + 0.05 * rng.normal(size=5)
        lam, nu = rng.exponential(size=7), np.zeros(0)
        for multipliers in (lam, found.inequality):
            dual = program.theta_dual(multipliers, nu)
            size = 1.0 + abs(program.objective(x)) + abs(found.x).max() + found.inequality.max()
            assert dual <= program.theta_primal(x) + 1e-8 * size


@given(seed=st.integers(0, 10**6))
def test_the_dual_value_is_the_least_value_of_the_lagrangian(seed):
    program, _ = random_program(seed)
    rng = np.random.default_rng(seed)
    lam, nu = rng.exponential(size=7), rng.normal(size=2)
    least = program.theta_dual(lam, nu)
    x = np.linalg.solve(program.P, -(program.q + program.G.T @ lam + program.A.T @ nu))
    condition = np.linalg.cond(program.P)
    assert program.lagrangian(x, lam, nu) == pytest.approx(least, rel=64 * UNIT * condition, abs=64 * UNIT * condition)
    for _ in range(5):
        above = program.lagrangian(x + rng.normal(size=5), lam, nu)
        assert least <= above + 64 * UNIT * condition * (1.0 + abs(least))


def test_the_primal_value_is_the_greatest_value_of_the_lagrangian():
    program, x0 = random_program(3, equalities=0)
    assert program.theta_primal(x0) == program.objective(x0) == program.lagrangian(x0, np.zeros(7), np.zeros(0))
    outside = x0 + 100.0 * program.G[0]
    assert program.theta_primal(outside) == np.inf
    raised = [program.lagrangian(outside, t * np.eye(7)[0], np.zeros(0)) for t in (0.0, 1.0, 1e6)]
    assert raised == sorted(raised)
    assert raised[-1] > 1e6


def test_negative_multipliers_and_a_slope_without_end_have_no_dual_value():
    program = QuadraticProgram([[1.0, 0.0], [0.0, 0.0]], [0.0, 1.0], [[0.0, -1.0]], [0.0])
    assert program.theta_dual(np.array([-1.0]), np.zeros(0)) == -np.inf
    assert program.theta_dual(np.array([0.5]), np.zeros(0)) == -np.inf
    assert program.theta_dual(np.array([1.0]), np.zeros(0)) == 0.0


def test_by_hand():
    # min x²/2 s.t. x >= 2: x = 2, λ = 2, value 2.
    found = QuadraticProgram([[1.0]], [0.0], [[-1.0]], [-2.0]).solve()
    assert found.solved
    assert found.x == pytest.approx([2.0], abs=1e-9)
    assert found.inequality == pytest.approx([2.0], abs=1e-9)


def test_equalities_alone_are_one_linear_system():
    # the projection of 0 onto x + y = 2
    found = QuadraticProgram(np.eye(2), np.zeros(2), A=[[1.0, 1.0]], b=[2.0]).solve()
    assert found.solved
    assert found.steps <= 1
    assert found.x == pytest.approx([1.0, 1.0], abs=1e-12)
    assert found.equality == pytest.approx([-1.0], abs=1e-12)


def test_no_constraints_is_one_linear_system():
    found = QuadraticProgram([[2.0, 0.0], [0.0, 4.0]], [-2.0, 4.0]).solve()
    assert found.solved
    assert found.x == pytest.approx([1.0, -1.0], abs=1e-12)


@given(seed=st.integers(0, 10**6))
def test_linear_programs(seed):
    """min q'x over the box [-1, 1]: -|q|_1, at the corner -sign(q)."""
    q = np.random.default_rng(seed).choice([-3.0, -1.0, -0.5, 0.5, 2.0], 4)
    found = QuadraticProgram(None, q, np.vstack([np.eye(4), -np.eye(4)]), np.ones(8)).solve()
    assert found.solved
    assert found.x == pytest.approx(-np.sign(q), abs=1e-8)
    assert found.inequality == pytest.approx(np.append(np.maximum(-q, 0.0), np.maximum(q, 0.0)), abs=1e-8)


def test_redundant_rows_do_no_harm():
    found = QuadraticProgram(np.eye(2), [-1.0, 0.0], [[1.0, 0.0]] * 5, [0.5] * 5, [[1.0, 1.0]] * 3, [1.0] * 3).solve()
    assert found.solved
    assert found.x == pytest.approx([0.5, 0.5], abs=1e-5)  # no strict complementarity here: only √tol can be promised
    assert QuadraticProgram(np.eye(1), [1.0], [[0.0]], [0.0]).solve().x == pytest.approx([-1.0], abs=1e-5), "0 <= 0"


@pytest.mark.parametrize(
    "program",
    [
        QuadraticProgram(np.eye(1), [0.0], [[1.0], [-1.0]], [-1.0, -1.0]),
        QuadraticProgram(np.eye(1), [0.0], A=[[1.0], [1.0]], b=[0.0, 1.0]),
        QuadraticProgram(np.eye(2), [0.0, 0.0], [[0.0, 0.0]], [-1.0]),
        QuadraticProgram(np.eye(2), [0.0, 0.0], [[1.0, 1.0]], [-1.0], np.eye(2), [0.0, 0.0]),
        QuadraticProgram(None, [-1.0], [[-1.0]], [0.0]),
        QuadraticProgram(None, [-1.0, 0.0]),
        QuadraticProgram([[1.0, 0.0], [0.0, 0.0]], [0.0, 1.0], [[1.0, 0.0]], [1.0]),
    ],
    ids=[
        "x <= -1, x >= 1",
        "x = 0, x = 1",
        "0 <= -1",
        "sum below its terms",
        "falls forever",
        "no bound",
        "flat and falling",
    ],
)
def test_infeasible_and_unbounded_programs_are_not_solved_and_do_not_crash(program):
    found = program.solve()
    assert not found.solved
    assert np.isfinite(found.x).all()
    assert np.isfinite(found.inequality).all()


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_units_of_the_rows_and_of_the_objective(scale):
    program, _ = random_program(11)
    scaled = QuadraticProgram(scale * program.P, scale * program.q, program.G, program.h, program.A, program.b)
    stretched = QuadraticProgram(program.P, program.q, scale * program.G, scale * program.h, program.A, program.b)
    for other in (scaled, stretched):
        found = other.solve()
        assert found.solved
        # |x - x*|² <= 2 (θ_P - θ_D) / the smallest eigenvalue; P is 1-scaled, so 1e-10 relative is 1e-5 in x at worst.
        assert found.x == pytest.approx(program.solve().x, abs=1e-4)


def test_it_can_be_stopped_at_the_best_point_so_far():
    program, _ = random_program(1)
    asked = []
    found = program.solve(stop=lambda step: asked.append(step) or step == 3)
    assert asked == [0, 1, 2, 3]
    assert not found.solved
    assert found.steps <= 3


def test_a_dear_objective_does_not_buy_a_violation():
    # min 1e12 x s.t. x >= 1: residuals of the rows are measured against the rows, not against q
    found = QuadraticProgram(None, [1e12], [[-1.0]], [-1.0]).solve()
    assert found.solved
    assert found.x == pytest.approx([1.0], abs=1e-8)


def test_indefinite_and_asymmetric_matrices_are_refused():
    with pytest.raises(ValueError, match=r"positive semidefinite; its smallest eigenvalue is -1"):
        QuadraticProgram([[0.0, 1.0], [1.0, 0.0]], [0.0, 0.0])
    with pytest.raises(ValueError, match="positive semidefinite"):
        QuadraticProgram(np.diag([1.0, -0.5]), [0.0, 0.0])
    with pytest.raises(ValueError, match="P must be symmetric"):
        QuadraticProgram([[1.0, 1.0], [0.0, 1.0]], [0.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"P": np.eye(3), "q": [1.0, 1.0]}, r"QuadraticProgram\(P\): a finite matrix with 2 columns"),
        ({"P": None, "q": [1.0], "G": [[1.0, 2.0]], "h": [1.0]}, r"QuadraticProgram\(G\)"),
        ({"P": None, "q": [1.0], "G": [[1.0]]}, r"QuadraticProgram\(h\): 1 finite numbers"),
        ({"P": None, "q": [1.0], "A": [[1.0]], "b": [np.nan]}, r"QuadraticProgram\(b\)"),
        ({"P": [[np.inf]], "q": [1.0]}, r"QuadraticProgram\(P\)"),
        ({"P": None, "q": [np.inf]}, r"QuadraticProgram\(q\)"),
    ],
)
def test_shapes_and_numbers_are_checked(arguments, words):
    with pytest.raises(ValueError, match=words):
        QuadraticProgram(**arguments)


def player(payoff):
    """The mixed strategy p that maximises the least column of p'M: min -v s.t. v <= (p'M)_j, p >= 0, Σ p = 1."""
    m, k = payoff.shape
    G = np.vstack([np.hstack([-payoff.T, np.ones((k, 1))]), np.hstack([-np.eye(m), np.zeros((m, 1))])])
    A = np.append(np.ones(m), 0.0)[None, :]
    found = QuadraticProgram(None, np.append(np.zeros(m), -1.0), G, np.zeros(k + m), A, [1.0]).solve()
    assert found.solved
    return found.x[:m], found.x[m], found.inequality[:k]


def test_rock_paper_scissors_has_value_0_and_uniform_strategies():
    payoff = np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    strategy, value, other = player(payoff)
    assert value == pytest.approx(0.0, abs=1e-9)
    assert strategy == pytest.approx(np.full(3, 1 / 3), abs=1e-8)
    assert other == pytest.approx(np.full(3, 1 / 3), abs=1e-8), "the multipliers are the other player's strategy"


@given(seed=st.integers(0, 10**6))
def test_the_programs_of_both_players_of_a_matrix_game_agree(seed):
    payoff = np.random.default_rng(seed).normal(size=(3, 4))
    strategy, value, other = player(payoff)
    answer, loss, _ = player(-payoff.T)
    assert value == pytest.approx(-loss, abs=1e-8)
    assert (strategy @ payoff).min() >= value - 1e-8
    assert (payoff @ answer).max() <= value + 1e-8
    assert (payoff @ other).max() <= value + 1e-7
