"""The judge knows planted optima, and a wrong answer when it sees one."""

import numpy as np
import pytest

from benchmarks.judge import Judge
from benchmarks.peers.maxmargin import MaxMargin
from benchmarks.problems import Task, planted
from tests.benchmarks import fakes


def case(loss="hinge", intercept="free"):
    made = planted(400, 7, loss)
    return Task("made", loss, 1.0, intercept, (1e-3, 1e-6), 1), made


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("intercept", ["none", "penalized", "free"])
def test_its_interval_holds_the_planted_optimum(loss, intercept):
    task, made = case(loss, intercept)
    judge = Judge(task, made.X, made.y)
    assert judge.reference_gap <= 1e-8
    assert judge.dual <= made.optimum * (1 + 1e-12)
    verdict = judge.verdict(made.w, 0.0, strict=True)
    assert not verdict.wrong
    assert verdict.gap <= 1e-8


def judged(peer, tol=1e-8):
    task, made = case()
    answer = peer.fit(task, (made.X, made.y), {"tol": tol}, 1)
    return Judge(task, made.X, made.y).verdict(answer.coef, answer.intercept, answer.dual, answer.claimed, answer.converged)


def test_our_answer_carries_its_claim():
    assert not judged(MaxMargin(), 1e-3).wrong


def test_scaled_up_coefficients_are_wrong():
    verdict = judged(fakes.Scaled())
    assert "claims to have converged" in verdict.wrong
    assert verdict.gap > 0.1


def test_a_gap_that_is_only_claimed_is_wrong():
    assert "claims a relative gap of 1.0e-09" in judged(fakes.Boasting()).wrong


def test_a_dual_point_must_carry_the_claim_itself():
    """The same good coefficients with a useless dual point: the claim needs a bound of its own."""
    task, made = case()
    judge = Judge(task, made.X, made.y)
    assert "claims" in judge.verdict(made.w, 0.0, np.zeros((1, len(made.y))), claimed=1e-6).wrong
    assert not judge.verdict(made.w, 0.0, claimed=1e-6).wrong


def test_numbers_that_are_none_are_wrong():
    assert "not finite" in judged(fakes.Undefined()).wrong
    task, made = case()
    assert "shape" in Judge(task, made.X, made.y).verdict(np.zeros((2, 7)), 0.0).wrong
