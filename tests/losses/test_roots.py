import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.losses import Huber
from maxmargin.losses.roots import root_between_kinks, root_of_pieces, root_of_rising, root_of_steps

NUMBERS = st.lists(st.integers(-8, 8).map(float), min_size=1, max_size=12)


def test_pieces_by_hand():
    kinks = np.array([0.0, 2.0])
    assert root_of_pieces(kinks, np.array([-1.0, 3.0]), np.array([-1.0, 3.0])) == 0.5
    assert root_of_pieces(kinks, np.array([-1.0, 0.0]), np.array([0.0, 1.0])) == 1.0
    assert root_of_pieces(kinks, np.array([-1.0, 1.0]), np.array([1.0, 2.0])) == 0.0


@given(kinks=NUMBERS, share=st.floats(0.0, 1.0))
def test_a_step_function_changes_sign_at_its_root(kinks, share):
    jumps = np.ones(len(kinks))
    root = root_of_steps(np.array(kinks), jumps, -share * len(kinks))
    below, at_most = (np.array(kinks) < root).sum(), (np.array(kinks) <= root).sum()
    assert below <= share * len(kinks) * (1 + 1e-12)
    assert at_most >= share * len(kinks) * (1 - 1e-12)


def test_no_kinks_give_0():
    assert root_of_steps(np.empty(0), np.empty(0), 0.0) == 0.0


@given(y=NUMBERS, width=st.sampled_from([0.25, 1.0, 4.0]))
def test_a_piecewise_linear_slope_vanishes_at_its_root(y, width):
    y = np.array(y)
    kinks = np.concatenate([y - width, y + width])
    root = root_between_kinks(Huber(width), y, np.zeros_like(y), np.ones_like(y), kinks)
    assert abs(np.sum(Huber(width).slope(y, root))) <= 1e-13 * y.size


def test_a_flat_root_gives_the_midpoint():
    y = np.array([-100.0, 102.0])
    assert root_between_kinks(Huber(1.0), y, np.zeros(2), np.ones(2), np.array([-101.0, -99.0, 101.0, 103.0])) == 1.0


def test_a_rising_slope_is_solved_to_the_last_places():
    for root in (-1e10, -3.7, 1e-5, 0.1, 1e100):
        found = root_of_rising(lambda b, root=root: np.arctan(b - root), root - 5e110, root + 3e110)
        assert abs(found - root) <= 2.0**-51 * abs(root)
    assert root_of_rising(lambda b: b + 1.0, 0.0, 1.0) == 0.0
    assert root_of_rising(lambda b: b - 2.0, 0.0, 1.0) == 1.0
