"""Certified estimators: fit -> Design -> Problems -> Solver -> Solutions -> a published model with its certificate."""

from __future__ import annotations

import dataclasses
import warnings
from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from maxmargin.certificate import Certificate, Claim, combined
from maxmargin.estimators.callbacks import CallbackSupportMixin, FitTask, listeners, with_callbacks
from maxmargin.estimators.linear import LinearClassifier, all_or_nothing, seed_of
from maxmargin.estimators.objective import LinearClaim, Objective
from maxmargin.kkt import KKT, kkt_residuals
from maxmargin.problem import Problem
from maxmargin.reductions import solve_all
from maxmargin.solution import Solution, Status
from maxmargin.solvers import Plan, Solver, Watch, make_solver, plan

GRAVEST = (Status.INTERRUPTED, Status.MAX_TIME, Status.MAX_ITER, Status.PRECISION, Status.LEAST_NORM)  # worst first


class Certified(CallbackSupportMixin):  # type: ignore[misc]
    """What every estimator that minimises shares: its limits, and how it says how close it came."""

    certificate_: Certificate
    status_: Status
    tol: float
    random_state: Any
    solver: str | Solver
    verbose: int

    @abstractmethod
    def _refuse(self) -> None:
        """Raise ValueError where the parameters ask for what is not offered, naming what to use instead."""

    def _seed(self) -> int:
        return seed_of(self.random_state)

    def _asked(self) -> float:
        return self.solver.tol if isinstance(self.solver, Solver) else self.tol

    def _settle(self, solutions: tuple[Solution, ...], claim: Claim) -> None:
        """Publish the certificate and the gravest status."""
        total = combined(tuple(solution.certificate for solution in solutions))
        self.certificate_ = dataclasses.replace(total, claim=claim)
        statuses = {solution.status for solution in solutions}
        unsolved = [status for status in GRAVEST if status in statuses]
        close = total.relative_gap <= self._asked()
        solved = not unsolved or (close and unsolved[0] not in (Status.INTERRUPTED, Status.LEAST_NORM))
        self.status_ = Status.SOLVED if solved else unsolved[0]
        self._published = True  # from here on an interrupt leaves the new model, and no longer the old one

    def _announce(self, watch: Watch) -> None:
        """Warn of an early end with the number; hand Ctrl-C on once the best model is in place."""
        if self.status_ not in (Status.SOLVED, Status.LEAST_NORM):
            gap = self.certificate_.relative_gap
            warnings.warn(
                f"{type(self).__name__} stopped at a relative gap of {gap:.1e} (asked {self._asked():.1e}) "
                f"after {watch.seconds:.3g} s: {self.status_.value}",
                ConvergenceWarning,
                stacklevel=2,
            )
        if watch.by_signal:  # even where the last solve had just ended: the caller's Ctrl-C is never swallowed
            raise KeyboardInterrupt


class CertifiedClassifier(Certified, LinearClassifier):
    """A linear classifier that minimises an `Objective`, and publishes how close it came."""

    max_iter: int
    max_time: float | None

    @abstractmethod
    def _objective(self, classes: NDArray[Any]) -> Objective:
        """What the parameters say is minimised."""

    @all_or_nothing
    @with_callbacks  # type: ignore[untyped-decorator]
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X and labels y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            float32 and float64 are used as they lie, dense or CSR, with 32- or 64-bit indices.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0: weight 2 is two equal rows, weight 0 is none.

        Returns
        -------
        self : object
            Fitted.
        """
        self._refuse()
        design, y, weight = self._validated(X, y, sample_weight)
        objective = self._objective(np.unique(y))
        problems = objective.problems(design, y, weight)
        self._check_classes(y, problems[0].cost > 0)
        self._check_range(design)
        self._check_costs(problems[0])
        threads = min(self._threads(), len(problems))
        design.threads = max(1, self._threads() // threads)  # classes side by side first; what is left serves each product
        task = FitTask(self, X, y)
        watch = Watch(self.max_time, listeners(self.verbose, task))
        seed = self._seed()

        def make(problem: Problem) -> Solver:
            if isinstance(self.solver, Solver):
                return self.solver
            return make_solver(self.solver, problem, self.tol, self.max_iter, seed)

        solutions = self._examined(objective, problems, solve_all(problems, make, watch, threads), watch)
        self._publish(objective, solutions, design.n)
        task.end()
        self._announce(watch)
        return self

    def plan(self, X: Any, y: Any, sample_weight: Any = None) -> Plan:
        """What solver="auto" would do with this data, and what every solver would cost; nothing is fitted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        plan : Plan
            For one class against the rest; its `repr` is a table.
        """
        probe = clone(self)
        design, y, weight = probe._validated(X, y, sample_weight)
        return plan(probe._objective(np.unique(y)).problems(design, y, weight)[0], self.tol)

    def kkt_residuals(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[KKT, ...]:
        """How far the published numbers are from each optimality condition, per class against the rest, on the data of the fit.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows of the fit, in their order.
        y : array-like of shape (n_samples,)
            Their labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        residuals : tuple of KKT
            One for two classes, else one per class.
        """
        check_is_fitted(self)
        claim = self.certificate_.claim
        if self.status_ is Status.ONLINE or not isinstance(claim, LinearClaim):
            raise ValueError(f"{type(self).__name__}.kkt_residuals: partial_fit keeps no multipliers. Use fit.")
        return tuple(kkt_residuals(*point) for point in claim.points(X, y, sample_weight))

    def _examined(
        self, objective: Objective, problems: list[Problem], solutions: tuple[Solution, ...], watch: Watch
    ) -> tuple[Solution, ...]:
        """The solutions to publish; raise where there is none."""
        return solutions

    def _check_costs(self, problem: Problem) -> None:
        with np.errstate(over="ignore"):
            total = problem.cost.sum()
        if not np.isfinite(total):
            raise ValueError(f"{type(self).__name__}(C): C times the weights adds up beyond the largest double. Lower C.")

    def _publish(self, objective: Objective, solutions: tuple[Solution, ...], rows: int) -> None:
        dual = np.stack([solution.dual for solution in solutions])
        self.classes_ = objective.classes
        self.coef_ = np.stack([solution.coef for solution in solutions])
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.support_ = np.flatnonzero(dual.any(axis=0))
        self.dual_coef_ = dual[:, self.support_]
        self.n_iter_ = max(1, *(solution.work.epochs + solution.work.steps for solution in solutions))
        claim = LinearClaim(objective, self.coef_, self.intercept_, self.dual_coef_, self.support_, rows)
        self._settle(solutions, claim)
