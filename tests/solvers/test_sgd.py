"""Stochastic steps: against a loop in plain Python that draws the same rows."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import (
    SGD,
    HardMargin,
    Hinge,
    Intercept,
    InteriorPoint,
    Problem,
    Ridge,
    SquaredHinge,
    Status,
    as_design,
    certify,
)
from maxmargin.solvers import Stream, Watch
from maxmargin.testing import check_solver

BOTH = pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
INTERCEPTS = pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
MASK = 2**64 - 1


def noisy(loss, intercept, n=30, d=3, seed=0, cost=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = np.where(X[:, 0] + rng.normal(size=n) > 0, 1.0, -1.0)
    return Problem(as_design(X), y, loss, Ridge(0.8), cost * rng.uniform(0.5, 2.0, n), intercept, 1.5)


class Below:
    """xorshift64*, seeded by one round of splitmix64; the high half of a product gives a number below a bound."""

    def __init__(self, seed):
        z = (seed + 0x9E3779B97F4A7C15) & MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        self.state = (z ^ (z >> 31)) | 1

    def __call__(self, bound):
        x = self.state
        x ^= x >> 12
        x = (x ^ (x << 25)) & MASK
        self.state = x = x ^ (x >> 27)
        return (((x * 0x2545F4914F6CDD1D) & MASK) >> 32) * bound >> 32


def oracle(problem, solver, epochs):
    """The iterates (w_t, b_t), t = 1, 2, ..., of the formula in the docstring."""
    used = np.flatnonzero(problem.cost > 0)
    X, y, n, s = problem.design.data, problem.target, used.size, problem.penalty.strength
    share = problem.cost / s
    pull = share * (n if solver.step == "scaled" else 1)
    size = {Intercept.NONE: 0.0, Intercept.FREE: 1.0, Intercept.PENALIZED: 1.5}[problem.intercept]
    first = min(1.0, 1.0 / (pull * ((X**2).sum(axis=1) + size**2)).max())
    decay = max(share[used].mean(), 1.0)
    draw, order = Below(solver.seed), used.tolist()
    w, b, t = np.zeros(X.shape[1]), 0.0, 0
    for _ in range(epochs):
        if solver.order == "shuffled":
            for i in range(n - 1, 0, -1):
                j = draw(i + 1)
                order[i], order[j] = order[j], order[i]
        rows = order if solver.order == "shuffled" else [used[draw(n)] for _ in range(n)]
        for start in range(0, n, solver.batch):
            batch = rows[start : start + solver.batch]
            gamma = first / (1.0 + first * t / decay)
            slopes = [pull[i] * problem.loss.slope(y[i : i + 1], X[i : i + 1] @ w + b)[0] / len(batch) for i in batch]
            w = (1.0 - gamma) * w - gamma * sum(g * X[i] for g, i in zip(slopes, batch, strict=True))
            kept = 1.0 - gamma if problem.intercept is Intercept.PENALIZED else 1.0
            b = kept * b - gamma * size**2 * sum(slopes)
            t += 1
            yield t, w, b


@BOTH
@INTERCEPTS
@pytest.mark.parametrize("order", ["shuffled", "random"])
@pytest.mark.parametrize("batch", [1, 4, 100])
@pytest.mark.parametrize("step", ["scaled", "slide"])
def test_every_step_and_the_average_equal_the_loop_in_plain_python(loss, intercept, order, batch, step):
    problem = noisy(loss, intercept)
    solver = SGD(order=order, batch=batch, step=step, seed=5)
    stream = Stream.at_zero(3)
    solver.advance(problem, stream, epochs=4)
    steps = list(oracle(problem, solver, 4))
    assert stream.steps == len(steps) == steps[-1][0]
    # T steps round at the size of the longest iterate; no row of this draw comes nearer to its kink than that.
    size = max(np.abs(np.append(w, b)).max() for _, w, b in steps)
    rounding = 64 * 2.0**-53 * len(steps) * (1.0 + size)
    assert stream.w == pytest.approx(steps[-1][1], abs=rounding)
    assert stream.b == pytest.approx(steps[-1][2], abs=rounding)
    weight = sum(t for t, _, _ in steps)
    average_w, average_b = stream.average()
    assert average_w == pytest.approx(sum(t * w for t, w, _ in steps) / weight, abs=rounding)
    assert average_b == pytest.approx(sum(t * b for t, _, b in steps) / weight, abs=rounding)


@BOTH
def test_rows_without_cost_are_never_drawn(loss):
    problem = noisy(loss, Intercept.FREE)
    cost = problem.cost.copy()
    cost[::3] = 0.0
    some = dataclasses.replace(problem, cost=cost)
    kept = np.flatnonzero(cost)
    alone = Problem(
        as_design(problem.design.data[kept]), problem.target[kept], loss, Ridge(0.8), cost[kept], Intercept.FREE, 1.5
    )
    streams = [Stream.at_zero(3), Stream.at_zero(3)]
    for each, stream in zip((some, alone), streams, strict=True):
        SGD().advance(each, stream, epochs=3)
    assert np.array_equal(streams[0].w, streams[1].w)
    nothing = SGD(max_epochs=2).solve(dataclasses.replace(problem, cost=np.zeros(30)))
    assert nothing.status is Status.SOLVED
    assert not nothing.coef.any()


@pytest.mark.parametrize(("loss", "tol"), [(Hinge(), 1e-3), (SquaredHinge(), 5e-2)], ids=repr)
def test_planted_optima(loss, tol):
    check_solver(SGD(tol=tol, max_epochs=10_000), loss, tol=tol)


@BOTH
@INTERCEPTS
@pytest.mark.parametrize("options", [{}, {"batch": 5}, {"order": "random"}, {"averaged": False}], ids=str)
def test_it_agrees_with_interior_point_within_the_certificates(loss, intercept, options):
    problem = noisy(loss, intercept)
    one, other = SGD(tol=0.05, max_epochs=3000, **options).solve(problem), InteriorPoint(tol=1e-10).solve(problem)
    assert abs(one.certificate.primal - other.certificate.primal) <= one.certificate.gap + other.certificate.gap
    assert one.certificate.primal >= other.certificate.dual
    distance = np.linalg.norm(one.coef - other.coef)
    assert distance <= sum(np.sqrt(2 * each.certificate.gap / 0.8) for each in (one, other))
    # E[P - P*] falls like 1/t: after 3000 epochs of 30 rows not much is left of the objective at 0.
    assert one.certificate.primal - other.certificate.primal <= 0.05 * other.certificate.primal
    assert certify(problem, one.coef, one.intercept, one.dual).relative_gap == pytest.approx(
        one.certificate.relative_gap, rel=1e-6
    )


@BOTH
def test_more_epochs_come_closer(loss):
    problem = noisy(loss, Intercept.FREE, n=100)
    best = InteriorPoint(tol=1e-12).solve(problem).certificate.primal
    above = [SGD(tol=1e-300, max_epochs=epochs).solve(problem).certificate.primal - best for epochs in (1, 10, 100, 1000)]
    assert above[-1] <= 0.1 * above[0]
    assert max(above[1:]) <= above[0]


@BOTH
@INTERCEPTS
def test_the_step_of_the_slide_solves_the_problem_for_a_smaller_cost(loss, intercept):
    problem = noisy(loss, intercept, n=100, cost=0.2)
    smaller = dataclasses.replace(problem, cost=problem.cost / 100)
    found = SGD(step="slide", tol=1e-6, max_epochs=300).solve(problem)
    assert found.status is Status.MAX_ITER
    assert found.certificate.relative_gap > 0.1, "the certificate is about the problem that was given"
    stream = Stream.at_zero(3)
    SGD(step="slide").advance(problem, stream, epochs=300)
    w, b = stream.average()
    b = smaller.best_intercept(smaller.design.scores(w), b)  # of a free intercept the best one is published
    optimum = InteriorPoint(tol=1e-10).solve(smaller).certificate
    assert smaller.primal(w, b) <= 1.01 * optimum.primal
    assert problem.primal(w, b) > 1.05 * InteriorPoint(tol=1e-10).solve(problem).certificate.primal


@BOTH
def test_the_same_seed_gives_the_same_bits(loss):
    problem = noisy(loss, Intercept.FREE)
    one, same, other = (SGD(tol=1e-300, max_epochs=5, seed=seed).solve(problem) for seed in (3, 3, 4))
    assert np.array_equal(one.coef, same.coef)
    assert (one.intercept, one.certificate) == (same.intercept, same.certificate)
    assert not np.array_equal(one.coef, other.coef)


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_and_sparse_draw_the_same_rows(loss, dtype):
    problem = noisy(loss, Intercept.FREE)
    X = problem.design.data.astype(dtype)
    X[np.abs(X) < 0.5] = 0.0
    found = []
    for form in (X, sp.csr_array(X)):
        stream = Stream.at_zero(3)
        SGD().advance(dataclasses.replace(problem, design=as_design(form)), stream, epochs=3)
        found.append(stream)
    assert found[0].steps == found[1].steps
    assert found[0].w == pytest.approx(found[1].w, rel=1e-11)


def test_a_pass_in_pieces_of_epochs_is_counted_through():
    problem = noisy(Hinge(), Intercept.FREE)
    stream = Stream.at_zero(3)
    for _ in range(3):
        SGD().advance(problem, stream)
    assert (stream.steps, stream.weight) == (90, 90 * 91 / 2)
    assert SGD(batch=7).batch == 7


@settings(max_examples=20)
@given(step=st.floats(1e-3, 1.0), cost=st.floats(1e-3, 1e3))
def test_no_first_step_makes_it_diverge(step, cost):
    for loss in (Hinge(), SquaredHinge()):
        problem = noisy(loss, Intercept.FREE, cost=cost)
        found = SGD(first_step=step, tol=1e-300, max_epochs=20).solve(problem)
        assert np.isfinite(found.certificate.primal)
        assert found.certificate.relative_gap <= 1.0


def test_badly_scaled_columns_and_duplicates_do_no_harm():
    problem = noisy(Hinge(), Intercept.FREE)
    stretched = dataclasses.replace(problem, design=as_design(problem.design.data * [1e-3, 1.0, 1e3]))
    found = SGD(tol=1e-300, max_epochs=50).solve(stretched)
    assert found.certificate.dual <= InteriorPoint(tol=1e-9).solve(stretched).certificate.primal
    same = dataclasses.replace(problem, design=as_design(np.repeat(problem.design.data[:3], 10, axis=0)))
    best = InteriorPoint(tol=1e-9).solve(same).certificate
    # ten rows on one kink: slopes give a poor dual point, but the objective is reached
    assert SGD(tol=1e-300, max_epochs=1000).solve(same).certificate.primal <= 1.01 * best.primal


def test_limits_are_kept_and_named():
    problem = noisy(Hinge(), Intercept.FREE)
    stopped = SGD(tol=1e-300, max_epochs=7).solve(problem)
    assert (stopped.status, stopped.work.epochs) == (Status.MAX_ITER, 7)
    assert SGD(tol=1e-300).solve(problem, watch=Watch(max_time=1e-9)).status is Status.MAX_TIME
    heard = []
    watch = Watch(listener=lambda progress: heard.append(progress) or len(heard) == 3)
    assert SGD(tol=1e-300).solve(problem, watch=watch).status is Status.INTERRUPTED


def test_what_it_cannot_solve_is_refused_in_words():
    problem = noisy(Hinge(), Intercept.FREE)
    assert "loss must be Hinge() or SquaredHinge(), not HardMargin()" in SGD().refuse(
        dataclasses.replace(problem, loss=HardMargin())
    )


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": "cyclic"}, r"SGD\(order='cyclic'\): order must be 'shuffled' \(epochs\) or 'random'"),
        ({"step": "big"}, r"SGD\(step='big'\)"),
        ({"batch": 0}, r"SGD\(batch=0\): a batch holds one row at least"),
        ({"first_step": 0.0}, r"SGD\(first_step=0.0\)"),
        ({"first_step": 1.5}, r"must lie in \(0, 1\]"),
        ({"first_step": np.nan}, r"must lie in \(0, 1\]"),
    ],
)
def test_bad_options_are_refused_by_name(options, words):
    with pytest.raises(ValueError, match=words):
        SGD(**options)
