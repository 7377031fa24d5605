"""LinearRegression: least squares."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, final

from sklearn.utils._param_validation import Interval

from maxmargin.estimators.regression import CertifiedRegressor, RegressionObjective
from maxmargin.penalties import NoPenalty


@final
class LinearRegression(CertifiedRegressor):
    """min over w, b of Σ c_i (y_i - x_i'w - b)²/2, with a certificate where the columns do not depend on each other.

    Where they do, the w of least norm is taken and `status_` says so. The certificate is the residual gradient over a proven lower
    bound of the smallest eigenvalue of X'X; without such a bound its precision is "none". c_i are the sample weights.

    Parameters
    ----------
    fit_intercept : bool, default=True
        False fixes b = 0.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    tol : float, default=1e-6
        What the certified relative gap is measured by; the solver always goes as far as rounding allows.
    n_jobs : int or None, default=None
        Threads, over targets first.
    positive : False, default=False
        Kept for scikit-learn's signature.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        w, in the dtype of X.
    intercept_ : float or ndarray of shape (n_targets,)
        b.
    certificate_ : Certificate
        What was reached, and what no predictor of this kind can beat.
    status_ : Status
        `SOLVED`, `LEAST_NORM` where columns depend on each other, or `PRECISION`.
    n_iter_ : int
        1.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> LinearRegression().fit(X, y).certificate_.relative_gap <= 1e-9
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "fit_intercept": ["boolean"],
        "copy_X": ["boolean"],
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [None, Integral],
        "positive": ["boolean"],
    }

    random_state = None
    solver = "least_squares"
    max_iter = None
    max_time = None
    verbose = 0

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        positive: bool = False,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.tol = tol
        self.n_jobs = n_jobs
        self.positive = positive

    def _refuse(self) -> None:
        self._refuse_theirs({"positive": (False, "use RidgeRegression(alpha, positive=True) with a small alpha.")})

    def _objective(self, targets: int) -> RegressionObjective:
        return RegressionObjective((NoPenalty(),), self._intercept(self.fit_intercept), mean=False)
