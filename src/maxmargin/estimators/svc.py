"""SVC: the soft-margin machine in the feature space of a kernel."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function, check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from maxmargin import _native
from maxmargin.certificate import Certificate, combined
from maxmargin.design import VALUE_TYPES, check_structure
from maxmargin.estimators.callbacks import CallbackSupportMixin, FitTask, listeners, with_callbacks
from maxmargin.estimators.kernel_objective import KernelClaim, KernelObjective
from maxmargin.estimators.linear import all_or_nothing
from maxmargin.kernels import Called, Gaussian, Kernel, Linear, Polynomial, Sigmoid, as_rows
from maxmargin.model import KernelModel
from maxmargin.problem import Problem
from maxmargin.reductions import solve_all
from maxmargin.solution import Solution, Status
from maxmargin.solvers import PairAscent, Solver, TextbookSMO, Watch

Floats = NDArray[np.float64]

GRAVEST = (Status.INTERRUPTED, Status.MAX_TIME, Status.MAX_ITER, Status.PRECISION, Status.STATIONARY)  # worst first
SINGLE_ENOUGH = 1e-6  # relative gaps for which rows of K in float32 choose the steps as well as in float64


@final
class SVC(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """min over w, b of |w|²/2 + C Σ c_i max(0, 1 - y_i (<w, φ(x_i)> + b)), with a certificate; <φ(x), φ(z)> = k(x, z).

    c_i is the sample weight times the class weight. More than two classes are learnt pair by pair, on one cache of kernel values.
    Everything that scikit-learn's class of this name takes is taken or refused by a sentence; `tol` is the relative duality gap.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against |w|²/2.
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, Kernel or callable, default="rbf"
        A name, a value of `maxmargin.kernels`, or a function of two sets of rows that returns their matrix. With "precomputed" X is the
        matrix of inner products.
    degree : int, default=3
        p of "poly", (γ x'z + coef0)^p.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of the names: 1 / (n_features Var X), 1 / n_features, or the number. Rows count for the variance by their sample weights.
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    shrinking : bool, default=True
        Kept for scikit-learn's signature: working sets are chosen anew each time.
    probability : bool, default=False
        Not offered; use `sklearn.calibration.CalibratedClassifierCV`.
    tol : float, default=1e-3
        The fit ends when the certified relative gap is at most this.
    cache_size : float, default=200
        The most megabytes of kernel rows that are kept.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows by class; "balanced" gives every class the same total weight.
    verbose : int, default=0
        1 prints each certificate, 2 each estimate of the gap.
    max_iter : int, default=-1
        The most steps per problem, -1 for no limit.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        For more than two classes: one score per class, or one per pair.
    break_ties : bool, default=False
        Break ties of votes by the scores.
    random_state : int, RandomState instance or None, default=None
        Kept for scikit-learn's signature: nothing is random.
    multi_class : {"ovo", "ovr"}, default="ovo"
        One against one, or one against the rest.
    mercer : {"auto"} or bool, default="auto"
        Whether Mercer's condition is checked on the rows of the fit where nothing proves the kernel; "auto": up to 1000 rows.
        Without a proof there is no certificate.
    solver : {"pair_ascent", "textbook_smo"} or Solver, default="pair_ascent"
        The algorithm.
    max_time : float or None, default=None
        The most seconds of one fit.
    n_jobs : int or None, default=None
        Threads of the products. None is 1 unless joblib says otherwise, -1 all.

    Attributes
    ----------
    certificate_ : Certificate
        The proof of how good the machine is; `certificate_.verify(X, y)` makes it again from scratch.
    status_ : Status
        Why the fit ended; its value is a sentence.
    support_ : ndarray of shape (n_SV,)
        Rows with a dual value in some problem, class by class.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_SV, n_features)
        Those rows; empty with "precomputed".
    n_support_ : ndarray of shape (n_classes,)
        Support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        Signed dual values. Row m of a vector of class i belongs to its pair with the m-th other class. One row per class with
        multi_class="ovr".
    intercept_ : ndarray of shape (n_classes (n_classes - 1) / 2,) or (n_classes,)
        b of each problem.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. For two, positive scores mean the second.
    class_weight_ : ndarray of shape (n_classes,)
        Factors of the weights by class.
    fit_status_ : int
        0 where the fit ended as asked, else 1.
    n_iter_ : ndarray
        Steps of each problem.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has string names.
    shape_fit_ : tuple
        Shape of X.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from maxmargin import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> machine = SVC().fit(X, y)
    >>> machine.certificate_.relative_gap <= 1e-3
    True
    """

    certificate_: Certificate
    status_: Status

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "C": [Interval(Real, 0.0, None, closed="right")],
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}), Kernel, callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "shrinking": ["boolean"],
        "probability": ["boolean", Hidden(StrOptions({"deprecated"}))],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "verbose": ["verbose"],
        "max_iter": [Interval(Integral, -1, None, closed="left")],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "random_state": ["random_state"],
        "multi_class": [StrOptions({"ovo", "ovr"})],
        "mercer": [StrOptions({"auto"}), "boolean"],
        "solver": [StrOptions({"pair_ascent", "textbook_smo"}), Solver],
        "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: str | Kernel | Callable[[Any, Any], Any] = "rbf",
        degree: int = 3,
        gamma: str | float = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool | str = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: dict[Any, float] | str | None = None,
        verbose: bool | int = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        multi_class: str = "ovo",
        mercer: str | bool = "auto",
        solver: str | Solver = "pair_ascent",
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.multi_class = multi_class
        self.mercer = mercer
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
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            Dense or CSR, float32 or float64; with kernel="precomputed" the matrix of inner products; strings for their kernels.
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
        threads = self._threads()
        X, y = self._validated_arrays(X, y)
        weight = self._validated_weight(sample_weight, X, len(y))
        classes = np.unique(y)
        kernel = self._kernel_value(X, weight)
        pairs = self.multi_class == "ovo"
        objective = KernelObjective(kernel, float(self.C), self.class_weight, classes, pairs, self.mercer)
        self._check_weights(objective, y, weight)
        design = objective.design(X, threads)
        if not design.positive:
            warnings.warn(
                f"SVC(kernel={self.kernel!r}): this kernel is not known to be positive semidefinite on these rows, so the fit has no "
                "certificate. mercer=True checks it.",
                UserWarning,
                stacklevel=2,
            )
        parts = objective.problems(design, y, weight)
        task = FitTask(self, X, y)
        watch = Watch(self.max_time, listeners(self.verbose, task))
        solutions = solve_all(
            [problem for _, problem in parts], self._solver, watch
        )  # one after the other: they share the cache
        self._publish(objective, X, y, [rows for rows, _ in parts], solutions)
        task.end()
        self._announce(watch)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The scores: one per row for two classes, else one per row and class, or pair with decision_function_shape="ovo"."""
        scores = self._scores(X)
        if len(self.classes_) == 2:
            return scores[:, 0]
        if self._by_pairs and self.decision_function_shape == "ovr":
            return np.asarray(_ovr_decision_function(scores < 0.0, -scores, len(self.classes_)))
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the most votes of its pairs, the first of them where votes tie; of two the second only above 0."""
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError(
                "SVC(break_ties=True): ties of pairs are broken by scores per class. Use decision_function_shape='ovr'."
            )
        scores = self._scores(X)
        k = len(self.classes_)
        if k == 2:
            codes = (scores[:, 0] > 0.0).astype(np.intp)
        elif not self._by_pairs:
            codes = scores.argmax(axis=1)
        elif self.break_ties:
            codes = np.asarray(_ovr_decision_function(scores < 0.0, -scores, k)).argmax(axis=1)
        else:
            votes = np.zeros((len(scores), k))
            for at, (i, j) in enumerate(self._pairs()):
                votes[:, i] += scores[:, at] > 0.0
                votes[:, j] += ~(scores[:, at] > 0.0)
            codes = votes.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    @property
    def coef_(self) -> NDArray[Any]:
        """w of each problem; only for the linear kernel."""
        if self.kernel != "linear" and self.kernel != Linear():
            raise AttributeError("coef_ is only available with a linear kernel: other feature spaces have no such columns.")
        check_is_fitted(self)
        return np.asarray(self._coefficients().T @ self.support_vectors_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _refuse(self) -> None:
        """Say no to what scikit-learn's class offers and this one does not, naming what to use instead."""
        if self.probability is True:
            raise ValueError("SVC(probability=True): use sklearn.calibration.CalibratedClassifierCV(SVC()).")
        if not np.isfinite(self.C):
            raise ValueError("SVC(C=inf): give a large C, or use HardMarginSVC on the features themselves.")
        weights = self.class_weight.values() if isinstance(self.class_weight, dict) else ()
        if any(not (np.isfinite(value) and value >= 0) for value in weights):
            raise ValueError(f"SVC(class_weight={self.class_weight}): weights must be finite and not negative.")

    def _validated_arrays(self, X: Any, y: Any) -> tuple[Any, NDArray[Any]]:
        if isinstance(self.kernel, Kernel) and _is_text(X):
            y = column_or_1d(y, warn=True)
            check_consistent_length(X, y)
            check_classification_targets(y)
            return as_rows(X), y
        _refuse_corrupt(X)
        sparse = False if self.kernel == "precomputed" else "csr"
        X, y = validate_data(self, X, y, accept_sparse=sparse, accept_large_sparse=True, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"SVC(kernel='precomputed').fit(X of shape {X.shape}): the matrix of inner products must be square."
            )
        return X, y

    def _validated_rows(self, X: Any) -> Any:
        if isinstance(self.kernel, Kernel) and _is_text(X):
            return as_rows(X)
        _refuse_corrupt(X)
        if self.kernel == "precomputed":
            K = np.asarray(X)
            if K.ndim == 2 and K.shape[1] == len(self.support_) != self.n_features_in_:
                return K.astype(np.float64)
            return validate_data(self, X, reset=False, dtype=np.float64)[:, self.support_]
        return validate_data(
            self, X, reset=False, accept_sparse="csr", accept_large_sparse=True, dtype=[np.float64, np.float32]
        )

    def _validated_weight(self, sample_weight: Any, X: Any, rows: int) -> Floats | None:
        if sample_weight is None:
            return None
        reference = np.empty((rows, 1)) if not isinstance(X, np.ndarray) else X
        weight = np.asarray(_check_sample_weight(sample_weight, reference, dtype=np.float64, ensure_non_negative=True))
        if not weight.any():
            raise ValueError("SVC.fit(sample_weight): all weights are zero; at least one sample weight must be positive.")
        return weight

    def _check_weights(self, objective: KernelObjective, y: NDArray[Any], weight: Floats | None) -> None:
        """Two classes at least must have weight, and all of it must be a double."""
        factors = np.ones(len(y)) if weight is None else weight
        if isinstance(self.class_weight, dict):
            factors = factors * np.array([float(self.class_weight.get(label, 1.0)) for label in y.tolist()])
        weighted = np.unique(y[factors > 0.0])
        if len(weighted) < 2:
            raise ValueError(
                f"SVC.fit(y): two classes or more are needed, and y has {len(weighted)} class with positive weight: {weighted.tolist()}."
            )
        with np.errstate(over="ignore"):
            if not np.isfinite(self.C * factors.sum()):
                raise ValueError("SVC(C): C times the weights adds up beyond the largest double. Lower C.")

    def _kernel_value(self, X: Any, weight: Floats | None) -> Kernel | None:
        """The kernel that the parameters name; None for "precomputed"."""
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if not isinstance(self.kernel, str):
            return Called(self.kernel)
        if self.kernel == "precomputed":
            return None
        if self.kernel == "linear":
            return Linear()
        gamma = _gamma(self.gamma, X, weight)
        if self.kernel == "rbf":
            return Gaussian(gamma)
        return Polynomial(self.degree, self.coef0, gamma) if self.kernel == "poly" else Sigmoid(gamma, self.coef0)

    def _solver(self, problem: Problem) -> Solver:
        if isinstance(self.solver, Solver):
            return self.solver
        limit = None if self.max_iter < 0 else int(self.max_iter)
        if self.solver == "textbook_smo":
            return TextbookSMO(self.tol, 1_000_000 if limit is None else limit)
        return PairAscent(self.tol, float(self.cache_size), self.tol >= SINGLE_ENOUGH, limit)

    def _threads(self) -> int:
        if self.n_jobs == 0:
            raise ValueError("SVC(n_jobs=0): n_jobs must be None, positive, or negative to leave that many processors out.")
        return int(min(effective_n_jobs(self.n_jobs), max(1, _native.max_threads())))

    def _publish(
        self,
        objective: KernelObjective,
        X: Any,
        y: NDArray[Any],
        rows: list[NDArray[np.int64]],
        solutions: tuple[Solution, ...],
    ) -> None:
        n = len(y)
        duals = []
        for kept, solution in zip(rows, solutions, strict=True):
            a = np.zeros(n)
            a[kept] = solution.dual
            duals.append(a)
        dual = np.stack(duals)
        codes = np.searchsorted(objective.classes, y)
        support = np.flatnonzero(dual.any(axis=0))
        support = support[np.argsort(codes[support], kind="stable")]
        k = len(objective.classes)
        self._by_pairs = objective.by_pairs
        self._kernel = objective.kernel
        self.classes_ = objective.classes
        self.class_weight_ = _class_weights(objective, codes)
        self.support_ = support.astype(np.int32)
        self.n_support_ = np.bincount(codes[support], minlength=k).astype(np.int32)
        self.support_vectors_ = _taken(X, support, objective.kernel is None)
        self.intercept_ = np.array([solution.intercept for solution in solutions])
        self.dual_coef_ = self._laid_out(dual[:, support], codes[support])
        self.n_iter_ = np.array([max(1, solution.work.steps) for solution in solutions], dtype=np.int32)
        self.shape_fit_ = X.shape if isinstance(X, np.ndarray) or sp.issparse(X) else (n,)
        total = combined(tuple(solution.certificate for solution in solutions))
        self.certificate_ = dataclasses.replace(total, claim=KernelClaim(objective, tuple(duals), self.intercept_.copy(), n))
        statuses = {solution.status for solution in solutions}
        unsolved = [status for status in GRAVEST if status in statuses]
        solved = not unsolved or (total.relative_gap <= self._asked() and unsolved[0] is not Status.INTERRUPTED)
        self.status_ = Status.SOLVED if solved else unsolved[0]
        self.fit_status_ = int(self.status_ not in (Status.SOLVED, Status.STATIONARY))
        self._published = True  # from here on an interrupt leaves the new model, and no longer the old one

    def _asked(self) -> float:
        return float(self.solver.tol if isinstance(self.solver, Solver) else self.tol)

    def _pairs(self) -> list[tuple[int, int]]:
        k = len(self.classes_)
        return [(i, j) for i in range(k) for j in range(i + 1, k)]

    def _laid_out(self, dual: Floats, codes: NDArray[np.int64]) -> Floats:
        """scikit-learn's layout: in the pair i < j a vector of class i stands in row j - 1, one of class j in row i."""
        if len(self.classes_) == 2 or not self._by_pairs:
            return dual
        laid = np.zeros((len(self.classes_) - 1, dual.shape[1]))
        for at, (i, j) in enumerate(self._pairs()):
            laid[j - 1, codes == i] = dual[at, codes == i]
            laid[i, codes == j] = dual[at, codes == j]
        return laid

    def _coefficients(self) -> Floats:
        """One column of dual values per problem, from dual_coef_."""
        if len(self.classes_) == 2 or not self._by_pairs:
            return np.asarray(self.dual_coef_.T)
        codes = np.repeat(np.arange(len(self.classes_)), self.n_support_)
        columns = np.zeros((len(codes), len(self.intercept_)))
        for at, (i, j) in enumerate(self._pairs()):
            columns[codes == i, at] = self.dual_coef_[j - 1, codes == i]
            columns[codes == j, at] = self.dual_coef_[i, codes == j]
        return columns

    def _scores(self, X: Any) -> Floats:
        check_is_fitted(self)
        X = self._validated_rows(X)
        if self._kernel is None:
            return np.asarray(X @ self._coefficients() + self.intercept_)
        model = KernelModel(self._kernel, as_rows(self.support_vectors_), self._coefficients(), self.intercept_)
        return model.scores(as_rows(X))

    def _announce(self, watch: Watch) -> None:
        """Warn of an early end with the number; hand Ctrl-C on once the best model is in place."""
        if self.status_ not in (Status.SOLVED, Status.STATIONARY):
            gap = self.certificate_.relative_gap
            warnings.warn(
                f"SVC stopped at a relative gap of {gap:.1e} (asked {self._asked():.1e}) after {watch.seconds:.3g} s: {self.status_.value}",
                ConvergenceWarning,
                stacklevel=2,
            )
        if watch.by_signal:
            raise KeyboardInterrupt


