"""Objective: the one place where C, class weights and sample weights become costs, and labels become targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from maxmargin.certificate import Certificate, Claim, certify, combined
from maxmargin.design import Design, as_design
from maxmargin.losses import Loss
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.reductions import one_vs_rest

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Objective:
    """|w|²/2 + C Σ weight_i φ(y_i, x_i'w + b), one problem per class against the rest (one in all for two classes)."""

    loss: Loss
    C: float
    intercept: Intercept
    intercept_scale: float
    class_weight: Mapping[Any, float] | str | None
    classes: NDArray[Any]

    def problems(self, design: Design, y: NDArray[Any], sample_weight: Floats | None) -> list[Problem]:
        """The problems of these labels on this design."""
        codes = np.searchsorted(self.classes, y)
        cost = self.C * self.weights(codes, sample_weight)
        return [
            Problem(design, target, self.loss, Ridge(1.0), cost, self.intercept, self.intercept_scale)
            for target in one_vs_rest(codes, len(self.classes))
        ]

    def weights(self, codes: NDArray[np.int64], sample_weight: Floats | None) -> Floats:
        """sample weight times class weight, per row. "balanced" counts weights, so that a weight of 2 equals two rows."""
        weight = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        if self.class_weight is None:
            return weight
        if isinstance(self.class_weight, str):
            counts = np.bincount(codes, weights=weight, minlength=len(self.classes))
            per_class = weight.sum() / (np.count_nonzero(counts) * np.where(counts > 0, counts, 1.0))
        else:
            per_class = np.array([float(self.class_weight.get(label, 1.0)) for label in self.classes.tolist()])
        return np.asarray(weight * per_class[codes])


@final
@dataclass(frozen=True, slots=True, eq=False)
class LinearClaim(Claim):
    """The published numbers of a linear classifier and the objective that they are about."""

    objective: Objective
    coef: NDArray[Any]
    intercept: Floats
    dual_coef: Floats
    support: NDArray[np.int64]
    rows: int

    def certify(self, X: Any, y: Any, sample_weight: Any, precision: str) -> Certificate:
        points = self.points(X, y, sample_weight)
        return combined(tuple(certify(problem, w, b, a, precision) for problem, w, b, a in points))

    def points(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Problem, Floats, float, Floats]]:
        """Each problem on this data with its (w, b) and dual point."""
        X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
        y = column_or_1d(y)
        if X.shape != (self.rows, self.coef.shape[1]) or y.shape != (self.rows,):
            raise ValueError(
                f"Certificate.verify: the fit saw {self.rows} rows of {self.coef.shape[1]} features; X has shape {X.shape} "
                f"and y has shape {y.shape}. Pass the data of the fit."
            )
        if not np.isin(y, self.objective.classes).all():
            raise ValueError("Certificate.verify: y holds labels that the fit did not see.")
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        weight = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), self.rows)
        for k, problem in enumerate(self.objective.problems(as_design(X), y, weight)):
            a = np.zeros(self.rows)
            a[self.support] = self.dual_coef[k]
            yield problem, self.coef[k].astype(np.float64), float(self.intercept[k]), a
