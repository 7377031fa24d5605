"""Reductions: many classes as many two-class problems on one shared Design."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from maxmargin.problem import Problem
from maxmargin.solution import Solution
from maxmargin.solvers.base import Solver, Watch

Floats = NDArray[np.float64]


def one_vs_rest(codes: NDArray[np.int64], classes: int) -> list[Floats]:
    """A target in {-1, +1} per class: +1 where the row is of that class. Two classes need one target, that of the second."""
    wanted = [1] if classes == 2 else range(classes)
    return [np.where(codes == k, 1.0, -1.0) for k in wanted]


def one_vs_one(codes: NDArray[np.int64], classes: int) -> list[tuple[NDArray[np.int64], Floats]]:
    """For each pair of classes i < j the rows of the two, and their target: +1 for i; with two classes alone, +1 for the second."""
    if classes == 2:
        return [(np.arange(len(codes)), np.where(codes == 1, 1.0, -1.0))]
    pairs = []
    for i in range(classes):
        for j in range(i + 1, classes):
            rows = np.flatnonzero((codes == i) | (codes == j))
            pairs.append((rows, np.where(codes[rows] == i, 1.0, -1.0)))
    return pairs


def solve_all(
    problems: Sequence[Problem], make: Callable[[Problem], Solver], watch: Watch, threads: int = 1
) -> tuple[Solution, ...]:
    """A Solution per problem, `threads` at a time; each has an equal share of the time that is left.

    The solves run in threads of their own and the caller waits, so that Ctrl-C reaches the waiting caller at once, whatever the
    loops are doing; it becomes `watch.interrupt()`, after which every solve ends with the best it has.
    """
    unsolved = len(problems)

    def solve(problem: Problem) -> Solution:
        nonlocal unsolved
        share = watch.share(math.ceil(unsolved / threads))
        unsolved -= 1  # a lost update between threads shifts time between classes, no more
        solver = make(problem)
        solver.require(problem)
        return solver.solve(problem, watch=share)

    with (
        _blas_held_to(problems[0].design.threads),
        ThreadPoolExecutor(min(threads, len(problems)), thread_name_prefix="maxmargin") as pool,
    ):
        futures: list[Future[Solution]] = []
        try:
            futures.extend(pool.submit(solve, problem) for problem in problems)
            wait(futures, return_when=FIRST_EXCEPTION)
        except KeyboardInterrupt:
            watch.interrupt(by_signal=True)
            futures.extend(pool.submit(solve, problem) for problem in problems[len(futures) :])
        if any(future.done() and future.exception() for future in futures):
            watch.interrupt()  # one failure ends the others
        wait(futures)
    return tuple(future.result() for future in futures)


@functools.cache
def _libraries() -> ThreadpoolController:
    """The BLAS libraries of this process: finding them takes ten milliseconds, holding them a tenth of one."""
    return ThreadpoolController()


@contextlib.contextmanager
def _blas_held_to(threads: int) -> Iterator[None]:
    """BLAS takes every processor unless told otherwise; within, it takes the threads of one solve and no more."""
    libraries = [library for library in _libraries().lib_controllers if library.user_api == "blas"]
    if max((library.num_threads or 1 for library in libraries), default=1) <= threads:
        yield
        return
    with _libraries().limit(limits=threads, user_api="blas"):
        yield
