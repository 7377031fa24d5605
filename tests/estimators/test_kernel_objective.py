import numpy as np
import pytest

from maxmargin.estimators.kernel_objective import KernelObjective
from maxmargin.kernels import Gaussian, Sigmoid

X = np.random.default_rng(0).normal(size=(9, 2))
Y = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])


def objective(kernel=None, by_pairs=True, mercer="auto", classes=3):
    return KernelObjective(kernel, 2.0, {1: 3.0}, np.arange(classes), by_pairs, mercer)


def test_pairs_hold_the_rows_of_their_classes_that_have_weight():
    weight = np.array([1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0])
    problems = objective(Gaussian()).problems(objective(Gaussian()).design(X), Y, weight)
    assert [rows.tolist() for rows, _ in problems] == [[0, 2, 3, 4, 5], [0, 2, 6, 7, 8], [3, 4, 5, 6, 7, 8]]
    assert problems[2][1].cost.tolist() == [6.0, 6.0, 6.0, 2.0, 2.0, 4.0]
    assert problems[2][1].target.tolist() == [1, 1, 1, -1, -1, -1]


def test_one_against_the_rest():
    problems = objective(Gaussian(), by_pairs=False).problems(objective(Gaussian()).design(X), Y, None)
    assert [problem.target.sum() for _, problem in problems] == [-3.0, -3.0, -3.0]


@pytest.mark.parametrize(("mercer", "positive"), [("auto", True), (True, True), (False, False)])
def test_a_matrix_is_certified_after_a_check(mercer, positive):
    K = Gaussian(0.5).block(X)
    assert objective(mercer=mercer).design(K).positive is positive
    assert objective(Gaussian(0.5), mercer=mercer).design(X).positive
    assert not objective(Sigmoid(3.0, -1.0), mercer=mercer).design(X).positive
