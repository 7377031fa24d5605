"""Solution: what a solver found, why it stopped, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificate import Certificate, evaluate, feasible
from maxmargin.design import enclose
from maxmargin.problem import Problem

Floats = NDArray[np.float64]


class Status(Enum):
    """Why a solve ended. The value is what the user reads."""

    SOLVED = "The relative gap is at most tol."
    MAX_ITER = "The epoch limit came first. Raise max_iter, loosen tol, or scale the features."
    MAX_TIME = "The time limit came first. Raise max_time, loosen tol, or scale the features."
    INTERRUPTED = "The fit was interrupted. Call fit again to start over."
    ONLINE = "One pass of partial_fit sees a part of the data at a time, so nothing bounds the objective."
    STATIONARY = "The kernel is not known to be positive semidefinite: no pair of rows helps any more, and nothing bounds the optimum."
    LEAST_NORM = "Columns depend on each other, so many coefficients fit equally well; those of least norm were taken."
    PRECISION = "Rounding allows no smaller gap. Loosen tol, scale the features, or pass float64 data."


@final
@dataclass(frozen=True, slots=True)
class Work:
    """What a solve cost: epochs of coordinate steps, Newton steps, stored values visited, certificates made, seconds."""

    epochs: int = 0
    steps: int = 0
    visits: int = 0
    certificates: int = 0
    seconds: float = 0.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Coefficients in the dtype of the data, the exactly feasible dual point, and how good they are."""

    coef: NDArray[Any]
    intercept: float
    dual: Floats
    certificate: Certificate
    status: Status
    work: Work


def conclude(problem: Problem, w: Floats, b: float, a: Floats) -> tuple[NDArray[Any], float, Floats, Certificate]:
    """(coef, intercept, dual, certificate): the numbers as they would be published.

    w is rounded to the dtype of the data and clipped into the domain of the penalty, b is the best one for it, (w, b) is scaled
    into the domain of the loss, a is made exactly feasible, and both objectives are evaluated from scratch: one product with the rows each.
    """
    coef = problem.penalty.clip(np.array(w, dtype=problem.design.dtype))
    exact = coef.astype(np.float64)
    z = problem.design.scores(exact)
    b = problem.best_intercept(z, b)
    z += b
    if not problem.loss.finite:
        coef, b, z = _inside(problem, coef, b, z)
    a = feasible(problem, a)
    return coef, b, a, evaluate(problem, coef.astype(np.float64), b, z, a, "computed")


def _inside(problem: Problem, coef: NDArray[Any], b: float, z: Floats) -> tuple[NDArray[Any], float, Floats]:
    """(coef, b) scaled into the domain of the loss, with room for every rounding error, and its scores.

    Where no scale will do they come back as they are, and P is ∞.
    """
    design, loss, used = problem.design, problem.loss, problem.cost > 0.0
    y, exact = problem.target[used], coef.astype(np.float64)

    def ends(w: Floats, b: float, z: Floats) -> tuple[Floats, Floats]:
        low, high = enclose(z, design.scores(w, b, absolute=True), design.longest_row + 2)
        return low[used], high[used]

    t = loss.least_scale(y, *ends(exact, b, z))
    for k in range(2, 20):
        factor = t * (1.0 + 2.0**k * float(np.finfo(coef.dtype).eps))
        scaled = np.asarray(exact * factor, dtype=coef.dtype)
        w = scaled.astype(np.float64)
        at = design.scores(w)
        shift = problem.best_intercept(at, b * factor)
        at += shift
        if all(np.isfinite(loss.value(y, end)).all() for end in ends(w, shift, at)):
            return scaled, shift, at
    return coef, b, z
