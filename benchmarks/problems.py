"""Data sets by name. The real ones come from a folder named by MAXMARGIN_DATA or --data; without it they are absent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize


@dataclass(frozen=True)
class Task:
    """min |w|²/2 + C Σ loss, one intercept convention, two classes (`positive` against the rest) or all classes."""

    data: str
    loss: str
    C: float
    intercept: str
    positive: int | None = None

    def __str__(self) -> str:
        target = "all classes" if self.positive is None else f"class {self.positive}"
        return f"{self.data}, {target}, {self.loss}, C={self.C:g}, {self.intercept}"


def load(name: str, folder: Path | None) -> tuple[Any, np.ndarray]:
    """Rows and labels; KeyError or FileNotFoundError where the set is absent."""
    if name == "dense54":
        return dense54(200_000)
    if folder is None:
        raise FileNotFoundError("no data folder")
    base = name.removesuffix("-l2")
    X = sp.load_npz(folder / f"{base}.npz").tocsr().astype(np.float64)
    y = np.load(folder / f"{base}.y.npy")
    return (normalize(X) if name.endswith("-l2") else X), y


def dense54(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten numbers and 44 rare indicators per row, as in covtype, with a noisy linear rule."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 54))
    X[:, 10:] = X[:, 10:] > 1.0
    y = X @ rng.normal(size=54) + 3.0 * rng.normal(size=n) > 0
    return X, y.astype(int)


TEXT = ["20news_ngram-l2", "news20_mc-l2", "20news_ngram", "news20_mc"]
INTERCEPTS = ["none", "penalized", "free"]


def suite(name: str) -> list[Task]:
    """The tasks of a suite."""
    if name == "text":
        return [
            Task(data, loss, C, intercept, positive=3)
            for data in TEXT
            for loss in ("squared_hinge", "hinge")
            for C in ((0.1, 1.0, 10.0) if data.endswith("-l2") else (0.1, 1.0))
            for intercept in INTERCEPTS
        ]
    if name == "classes":
        return [Task(data, "squared_hinge", 1.0, intercept) for data in TEXT[:2] for intercept in INTERCEPTS]
    if name == "dense":
        return [
            Task("dense54", loss, C, "penalized", positive=1)
            for loss in ("squared_hinge", "hinge")
            for C in (0.01, 1.0, 100.0)
        ]
    if name == "reach":
        return [
            Task(data, loss, C, "free")
            for data in ["a9a", "dense54", *TEXT]
            for loss in ("squared_hinge", "hinge")
            for C in (0.01, 1.0, 100.0)
        ]
    raise ValueError(f"suite({name!r}): must be one of text, classes, dense, reach.")
