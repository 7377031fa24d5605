"""scikit-learn-intelex (oneDAL). It has no linear solver for machines; SVC with the linear kernel is the same problem."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.base import Answer, Peer, Setting, sweep
from benchmarks.problems import Task


@final
class Intelex(Peer):
    name: ClassVar[str] = "scikit-learn-intelex"
    module: ClassVar[str] = "sklearnex"
    package: ClassVar[str] = "scikit-learn-intelex"
    threaded: ClassVar[bool] = True

    def refuse(self, task: Task) -> str | None:
        if task.loss != "hinge" or task.intercept != "free":
            return "its machines have the hinge and a free intercept"
        return "its classes stand one against one" if task.positive is None else None

    def settings(self, task: Task) -> list[Setting]:
        return sweep((1e-1, 1e-2, 1e-3, 1e-4, 1e-5))

    def fit(self, task: Task, loaded: Any, options: dict[str, Any], threads: int) -> Answer:
        from sklearn.exceptions import ConvergenceWarning
        from sklearnex.svm import SVC

        X, y = loaded
        machine = SVC(kernel="linear", C=task.C, **options)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            machine.fit(X, y)
        converged = not any(issubclass(each.category, ConvergenceWarning) for each in caught)
        stored = machine.coef_.toarray() if sp.issparse(machine.coef_) else np.asarray(machine.coef_)
        coef = np.zeros((1, X.shape[1]))
        coef[:, : stored.shape[1]] = stored  # columns after the last that a support vector has are left out
        return Answer(coef, np.ravel(machine.intercept_), converged)
