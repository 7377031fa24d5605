"""HardMarginSVC: the widest margin between separable classes, certified, or a proof that there is none."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from maxmargin.certificate import Certificate
from maxmargin.estimators.certified import CertifiedClassifier
from maxmargin.estimators.objective import Objective
from maxmargin.losses import HardMargin
from maxmargin.problem import Intercept, Problem
from maxmargin.separation import Inseparable, Separable, separability
from maxmargin.solution import Solution, Status, conclude
from maxmargin.solvers import MaximumMargin, Solver, Watch, make_solver


@final
class InseparableError(ValueError):
    """No hyperplane separates the classes. `proof.check(X, y)` repeats the proof exactly.

    Of more than two classes, `label` is the one that no hyperplane separates from the rest, and `proof.check(X, y == label)` the check.
    """

    def __init__(self, message: str, proof: Inseparable, label: Any = None) -> None:
        super().__init__(message, proof, label)  # all of them, so that the error can be pickled
        self.proof = proof
        self.label = label

    def __str__(self) -> str:
        return str(self.args[0])


@final
class HardMarginSVC(CertifiedClassifier):
    """min over w, b of |w|²/2 subject to y_i (x_i'w + b) >= 1: the separating hyperplane with the widest margin 1/|w|.

    On inseparable data `fit` raises InseparableError with a proof that can be checked in exact arithmetic; it never loops.
    More than two classes are learnt one against the rest, so each must be separable from all others.

    Parameters
    ----------
    tol : float, default=1e-6
        The fit ends when the certified relative gap of |w|²/2 is at most this: the margin is then known to half of it.
    fit_intercept : bool, default=True
        False asks for a hyperplane through the origin.
    max_iter : int, default=10000
        The most epochs (of "interior_point": steps) in each soft solve on the way.
    max_time : float or None, default=None
        The most seconds of one fit.
    solver : {"auto", "maximum_margin", "quadratic_program"} or Solver, default="auto"
        The algorithm.
    random_state : int, RandomState instance or None, default=None
        Seed of the visiting order. None is seed 0.
    verbose : int, default=0
        1 prints each certificate.
    n_jobs : int or None, default=None
        Threads, for classes side by side and for products with large data.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w, scaled so that the least functional margin is 1.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b, halfway between the nearest rows of both classes.
    margin_ : tuple of two floats, or a tuple of such tuples
        Between these the widest margin lies; the first is reached. One interval per class where there are more than two.
    certificate_ : Certificate
        The proof; `certificate_.verify(X, y)` makes it again from scratch.
    status_ : Status
        Why the fit ended; its value is a sentence.
    support_ : ndarray of shape (n_support,)
        Rows with a multiplier in some class.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Signed multipliers: coef_ is close to dual_coef_ @ X[support_].
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. For two, positive scores mean the second.
    n_iter_ : int
        The most iterations that a class took.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has string names.

    Examples
    --------
    >>> from maxmargin import HardMarginSVC
    >>> machine = HardMarginSVC().fit([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 4.0]], [0, 0, 1, 1])
    >>> low, high = machine.margin_
    >>> low <= 1.5 <= high and high - low < 1e-5
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tol": [Interval(Real, 0.0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
        "solver": [StrOptions({"auto", "maximum_margin", "quadratic_program"}), Solver],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        *,
        tol: float = 1e-6,
        fit_intercept: bool = True,
        max_iter: int = 10000,
        max_time: float | None = None,
        solver: str | Solver = "auto",
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_time = max_time
        self.solver = solver
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _refuse(self) -> None:
        """Every combination of parameters is offered."""

    def _objective(self, classes: NDArray[Any]) -> Objective:
        intercept = Intercept.FREE if self.fit_intercept else Intercept.NONE
        return Objective(HardMargin(), 1.0, intercept, 1.0, None, classes)

    def _examined(
        self, objective: Objective, problems: list[Problem], solutions: tuple[Solution, ...], watch: Watch
    ) -> tuple[Solution, ...]:
        """Solutions that separate, each one: where the solver found none, a proof decides, and either helps it or is raised."""
        labels = objective.classes.tolist() if len(problems) > 1 else [None]
        return tuple(
            solution if math.isfinite(solution.certificate.primal) else self._decided(problem, label, solution, watch)
            for problem, label, solution in zip(problems, labels, solutions, strict=True)
        )

    def _decided(self, problem: Problem, label: Any, solution: Solution, watch: Watch) -> Solution:
        if watch.by_signal:
            raise KeyboardInterrupt
        if solution.status in (Status.MAX_TIME, Status.INTERRUPTED):
            raise TimeoutError(
                f"HardMarginSVC(max_time={self.max_time}): no separating hyperplane was found after {watch.seconds:.3g} s, and none "
                "was ruled out. Raise max_time, or ask separability(X, y)."
            )
        used = np.flatnonzero(problem.cost > 0.0)
        verdict = separability(problem.design.data[used], problem.target[used], bool(self.fit_intercept))
        if isinstance(verdict, Inseparable):
            proof = Inseparable(used[verdict.indices], verdict.multipliers, verdict.intercept)
            whose = "" if label is None else f"class {label!r} against the rest is "
            raise InseparableError(
                f"HardMarginSVC.fit(X, y): {whose}{proof!r}\nUse LinearSVC, whose margin is soft. "
                "The proof is in this error's `proof`.",
                proof,
                label,
            )
        return self._from_separating(problem, verdict, solution, watch)

    def _from_separating(self, problem: Problem, verdict: Separable, solution: Solution, watch: Watch) -> Solution:
        """The solve that starts from a hyperplane known to separate, or, where the solver takes no start, that hyperplane."""
        largest = (
            max(1, *map(abs, verdict.w), abs(verdict.b)) if verdict.w.dtype == object else 1
        )  # whole numbers of any size
        w = np.array([v / largest for v in verdict.w], dtype=np.float64)
        with np.errstate(all="ignore"):  # an overflow shows as P = ∞
            point = conclude(problem, w, float(verdict.b / largest), solution.dual)
        start = Solution(*point, Status.PRECISION, solution.work)
        if not math.isfinite(start.certificate.primal):
            raise ArithmeticError(
                f"HardMarginSVC.fit(X): the classes are separable, but by a margin between {verdict.margin[0]:.3g} and "
                f"{verdict.margin[1]:.3g}, too thin for coefficients of type {problem.design.dtype}. Pass float64 data, or "
                "subtract what the rows have in common."
            )
        solver = (
            self.solver if isinstance(self.solver, Solver) else make_solver(self.solver, problem, self.tol, self.max_iter)
        )
        return solver.solve(problem, start, watch) if isinstance(solver, MaximumMargin) else start

    def _publish(self, objective: Objective, solutions: tuple[Solution, ...], rows: int) -> None:
        super()._publish(objective, solutions, rows)
        intervals = tuple(margin_of(solution.certificate) for solution in solutions)
        self.margin_ = intervals[0] if len(intervals) == 1 else intervals
        self._published = True


def margin_of(certificate: Certificate) -> tuple[float, float]:
    """|w|²/2 in [D, P] means a margin 1/|w| in [1/√(2P), 1/√(2D)], here rounded outwards: a root and a quotient are off by 2^-52."""
    wide = 2.0**-51
    high = (1.0 + wide) / math.sqrt(2.0 * certificate.dual) if certificate.dual > 0.0 else math.inf
    low = (1.0 - wide) / math.sqrt(2.0 * certificate.primal) if certificate.primal > 0.0 else math.inf
    return low, max(low, high)
