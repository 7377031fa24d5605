"""KernelObjective: parameters, labels and weights become Problems on one Gram; KernelClaim holds what was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from maxmargin.certificate import Certificate, Claim, certify, combined
from maxmargin.estimators.objective import Objective
from maxmargin.gram import Gram
from maxmargin.kernels import Called, Kernel, Mercer, as_rows, check_mercer
from maxmargin.losses import Hinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.reductions import one_vs_one, one_vs_rest

Floats = NDArray[np.float64]
Rows64 = NDArray[np.int64]

MOST_CHECKED = 1000  # rows on which "auto" checks Mercer's condition: n³ work


@final
@dataclass(frozen=True, slots=True)
class KernelObjective:
    """|w|²/2 + C Σ weight_i max(0, 1 - y_i z_i), z_i = <w, φ(x_i)> + b, for pairs of classes or each against the rest.

    `kernel` None stands for X = K, the matrix of inner products.
    """

    kernel: Kernel | None
    C: float
    class_weight: Mapping[Any, float] | str | None
    classes: NDArray[Any]
    by_pairs: bool
    mercer: bool | str

    def design(self, X: Any, threads: int = 1) -> Gram:
        """The rows of X in the feature space; Mercer's condition is checked where nothing proves it."""
        if self.kernel is None:
            K = np.asarray(X)
            return Gram.of_matrix(K, self._verdict(None, K), threads)
        rows = as_rows(X)
        return Gram.of_kernel(self.kernel, rows, self._verdict(self.kernel, rows), threads)

    def _verdict(self, kernel: Kernel | None, rows: Any) -> Mercer | None:
        n = rows.shape[0] if kernel is None else rows.n
        if (kernel is not None and kernel.positive) or self.mercer is False or (self.mercer == "auto" and n > MOST_CHECKED):
            return None
        if kernel is not None and not isinstance(kernel, Called):
            return check_mercer(kernel, rows)
        K = np.asarray(rows if kernel is None else kernel.block(rows), dtype=np.float64)
        return check_mercer(0.5 * (K + K.T))

    def problems(self, design: Gram, y: NDArray[Any], sample_weight: Floats | None) -> list[tuple[Rows64, Problem]]:
        """The problems of these labels, each with its rows: those of its classes that have cost."""
        codes = np.searchsorted(self.classes, y)
        cost = self.C * Objective(Hinge(), self.C, Intercept.FREE, 1.0, self.class_weight, self.classes).weights(
            codes, sample_weight
        )
        k = len(self.classes)
        everything = np.arange(len(codes))
        targets = one_vs_one(codes, k) if self.by_pairs else [(everything, each) for each in one_vs_rest(codes, k)]
        found = []
        for rows, target in targets:
            kept = cost[rows] > 0.0
            if kept.any() and not kept.all():
                rows, target = rows[kept], target[kept]
            part = design if len(rows) == design.n else design.take(rows)
            found.append((rows, Problem(part, target, Hinge(), Ridge(1.0), cost[rows])))
        return found


@final
@dataclass(frozen=True, slots=True, eq=False)
class KernelClaim(Claim):
    """The dual points and intercepts of a kernel machine: w = Σ a_i φ(x_i) in each of its problems."""

    objective: KernelObjective
    duals: tuple[Floats, ...]
    intercepts: Floats
    rows: int

    def certify(self, X: Any, y: Any, sample_weight: Any, precision: str) -> Certificate:
        points = self.points(X, y, sample_weight)
        return combined(tuple(certify(problem, a, b, a, precision) for problem, b, a in points))

    def points(self, X: Any, y: Any, sample_weight: Any) -> Iterator[tuple[Problem, float, Floats]]:
        """Each problem on this data with its intercept and dual point."""
        design, y = self.objective.design(X), column_or_1d(y)
        if design.n != self.rows or y.shape != (self.rows,):
            raise ValueError(
                f"Certificate.verify: the fit saw {self.rows} rows; X has {design.n} and y has shape {y.shape}. Pass the data of the fit."
            )
        if not np.isin(y, self.objective.classes).all():
            raise ValueError("Certificate.verify: y holds labels that the fit did not see.")
        weight = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), self.rows)
        problems = self.objective.problems(design, y, weight)
        for (rows, problem), a, b in zip(problems, self.duals, self.intercepts, strict=True):
            yield problem, float(b), a[rows]
