"""LinearMachine: what every linear estimator shares, from validation to scores, whatever finds its coefficients.

LinearClassifier adds labels, LinearRegressor one or many real targets.
"""

from __future__ import annotations

import functools
from abc import ABC
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from maxmargin import _native
from maxmargin.design import VALUE_TYPES, Design, as_design, check_structure
from maxmargin.model import LinearModel


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


def seed_of(random_state: Any) -> int:
    """The seed that `random_state` stands for; None is 0."""
    return 0 if random_state is None else int(check_random_state(random_state).randint(2**31 - 1))


class LinearMachine(BaseEstimator, ABC):  # type: ignore[misc]
    """Scores x'w + b, one (w, b) per row of coef_. Subclasses find them in `fit`."""

    coef_: Any  # an array, or a CSR matrix after sparsify()
    intercept_: Any
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _scores(self, X: Any) -> NDArray[np.float64]:
        """n x k scores of new rows."""
        check_is_fitted(self)
        X = self._validated_rows(X, reset=False)
        coef = self.coef_.toarray() if sp.issparse(self.coef_) else self.coef_
        intercept = np.broadcast_to(self.intercept_, np.atleast_2d(coef).shape[0])
        return LinearModel(np.atleast_2d(coef), np.asarray(intercept, dtype=np.float64)).scores(
            as_design(X, self._threads())
        )

    def _validated_rows(self, X: Any, reset: bool) -> Any:
        _refuse_corrupt(X)
        return validate_data(
            self, X, reset=reset, accept_sparse="csr", accept_large_sparse=True, dtype=[np.float64, np.float32]
        )

    def _validated_arrays(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, NDArray[Any]]:
        _refuse_corrupt(X)
        X, y = validate_data(
            self,
            X,
            y,
            reset=reset,
            accept_sparse="csr",
            accept_large_sparse=True,
            dtype=[np.float64, np.float32],
            **self._target_checks(),
        )
        return X, y

    def _target_checks(self) -> dict[str, Any]:
        """How scikit-learn is to check y."""
        return {}

    def _design(self, X: Any) -> Design:
        return as_design(X, self._threads())

    def _validated(
        self, X: Any, y: Any, sample_weight: Any, reset: bool = True
    ) -> tuple[Design, NDArray[Any], NDArray[np.float64] | None]:
        X, y = self._validated_arrays(X, y, reset)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            if not weight.any():
                raise ValueError(
                    f"{type(self).__name__}.fit(sample_weight): all weights are zero; at least one sample weight must be positive."
                )
        return self._design(X), y, weight

    def _check_range(self, design: Design) -> None:
        """Refuse data whose squares are beyond the doubles."""
        if not np.isfinite(design.norms_sq).all():
            raise ValueError(
                f"{type(self).__name__}.fit(X): the squares of a row add up beyond the largest double. Scale the features."
            )

    def _threads(self) -> int:
        if self.n_jobs == 0:
            raise ValueError(
                f"{type(self).__name__}(n_jobs=0): n_jobs must be None, positive, or negative to leave that many processors out."
            )
        return int(min(effective_n_jobs(self.n_jobs), max(1, _native.max_threads())))


class LinearClassifier(ClassifierMixin, LinearMachine):  # type: ignore[misc]
    """sgn(x'w + b), one (w, b) for two classes, else one per class."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """x'w + b: one score per row for two classes, else one per row and class."""
        scores = self._scores(X)
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

    def _validated_arrays(self, X: Any, y: Any, reset: bool = True) -> tuple[Any, NDArray[Any]]:
        X, y = super()._validated_arrays(X, y, reset)
        check_classification_targets(y)
        return X, y

    def _named_classes(self, classes: Any, first: bool) -> NDArray[Any]:
        """The labels that `partial_fit` was told of in its first call."""
        name = type(self).__name__
        if first and classes is None:
            raise ValueError(f"{name}.partial_fit(classes=None): the first call must name all classes.")
        known = np.asarray(unique_labels(classes)) if first else self.classes_
        if not first and classes is not None and not np.array_equal(unique_labels(classes), known):
            raise ValueError(f"{name}.partial_fit(classes): the first call named {known.tolist()}.")
        if len(known) < 2:
            raise ValueError(f"{name}.partial_fit(classes): two classes or more are needed, not {known.tolist()}.")
        return known

    def _check_named(self, y: NDArray[Any], known: NDArray[Any]) -> None:
        """`partial_fit` takes no other labels."""
        if not np.isin(y, known).all():
            raise ValueError(f"{type(self).__name__}.partial_fit(y): y holds labels that the first call did not name.")

    def _check_classes(self, y: NDArray[Any], weighs: NDArray[np.bool_]) -> None:
        """Two classes at least must have weight."""
        weighted = np.unique(y[weighs])
        if len(weighted) < 2:
            raise ValueError(
                f"{type(self).__name__}.fit(y): two classes or more are needed, and y has {len(weighted)} class with positive weight: "
                f"{weighted.tolist()}."
            )


class LinearRegressor(MultiOutputMixin, RegressorMixin, LinearMachine):  # type: ignore[misc]
    """x'w + b for each of the targets."""

    def predict(self, X: Any) -> NDArray[np.float64]:
        """x'w + b: one number per row, or one per row and target where y had columns."""
        scores = self._scores(X)
        return scores[:, 0] if np.ndim(self.coef_) == 1 else scores

    def _target_checks(self) -> dict[str, Any]:
        return {"multi_output": True, "y_numeric": True}
