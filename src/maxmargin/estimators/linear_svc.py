"""LinearSVC: the linear support vector classifier with a certificate."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from maxmargin import _native
from maxmargin.certificate import combined
from maxmargin.design import VALUE_TYPES, Design, as_design, check_structure
from maxmargin.estimators.callbacks import CallbackSupportMixin, FitTask, listeners, with_callbacks
from maxmargin.estimators.objective import LinearClaim, Objective
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.model import LinearModel
from maxmargin.problem import Intercept, Problem
from maxmargin.reductions import solve_all
from maxmargin.solution import Solution, Status
from maxmargin.solvers import SOLVERS, Solver, Watch, make_solver

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}
GRAVEST = (Status.INTERRUPTED, Status.MAX_TIME, Status.MAX_ITER, Status.PRECISION)


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """A fit that raises leaves the estimator as it was, unless it was interrupted with its best model published."""

    @functools.wraps(fit)
    def guarded(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            fitted = fit(self, *args, **kwargs)
            del self._published
            return fitted
        except BaseException:
            if not vars(self).pop("_published", False):
                vars(self).clear()
                vars(self).update(before)
            raise

    return guarded


def _refuse_corrupt(X: Any) -> None:
    """CSR of floats is checked as it becomes a Design; everything else before scikit-learn converts it."""
    if sp.issparse(X) and (X.format != "csr" or X.dtype not in VALUE_TYPES):
        check_structure(X)


def _check_range(problem: Problem) -> None:
    """Refuse data and costs whose squares and sums are beyond the doubles."""
    if not np.isfinite(problem.design.norms_sq).all():
        raise ValueError("LinearSVC.fit(X): the squares of a row add up beyond the largest double. Scale the features.")
    with np.errstate(over="ignore"):
        total = problem.cost.sum()
    if not np.isfinite(total):
        raise ValueError("LinearSVC(C): C times the weights adds up beyond the largest double. Lower C.")


class LinearSVC(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """min over w, b of |w|²/2 + C Σ c_i max(0, 1 - y_i (x_i'w + b))², with a certificate.

    c_i is the sample weight times the class weight; `loss="hinge"` drops the square. More than two classes are learnt one
    against the rest. Everything that scikit-learn's class of this name takes is taken or refused by a sentence. Two defaults
    differ on purpose: the intercept is free of any penalty, and `tol` is the relative duality gap.

    Parameters
    ----------
    penalty : {"l2"}, default="l2"
        Only the ridge penalty.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss of the margin.
    dual : "auto" or True, default="auto"
        Kept for scikit-learn's signature; `solver` names the algorithm.
    tol : float, default=1e-4
        The fit ends when the certified relative gap is at most this.
    C : float, default=1.0
        Weight of the losses against |w|²/2.
    multi_class : {"ovr"}, default="ovr"
        One against the rest.
    fit_intercept : bool, default=True
        False fixes b = 0.
    intercept_scaling : float, default=1
        With `intercept="penalized"`, b is penalised by b² / (2 intercept_scaling²).
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows by class; "balanced" gives every class the same total weight.
    verbose : int, default=0
        1 prints each certificate, 2 each estimate of the gap.
    random_state : int, RandomState instance or None, default=None
        Seed of the visiting order. None is seed 0: the same data gives the same model.
    max_iter : int, default=1000
        The most epochs (with "newton": steps) per class.
    intercept : {"free", "penalized"}, default="free"
        Whether b is left out of the penalty.
    solver : {"auto", "dual_ascent", "newton"} or Solver, default="auto"
        The algorithm.
    max_time : float or None, default=None
        The most seconds of one fit.
    n_jobs : int or None, default=None
        Threads, for classes side by side and for products with large data. None is 1 unless joblib says otherwise, -1 all.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w, in the dtype of X.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. For two, positive scores mean the second.
    certificate_ : Certificate
        The proof of how good coef_ and intercept_ are; `certificate_.verify(X, y)` makes it again from scratch.
    status_ : Status
        Why the fit ended; its value is a sentence.
    support_ : ndarray of shape (n_support,)
        Rows with a dual value in some class.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Signed dual values: coef_ is close to dual_coef_ @ X[support_].
    n_iter_ : int
        The most epochs, Newton steps included, that a class took.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has string names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from maxmargin import LinearSVC
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = LinearSVC().fit(scale(X), y)
    >>> machine.certificate_.relative_gap <= 1e-4
    True
    >>> machine.status_.value
    'The relative gap is at most tol.'
    """

    coef_: Any  # an array, or a CSR matrix after sparsify()

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "dual": ["boolean", StrOptions({"auto"})],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "intercept": [StrOptions({"free", "penalized"})],
        "solver": [StrOptions({"auto", *SOLVERS}), Solver],
        "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-4,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict[Any, float] | str | None = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        intercept: str = "free",
        solver: str | Solver = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.intercept = intercept
        self.solver = solver
        self.max_time = max_time
        self.n_jobs = n_jobs

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
        self : LinearSVC
            Fitted.
        """
        self._refuse()
        design, y, weight = self._validated(X, y, sample_weight)
        objective = self._objective(np.unique(y))
        problems = objective.problems(design, y, weight)
        self._check_classes(problems[0], y)
        _check_range(problems[0])
        threads = min(self._threads(), len(problems))
        design.threads = max(1, self._threads() // threads)  # classes side by side first; what is left serves each product
        task = FitTask(self, X, y)
        watch = Watch(self.max_time, listeners(self.verbose, task))
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31 - 1))

        def make(problem: Problem) -> Solver:
            if isinstance(self.solver, Solver):
                return self.solver
            return make_solver(self.solver, problem, self.tol, self.max_iter, seed)

        solutions = solve_all(problems, make, watch, threads)
        self._publish(objective, solutions, design.n)
        task.end()
        self._announce(watch)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """x'w + b: one score per row for two classes, else one per row and class."""
        check_is_fitted(self)
        X = self._validated_rows(X, reset=False)
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        scores = LinearModel(coef, self.intercept_).scores(as_design(X, self._threads()))
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the highest score; of two classes the second only where its score is above 0."""
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def sparsify(self) -> Self:
        """Store coef_ as a CSR matrix."""
        check_is_fitted(self)
        self.coef_ = sp.csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Store coef_ as an array."""
        check_is_fitted(self)
        if sp.issparse(self.coef_):
            self.coef_ = self.coef_.toarray()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _refuse(self) -> None:
        """Say no to what scikit-learn's class offers and this one does not, naming what to use instead."""
        if self.penalty == "l1":
            raise ValueError(
                "LinearSVC(penalty='l1'): use penalty='l2', or sklearn.svm.LinearSVC(penalty='l1', dual=False)."
            )
        if self.multi_class == "crammer_singer":
            raise ValueError("LinearSVC(multi_class='crammer_singer'): use multi_class='ovr'.")
        if self.dual is False:
            raise ValueError("LinearSVC(dual=False): the solver is named directly. Use dual='auto' with solver='newton'.")

    def _validated_rows(self, X: Any, reset: bool) -> Any:
        _refuse_corrupt(X)
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", accept_large_sparse=True, dtype=[np.float64, np.float32]
        )

    def _validated(self, X: Any, y: Any, sample_weight: Any) -> tuple[Design, NDArray[Any], NDArray[np.float64] | None]:
        _refuse_corrupt(X)
        X, y = validate_data(self, X, y, accept_sparse="csr", accept_large_sparse=True, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not weight.any():
                raise ValueError(
                    "LinearSVC.fit(sample_weight): all weights are zero; at least one sample weight must be positive."
                )
        return as_design(X, self._threads()), y, weight

    def _objective(self, classes: NDArray[Any]) -> Objective:
        if isinstance(self.class_weight, dict):
            bad = [label for label, value in self.class_weight.items() if not (np.isfinite(value) and value >= 0)]
            if bad:
                raise ValueError(f"LinearSVC(class_weight={self.class_weight}): weights must be finite and not negative.")
            known = set(classes.tolist())
            missing, unknown = known - set(self.class_weight), set(self.class_weight) - known
            if missing and unknown:
                raise ValueError(
                    f"LinearSVC(class_weight={self.class_weight}): {sorted(map(str, unknown))} are not classes of y, and the "
                    f"classes {sorted(map(str, missing))} have no weight."
                )
        intercept = Intercept(self.intercept) if self.fit_intercept else Intercept.NONE
        scale = float(self.intercept_scaling)
        return Objective(LOSSES[self.loss], float(self.C), intercept, scale, self.class_weight, classes)

    def _check_classes(self, problem: Problem, y: NDArray[Any]) -> None:
        """Two classes at least must have weight."""
        weighted = np.unique(y[problem.cost > 0])
        if len(weighted) < 2:
            raise ValueError(
                f"LinearSVC.fit(y): two classes or more are needed, and y has {len(weighted)} class with positive weight: "
                f"{weighted.tolist()}."
            )

    def _asked(self) -> float:
        return self.solver.tol if isinstance(self.solver, Solver) else self.tol

    def _threads(self) -> int:
        if self.n_jobs == 0:
            raise ValueError(
                "LinearSVC(n_jobs=0): n_jobs must be None, positive, or negative to leave that many processors out."
            )
        return int(min(effective_n_jobs(self.n_jobs), max(1, _native.max_threads())))

    def _publish(self, objective: Objective, solutions: tuple[Solution, ...], rows: int) -> None:
        dual = np.stack([solution.dual for solution in solutions])
        self.classes_ = objective.classes
        self.coef_ = np.stack([solution.coef for solution in solutions])
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.support_ = np.flatnonzero(dual.any(axis=0))
        self.dual_coef_ = dual[:, self.support_]
        self.n_iter_ = max(1, *(solution.work.epochs + solution.work.steps for solution in solutions))
        total = combined(tuple(solution.certificate for solution in solutions))
        claim = LinearClaim(objective, self.coef_, self.intercept_, self.dual_coef_, self.support_, rows)
        self.certificate_ = dataclasses.replace(total, claim=claim)
        statuses = {solution.status for solution in solutions}
        unsolved = [status for status in GRAVEST if status in statuses]
        solved = not unsolved or (total.relative_gap <= self._asked() and unsolved[0] is not Status.INTERRUPTED)
        self.status_ = Status.SOLVED if solved else unsolved[0]
        self._published = True  # from here on an interrupt leaves the new model, and no longer the old one

    def _announce(self, watch: Watch) -> None:
        """Warn of an early end with the number; hand Ctrl-C on once the best model is in place."""
        if self.status_ is not Status.SOLVED:
            gap = self.certificate_.relative_gap
            warnings.warn(
                f"LinearSVC stopped at a relative gap of {gap:.1e} (asked {self._asked():.1e}) after {watch.seconds:.3g} s: "
                f"{self.status_.value}",
                ConvergenceWarning,
                stacklevel=2,
            )
        if watch.by_signal:  # even where the last solve had just ended: the caller's Ctrl-C is never swallowed
            raise KeyboardInterrupt
