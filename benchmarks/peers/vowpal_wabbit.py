"""Vowpal Wabbit: the hinge by its online steps over many passes, and by its batch BFGS.

Its online objective is Σ (loss + λ|w|²/2) over rows, so λ = 1 / (n C); BFGS takes the penalty once, so λ = 1 / C. Weights are
float32. Reading the text of the rows in the first pass is part of its run; writing the text is loading.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any, ClassVar, final

import numpy as np
import scipy.sparse as sp

from benchmarks.peers.base import Answer, Peer, Setting
from benchmarks.problems import Task


@final
class VowpalWabbit(Peer):
    name: ClassVar[str] = "vowpal-wabbit"
    module: ClassVar[str] = "vowpalwabbit"
    package: ClassVar[str] = "vowpalwabbit"

    def refuse(self, task: Task) -> str | None:
        if task.loss != "hinge":
            return "it has no squared hinge"
        if task.data == "dense54":
            return "its text of 27 million values takes minutes to write and to read"
        return "one problem at a time" if task.positive is None else None

    def settings(self, task: Task) -> list[Setting]:
        return [
            Setting(f"{method}, passes={passes}", {"method": method, "passes": passes}, method)
            for method, counts in (("online", (1, 10, 100)), ("bfgs", (10, 30, 100)))
            for passes in counts
        ]

    def load(self, task: Task, X: Any, y: np.ndarray) -> Any:
        path = Path(tempfile.mkdtemp(prefix="maxmargin-vw-")) / "rows.txt"
        atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
        rows = sp.csr_matrix(X)
        with path.open("w") as text:
            for i in range(rows.shape[0]):
                at = slice(rows.indptr[i], rows.indptr[i + 1])
                pairs = zip(rows.indices[at].tolist(), rows.data[at].tolist(), strict=True)
                text.write(f"{1 if y[i] else -1} | " + " ".join(f"{j}:{v:.9g}" for j, v in pairs) + "\n")
        return path, rows.shape

    def fit(self, task: Task, loaded: Any, options: dict[str, Any], threads: int) -> Answer:
        from vowpalwabbit import Workspace

        path, (n, d) = loaded
        bits = max(18, int(np.ceil(np.log2(d + 2))) + 1)
        penalty = 1.0 / task.C if options["method"] == "bfgs" else 1.0 / (task.C * n)
        words = ["--quiet", f"-d {path}", "--loss_function hinge", f"-b {bits}", f"--passes {options['passes']}"]
        words += [f"--l2 {penalty!r}", "--holdout_off", "-k", f"--cache_file {path}.cache"]
        words += ["--bfgs"] if options["method"] == "bfgs" else []
        words += {"none": ["--noconstant"], "penalized": [], "free": ["--no_bias_regularization"]}[task.intercept]
        machine = Workspace(" ".join(words))
        if options["method"] == "bfgs":
            machine.run_parser()
        coef = np.array([machine.get_weight(j) for j in range(d)])
        b = 0.0 if task.intercept == "none" else machine.get_weight(CONSTANT)
        machine.finish()
        return Answer(coef[None, :], np.array([b]), False)


CONSTANT = 11650396  # where VW keeps the intercept, modulo the size of its table
