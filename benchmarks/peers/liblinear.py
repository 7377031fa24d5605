"""LIBLINEAR itself (liblinear-official). The primal solver can leave the intercept free (-R); the dual ones cannot."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.base import Answer, Peer, Setting, sweep
from benchmarks.problems import Task

DUAL = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
PRIMAL = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8)


@final
class Liblinear(Peer):
    name: ClassVar[str] = "liblinear"
    module: ClassVar[str] = "liblinear"
    package: ClassVar[str] = "liblinear-official"

    def refuse(self, task: Task) -> str | None:
        if task.loss == "hinge" and task.intercept == "free":
            return "its hinge solver always penalises the intercept"
        return None

    def settings(self, task: Task) -> list[Setting]:
        dual = sweep(DUAL, "dual", s=3 if task.loss == "hinge" else 1)
        primal = sweep(PRIMAL, "primal", s=2)
        if task.loss == "hinge":
            return dual
        return primal if task.intercept == "free" else [*dual, *primal]

    def load(self, task: Task, X: Any, y: np.ndarray) -> Any:
        """An array of 16-byte nodes, as LIBLINEAR's own readers make it."""
        from liblinear.liblinear import problem

        return problem(y.astype(np.float64), sp.csr_matrix(X)), X.shape[1]

    def fit(self, task: Task, loaded: Any, options: dict[str, Any], threads: int) -> Answer:
        from liblinear.liblinearutil import train

        rows, d = loaded
        constant = {"none": "", "penalized": "-B 1", "free": "-B 1 -R"}[task.intercept]
        machine = train(rows, f"-s {options['s']} -c {task.C!r} -e {options['tol']!r} {constant} -q")
        classes = machine.nr_class
        bias = 0 if task.intercept == "none" else 1
        columns = 1 if classes == 2 else classes
        stored = np.ctypeslib.as_array(
            ctypes.cast(machine.w, ctypes.POINTER(ctypes.c_double)), (machine.nr_feature + bias, columns)
        )
        labels = np.array([machine.label[k] for k in range(classes)])
        w = np.zeros((columns, d + bias))
        w[:, : machine.nr_feature] = stored[: machine.nr_feature].T
        if bias:
            w[:, d] = stored[machine.nr_feature]
        # Two classes: the sign belongs to the first label met. More: columns stand in the order of meeting.
        w = w * (1.0 if labels[0] == labels.max() else -1.0) if classes == 2 else w[np.argsort(labels)]
        return Answer(w[:, :d].copy(), w[:, d].copy() if bias else np.zeros(columns), True)
