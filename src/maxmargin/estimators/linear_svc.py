"""LinearSVC: the linear support vector classifier with a certificate."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from maxmargin.certificate import unbounded
from maxmargin.estimators.certified import CertifiedClassifier
from maxmargin.estimators.linear import all_or_nothing
from maxmargin.estimators.objective import Objective
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.problem import Intercept
from maxmargin.solution import Solution, Status, Work
from maxmargin.solvers import SGD, SOLVERS, Solver, Stream


def _learns_online(machine: LinearSVC) -> bool:
    return machine.solver == "sgd" or isinstance(machine.solver, SGD)


LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


@final
class LinearSVC(CertifiedClassifier):
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
    solver : str or Solver, default="auto"
        The algorithm: "dual_ascent", "newton", "interior_point", "quadratic_program", "gradient", "sgd", or a Solver with options of
        its own, such as `SGD(order="random")`. "auto" is explained by `plan(X, y)`.
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

    _streams: list[Stream]
    _seen: int

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

    @available_if(_learns_online)  # type: ignore[untyped-decorator]
    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One stochastic pass over rows X with labels y, from where the last call ended; only with solver="sgd". `fit` starts over.

        Each row stands for all the rows seen so far, so that C keeps its meaning. There is no certificate: the data is gone.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will come; needed in the first call.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0.

        Returns
        -------
        self : object
            With the rows learnt.
        """
        self._refuse()
        first = not hasattr(self, "_streams")
        known = self._named_classes(classes, first)
        design, y, weight = self._validated(X, y, sample_weight, reset=first)
        self._check_named(y, known)
        self._check_range(design)
        objective = self._objective(known)
        problems = objective.problems(design, y, weight)
        self._check_costs(problems[0])
        solver = self.solver if isinstance(self.solver, SGD) else SGD(seed=self._seed())
        streams = [Stream.at_zero(design.d) for _ in problems] if first else [replace(each) for each in self._streams]
        seen = design.n + (0 if first else self._seen)
        for problem, stream in zip(problems, streams, strict=True):
            stream.w, stream.sum_w = stream.w.copy(), stream.sum_w.copy()
            solver.advance(problem, stream, rows=seen)
        found = [stream.average() if solver.averaged else (stream.w, stream.b) for stream in streams]
        solutions = []
        for problem, (w, b) in zip(problems, found, strict=True):
            coef = w.astype(design.dtype)
            reached = unbounded(problem, coef.astype(np.float64), b)
            solutions.append(Solution(coef, b, np.zeros(design.n), reached, Status.ONLINE, Work(epochs=1)))
        self._publish(objective, tuple(solutions), design.n)
        self.status_ = Status.ONLINE
        self._streams, self._seen = streams, seen
        return self

    def _publish(self, objective: Objective, solutions: tuple[Solution, ...], rows: int) -> None:
        super()._publish(objective, solutions, rows)
        self.__dict__.pop("_streams", None)  # a model of other rows: `partial_fit` cannot go on from the old ones

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
