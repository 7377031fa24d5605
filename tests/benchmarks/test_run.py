"""Nothing that happens to a peer is left out: each is a row, with its outcome."""

import json
import math

import pytest

from benchmarks import run as runner
from benchmarks.floors import Rates
from benchmarks.judge import Judge
from benchmarks.problems import Task, load
from benchmarks.report import comparisons, page
from benchmarks.run import Children, Limits, fastest, measure, sweep
from benchmarks.worker import Child, Reply, Surroundings
from tests.benchmarks import fakes

TASK = Task("breast_cancer", "squared_hinge", 1.0, "none", (1e-3, 1e-6), 1, family="bundled")
RATES = Rates({1: 1e9}, 1e9, 1e9, 1e9, {1: 1e9})


class Here:
    """A child in this very process: no limit, no memory of its own."""

    def __init__(self, name):
        self.peer = fakes.PEERS[name]

    def fit(self, task, options, limit, keep=True):
        X, y = load(task.data, None)
        try:
            answer = self.peer.fit(task, (X, task.labels(y)), options, 1)
        except ArithmeticError as wrong:
            return Reply("failed", 0.1, repr(wrong))
        return Reply("done", 0.1, answer=answer)


def points(name):
    X, y = load(TASK.data, None)
    return sweep(fakes.PEERS[name], TASK, Judge(TASK, X, y), Here(name), 1.0)


def test_ours_arrives_and_its_fastest_setting_is_found():
    found = points("maxmargin")
    assert fastest(found, 1e-6)["gap"] <= 1e-6
    assert "wrong" not in {point["outcome"] for point in found}


@pytest.mark.parametrize("name", ["scaled", "boasting", "undefined"])
def test_a_wrong_peer_is_reported_as_wrong_and_is_never_the_fastest(name):
    found = points(name)
    assert "wrong" in {point["outcome"] for point in found}
    assert all(point["note"] for point in found if point["outcome"] == "wrong")
    assert fastest([point for point in found if point["outcome"] == "wrong"], math.inf) is None


def test_a_failure_is_a_row_and_ends_its_family():
    found = points("broken")
    assert [point["outcome"] for point in found] == ["failed"]
    assert "no answer today" in found[0]["note"]


def test_a_fit_that_takes_too_long_is_ended_and_the_next_starts_afresh():
    child = Child("slow", "breast_cancer", None, Surroundings(1, None), "tests.benchmarks.fakes")
    try:
        reply = child.fit(TASK, {"tol": 1e-2}, 0.2)
        assert reply.outcome == "timed out"
        assert child._process is None
    finally:
        child.close()


def measured(monkeypatch, names):
    monkeypatch.setattr(Children, "get", lambda self, peer, around: Here(peer))
    peers = {name: fakes.PEERS[name] for name in names}
    return measure(TASK, None, peers, Children("breast_cancer", None, ""), Limits(reference=3.0), RATES)


def test_the_row_of_a_task_lists_everyone_and_the_page_shows_it(monkeypatch):
    row = measured(monkeypatch, fakes.PEERS.keys() - {"slow"})
    assert row["peers"]["absent"] == {"absent": True}
    assert row["peers"]["refusing"] == {"refuses": "not today"}
    assert {entry["target"] for entry in row["peers"]["maxmargin"]["timings"]} == set(TASK.targets)
    machine = {
        "when": "", "commit": "", "cpu": "", "cores": 1, "system": "", "isa": "", "OPENBLAS_CORETYPE": None,
        "blas": {"as set": [], "unset": []}, "versions": {}, "peers": {},
    }  # fmt: skip
    limits = {"fit": 1, "least": 1, "repeats": 3, "patience": 30}
    gone = {"task": TASK.as_json(), "name": "another task", "not_run": "not run: no data folder"}
    results = json.loads(
        json.dumps({"machine": machine, "rates": RATES.as_json(), "limits": limits, "quick": True, "rows": [row, gone]})
    )
    for entry in [e for peer in results["rows"][0]["peers"].values() for e in peer.get("timings", [])]:
        entry["coretype"] = "unset"
    shown = page({"linear": results}, None, {})
    for words in (
        "| scaled | wrong:",
        "| broken | failed:",
        "| boasting | wrong:",
        "Absent: absent",
        "not today",
        "not run: no data",
    ):
        assert words in shown, words
    assert {each.peer for each in comparisons(results)} == {"scaled", "boasting", "broken", "undefined"}
    assert all(each.bounded for each in comparisons(results) if each.peer in ("broken", "undefined"))


def test_a_run_out_of_time_lists_what_it_did_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "measure_rates", lambda: RATES)
    out = tmp_path / "linear.json"
    results = runner.run("linear", None, out, limits=Limits(total=0.0), only="a9a")
    assert results["rows"]
    assert all("minutes of the run were up" in row["not_run"] for row in json.loads(out.read_text())["rows"])


def test_data_that_is_not_there_is_a_row(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "measure_rates", lambda: RATES)
    results = runner.run("linear", None, tmp_path / "linear.json", only="a9a")
    assert all("no data folder" in row["not_run"] for row in results["rows"])


@pytest.mark.all
def test_end_to_end_with_processes(tmp_path):
    out = tmp_path / "linear.json"
    limits = Limits(fit=2.0, least=0.5, repeats=3, reference=3.0)
    runner.run("linear", None, out, None, True, str(TASK), limits, fakes.PEERS, "tests.benchmarks.fakes")
    peers = json.loads(out.read_text())["rows"][0]["peers"]
    assert {point["outcome"] for point in peers["slow"]["curve"]} == {"timed out"}
    assert {point["outcome"] for point in peers["broken"]["curve"]} == {"failed"}
    assert peers["scaled"]["curve"][-1]["outcome"] == "wrong"
    assert all(entry["repeats"] == 3 for entry in peers["maxmargin"]["timings"])
