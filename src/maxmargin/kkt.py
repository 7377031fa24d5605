"""The Karush-Kuhn-Tucker conditions of a Problem, each with how badly it is broken and where.

With a copy z of the scores the problem reads  min Σ c_i φ(y_i, z_i) + ψ(w) + β(b)  s.t.  z = Xw + b,  and a_i is the multiplier of
row i. (w, b) and a are optimal exactly where

    stationarity        ψ(w) + ψ*(X'a) = w'X'a  (for a ridge: s w = X'a),  and β'(b) = Σ a;
    primal feasibility  φ(y_i, z_i) < ∞;  for hard margins y_i z_i >= 1;  b = 0 where there is no intercept;
    dual feasibility    a_i / c_i in the box of the loss;  Σ a = 0 where the intercept is free;
    complementarity     c_i φ(y_i, z_i) + c_i φ*(y_i, -a_i / c_i) + a_i z_i = 0:  for the hinge  a_i = 0 behind the margin,
                        y_i a_i = c_i before it, anything between on it.

The gap P - D is the sum of the brackets of stationarity and complementarity (docs/certificate.md, section 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Residual:
    """The largest violation of one condition, and the column, row or -1 (the intercept, or nothing) where it is."""

    value: float
    index: int


@final
@dataclass(frozen=True, slots=True)
class KKT:
    """One residual per condition; all are 0 exactly at an optimum."""

    stationarity: Residual
    primal_feasibility: Residual
    dual_feasibility: Residual
    complementarity: Residual

    @property
    def largest(self) -> float:
        """The worst of the four."""
        return max(
            self.stationarity.value, self.primal_feasibility.value, self.dual_feasibility.value, self.complementarity.value
        )

    def __repr__(self) -> str:
        lines = (
            ("stationarity", self.stationarity, "column"),
            ("primal feasibility", self.primal_feasibility, "row"),
            ("dual feasibility", self.dual_feasibility, "row"),
            ("complementarity", self.complementarity, "row"),
        )
        return "\n".join(
            f"{name:19s} {residual.value:.3e}" + ("" if residual.index < 0 else f"  at {where} {residual.index}")
            for name, residual, where in lines
        )


def kkt_residuals(problem: Problem, w: Floats, b: float, a: Floats) -> KKT:
    """How far (w, b) and a are from the optimality conditions of the problem."""
    w, b, a = np.asarray(w, dtype=np.float64), float(b), np.asarray(a, dtype=np.float64)
    z, u, total = problem.design.scores(w, b), problem.design.combine(a), float(a.sum())
    low, high = problem.box()
    outside = np.maximum(np.maximum(low - a, a - high), 0.0)
    slope_b = problem.intercept_strength * b if problem.intercept is Intercept.PENALIZED else 0.0
    imbalance = 0.0 if problem.intercept is Intercept.NONE else abs(total - slope_b)
    terms, inside = problem.loss_terms(z), np.clip(a, low, high)
    slack = np.where(terms == np.inf, 0.0, terms) + problem.conjugate_terms(inside) + inside * z
    stationarity, primal, dual = _worst(_stationarity(problem, w, u)), _worst(_short_of_domain(problem, z)), _worst(outside)
    if problem.intercept is Intercept.PENALIZED and imbalance > stationarity.value:
        stationarity = Residual(imbalance, -1)
    if problem.intercept is Intercept.FREE and imbalance > dual.value:
        dual = Residual(imbalance, -1)
    if problem.intercept is Intercept.NONE and abs(b) > primal.value:
        primal = Residual(abs(b), -1)
    return KKT(stationarity, primal, dual, _worst(np.abs(slack)))


def _stationarity(problem: Problem, w: Floats, u: Floats) -> Floats:
    """|s w - X'a| per column for a ridge; for others the Fenchel-Young residual of each column."""
    if isinstance(problem.penalty, Ridge):
        return np.abs(problem.penalty.strength * w - u)
    return np.abs(problem.penalty.terms(w) + problem.penalty.conjugate_terms(u) - w * u)


def _short_of_domain(problem: Problem, z: Floats) -> Floats:
    """How far each score lies outside the domain of its loss: 1 - y z for hard margins, 0 for finite losses."""
    if problem.loss.finite:
        return np.zeros(len(z))
    return np.where(problem.cost > 0.0, np.maximum(0.0, 1.0 - problem.target * z), 0.0)


def _worst(values: Floats) -> Residual:
    values = np.where(np.isnan(values), np.inf, values)  # what is not a number is not optimal
    if values.size == 0 or not values.max() > 0.0:
        return Residual(0.0, -1)
    return Residual(float(values.max()), int(values.argmax()))
