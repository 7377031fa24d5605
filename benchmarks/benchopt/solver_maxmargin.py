"""maxmargin as a solver of benchopt's public benchmark of linear machines (two classes, hinge, no intercept).

    min over β of |β|²/2 + C Σ max(0, 1 - y_i x_i'β)

To use it, copy this file into the `solvers` folder of that benchmark. benchopt asks for tighter and tighter tolerances and
evaluates the objective itself, so the curves are of its making.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from benchopt import BaseSolver


class Solver(BaseSolver):
    """One fit per tolerance, with the relative duality gap as tolerance."""

    name = "maxmargin"
    sampling_strategy = "tolerance"
    install_cmd = "conda"
    requirements = ("pip::maxmargin",)
    parameters = {"solver": ["auto", "dual_ascent"]}  # noqa: RUF012 (benchopt's own form)

    def skip(self, X: Any, y: Any, C: float) -> tuple[bool, str | None]:
        """(whether, why)"""
        many = len(np.unique(y)) != 2
        return many, "two classes are needed" if many else None

    def set_objective(self, X: Any, y: Any, C: float) -> None:
        """The data of benchopt's objective. Its sparse matrices may be columns first, which a fit would convert each time."""
        from scipy.sparse import issparse

        from maxmargin import LinearSVC

        self.X, self.y = X.tocsr() if issparse(X) else np.ascontiguousarray(X), y
        self.machine = LinearSVC(loss="hinge", C=C, fit_intercept=False, solver=self.solver, max_iter=100_000)

    def run(self, tolerance: float) -> None:
        """benchopt's first tolerance is above 1 and its last is 0, which no relative gap is asked to be."""
        self.machine.set_params(tol=min(1.0, max(float(tolerance), 1e-12)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.machine.fit(self.X, self.y)

    def get_result(self) -> dict[str, Any]:
        """β, with the sign of the labels: scores are positive for +1."""
        return {"beta": self.machine.coef_.ravel()}
