"""What is solved: tasks by suite, and the data sets behind them. Real data comes from a folder; without it those tasks are absent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import normalize, scale

Labels = np.ndarray


@final
@dataclass(frozen=True, slots=True)
class Task:
    """min |w|²/2 + β(b) + C Σ φ(y_i, x_i'w + b): one loss, one intercept convention, and the relative gaps to reach.

    `positive` names the class that stands against the rest; None solves one problem per class. `widely` tasks are also timed
    with OPENBLAS_CORETYPE unset.
    """

    data: str
    loss: str
    C: float
    intercept: str
    targets: tuple[float, ...]
    positive: int | None = None
    widely: bool = False
    family: str = "text"

    def __str__(self) -> str:
        target = "all classes" if self.positive is None else f"class {self.positive}"
        return f"{self.data}, {target}, {self.loss}, C={self.C:g}, {self.intercept}"

    def labels(self, y: Labels) -> Labels:
        """The labels as the peers see them: 0 and 1, or one code per class."""
        codes = np.unique(y, return_inverse=True)[1]
        return codes if self.positive is None else (codes == self.positive).astype(np.int64)

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "targets": list(self.targets)}

    @staticmethod
    def of_json(stored: dict[str, Any]) -> Task:
        return Task(**{**stored, "targets": tuple(stored["targets"])})


@final
@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """Rows whose optimum is known: (w, b = 0) minimises, at `optimum`, for every intercept convention."""

    X: np.ndarray
    y: Labels
    w: np.ndarray
    optimum: float


def planted(n: int, d: int, loss: str, C: float = 1.0, seed: int = 0) -> Planted:
    """Margins m_i first, then the rows that have them, by the conditions of Karush, Kuhn and Tucker.

    Row i is y_i (m_i / ρ) e + g_i with a unit vector e and g_i orthogonal to it, and w = ρ e, so that y_i x_i'w = m_i.
    Its multiplier α_i follows from m_i:  hinge  C where m_i < 1, else 0;  squared hinge  2 C max(0, 1 - m_i).
    w = Σ α_i y_i x_i asks for  ρ² = Σ α_i m_i  along e, and across for  Σ α_i y_i g_i = 0, which mirrored rows (g, -g) give.
    Each pair stands there for both labels, so Σ α_i y_i = 0 and b = 0.
    """
    rng = np.random.default_rng(seed)
    quarter = n // 4
    margin = np.where(rng.random(quarter) < 0.3, rng.uniform(0.2, 0.9, quarter), rng.uniform(1.1, 3.0, quarter))
    short = np.maximum(0.0, 1.0 - margin)
    alpha = C * (margin < 1.0) if loss == "hinge" else 2.0 * C * short
    rho = float(np.sqrt(4.0 * np.sum(alpha * margin)))
    e = np.ones(d) / np.sqrt(d)
    g = rng.normal(size=(2, quarter, d))
    g -= (g @ e)[..., None] * e
    along = (margin / rho)[:, None] * e
    X = np.vstack([along + g[0], along - g[0], -along + g[1], -along - g[1]])
    y = np.repeat([1, 1, 0, 0], quarter)
    optimum = 0.5 * rho**2 + 4.0 * C * float(np.sum(short if loss == "hinge" else short**2))
    order = rng.permutation(len(y))
    return Planted(np.ascontiguousarray(X[order]), y[order], rho * e, optimum)


def dense54(n: int) -> tuple[np.ndarray, Labels]:
    """Ten numbers and 44 rare indicators per row, as in covtype, with a noisy linear rule."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 54))
    X[:, 10:] = X[:, 10:] > 1.0
    y = X @ rng.normal(size=54) + 3.0 * rng.normal(size=n) > 0
    return X, y.astype(np.int64)


def _planted(loss: str) -> tuple[np.ndarray, Labels]:
    made = planted(PLANTED_ROWS, PLANTED_COLUMNS, loss)
    return made.X, made.y


def _bundled(load: Callable[..., Any]) -> tuple[np.ndarray, Labels]:
    X, y = load(return_X_y=True)
    return np.ascontiguousarray(scale(X)), y


PLANTED_ROWS, PLANTED_COLUMNS = 20_000, 50
MADE: dict[str, Callable[[], tuple[Any, Labels]]] = {
    "planted-hinge": partial(_planted, "hinge"),
    "planted-squared_hinge": partial(_planted, "squared_hinge"),
    "dense54": partial(dense54, 500_000),
    "dense54-200k": partial(dense54, 200_000),
    "dense54-small": partial(dense54, 20_000),
    "breast_cancer": partial(_bundled, load_breast_cancer),
    "digits": partial(_bundled, load_digits),
}


def known_optimum(task: Task) -> float | None:
    """The optimal value where the task was built around it."""
    if not task.data.startswith("planted-") or task.data != f"planted-{task.loss}" or task.C != 1.0:
        return None
    return planted(PLANTED_ROWS, PLANTED_COLUMNS, task.loss).optimum


def load(name: str, folder: Path | None) -> tuple[Any, Labels]:
    """Rows and labels in float64; FileNotFoundError where the set is absent.

    "-l2" scales rows to length 1. skin_nonskin is divided by 255, which the peers need; ijcnn1 is more than half full and made dense.
    """
    if name in MADE:
        return MADE[name]()
    if folder is None:
        raise FileNotFoundError(f"{name}: no data folder. Name one by --data or MAXMARGIN_DATA.")
    base = name.removesuffix("-l2")
    with np.load(folder / f"{base}.npz") as stored:
        if "X" in stored:
            X, y = stored["X"], stored["y"]
            return np.ascontiguousarray(X / 255.0 if base == "skin_nonskin" else X, dtype=np.float64), y
    X, y = sp.load_npz(folder / f"{base}.npz").tocsr().astype(np.float64), np.load(folder / f"{base}.y.npy")
    if base == "ijcnn1":
        return X.toarray(), y
    return (normalize(X) if name.endswith("-l2") else X), y


TEXT = ("20news_ngram-l2", "news20_mc-l2", "20news_ngram", "news20_mc")
LOSSES = ("squared_hinge", "hinge")
BOTH = (1e-3, 1e-6)


def _linear() -> list[Task]:
    """What the bars are about comes first, the other conventions of the intercept last, so that a run that is cut has the bars.

    Inside each part the tasks of one data set stand together, so that its rows are loaded once.
    """
    bars = [
        Task(data, loss, 1.0, "penalized", BOTH, positive, widely=True, family="bundled")
        for data, positive in (("breast_cancer", 1), ("digits", None))
        for loss in LOSSES
    ]
    bars += [Task(f"planted-{loss}", loss, 1.0, "penalized", BOTH, 1, family="planted") for loss in LOSSES]
    bars += [
        Task(data, loss, C, "penalized", (1e-6,), 1, widely=C == 1.0, family="dense")
        for data in ("dense54", "skin_nonskin", "ijcnn1")
        for loss in LOSSES
        for C in (1.0, 100.0)
    ]
    bars += [
        Task(data, loss, C, "penalized", BOTH, 3, widely=C == 1.0)
        for data in TEXT
        for loss in LOSSES
        for C in (0.1, 1.0, 10.0)
    ]
    bars += [Task(data, loss, 1.0, "penalized", (1e-3,), family="classes") for data in TEXT[:2] for loss in LOSSES]
    bars += [Task("a9a", loss, 1.0, "penalized", BOTH, 1, family="adult") for loss in LOSSES]
    others = [
        Task(data, loss, 1.0, intercept, BOTH if family != "dense" else (1e-6,), positive, family=family)
        for data, positive, family in (
            ("breast_cancer", 1, "bundled"), ("digits", None, "bundled"), ("planted", 1, "planted"), ("a9a", 1, "adult"),
            ("20news_ngram-l2", 3, "text"), ("news20_mc-l2", 3, "text"), ("ijcnn1", 1, "dense"), ("skin_nonskin", 1, "dense"),
            ("20news_ngram", 3, "text"), ("news20_mc", 3, "text"), ("dense54", 1, "dense"),
        )
        for loss in LOSSES
        for intercept in ("none", "free")
    ]  # fmt: skip
    others = [replace(task, data=f"planted-{task.loss}") if task.data == "planted" else task for task in others]
    return [*_by_data(bars), *_by_data(others)]


def _by_data(tasks: list[Task]) -> list[Task]:
    places = {data: k for k, data in reversed(list(enumerate(task.data for task in tasks)))}
    return sorted(tasks, key=lambda task: places[task.data])


SUITES: dict[str, Callable[[], list[Task]]] = {"linear": _linear}


def suite(name: str, quick: bool = False) -> list[Task]:
    """The tasks of a suite. `quick`: a few small ones that touch every kind."""
    if name not in SUITES:
        raise ValueError(f"suite({name!r}): must be one of {sorted(SUITES)}.")
    tasks = SUITES[name]()
    if not quick:
        return tasks
    wanted = [task for task in tasks if task.data == "breast_cancer"]
    wanted += [task for task in tasks if task.family == "planted" and task.intercept == "penalized"]
    wanted += [Task("dense54-small", "hinge", 1.0, "penalized", (1e-6,), 1, widely=True, family="dense")]
    return wanted + [task for task in tasks if task.data == "news20_mc-l2" and task.C == 1.0 and task.family == "text"][:1]
