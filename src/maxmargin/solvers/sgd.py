"""Stochastic sub-gradient descent (Zhang 2004; Pegasos: Shalev-Shwartz et al. 2007).

    w <- (1 - γ_t) w - γ_t N (c_i / s) φ'(y_i, z_i) x_i,    γ_t = γ0 / (1 + γ0 t / max(C, 1)),   γ0 <= 1,

for one row i of N at a time, or the mean over a batch of rows. N c_i makes one row stand for all, so that the expected step is
along the sub-gradient of P / s = |w|²/2 + Σ (c_i / s) φ; C is the mean of c_i / s. The iterates are averaged with weights t, and
E[P - P*] = O(1/t) (Lacoste-Julien et al. 2012): good for a first digit or two on much data, wasteful for more. A free intercept
takes the same steps without shrinking; P is not strongly convex in it, and the rate is not proved (Shalev-Shwartz et al. 2011).

`step="slide"` is the step of the lecture slide, c_i in place of N c_i. Its expected step belongs to |w|²/2 + (1/N) Σ (c_i / s) φ: it solves
the problem for C/N. The certificate, which is about the problem given, says how far apart the two are.

The dual point is made from the slopes at the average.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from maxmargin import _native
from maxmargin.certificate import dual_from_slopes
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solution import Solution, Status, Work, conclude
from maxmargin.solvers.base import Solver, Watch, needs_vectors

Floats = NDArray[np.float64]

BURST = 20_000_000  # stored values per native call, one epoch at least: some 50 ms


@dataclass(slots=True)
class Stream:
    """Where a descent stands: w, the sum of t w_t, the same for b, Σ t, and t. `advance` moves it on."""

    w: Floats
    sum_w: Floats
    b: float = 0.0
    sum_b: float = 0.0
    weight: float = 0.0
    steps: int = 0

    @classmethod
    def at_zero(cls, d: int) -> Stream:
        """No step taken."""
        return cls(np.zeros(d), np.zeros(d))

    def average(self) -> tuple[Floats, float]:
        """Σ t (w_t, b_t) / Σ t."""
        return (self.sum_w / self.weight, self.sum_b / self.weight) if self.weight else (self.w, self.b)


@final
@dataclass(frozen=True, slots=True)
class SGD(Solver):
    """Stochastic steps until the certified relative gap is at most `tol`. `first_step` is γ0; None chooses a stable one."""

    tol: float = 1e-4
    max_epochs: int = 1000
    seed: int = 0
    first_step: float | None = None
    batch: int = 1
    averaged: bool = True
    order: str = "shuffled"
    step: str = "scaled"

    def __post_init__(self) -> None:
        if self.order not in ("shuffled", "random"):
            raise ValueError(
                f"SGD(order={self.order!r}): order must be 'shuffled' (epochs) or 'random' (independent picks)."
            )
        if self.step not in ("scaled", "slide"):
            raise ValueError(f"SGD(step={self.step!r}): step must be 'scaled' or 'slide'.")
        if self.batch < 1:
            raise ValueError(f"SGD(batch={self.batch}): a batch holds one row at least.")
        if self.first_step is not None and not 0.0 < self.first_step <= 1.0:
            raise ValueError(f"SGD(first_step={self.first_step}): the first step must lie in (0, 1].")

    def refuse(self, problem: Problem) -> str | None:
        if (reason := needs_vectors(self, problem)) is not None:
            return reason
        if not isinstance(problem.loss, (Hinge, SquaredHinge)):
            return f"SGD: the loss must be Hinge() or SquaredHinge(), not {problem.loss!r}."
        if not isinstance(problem.penalty, Ridge):
            return f"SGD: the penalty must be Ridge(strength), not {problem.penalty!r}."
        return None

    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        self.require(problem)
        with np.errstate(all="ignore"):  # an overflow shows in the certificate
            return self._run(problem, start, watch or Watch())

    def advance(self, problem: Problem, stream: Stream, epochs: int = 1, rows: int | None = None) -> None:
        """Take `epochs` passes over the problem's rows, each standing for `rows` rows (as many as there are, if None)."""
        assert isinstance(problem.penalty, Ridge)
        used = np.flatnonzero(problem.cost > 0.0)
        if used.size == 0:
            return
        cost = problem.cost / problem.penalty.strength
        pull = cost * float((rows or used.size) if self.step == "scaled" else 1)
        penalized = problem.intercept is Intercept.PENALIZED
        size = {Intercept.NONE: 0.0, Intercept.FREE: 1.0, Intercept.PENALIZED: problem.intercept_scale}[problem.intercept]
        total = -stream.sum_w
        stream.steps, stream.weight, stream.b, stream.sum_b = _native.sgd(
            rows=problem.design._rows,
            y=np.ascontiguousarray(problem.target, dtype=np.float64),
            pull=pull,
            v=stream.w,
            q=total,
            order=used,
            batch=self.batch,
            squared=isinstance(problem.loss, SquaredHinge),
            shuffled=self.order == "shuffled",
            first=self._first_step(problem, pull, size),
            decay=max(float(cost[used].mean()), 1.0),
            intercept_shrink=float(penalized),
            intercept_pull=size * size,
            seed=(self.seed + stream.steps) % 2**64,
            steps=stream.steps,
            weight=stream.weight,
            b=stream.b,
            b_total=stream.sum_b,
            epochs=epochs,
        )
        stream.sum_w = -total

    def _first_step(self, problem: Problem, pull: Floats, size: float) -> float:
        """γ0; by default so small that a step on the longest row moves its score by 1, and never more than is stable."""
        longest = float(np.max(pull * (problem.design.norms_sq + size * size), initial=0.0))
        stable = min(1.0, 1.0 / longest) if longest > 0.0 else 1.0
        if self.first_step is None:
            return stable
        return self.first_step if isinstance(problem.loss, Hinge) else min(self.first_step, stable)

    def _run(self, problem: Problem, start: Solution | None, watch: Watch) -> Solution:
        stream = Stream.at_zero(problem.design.d)
        if start is not None:
            stream.w, stream.b = start.coef.astype(np.float64), start.intercept
        best: Solution | None = None
        epochs, certificates, due = 0, 0, 1
        per_call = max(1, BURST // max(1, problem.design.stored))
        while True:
            count = min(per_call, due - epochs, self.max_epochs - epochs)
            if not watch.interrupted:
                self.advance(problem, stream, count)
            epochs += count
            status = watch.heard(epochs, np.inf)
            if epochs < due and epochs < self.max_epochs and status is None:
                continue
            due = max(
                epochs + 1, int(1.3 * epochs)
            )  # a certificate costs two epochs: half of the work at first, less and less
            certificates += 1
            w, b = stream.average() if self.averaged else (stream.w, stream.b)
            a = dual_from_slopes(problem, problem.design.scores(w, problem.best_intercept(problem.design.scores(w), b)))
            point = conclude(problem, w, b, a)
            if best is None or point[3].gap < best.certificate.gap or not np.isfinite(best.certificate.gap):
                best = Solution(*point, Status.SOLVED, Work())
            relative = best.certificate.relative_gap
            solved = Status.SOLVED if relative <= self.tol else watch.heard(epochs, relative, certified=True)
            status = solved or status or (Status.MAX_ITER if epochs >= self.max_epochs else None)
            if status is not None:
                work = Work(epochs, 0, epochs * problem.design.stored, certificates, watch.seconds)
                return dataclasses.replace(best, status=status, work=work)
