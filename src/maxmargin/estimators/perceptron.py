"""Perceptron: the mistake-driven classifier with its mistake bound."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions

from maxmargin.estimators.linear import LinearClassifier, all_or_nothing, seed_of
from maxmargin.perceptron import Ending, Halfplane, MistakeRecord, Updates, advance, record, reference_halfspace, row_lengths
from maxmargin.reductions import one_vs_rest
from maxmargin.solvers import Watch

GRAVEST = (Ending.INTERRUPTED, Ending.MAX_TIME, Ending.MAX_ITER, Ending.ZERO_ROW)


@final
class Perceptron(LinearClassifier):
    """Where y_i (x_i'w + b) <= 0:  (w, b) <- (w, b) + y_i (x_i, 1),  until every row is on its side, with the mistake bound.

    It stops at the first pass without a mistake or at `max_iter`. More than two classes are learnt one against the rest. There is
    no objective and so no certificate; `mistakes_` holds both sides of Novikoff's theorem.

    Parameters
    ----------
    update : {"plain", "normalized"}, default="plain"
        "normalized" divides each correction by |(x_i, 1)|, and |x_i| without an intercept.
    order : {"cyclic", "shuffled", "worst"}, default="cyclic"
        Visit rows in their order, in a new random order each epoch, or always correct the row with the least margin.
    averaged : bool, default=False
        Publish the mean of (w, b) over all visits in place of the last one. It need not separate.
    margin : float, default=0.0
        A row is a mistake up to this functional margin (with normalised updates: divided by the length of the row).
    fit_intercept : bool, default=True
        False fixes b = 0.
    max_iter : int, default=1000
        The most passes over the data per class.
    max_time : float or None, default=None
        The most seconds of one fit.
    proof : bool, default=True
        Find the widest margin after a run that separates, for the bound in `mistakes_`. It can take longer than the run.
    random_state : int, RandomState instance or None, default=None
        Seed of the shuffled order. None is seed 0.
    n_jobs : int or None, default=None
        Threads of products with large data.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. For two, positive scores mean the second.
    mistakes_ : MistakeRecord or tuple of MistakeRecord
        Mistakes, lengths and the bound; one per class where there are more than two. Absent after `partial_fit`.
    status_ : Ending
        Why the fit ended; its value is a sentence.
    n_iter_ : int
        The most passes that a class took.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X has string names.

    Examples
    --------
    >>> from maxmargin import Perceptron
    >>> machine = Perceptron().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]], [0, 0, 1, 1])
    >>> machine.mistakes_.mistakes <= machine.mistakes_.bound
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "update": [StrOptions({"plain", "normalized"})],
        "order": [StrOptions({"cyclic", "shuffled", "worst"})],
        "averaged": ["boolean"],
        "margin": [Interval(Real, 0.0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_time": [None, Interval(Real, 0.0, None, closed="neither")],
        "proof": ["boolean"],
        "random_state": ["random_state"],
        "n_jobs": [None, Integral],
    }

    def __init__(
        self,
        update: str = "plain",
        order: str = "cyclic",
        *,
        averaged: bool = False,
        margin: float = 0.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        max_time: float | None = None,
        proof: bool = True,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.update = update
        self.order = order
        self.averaged = averaged
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.max_time = max_time
        self.proof = proof
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any) -> Self:
        """Correct mistakes on rows X with labels y until there are none.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            float32 and float64 are used as they lie, dense or CSR.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : object
            Fitted.
        """
        X, y, design = self._validated_data(X, y)
        self._check_classes(y, np.ones(design.n, dtype=bool))
        self._check_range(design)
        classes, codes = np.unique(y, return_inverse=True)
        updates, watch = self._updates(), Watch(self.max_time)
        used = np.flatnonzero(row_lengths(design, updates.intercept) > 0.0)
        targets = one_vs_rest(codes, len(classes))
        states = tuple(Halfplane.at_zero(design.d) for _ in targets)
        endings = {Ending.ZERO_ROW} if used.size < design.n else set()
        records = []
        for k, (target, state) in enumerate(zip(targets, states, strict=True)):
            share, ending = watch.share(len(targets) - k), Ending.SEPARATED
            if used.size:
                ending = advance(design, target, used, updates, state, self.max_iter, share)
            endings.add(ending)
            wanted = self.proof and ending is Ending.SEPARATED and used.size > 0
            reference = reference_halfspace(X, target, used, updates, share) if wanted else None
            records.append(record(design, target, used, updates, state, reference))
        self.classes_ = classes
        self._states = states
        self.mistakes_: MistakeRecord | tuple[MistakeRecord, ...] = records[0] if len(records) == 1 else tuple(records)
        self._publish(next((each for each in GRAVEST if each in endings), Ending.SEPARATED))
        self._announce(watch)
        return self

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """One pass over rows X with labels y, from where the last call ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The next rows.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels that will come; needed in the first call, and not later.

        Returns
        -------
        self : object
            With the rows learnt.
        """
        first = not hasattr(self, "_states")
        known = self._named_classes(classes, first)
        _, y, design = self._validated_data(X, y, reset=first)
        self._check_named(y, known)
        self._check_range(design)
        updates, watch = self._updates(), Watch(self.max_time)
        targets = one_vs_rest(np.searchsorted(known, y), len(known))
        states = (
            tuple(Halfplane.at_zero(design.d) for _ in targets) if first else tuple(state.copy() for state in self._states)
        )
        used = np.flatnonzero(row_lengths(design, updates.intercept) > 0.0)
        ending = Ending.MAX_ITER
        for target, state in zip(targets, states, strict=True):
            if used.size:
                ending = advance(design, target, used, updates, state, 1, watch)
        self.classes_, self._states = known, states
        self.__dict__.pop("mistakes_", None)
        self._publish(ending)
        return self

    def _validated_data(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, NDArray[Any], Any]:
        X, y = self._validated_arrays(X, y, reset)
        return X, y, self._design(X)

    def _updates(self) -> Updates:
        seed = seed_of(self.random_state)
        return Updates(self.update == "normalized", self.order, float(self.margin), bool(self.fit_intercept), seed)

    def _publish(self, ending: Ending) -> None:
        found = [state.average() if self.averaged else (state.w, state.b) for state in self._states]
        self.coef_ = np.stack([w for w, _ in found])
        self.intercept_ = np.array([b for _, b in found])
        self.n_iter_ = max(1, *(state.epochs for state in self._states))
        self.status_ = ending
        self._published = True

    def _announce(self, watch: Watch) -> None:
        if self.status_ is not Ending.SEPARATED:
            warnings.warn(
                f"Perceptron stopped after {watch.seconds:.3g} s and {self.n_iter_} epochs: {self.status_.value}",
                ConvergenceWarning,
                stacklevel=2,
            )
