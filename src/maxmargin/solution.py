"""Solution: what a solver found, why it stopped, and the certificate."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin.certificate import Certificate, evaluate, feasible
from maxmargin.problem import Problem

Floats = NDArray[np.float64]


class Status(Enum):
    """Why a solve ended. The value is what the user reads."""

    SOLVED = "The relative gap is at most tol."
    MAX_ITER = "The epoch limit came first. Raise max_iter, loosen tol, or scale the features."
    MAX_TIME = "The time limit came first. Raise max_time, loosen tol, or scale the features."
    INTERRUPTED = "The fit was interrupted. Call fit again to start over."
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

    w is rounded to the dtype of the data, b is the best one for it, a is made exactly feasible, and both objectives are
    evaluated from scratch: one product with the rows each.
    """
    coef = np.array(w, dtype=problem.design.dtype)
    exact = coef.astype(np.float64)
    z = problem.design.scores(exact)
    b = problem.best_intercept(z, b)
    a = feasible(problem, a)
    z += b
    return coef, b, a, evaluate(problem, exact, b, z, a, "computed")
