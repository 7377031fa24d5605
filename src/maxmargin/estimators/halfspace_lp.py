"""HalfspaceLP: a halfspace by linear programming, and whether the data is separable, proved."""

from __future__ import annotations

import math
import time
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from maxmargin.estimators.linear import LinearClassifier, all_or_nothing
from maxmargin.halfspace import SLACK, VIOLATION, Halfspace, solve_halfspace
from maxmargin.reductions import one_vs_rest
from maxmargin.separation import Inseparable, Separable, separability


@final
class HalfspaceLP(LinearClassifier):
    """min Σ ξ_i [or min t] subject to y_i (x_i'w + b) >= 1 - ξ_i [1 - t], ξ, t >= 0: a linear program, solved by HiGHS.

    Its value is 0 exactly where the classes are separable, and then (w, b) separates. Otherwise its multipliers show why not:
    a >= 0 with Σ a_i y_i (x_i, 1) = 0. `separation_` holds either answer, made exact in rational arithmetic. More than two classes are
    learnt one against the rest.

    Parameters
    ----------
    objective : {"slack", "violation"}, default="slack"
        Minimise the sum of the slacks, which gives a useful halfspace on inseparable data too, or only the largest of them (t),
        a smaller program that decides separability and no more.
    fit_intercept : bool, default=True
        False asks for a hyperplane through the origin.
    proof : bool, default=True
        Make `separation_` exact.
    max_time : float or None, default=None
        The most seconds of the linear programs of one fit; where it comes first, `fit` raises TimeoutError. The proof is not timed.
    n_jobs : int or None, default=None
        Threads of products with large data.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    value_ : ndarray of shape (1,) or (n_classes,)
        The value of each program.
    multipliers_ : ndarray of shape (1, n_samples) or (n_classes, n_samples)
        The multipliers a_i >= 0 of the margin constraints.
    separation_ : Separable, Inseparable, or a tuple of them
        The proof, with `.check(X, y)`; one per class where there are more than two. Only with `proof=True`.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. For two, positive scores mean the second.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has string names.

    Examples
    --------
    >>> from maxmargin import HalfspaceLP
    >>> machine = HalfspaceLP().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    >>> machine.separation_
    Inseparable: no hyperplane has every row strictly on its side.
    Proof: whole multiples of the 3 signed rows 0, 1, 2 add up to exactly 0.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "objective": [StrOptions({SLACK, VIOLATION})],
        "fit_intercept": ["boolean"],
        "proof": ["boolean"],
        "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        objective: str = SLACK,
        *,
        fit_intercept: bool = True,
        proof: bool = True,
        max_time: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.objective = objective
        self.fit_intercept = fit_intercept
        self.proof = proof
        self.max_time = max_time
        self.n_jobs = n_jobs

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> Self:
        """Solve the linear program of rows X and labels y.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : object
            Fitted.
        """
        started = time.perf_counter()
        X, y = self._validated_arrays(X, y)
        self._check_classes(y, np.ones(len(y), dtype=bool))
        classes, codes = np.unique(y, return_inverse=True)
        found, proofs = [], []
        for target in one_vs_rest(codes, len(classes)):
            found.append(self._program(X, target, started))
            if self.proof:
                proofs.append(separability(X, target, bool(self.fit_intercept), proposed=found[-1]))
                found[-1] = _corrected(found[-1], proofs[-1])
        self.classes_ = classes
        self.coef_ = np.stack([program.w for program in found])
        self.intercept_ = np.array([program.b for program in found])
        self.value_ = np.array([program.value for program in found])
        self.multipliers_ = np.stack([program.multipliers for program in found])
        self.__dict__.pop("separation_", None)
        if proofs:
            self.separation_: Separable | Inseparable | tuple[Separable | Inseparable, ...] = (
                proofs[0] if len(proofs) == 1 else tuple(proofs)
            )
        self._published = True
        return self

    def _program(self, X: Any, target: Any, started: float) -> Halfspace:
        left = None if self.max_time is None else max(self.max_time - (time.perf_counter() - started), 1e-3)
        program = solve_halfspace(X, target, bool(self.fit_intercept), self.objective, left)
        if program is None:
            raise TimeoutError(
                f"HalfspaceLP(max_time={self.max_time}): the linear program was not solved in time. Raise max_time."
            )
        return program


def _corrected(program: Halfspace, verdict: Separable | Inseparable) -> Halfspace:
    """The program's answer, or where its tolerance hid a thin separation the proof's, with functional margins of 1 and value 0."""
    if (
        isinstance(verdict, Inseparable)
        or verdict.w.dtype == object
        or (np.array_equal(verdict.w, program.w) and verdict.b == program.b)
    ):
        return program
    functional = verdict.margin[0] * float(np.linalg.norm(verdict.w))
    scale = math.ldexp(1.0, 1 - math.frexp(functional)[1]) if functional > 0.0 else 1.0
    return Halfspace(verdict.w * scale, float(verdict.b) * scale, 0.0, np.zeros_like(program.multipliers), program.steps)
