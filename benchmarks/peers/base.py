"""Peer: who is measured. It turns a task into settings, rows into its own form, and both into coefficients."""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, final

import numpy as np

from benchmarks.problems import Task


@final
@dataclass(frozen=True, slots=True)
class Setting:
    """One way to call a peer. Settings of one family stand from loose to tight: where one takes too long, so do the next.

    `strict`: the peer poses exactly the task's problem at the tightest tolerance of its sweep, so that "converged" means it.
    """

    label: str
    options: dict[str, Any] = field(default_factory=dict)
    family: str = ""
    strict: bool = False


@final
@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What a peer says: coefficients, whether it believes them, and its dual point (one row per problem) and gap if it has them."""

    coef: np.ndarray
    intercept: np.ndarray
    converged: bool
    dual: np.ndarray | None = None
    claimed: float | None = None
    passes: int | None = None


class Peer(ABC):
    """A fitted machine is the function of (rows, labels, task, options, threads) alone; the state between calls is none."""

    name: ClassVar[str]
    module: ClassVar[str]  # what must be importable
    package: ClassVar[str]  # what names its version
    threaded: ClassVar[bool] = False  # whether more threads can help it
    uses_blas: ClassVar[bool] = False  # whether OpenBLAS works for it, so that its kernel matters

    def present(self) -> bool:
        return importlib.util.find_spec(self.module) is not None

    def version(self) -> str | None:
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None

    @abstractmethod
    def refuse(self, task: Task) -> str | None:
        """None where the peer can pose the task's problem, else why not."""

    @abstractmethod
    def settings(self, task: Task) -> list[Setting]:
        """The sweep."""

    def load(self, task: Task, X: Any, y: np.ndarray) -> Any:
        """The rows in the peer's own form, whose making is timed apart."""
        return X, y

    @abstractmethod
    def fit(self, task: Task, loaded: Any, options: dict[str, Any], threads: int) -> Answer:
        """One fit."""


def sweep(tolerances: tuple[float, ...], family: str = "", exact: bool = True, **options: Any) -> list[Setting]:
    """Settings that differ in the tolerance `tol` alone."""
    label = ", ".join([*(f"{key}={value}" for key, value in options.items()), "tol={tol:g}"])
    tightest = min(tolerances)
    return [Setting(label.format(tol=tol), {**options, "tol": tol}, family, exact and tol == tightest) for tol in tolerances]
