"""Which solver for which problem: a function of the problem alone, from constants that were measured once.

`plan` says what "auto" picks and why, with an estimate of seconds and bytes for every solver that takes the problem and the sentence
of every solver that does not. The estimates are meant to be right within a factor of three or so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from maxmargin.losses import SquaredHinge
from maxmargin.penalties import Ridge
from maxmargin.problem import Problem
from maxmargin.solution import Solution
from maxmargin.solvers.base import Solver, Watch
from maxmargin.solvers.coordinate_descent import CoordinateDescent
from maxmargin.solvers.dual_ascent import DualAscent
from maxmargin.solvers.gradient import Gradient
from maxmargin.solvers.interior_point import InteriorPoint
from maxmargin.solvers.least_squares import LeastSquares
from maxmargin.solvers.maximum_margin import FEW_COLUMNS, MaximumMargin
from maxmargin.solvers.newton import Newton
from maxmargin.solvers.newton_cholesky import NewtonCholesky
from maxmargin.solvers.pair_ascent import PairAscent
from maxmargin.solvers.quadratic import Quadratic
from maxmargin.solvers.sgd import SGD

SOLVERS: dict[str, Callable[[float, int, int], Solver]] = {
    "coordinate_descent": lambda tol, max_iter, seed: CoordinateDescent(tol, max_iter),
    "dual_ascent": lambda tol, max_iter, seed: DualAscent(tol, max_iter, seed),
    "interior_point": lambda tol, max_iter, seed: InteriorPoint(tol, max_iter),
    "least_squares": lambda tol, max_iter, seed: LeastSquares(tol),
    "maximum_margin": lambda tol, max_iter, seed: MaximumMargin(tol, max_iter, seed),
    "newton": lambda tol, max_iter, seed: Newton(tol, max_iter),
    "pair_ascent": lambda tol, max_iter, seed: PairAscent(tol),
    "newton_cholesky": lambda tol, max_iter, seed: NewtonCholesky(tol, max_iter),
    "quadratic_program": lambda tol, max_iter, seed: Quadratic(tol),
    "gradient": lambda tol, max_iter, seed: Gradient(tol, max_iter),
    "sgd": lambda tol, max_iter, seed: SGD(tol, max_iter, seed),
}
# Each is the fastest of all on some problems.
SPECIAL = ("dual_ascent", "least_squares", "maximum_margin", "newton", "pair_ascent")  # each the fastest on what it takes,
GENERAL = ("coordinate_descent", "newton_cholesky")  # and these where none of them takes the problem

PER_VISIT = 1.5e-9  # seconds to read a stored value twice and write to w
PER_READ = 0.8e-9  # seconds to read a stored value once in a product
PER_FLOP = 1 / 20e9  # seconds of a dense product or factor on one thread
PER_ENTRY = 2e-9  # seconds of one vectorised operation on an entry of length n
PER_CALL = 2e-5  # seconds of Python per native call


@final
@dataclass(frozen=True, slots=True)
class Estimate:
    """What a solver would cost on a problem: seconds on one thread, and bytes beyond the data."""

    seconds: float
    bytes: float


@final
@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """What "auto" does with a problem: the solver, its cost, and for the others theirs or the sentence of their refusal."""

    solver: str
    estimates: dict[str, Estimate]
    refusals: dict[str, str]

    @property
    def seconds(self) -> float:
        """Estimated seconds of the chosen solver on one thread."""
        return self.estimates[self.solver].seconds

    @property
    def bytes(self) -> float:
        """Estimated memory of the chosen solver beyond the data."""
        return self.estimates[self.solver].bytes

    def __repr__(self) -> str:
        lines = [
            f"solver='auto' is {self.solver!r}: about {self.seconds:.2g} s and {self.bytes / 2**20:.2g} MiB beyond the data."
        ]
        for name, estimate in sorted(self.estimates.items(), key=lambda each: each[1].seconds):
            note = "" if name in automatic(self.estimates) else "  (only by name)"
            lines.append(f"  {name:18s} {estimate.seconds:9.2g} s  {estimate.bytes / 2**20:9.2g} MiB{note}")
        return "\n".join([*lines, *(f"  {name:18s} no: {reason}" for name, reason in self.refusals.items())])


def plan(problem: Problem, tol: float = 1e-4) -> Plan:
    """What "auto" picks for this problem and tolerance, and what every solver would cost."""
    estimates: dict[str, Estimate] = {}
    refusals: dict[str, str] = {}
    for name, make in SOLVERS.items():
        reason = make(tol, 1000, 0).refuse(problem)
        if reason is None:
            estimates[name] = ESTIMATES[name](problem, tol)
        else:
            refusals[name] = reason
    if not estimates:
        raise ValueError("No solver accepts this problem. " + " ".join(refusals.values()))
    return Plan(min(automatic(estimates), key=lambda name: estimates[name].seconds), estimates, refusals)


def automatic(estimates: Mapping[str, Estimate]) -> list[str]:
    """The solvers that "auto" weighs, of those that take the problem."""
    for group in (SPECIAL, GENERAL):
        if any(name in estimates for name in group):
            return [name for name in group if name in estimates]
    return list(estimates)


def make_solver(name: str, problem: Problem, tol: float = 1e-4, max_iter: int = 1000, seed: int = 0) -> Solver:
    """The named solver with its limits; "auto" is the one that `plan` names."""
    return SOLVERS[plan(problem, tol).solver if name == "auto" else name](tol, max_iter, seed)


def fit_problem(problem: Problem, solver: Solver | str = "auto", watch: Watch | None = None) -> Solution:
    """Solve the problem by the given solver, by a named one, or by the one that "auto" stands for."""
    if isinstance(solver, str):
        if solver != "auto" and solver not in SOLVERS:
            raise ValueError(f"fit_problem(solver={solver!r}): solver must be one of {['auto', *SOLVERS]}.")
        solver = make_solver(solver, problem)
    solver.require(problem)
    return solver.solve(problem, watch=watch)


def _digits(tol: float) -> float:
    return max(-math.log10(tol), 1.0)


def _stiffness(problem: Problem) -> float:
    """c |x|² / s of a typical row: how many times over the box is wider than one coordinate step."""
    assert isinstance(problem.penalty, Ridge)
    used = problem.cost > 0.0
    sizes = (problem.cost * problem.design.norms_sq)[used]
    return float(np.median(sizes)) / problem.penalty.strength if sizes.size else 0.0


def _vectors(problem: Problem, count: int) -> float:
    return 8.0 * count * problem.design.n


def _dual_ascent(problem: Problem, tol: float) -> Estimate:
    """Epochs grow with the stiffness; where rows outnumber columns they compete for the same weights, and grow by the ratio too."""
    n, d, stored = problem.design.n, problem.design.d, problem.design.stored
    effective = max(1.0, min(d, stored / max(n, 1) * 8.0))
    crowding = max(1.0, n / effective / 10.0) if d < n else 1.0
    epochs = 4.0 + 2.0 * _digits(tol) * np.sqrt(1.0 + _stiffness(problem)) * np.sqrt(crowding)
    coordinate = epochs * stored * PER_VISIT
    handed_over = 30.0 * stored * PER_VISIT + _newton(problem, tol).seconds
    return Estimate(float(min(coordinate, handed_over)) + 10 * PER_CALL, _vectors(problem, 12) + 24.0 * d)


def _steps(problem: Problem, steps: float, products: int, inside: float = 1.0) -> Estimate:
    """Steps of one weighted Gram matrix over a share of the rows, one factor and some products each."""
    n, d, stored = problem.design.n, problem.design.d, problem.design.stored
    gram = inside * stored * (min(d, stored / max(n, 1)) * PER_FLOP + 2.0 * PER_READ)
    factor = d**3 / 3.0 * PER_FLOP
    seconds = steps * (gram + factor + products * stored * PER_READ + 40 * n * PER_ENTRY + 20 * PER_CALL)
    return Estimate(float(seconds), _vectors(problem, 30) + 16.0 * d * d)


def _interior_point(problem: Problem, tol: float) -> Estimate:
    return _steps(problem, (8.0 if isinstance(problem.loss, SquaredHinge) else 12.0) + 2.0 * _digits(tol), 8)


def _newton(problem: Problem, tol: float) -> Estimate:
    n, d = problem.design.n, problem.design.d
    squared = isinstance(problem.loss, SquaredHinge)
    if d <= n:
        return _steps(problem, 5.0 if squared else 25.0, 4, 0.5 if squared else 0.1)
    inside = 0.2 * n
    seconds = (10.0 if squared else 30.0) * (inside**3 / 3.0 * PER_FLOP + 4 * problem.design.stored * PER_READ)
    seconds += inside * inside * problem.design.stored / n * PER_VISIT  # the inner products of those rows
    return Estimate(float(seconds), 16.0 * inside**2 + _vectors(problem, 20))


def _newton_cholesky(problem: Problem, tol: float) -> Estimate:
    return _steps(problem, 8.0 + 0.5 * _digits(tol), 4)


def _quadratic(problem: Problem, tol: float) -> Estimate:
    n, d = problem.design.n, problem.design.d
    return Estimate(float(20.0 * 4.0 * n * (n + d) ** 2 * PER_FLOP), 8.0 * 6.0 * (n + d) ** 2)


def _gradient(problem: Problem, tol: float) -> Estimate:
    seconds = 1.0 / tol * (2.0 * problem.design.stored * PER_READ + 10 * problem.design.n * PER_ENTRY + 5 * PER_CALL)
    return Estimate(float(seconds), _vectors(problem, 10) + 24.0 * problem.design.d)


def _sgd(problem: Problem, tol: float) -> Estimate:
    return Estimate(float(0.1 / tol * problem.design.stored * PER_VISIT), _vectors(problem, 6) + 32.0 * problem.design.d)


def _coordinate_descent(problem: Problem, tol: float) -> Estimate:
    """A product per round, and epochs over the columns in use: a tenth of all with L1."""
    stored = problem.design.stored
    rounds = 2.0 + 2.0 * _digits(tol)
    share = 0.1 if problem.penalty.interval is not None and problem.penalty.interval.l1 > 0.0 else 1.0
    seconds = (
        rounds * stored * (3.0 * PER_READ + 15.0 * share * PER_VISIT) + 5.0 * stored * PER_READ + 40 * PER_CALL * rounds
    )
    return Estimate(float(seconds), 12.0 * stored + _vectors(problem, 12))


def _least_squares(problem: Problem, tol: float) -> Estimate:
    """One Gram matrix of the columns or of the rows, and one factor."""
    n, d, stored = problem.design.n, problem.design.d, problem.design.stored
    size = min(n, d)
    gram = stored * min(size, stored / max(n, 1) * size / max(d, 1)) * PER_FLOP
    factor = size**3 / 3.0 * PER_FLOP if isinstance(problem.penalty, Ridge) else 4.0 * n * d * size * PER_FLOP
    return Estimate(gram + factor + 10.0 * stored * PER_READ + 20 * PER_CALL, 16.0 * size * size + _vectors(problem, 10))


def _maximum_margin(problem: Problem, tol: float) -> Estimate:
    by_columns = problem.design.d <= min(problem.design.n, FEW_COLUMNS)
    soft = _interior_point(problem, tol) if by_columns else _dual_ascent(problem, tol)
    return Estimate(4.0 * soft.seconds, soft.bytes)


def _pair_ascent(problem: Problem, tol: float) -> Estimate:
    """Each value of K once, and its row read about three times; a third of the rows become support vectors."""
    entries = problem.design.stored / 3.0
    return Estimate(float(entries * (20.0 + _digits(tol)) * PER_READ), 4.0 * entries + _vectors(problem, 10))


ESTIMATES: dict[str, Callable[[Problem, float], Estimate]] = {
    "coordinate_descent": _coordinate_descent,
    "dual_ascent": _dual_ascent,
    "interior_point": _interior_point,
    "least_squares": _least_squares,
    "maximum_margin": _maximum_margin,
    "newton": _newton,
    "pair_ascent": _pair_ascent,
    "newton_cholesky": _newton_cholesky,
    "quadratic_program": _quadratic,
    "gradient": _gradient,
    "sgd": _sgd,
}
