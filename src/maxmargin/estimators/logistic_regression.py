"""LogisticRegression: probabilities of classes with a certificate."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit
from sklearn.utils._param_validation import Hidden, Interval, StrOptions

from maxmargin.estimators.certified import CertifiedClassifier
from maxmargin.estimators.objective import Objective
from maxmargin.losses import Logistic
from maxmargin.problem import Intercept
from maxmargin.solvers import SOLVERS, Solver

THEIRS = {"lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga"}


@final
class LogisticRegression(CertifiedClassifier):
    """min over w, b of |w|²/2 + C Σ c_i ln(1 + e^{-y_i (x_i'w + b)}), with a certificate.

    c_i is the sample weight times the class weight. More than two classes are learnt one against the rest, where scikit-learn's class of
    this name learns them jointly; for two classes both have the same minimiser. `tol` is the relative duality gap.

    Parameters
    ----------
    penalty : {"l2"}, default="l2"
        Only the ridge penalty.
    C : float, default=1.0
        Weight of the losses against |w|²/2.
    l1_ratio : 0.0, default=0.0
        Kept for scikit-learn's signature.
    dual : False, default=False
        Kept for scikit-learn's signature; `solver` names the algorithm.
    tol : float, default=1e-4
        The fit ends when the certified relative gap is at most this.
    fit_intercept : bool, default=True
        False fixes b = 0; else b is free of any penalty.
    intercept_scaling : 1, default=1
        Kept for scikit-learn's signature.
    class_weight : dict, "balanced" or None, default=None
        Factors of the weights of rows by class; "balanced" gives every class the same total weight.
    random_state : None, default=None
        Nothing is drawn.
    solver : str or Solver, default="auto"
        The algorithm; names of this package.
    max_iter : int, default=100
        Steps or rounds at most.
    verbose : int, default=0
        1 prints a line per certificate.
    warm_start : False, default=False
        Kept for scikit-learn's signature.
    n_jobs : int or None, default=None
        Threads, over classes first.
    max_time : float or None, default=None
        Seconds after which the best model so far is published.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w, in the dtype of X.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    certificate_ : Certificate
        What was reached, and what no predictor of this kind can beat.
    status_ : Status
        Why the fit ended.
    n_iter_ : int
        The most steps that one class took.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from maxmargin import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = LogisticRegression().fit(scale(X), y)
    >>> machine.certificate_.relative_gap <= 1e-4
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [StrOptions({"l1", "l2", "elasticnet"}), Hidden(StrOptions({"deprecated"})), None],
        "C": [Interval(Real, 0.0, None, closed="neither")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "dual": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [None, dict, StrOptions({"balanced"})],
        "random_state": ["random_state"],
        "solver": [StrOptions({"auto", *SOLVERS, *THEIRS}), Solver],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "warm_start": ["boolean"],
        "n_jobs": [None, Integral],
        "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        penalty: str | None = "l2",
        *,
        C: float = 1.0,
        l1_ratio: float = 0.0,
        dual: bool = False,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: dict[Any, float] | str | None = None,
        random_state: Any = None,
        solver: str | Solver = "auto",
        max_iter: int = 100,
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        max_time: float | None = None,
    ) -> None:
        self.penalty = penalty
        self.C = C
        self.l1_ratio = l1_ratio
        self.dual = dual
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.max_time = max_time

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """p = 1 / (1 + e^{-z}) of each class, over their sum where there are more than two; in the order of `classes_`."""
        z = self.decision_function(X)
        if z.ndim == 1:
            return np.stack([expit(-z), expit(z)], axis=1)
        # Divided by the largest first, so that a row far from every class does not read 0 / 0.
        logs = log_expit(z)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """ln p, without the underflow of p."""
        z = self.decision_function(X)
        if z.ndim == 1:
            return np.stack([log_expit(-z), log_expit(z)], axis=1)
        logs = log_expit(z)
        logs = logs - logs.max(axis=1, keepdims=True)
        return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))

    def _refuse(self) -> None:
        if self.penalty != "l2" or self.l1_ratio != 0.0:
            name, value = ("l1_ratio", self.l1_ratio) if self.penalty == "l2" else ("penalty", self.penalty)
            raise ValueError(
                f"LogisticRegression({name}={value!r}): use penalty='l2', l1_ratio=0.0, or fit_problem with Logistic() and the penalty."
            )
        if isinstance(self.solver, str) and self.solver in THEIRS:
            raise ValueError(
                f"LogisticRegression(solver={self.solver!r}): use solver='auto', 'newton_cholesky' or 'coordinate_descent'."
            )
        for name, offered in (("dual", False), ("intercept_scaling", 1), ("warm_start", False)):
            if getattr(self, name) != offered:
                raise ValueError(f"LogisticRegression({name}={getattr(self, name)!r}): use {name}={offered!r}.")

    def _objective(self, classes: NDArray[Any]) -> Objective:
        intercept = Intercept.FREE if self.fit_intercept else Intercept.NONE
        return Objective(Logistic(), float(self.C), intercept, 1.0, self.class_weight, classes)
