"""Ratios, means and figures from results made by hand."""

import math

import pytest

from benchmarks.report import Comparison, geometric, hardness, report, shortfall, stopped_after


def rival(theirs, bounded=False):
    return Comparison("task", "text", 1e-3, "peer", 2.0, theirs, bounded, "")


def test_ratios_are_theirs_over_ours():
    assert rival(6.0).ratio == 3.0
    assert rival(6.0).shown == "3.00"
    assert rival(60.0, bounded=True).shown == "> 30.0"
    assert rival(0.0, bounded=True).shown == "never"


def test_worst_first_and_those_that_did_not_arrive_last():
    rivals = [rival(0.0, True), rival(60.0, True), rival(6.0), rival(1.0)]
    assert sorted(rivals, key=hardness) == rivals[::-1]


def test_the_geometric_mean():
    assert geometric([0.5, 2.0, 8.0]) == pytest.approx(2.0)
    assert math.isnan(geometric([]))


def test_how_far_a_peer_came_is_said():
    curve = [{"outcome": "did not arrive", "gap": 0.1, "seconds": 3.0}, {"outcome": "timed out", "seconds": 7.0}]
    assert shortfall(curve) == "best gap 1e-01, timed out"
    assert stopped_after(curve) == 7.0
    assert stopped_after(curve[:1]) == 0.0


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no results"):
        report(tmp_path, tmp_path / "page.md")


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.figures import draw

    points = [{"outcome": "arrived", "seconds": 0.1 / k, "gap": 10.0**-k, "setting": ""} for k in (1, 2, 3)]
    task = {
        "data": "made",
        "loss": "hinge",
        "C": 1.0,
        "intercept": "free",
        "targets": [1e-3],
        "positive": 1,
        "family": "text",
    }
    row = {"task": task, "name": "made", "peers": {"maxmargin": {"curve": points}}, "floors": {"least": 1e-3}}
    axis = {
        "name": "rows",
        "grows": "n",
        "time_slope": 1.0,
        "points": [{"size": k, "seconds": k, "peak_bytes": k} for k in (1, 2)],
    }
    drawn = draw({"linear": {"rows": [row]}}, {"axes": [axis]}, tmp_path)
    assert set(drawn) == {"linear-text", "scaling"}
    assert all((tmp_path / path).stat().st_size > 1000 for path in drawn.values())
