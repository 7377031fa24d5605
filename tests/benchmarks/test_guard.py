"""A slower loop turns the guard red, and nothing is left uncounted in silence."""

import shutil

import pytest

from benchmarks import guard as guards
from benchmarks.guard import ALLOWED, ROOT, compare, count, guard, loops, merge_base, missing_tools, uncounted

CORE = ROOT / "cpp" / "maxmargin"


def test_three_per_cent_are_allowed_and_no_more():
    lines, green = compare({"a": 1030, "b": 90}, {"a": 1000, "b": 100})
    assert green
    assert "faster" in lines[1]
    lines, green = compare({"a": 1031, "new": 5}, {"a": 1000, "gone": 7})
    assert not green
    assert len(lines) == 1
    assert "SLOWER" in lines[0]
    assert ALLOWED == 1.03


def test_every_loop_of_the_core_has_a_program():
    assert uncounted(ROOT) == []
    assert {"dual_ascent", "scores", "combine", "norms_sq", "sgd", "perceptron"} <= set(loops())


def test_without_valgrind_it_says_so_aloud(monkeypatch, capsys):
    monkeypatch.setattr(guards.shutil, "which", lambda tool: None)
    assert guard() == 2
    assert "GUARD DID NOT RUN: valgrind" in capsys.readouterr().out


def test_without_a_merge_base_it_says_so_aloud(monkeypatch, capsys):
    monkeypatch.setattr(guards, "missing_tools", list)
    assert merge_base("no-such-commit") is None
    assert guard("no-such-commit") == 2
    assert "no merge base with no-such-commit" in capsys.readouterr().out


@pytest.mark.all
@pytest.mark.skipif(bool(missing_tools()), reason="valgrind or g++ is not on this machine")
def test_a_tenth_more_work_in_a_loop_is_red_and_the_same_loop_is_green(tmp_path):
    names, isas = ["norms_sq", "scores", "sgd"], ["base"]
    trees = {name: tmp_path / name for name in ("same", "slower", "older")}
    for tree in trees.values():
        shutil.copytree(ROOT / "cpp", tree / "cpp")
    products = trees["slower"] / "cpp" / "maxmargin" / "products.hpp"
    text = products.read_text()
    loop = "z[i] = rows.template dot<Of>(i, w) + Of::of(b);"
    assert loop in text
    again = "{ if (i % 10 == 0) z[rows.n - 1 - i] = rows.template dot<Of>(rows.n - 1 - i, w); " + loop + " }"
    products.write_text(text.replace(loop, again))
    program = trees["older"] / "cpp" / "maxmargin" / "core.hpp"
    program.write_text(program.read_text().replace("(*sgd)", "(*stochastic)"))
    counts = {}
    for name, tree in trees.items():
        folder = tmp_path / f"built-{name}"
        folder.mkdir()
        counts[name], lacking = count(tree, folder, names, isas)
        assert lacking == (["base sgd"] if name == "older" else [])
    assert compare(counts["same"], counts["same"])[1]
    assert counts["same"] == {**counts["slower"], **{k: v for k, v in counts["same"].items() if "scores" in k}}
    lines, green = compare(counts["slower"], counts["same"])
    assert not green
    assert {"scores" in line for line in lines if "SLOWER" in line} == {True}
    assert compare(counts["same"], counts["older"])[1]
