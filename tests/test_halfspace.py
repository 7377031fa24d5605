import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin.halfspace import SLACK, VIOLATION, solve_halfspace


def data(noise):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, np.where(X @ [1.0, -2.0, 0.5] + 0.3 + noise * rng.normal(size=80) > 0, 1.0, -1.0)


@pytest.mark.parametrize("objective", [SLACK, VIOLATION])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_both_programs_are_zero_exactly_on_separable_data(form, objective):
    X, y = data(0.0)
    found = solve_halfspace(form(X), y, True, objective)
    assert found.value <= 1e-9
    assert (y * (X @ found.w + found.b)).min() > 0.0


def test_the_slack_program_counts_the_slacks_whatever_the_units():
    X, y = data(1.0)
    values = []
    for scale in (1.0, 1e4):
        found = solve_halfspace(X * scale, y, True, SLACK)
        slacks = np.maximum(0.0, 1.0 - y * (X * scale @ found.w + found.b))
        assert slacks.sum() == pytest.approx(found.value, rel=1e-6)
        a = found.multipliers  # dual feasible up to the program's tolerance, and of the same value
        assert a.min() >= 0.0
        assert a.max() <= 1.0 + 1e-7
        assert np.abs((a * y) @ X).max() <= 1e-6 * np.abs(X).max()
        assert a.sum() == pytest.approx(found.value, rel=1e-6)
        values.append(found.value)
    assert values[0] == pytest.approx(values[1], rel=1e-6)


def test_the_least_violation_is_zero_or_one():
    for noise, value in ((0.0, 0.0), (1.0, 1.0)):
        X, y = data(noise)
        assert solve_halfspace(X, y, True, VIOLATION).value == pytest.approx(value, abs=1e-9)


def test_the_time_limit_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 60))
    assert solve_halfspace(X, np.where(rng.uniform(size=4000) < 0.5, 1.0, -1.0), max_time=1e-6) is None