def _gamma(gamma: str | float, X: Any, weight: Floats | None) -> float:
    """1 / (d Var X), 1 / d, or the number; 1 where X is constant."""
    if not isinstance(gamma, str):
        return float(gamma)
    d = X.shape[1]
    if gamma == "auto":
        return float(1.0 / d)
    share = np.full(X.shape[0], 1.0 / X.shape[0]) if weight is None else weight / weight.sum()
    values = X.astype(np.float64)
    mean = float(np.sum(share @ values)) / d
    squares = values.multiply(values) if sp.issparse(values) else (values - mean) ** 2
    variance = float(np.sum(share @ squares)) / d - (mean * mean if sp.issparse(values) else 0.0)
    return float(1.0 / (d * variance)) if variance > 0.0 else 1.0


def _class_weights(objective: KernelObjective, codes: NDArray[np.int64]) -> Floats:
    weights, counts = objective.class_weight, np.bincount(codes, minlength=len(objective.classes))
    if isinstance(weights, str):
        return np.asarray(len(codes) / (len(counts) * counts))
    return np.array([1.0 if weights is None else float(weights.get(label, 1.0)) for label in objective.classes.tolist()])


def _taken(X: Any, rows: NDArray[np.int64], precomputed: bool) -> Any:
    if precomputed:
        return np.empty((0, X.shape[1]))
    return X[rows] if isinstance(X, np.ndarray) or sp.issparse(X) else X.take(rows)


def _is_text(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return len(X) > 0 and isinstance(X[0], str | bytes)
    return not sp.issparse(X) and np.ndim(X) == 1 and np.asarray(X).dtype.kind in "OSTU"


def _refuse_corrupt(X: Any) -> None:
    """CSR of floats is checked as it becomes a Design; everything else before scikit-learn converts it."""
    if sp.issparse(X) and (X.format != "csr" or X.dtype not in VALUE_TYPES):
        check_structure(X)
