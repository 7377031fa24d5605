"""CertifiedRegressor: many real targets as many problems on one Design, each published with its certificate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import _fit_context

from maxmargin.certificate import Certificate, Claim, certify, combined
from maxmargin.design import Design, as_design
from maxmargin.estimators.callbacks import FitTask, listeners, with_callbacks
from maxmargin.estimators.certified import Certified
from maxmargin.estimators.linear import LinearRegressor, all_or_nothing
from maxmargin.losses import Squared
from maxmargin.penalties import Penalty
from maxmargin.problem import Intercept, Problem
from maxmargin.reductions import solve_all
from maxmargin.solution import Solution
from maxmargin.solvers import SOLVERS, Solver, Watch, make_solver

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class RegressionObjective:
    """Σ c_i (y_i - x_i'w - b)²/2 + ψ(w), one problem per target; c_i is the weight of row i, where `mean` over their sum."""

    penalties: tuple[Penalty, ...]
    intercept: Intercept
    mean: bool

    def problems(self, design: Design, y: NDArray[Any], sample_weight: Floats | None) -> list[Problem]:
        """The problems of these targets, one per column of y, on this design."""
        targets = np.asarray(y, dtype=np.float64).reshape(design.n, -1).T
        cost = np.ones(design.n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        cost = cost / cost.sum() if self.mean else cost
        penalties = self.penalties * len(targets) if len(self.penalties) == 1 else self.penalties
        return [
            Problem(design, np.ascontiguousarray(target), Squared(), penalty, cost, self.intercept)
            for target, penalty in zip(targets, penalties, strict=True)
        ]


@final
@dataclass(frozen=True, slots=True, eq=False)
class RegressionClaim(Claim):
    """The published numbers of a linear regressor and the objective that they are about. Dual points come from the slopes."""

    objective: RegressionObjective
    coef: NDArray[Any]
    intercept: Floats
    rows: int

    def certify(self, X: Any, y: Any, sample_weight: Any, precision: str) -> Certificate:
        X = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
        y = np.asarray(y, dtype=np.float64)
        if X.shape != (self.rows, self.coef.shape[1]) or y.size != self.rows * len(self.coef):
            raise ValueError(
                f"Certificate.verify: the fit saw {self.rows} rows of {self.coef.shape[1]} features and {len(self.coef)} targets; "
                f"X has shape {X.shape} and y has shape {y.shape}. Pass the data of the fit."
            )
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
        weight = None if sample_weight is None else np.broadcast_to(np.asarray(sample_weight, dtype=np.float64), self.rows)
        problems = self.objective.problems(as_design(X), y, weight)
        return combined(
            tuple(
                certify(problem, self.coef[k].astype(np.float64), float(self.intercept[k]), precision=precision)
                for k, problem in enumerate(problems)
            )
        )


class CertifiedRegressor(Certified, LinearRegressor):
    """A linear regressor that minimises a `RegressionObjective`, and publishes how close it came."""

    max_iter: int | None
    max_time: float | None

    @abstractmethod
    def _objective(self, targets: int) -> RegressionObjective:
        """What the parameters say is minimised."""

    @all_or_nothing
    @with_callbacks  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X and targets y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            float32 and float64 are used as they lie, dense or CSR, with 32- or 64-bit indices.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Real targets; columns are learnt each on its own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: weight 2 is two equal rows, weight 0 is none.

        Returns
        -------
        self : object
            Fitted.
        """
        self._refuse()
        design, y, weight = self._validated(X, y, sample_weight)
        objective = self._objective(1 if y.ndim == 1 else y.shape[1])
        problems = objective.problems(design, y, weight)
        self._check_range(design)
        threads = min(self._threads(), len(problems))
        design.threads = max(1, self._threads() // threads)
        task = FitTask(self, X, y)
        watch = Watch(self.max_time, listeners(self.verbose, task))

        def make(problem: Problem) -> Solver:
            if isinstance(self.solver, Solver):
                return self.solver
            return make_solver(self.solver, problem, self.tol, self.max_iter or 1000, self._seed())

        self._publish(objective, solve_all(problems, make, watch, threads), design.n, one=y.ndim == 1)
        task.end()
        self._announce(watch)
        return self

    def _publish(self, objective: RegressionObjective, solutions: tuple[Solution, ...], rows: int, one: bool) -> None:
        coef = np.stack([solution.coef for solution in solutions])
        intercept = np.array([solution.intercept for solution in solutions])
        self.coef_ = coef[0] if one else coef
        self.intercept_ = float(intercept[0]) if one else intercept
        self.n_iter_ = max(1, *(solution.work.epochs + solution.work.steps for solution in solutions))
        self._settle(solutions, RegressionClaim(objective, coef, intercept, rows))

    def _refuse_theirs(self, replacements: dict[str, tuple[Any, str]]) -> None:
        """Raise for each parameter whose value is not the one offered, saying what to use instead."""
        for name, (offered, instead) in replacements.items():
            value = getattr(self, name)
            if not (value is offered or (isinstance(value, str) and value == offered)):
                shown = "an array" if isinstance(value, np.ndarray) else repr(value)
                raise ValueError(f"{type(self).__name__}({name}={shown}): {instead}")

    def _intercept(self, fit_intercept: bool) -> Intercept:
        return Intercept.FREE if fit_intercept else Intercept.NONE


NAMES = {"auto", *SOLVERS}
