"""Which solver for which problem: a function of the problem alone."""

from __future__ import annotations

from collections.abc import Callable

from maxmargin.problem import Problem
from maxmargin.solution import Solution
from maxmargin.solvers.base import Solver, Watch
from maxmargin.solvers.dual_ascent import DualAscent
from maxmargin.solvers.newton import Newton

SOLVERS: dict[str, Callable[[float, int, int], Solver]] = {
    "dual_ascent": lambda tol, max_iter, seed: DualAscent(tol, max_iter, seed),
    "newton": lambda tol, max_iter, seed: Newton(tol, max_iter),
}


def make_solver(name: str, problem: Problem, tol: float = 1e-4, max_iter: int = 1000, seed: int = 0) -> Solver:
    """The named solver with its limits, "auto" being the first that does not refuse the problem."""
    if name != "auto":
        return SOLVERS[name](tol, max_iter, seed)
    solvers = [make(tol, max_iter, seed) for make in SOLVERS.values()]
    reasons = [solver.refuse(problem) for solver in solvers]
    for solver, reason in zip(solvers, reasons, strict=True):
        if reason is None:
            return solver
    raise ValueError("No solver accepts this problem. " + " ".join(str(reason) for reason in reasons))


def fit_problem(problem: Problem, solver: Solver | str = "auto", watch: Watch | None = None) -> Solution:
    """Solve the problem by the given solver, by a named one, or by the one that "auto" stands for."""
    if isinstance(solver, str):
        if solver != "auto" and solver not in SOLVERS:
            raise ValueError(f"fit_problem(solver={solver!r}): solver must be one of {['auto', *SOLVERS]}.")
        solver = make_solver(solver, problem)
    solver.require(problem)
    return solver.solve(problem, watch=watch)
