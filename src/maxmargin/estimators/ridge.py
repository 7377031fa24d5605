"""RidgeRegression: least squares with a ridge."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, final

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from maxmargin.estimators.regression import NAMES, CertifiedRegressor, RegressionObjective
from maxmargin.penalties import NonNegative, Ridge
from maxmargin.solvers import Solver

THEIRS = {"svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga", "lbfgs"}


@final
class RidgeRegression(CertifiedRegressor):
    """min over w, b of Σ c_i (y_i - x_i'w - b)²/2 + alpha |w|²/2, with a certificate.

    The minimiser and the parameters of scikit-learn's Ridge, whose objective is twice this one; c_i are the sample weights. One
    Cholesky factor of a matrix of columns or of rows, whichever are fewer, and a step of refinement: the gap is rounding.

    Parameters
    ----------
    alpha : float or array-like of shape (n_targets,), default=1.0
        Strength of the penalty, positive; one for all targets, or one each.
    fit_intercept : bool, default=True
        False fixes b = 0.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter : int or None, default=None
        Rounds of an iterative solver at most; None is 1000.
    tol : float, default=1e-4
        The fit ends when the certified relative gap is at most this.
    solver : str or Solver, default="auto"
        The algorithm; names of this package.
    positive : bool, default=False
        Only w >= 0.
    random_state : None, default=None
        Nothing is drawn.
    max_time : float or None, default=None
        Seconds after which the best model so far is published.
    n_jobs : int or None, default=None
        Threads, over targets first.
    verbose : int, default=0
        1 prints a line per certificate.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        w, in the dtype of X.
    intercept_ : float or ndarray of shape (n_targets,)
        b.
    certificate_ : Certificate
        What was reached, and what no predictor of this kind can beat.
    status_ : Status
        Why the fit ended.
    n_iter_ : int
        Epochs of coordinate steps and factorisations.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import RidgeRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RidgeRegression(alpha=0.1).fit(X, y).certificate_.relative_gap <= 1e-12
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [Interval(Real, 0, None, closed="left"), "array-like"],
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "solver": [StrOptions(NAMES | THEIRS), Solver],
        "positive": ["boolean"],
        "random_state": ["random_state"],
        "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [None, Integral],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        alpha: Any = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int | None = None,
        tol: float = 1e-4,
        solver: str | Solver = "auto",
        positive: bool = False,
        random_state: Any = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _refuse(self) -> None:
        if isinstance(self.solver, str) and self.solver in THEIRS:
            raise ValueError(
                f"RidgeRegression(solver={self.solver!r}): use solver='auto', 'least_squares' or 'coordinate_descent'."
            )

    def _objective(self, targets: int) -> RegressionObjective:
        strengths = np.ravel(np.asarray(self.alpha, dtype=np.float64))
        if strengths.size not in (1, targets):
            raise ValueError(
                f"RidgeRegression(alpha): {strengths.size} strengths for {targets} targets. Give one, or one each."
            )
        if not (np.isfinite(strengths).all() and (strengths > 0.0).all()):
            raise ValueError(
                f"RidgeRegression(alpha={self.alpha}): alpha must be positive and finite. Use LinearRegression where no penalty is wanted."
            )
        kind = NonNegative if self.positive else Ridge
        return RegressionObjective(
            tuple(kind(float(each)) for each in strengths), self._intercept(self.fit_intercept), mean=False
        )
