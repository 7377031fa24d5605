"""Slopes of power laws, and problems of the size that is asked."""

import numpy as np
import pytest

from benchmarks.scaling import Point, axes, measure, rows_of, slope


def test_the_slope_of_a_power_law_is_its_exponent():
    sizes = [10.0, 40.0, 160.0]
    assert slope(sizes, [3.0 * size**1.5 for size in sizes]) == pytest.approx(1.5)
    assert slope([2.0], [1.0]) is None
    assert slope(sizes, [0.0, 1.0, 2.0]) is None


@pytest.mark.parametrize("point", [Point(400, 7), Point(400, 900, stored=9), Point(400, 7, classes=5, loss="squared_hinge")])
def test_rows_have_the_size_asked(point):
    X, y = rows_of(point)
    assert X.shape == (point.n, point.d)
    assert len(np.unique(y)) == point.classes
    assert measure(point, repeats=1)["gap"] <= point.tol


def test_every_axis_grows():
    for quick in (False, True):
        for axis in axes(quick):
            sizes = [getattr(point, axis.grows) for point in axis.points()]
            assert sizes == sorted(set(sizes))
