"""Solver: a frozen value whose fields are its options. `Watch` tells it when to stop early."""

from __future__ import annotations

import copy
import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from maxmargin.problem import Problem
from maxmargin.solution import Solution, Status


@final
@dataclass(frozen=True, slots=True)
class Progress:
    """What a solver tells between bursts. `relative_gap` is its own estimate, or a certified one where `certified`."""

    epoch: int
    relative_gap: float
    certified: bool
    seconds: float


Listener = Callable[[Progress], bool | None]


@final
class Watch:
    """The clock of a fit, one way to interrupt it and one listener. Threads may share it.

    `listener` returns True to stop the fit; it is never called from two threads at once.
    """

    def __init__(self, max_time: float | None = None, listener: Listener | None = None) -> None:
        self._started = time.perf_counter()
        self._deadline = math.inf if max_time is None else self._started + max_time
        self._listener = listener
        self.by_signal = False
        self._lock = threading.Lock()
        self._interrupted = threading.Event()

    def share(self, parts: int) -> Watch:
        """A watch that ends after 1/parts of the time that is left, with the same listener and interrupt."""
        now = time.perf_counter()
        part = copy.copy(self)
        part._started, part._deadline = now, now + (self._deadline - now) / parts
        return part

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started

    @property
    def interrupted(self) -> bool:
        """Whether the fit was asked to stop."""
        return self._interrupted.is_set()

    def interrupt(self, by_signal: bool = False) -> None:
        """Ask every solve to stop at its next burst."""
        self.by_signal = by_signal
        self._interrupted.set()

    def heard(self, epoch: int, relative_gap: float, certified: bool = False) -> Status | None:
        """Tell the listener, and say whether to stop."""
        if self._listener is not None and not self.interrupted:
            with self._lock:
                if self._listener(Progress(epoch, relative_gap, certified, self.seconds)):
                    self.interrupt()
        if self.interrupted:
            return Status.INTERRUPTED
        return Status.MAX_TIME if time.perf_counter() >= self._deadline else None


class Solver(ABC):
    """An algorithm with its options. It holds no state. `tol` is the relative gap that it is asked for."""

    __slots__ = ()

    tol: float

    @abstractmethod
    def refuse(self, problem: Problem) -> str | None:
        """None when the problem can be solved, else a sentence that says what is in the way and what to use instead."""

    @abstractmethod
    def solve(self, problem: Problem, start: Solution | None = None, watch: Watch | None = None) -> Solution:
        """Solve a problem that is not refused, from `start` where one is given."""

    def require(self, problem: Problem) -> None:
        """Raise the sentence of `refuse`."""
        reason = self.refuse(problem)
        if reason is not None:
            raise ValueError(reason)


def needs_vectors(solver: Solver, problem: Problem) -> str | None:
    """The refusal of a solver whose steps read the rows themselves."""
    if problem.design.explicit:
        return None
    return f"{type(solver).__name__}: the rows are known by their inner products alone (Gram). Use PairAscent, or give the rows."
