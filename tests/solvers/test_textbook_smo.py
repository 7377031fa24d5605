import numpy as np
import pytest

from maxmargin import Dense, Gram, Hinge, Problem, Ridge, Status, TextbookSMO
from maxmargin.kernels import Gaussian, Linear, Sigmoid
from maxmargin.solvers.textbook_smo import optimise, to_the_wall


def labelled(kernel, C=1.0, n=40):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    return Problem(Gram.of_kernel(kernel, X), y, Hinge(), Ridge(1.0), np.full(n, C))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1000.0])
def test_it_reaches_its_tolerance(C):
    assert TextbookSMO(1e-3).solve(labelled(Gaussian(1.0), C)).status is Status.SOLVED


def test_two_points_by_hand():
    """x = -1 and 1: w = 1, b = 0, α = 1/2 each."""
    problem = Problem(Gram.of_kernel(Linear(), [[-1.0], [1.0]]), np.array([-1.0, 1.0]), Hinge(), Ridge(1.0), np.ones(2))
    solution = TextbookSMO(1e-9).solve(problem)
    assert solution.dual.tolist() == [-0.5, 0.5]
    assert solution.certificate.primal == 0.5


def test_a_pair_is_optimised_on_its_line():
    """Against W on a grid of the segment that the constraints leave."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        A = rng.normal(size=(2, 2))
        K, y, c = A @ A.T, rng.choice([-1.0, 1.0], 2), rng.uniform(0.5, 2.0, 2)
        alpha = c * rng.uniform(size=2)
        margin = K @ (y * alpha)
        found = np.array(optimise(0, 1, alpha.tolist(), c.tolist(), y.tolist(), margin.tolist(), K.tolist(), 1e-12))

        def W(at, K=K, y=y):
            return at.sum() - 0.5 * (y * at) @ K @ (y * at)

        assert y @ found == pytest.approx(y @ alpha, abs=1e-12)
        for t in np.linspace(-4.0, 4.0, 401):
            trial = alpha + t * np.array([y[0] * y[1], -1.0])
            if np.all((trial >= 0.0) & (trial <= c)):
                assert W(trial) <= W(found) + 1e-12


def test_walls():
    assert to_the_wall(1e-14, 1.0) == 0.0
    assert to_the_wall(1.0 - 1e-14, 1.0) == 1.0
    assert to_the_wall(0.5, 1.0) == 0.5


def test_limits_and_refusals():
    assert TextbookSMO(1e-9, max_steps=2).solve(labelled(Gaussian(1.0))).status is Status.MAX_ITER
    rows = Problem(Dense(np.ones((2, 1))), np.array([1.0, -1.0]), Hinge(), Ridge(1.0), np.ones(2))
    for problem, words in (
        (rows, "must be a Gram"),
        (labelled(Sigmoid()), "PairAscent"),
        (labelled(Linear(), n=2001), "2000"),
    ):
        with pytest.raises(ValueError, match=words):
            TextbookSMO().solve(problem)
