"""Every installed peer poses the task's own problem: its best answer is near the optimum, its signs and intercept included."""

import warnings

import pytest

from benchmarks.judge import Judge
from benchmarks.peers import PEERS
from benchmarks.problems import Task, load

NEAR = 0.3  # the relative gap of another problem's optimum, or of a sign turned round, is far beyond


@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("name", PEERS)
def test_the_peer_poses_the_problem(name, loss, intercept):
    peer, task = PEERS[name], Task("breast_cancer", loss, 1.0, intercept, (1e-3,), 1)
    if not peer.present():
        pytest.skip(f"{name} is not installed")
    if peer.refuse(task):
        pytest.skip(peer.refuse(task))
    X, y = load(task.data, None)
    judge = Judge(task, X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = peer.load(task, X, task.labels(y))
        answers = [peer.fit(task, loaded, setting.options, 1) for setting in peer.settings(task)]
    assert min(judge.verdict(answer.coef, answer.intercept).gap for answer in answers) < NEAR


@pytest.mark.parametrize("name", ["maxmargin", "scikit-learn", "liblinear", "snapml"])
def test_many_classes_stand_in_the_order_of_their_codes(name):
    peer, task = PEERS[name], Task("digits", "squared_hinge", 0.01, "penalized", (1e-3,))
    if not peer.present():
        pytest.skip(f"{name} is not installed")
    X, y = load(task.data, None)
    X, y = X[100:500], y[100:500]  # rows that do not begin with the classes in order
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded = peer.load(task, X, task.labels(y))
        answer = peer.fit(task, loaded, peer.settings(task)[2].options, 1)
    assert Judge(task, X, y).verdict(answer.coef, answer.intercept).gap < NEAR


@pytest.mark.parametrize("name", PEERS)
def test_one_setting_of_a_family_at_most_is_strict(name):
    for loss in ("hinge", "squared_hinge"):
        for intercept in ("none", "penalized", "free"):
            task = Task("digits", loss, 1.0, intercept, (1e-3, 1e-6), 1)
            if PEERS[name].refuse(task):
                continue
            settings = PEERS[name].settings(task)
            strict = [setting.family for setting in settings if setting.strict]
            assert len(set(strict)) == len(strict)
            assert len({setting.label for setting in settings}) == len(settings)
