"""Lasso and ElasticNet: least squares with few coefficients."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, final

from sklearn.utils._param_validation import Interval, StrOptions

from maxmargin.estimators.regression import NAMES, CertifiedRegressor, RegressionObjective
from maxmargin.penalties import L1, Penalty, Ridge
from maxmargin.penalties import ElasticNet as ElasticNetPenalty
from maxmargin.solvers import Solver

CONSTRAINTS: dict[str, list[Any]] = {
    "alpha": [Interval(Real, 0, None, closed="left")],
    "fit_intercept": ["boolean"],
    "precompute": ["boolean", "array-like"],
    "copy_X": ["boolean"],
    "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    "tol": [Interval(Real, 0.0, None, closed="neither")],
    "warm_start": ["boolean"],
    "positive": ["boolean"],
    "random_state": ["random_state"],
    "selection": [StrOptions({"cyclic", "random"})],
    "solver": [StrOptions(NAMES), Solver],
    "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
    "n_jobs": [None, Integral],
    "verbose": ["verbose"],
}


class _SparseRegressor(CertifiedRegressor):
    """The parameters that both share."""

    def _refuse(self) -> None:
        self._refuse_theirs(
            {
                "precompute": (False, "the Gram matrix is never needed. Use precompute=False."),
                "warm_start": (False, "use warm_start=False."),
                "positive": (
                    False,
                    "use RidgeRegression(positive=True), or sklearn.linear_model for an L1 penalty with signs.",
                ),
                "selection": ("cyclic", "use selection='cyclic'."),
            }
        )

    def _sparse_objective(self, penalty: Penalty) -> RegressionObjective:
        return RegressionObjective((penalty,), self._intercept(self.fit_intercept), mean=True)

    fit_intercept: bool


def _require_positive(machine: object, alpha: float, instead: str) -> None:
    if not 0.0 < alpha < float("inf"):
        raise ValueError(f"{type(machine).__name__}(alpha={alpha}): alpha must be positive and finite. {instead}")


@final
class Lasso(_SparseRegressor):
    """min over w, b of Σ c_i (y_i - x_i'w - b)² / (2 Σ c_i) + alpha Σ |w_j|, with a certificate.

    scikit-learn's objective and parameters; c_i are the sample weights. `tol` is the relative duality gap. The fit keeps one more
    copy of the data, by columns, in its own type.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; positive.
    fit_intercept : bool, default=True
        False fixes b = 0.
    precompute : False, default=False
        Kept for scikit-learn's signature.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    max_iter : int, default=1000
        Rounds of working sets at most.
    tol : float, default=1e-4
        The fit ends when the certified relative gap is at most this.
    warm_start : False, default=False
        Kept for scikit-learn's signature.
    positive : False, default=False
        Kept for scikit-learn's signature.
    random_state : None, default=None
        Nothing is drawn.
    selection : {"cyclic"}, default="cyclic"
        Columns in turn.
    solver : str or Solver, default="auto"
        The algorithm.
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
    dual_gap_ : float
        The certified gap P - D.
    status_ : Status
        Why the fit ended.
    n_iter_ : int
        Epochs of coordinate steps and Newton steps.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from maxmargin import Lasso
    >>> X, y = load_diabetes(return_X_y=True)
    >>> machine = Lasso(alpha=0.5).fit(X, y)
    >>> machine.certificate_.relative_gap <= 1e-4, int((machine.coef_ != 0).sum())
    (True, 4)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = CONSTRAINTS

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: Any = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: str | Solver = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def dual_gap_(self) -> float:
        return self.certificate_.gap

    def _objective(self, targets: int) -> RegressionObjective:
        _require_positive(self, self.alpha, "Use LinearRegression where no penalty is wanted.")
        return self._sparse_objective(L1(float(self.alpha)))


@final
class ElasticNet(_SparseRegressor):
    """min over w, b of Σ c_i (y_i - x_i'w - b)² / (2 Σ c_i) + alpha (ρ Σ |w_j| + (1 - ρ) |w|²/2), ρ = l1_ratio, with a certificate.

    scikit-learn's objective and parameters; c_i are the sample weights. `tol` is the relative duality gap. The fit keeps one more
    copy of the data, by columns, in its own type.

    Parameters
    ----------
    alpha : float, default=1.0
        Strength of the penalty; positive.
    l1_ratio : float, default=0.5
        ρ in [0, 1]: 1 is the lasso, 0 is a ridge.
    fit_intercept : bool, default=True
        False fixes b = 0.
    precompute : False, default=False
        Kept for scikit-learn's signature.
    max_iter : int, default=1000
        Rounds of working sets at most.
    copy_X : bool, default=True
        Kept for scikit-learn's signature: X is never changed.
    tol : float, default=1e-4
        The fit ends when the certified relative gap is at most this.
    warm_start : False, default=False
        Kept for scikit-learn's signature.
    positive : False, default=False
        Kept for scikit-learn's signature.
    random_state : None, default=None
        Nothing is drawn.
    selection : {"cyclic"}, default="cyclic"
        Columns in turn.
    solver : str or Solver, default="auto"
        The algorithm.
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
    dual_gap_ : float
        The certified gap P - D.
    status_ : Status
        Why the fit ended.
    n_iter_ : int
        Epochs of coordinate steps and Newton steps.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CONSTRAINTS,
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: Any = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        solver: str | Solver = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.solver = solver
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose

    @property
    def dual_gap_(self) -> float:
        return self.certificate_.gap

    def _objective(self, targets: int) -> RegressionObjective:
        _require_positive(self, self.alpha, "Use LinearRegression where no penalty is wanted.")
        l1, l2 = float(self.alpha * self.l1_ratio), float(self.alpha * (1.0 - self.l1_ratio))
        return self._sparse_objective(Ridge(l2) if l1 == 0.0 else L1(l1) if l2 == 0.0 else ElasticNetPenalty(l1, l2))
