"""Small convex quadratic programs, dense, with every multiplier in the open.

    p* = min_x  x'Px/2 + q'x    s.t.  Gx <= h  (multipliers λ >= 0),   Ax = b  (multipliers ν)

    L(x, λ, ν) = x'Px/2 + q'x + λ'(Gx - h) + ν'(Ax - b)
    θ_P(x) = max over λ >= 0, ν of L  =  the objective where x is feasible, else ∞;     p* = min θ_P
    θ_D(λ, ν) = min over x of L;                                                       d* = max over λ >= 0, ν of θ_D <= p*

Linear programs are the case P = 0. Solved by a primal-dual interior point (Mehrotra 1992) on the system in (x, ν).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_STEPS = 100
TO_THE_WALL = 0.995
LIFT, REFINEMENTS = 1e-14, 2


@final
@dataclass(frozen=True, slots=True, eq=False)
class Multipliers:
    """A point x, its multipliers λ (`inequality`) and ν (`equality`), and the steps to it. `solved`: the KKT residuals are small."""

    x: Floats
    inequality: Floats
    equality: Floats
    steps: int
    solved: bool


@final
class QuadraticProgram:
    """min x'Px/2 + q'x  s.t.  Gx <= h,  Ax = b, with P symmetric positive semidefinite."""

    def __init__(self, P: Any, q: Any, G: Any = None, h: Any = None, A: Any = None, b: Any = None) -> None:
        size = np.atleast_1d(q).shape[0]
        self.q = _vector("q", q, size)
        self.P = _matrix("P", P, size, size)
        self.G = _matrix("G", G, None, size)
        self.A = _matrix("A", A, None, size)
        self.h, self.b = _vector("h", h, len(self.G)), _vector("b", b, len(self.A))
        if not np.array_equal(self.P, self.P.T):
            raise ValueError("QuadraticProgram(P): P must be symmetric.")
        if size and self._eigenvalues[0] < -1e-10 * max(1.0, float(self._eigenvalues[-1])):
            raise ValueError(
                f"QuadraticProgram(P): P must be positive semidefinite; its smallest eigenvalue is {self._eigenvalues[0]:.3g}."
            )

    @cached_property
    def _eigenvalues(self) -> Floats:
        diagonal = np.diag(self.P)
        if np.count_nonzero(self.P) == np.count_nonzero(diagonal):
            return np.sort(diagonal)
        return np.asarray(scipy.linalg.eigvalsh(self.P))

    def objective(self, x: Floats) -> float:
        """x'Px/2 + q'x."""
        return float(0.5 * x @ self.P @ x + self.q @ x)

    def lagrangian(self, x: Floats, inequality: Floats, equality: Floats) -> float:
        """L(x, λ, ν)."""
        return self.objective(x) + float(inequality @ (self.G @ x - self.h)) + float(equality @ (self.A @ x - self.b))

    def theta_primal(self, x: Floats, slack: float = 1e-9) -> float:
        """θ_P(x): the objective where Gx <= h and Ax = b hold within `slack` of their size, else ∞."""
        above = np.append(self.G @ x - self.h, np.abs(self.A @ x - self.b))
        size = 1.0 + np.append(np.abs(self.G) @ np.abs(x) + np.abs(self.h), np.abs(self.A) @ np.abs(x) + np.abs(self.b))
        return self.objective(x) if np.all(above <= slack * size) else np.inf

    def theta_dual(self, inequality: Floats, equality: Floats, slack: float = 1e-9) -> float:
        """θ_D(λ, ν): -∞ where some λ is negative, or L falls forever along a direction of the null space of P."""
        if np.any(inequality < 0.0):
            return -np.inf
        slope = self.q + self.G.T @ inequality + self.A.T @ equality
        x = np.asarray(scipy.linalg.lstsq(self.P, -slope)[0]) if len(slope) else slope
        size = 1.0 + np.abs(self.q) + np.abs(self.G.T) @ inequality + np.abs(self.A.T) @ np.abs(equality)
        if np.any(np.abs(self.P @ x + slope) > slack * size):
            return -np.inf
        return float(0.5 * slope @ x - inequality @ self.h - equality @ self.b)

    def solve(self, tol: float = 1e-10, stop: Callable[[int], bool] | None = None) -> Multipliers:
        """The optimum and its multipliers. `solved` is false where no step helps any more: infeasible, unbounded, or rounding.

        `stop` is asked before each step, whose number it is told, whether to end with the best point so far.
        """
        with np.errstate(all="ignore"):  # multipliers without bound overflow; the best point before stands
            return self._solve(tol, stop or (lambda step: False))

    def _solve(self, tol: float, stop: Callable[[int], bool]) -> Multipliers:
        n = len(self.h)
        x, nu, s, lam = self._start()
        dual_size, primal_size = 1.0 + _largest(self.q), 1.0 + max(_largest(self.h), _largest(self.b))
        best, best_error = Multipliers(x, lam, nu, 0, False), np.inf
        for step in range(MOST_STEPS + 1):
            r_d = self.P @ x + self.q + self.G.T @ lam + self.A.T @ nu
            r_p, r_e = self.G @ x + s - self.h, self.A @ x - self.b
            mu = float(s @ lam) / max(n, 1)
            objective = 1.0 + abs(self.objective(x))
            error = max(
                _largest(r_d) / dual_size, _largest(r_p) / primal_size, _largest(r_e) / primal_size, n * mu / objective
            )
            if error < best_error:
                best, best_error = Multipliers(x, lam, nu, step, error <= tol), error
            if best.solved or step == MOST_STEPS or not np.isfinite(error) or stop(step):
                break
            solve = self._factor(lam / s)
            if solve is None:
                break
            dx, dnu, ds, dlam = self._direction(solve, r_d, r_p, r_e, s * lam, s, lam)
            t = _length(s, ds, lam, dlam)
            after = float((s + t * ds) @ (lam + t * dlam)) / max(n, 1)
            aim = mu * (after / mu) ** 3 if mu > 0.0 else 0.0
            dx, dnu, ds, dlam = self._direction(solve, r_d, r_p, r_e, s * lam + ds * dlam - aim, s, lam)
            t = min(1.0, TO_THE_WALL * _length(s, ds, lam, dlam)) if n else 1.0
            x, nu, s, lam = x + t * dx, nu + t * dnu, s + t * ds, lam + t * dlam
        return best

    def _start(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The minimiser of x'Px/2 + q'x + |Gx - h|²/2 s.t. Ax = b: its slacks h - Gx = -λ set the scale, and are shifted to be positive."""
        n, size = len(self.h), len(self.q)
        solve = self._factor(np.ones(n))
        found = np.zeros(size + len(self.b)) if solve is None else solve(np.append(self.G.T @ self.h - self.q, self.b))
        slack = self.h - self.G @ found[:size]
        return found[:size], found[size:], _shifted(slack), _shifted(-slack)

    def _factor(self, weights: Floats) -> Any:
        """A solver of M = [P + G'WG, A'; A, 0].

        M is scaled to a unit diagonal of its first block and unit rows of A in that scale, and lifted by rounding's worth, so that
        redundant rows do no harm.
        """
        size, p = len(self.q), len(self.b)
        matrix = np.zeros((size + p, size + p))
        root = self.G * np.sqrt(weights)[:, None]
        matrix[:size, :size] = self.P + root.T @ root
        matrix[size:, :size], matrix[:size, size:] = self.A, self.A.T
        scale = _inverse(np.sqrt(np.abs(np.diag(matrix)[:size])))
        scale = np.append(scale, _inverse(np.linalg.norm(self.A * scale, axis=1)))
        matrix *= scale[:, None] * scale
        if not np.isfinite(matrix).all():
            return None
        matrix[np.diag_indices(size + p)] += np.append(np.full(size, LIFT), np.full(p, -LIFT))
        factor, pivots, info = scipy.linalg.lapack.dsytrf(matrix, lower=1, overwrite_a=1, lwork=64 * (size + p))
        if info != 0:
            return None

        def solve(right: Floats) -> Floats:
            return np.ravel(scipy.linalg.lapack.dsytrs(factor, pivots, right * scale, lower=1)[0]) * scale

        return solve

    def _direction(
        self, solve: Any, r_d: Floats, r_p: Floats, r_e: Floats, r_c: Floats, s: Floats, lam: Floats
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """The step after which all residuals are 0 to first order:

            P dx + G'dλ + A'dν = -r_d,   G dx + ds = -r_p,   A dx = -r_e,   λ ds + s dλ = -r_c.

        Refined against these equations: weights λ/s of 1e13 cost M its digits, and the lift of its diagonal is no part of them.
        """
        dx, dnu, ds, dlam = np.zeros_like(r_d), np.zeros_like(r_e), np.zeros_like(s), np.zeros_like(s)
        for _ in range(1 + REFINEMENTS):
            e_d, e_p = r_d + self.P @ dx + self.G.T @ dlam + self.A.T @ dnu, r_p + self.G @ dx + ds
            e_e, e_c = r_e + self.A @ dx, r_c + lam * ds + s * dlam
            found = solve(np.append(-e_d + self.G.T @ ((e_c - lam * e_p) / s), -e_e))
            more = -e_p - self.G @ found[: len(dx)]
            dx, dnu = dx + found[: len(dx)], dnu + found[len(dx) :]
            ds, dlam = ds + more, dlam - (e_c + lam * more) / s
        return dx, dnu, ds, dlam


def _shifted(values: Floats) -> Floats:
    least = float(values.min(initial=np.inf))
    return values if least > 0.0 else values + (1.0 - least)


def _length(s: Floats, ds: Floats, lam: Floats, dlam: Floats) -> float:
    """The longest step, 1 / TO_THE_WALL at most, that keeps both positive."""
    fastest = max(float(np.max(-ds / s, initial=0.0)), float(np.max(-dlam / lam, initial=0.0)))
    return 1.0 / max(fastest, TO_THE_WALL)


def _largest(values: Floats) -> float:
    return float(np.abs(values).max(initial=0.0))


def _inverse(sizes: Floats) -> Floats:
    return np.divide(1.0, sizes, out=np.ones_like(sizes), where=sizes > 0.0)


def _matrix(name: str, values: Any, rows: int | None, columns: int) -> Floats:
    if values is None:
        return np.zeros((rows or 0, columns))
    matrix = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if matrix.shape[1] != columns or (rows is not None and len(matrix) != rows) or not np.isfinite(matrix).all():
        raise ValueError(
            f"QuadraticProgram({name}): a finite matrix with {columns} columns is needed, not shape {matrix.shape}."
        )
    return matrix


def _vector(name: str, values: Any, length: int) -> Floats:
    vector = np.zeros(0) if values is None else np.atleast_1d(np.asarray(values, dtype=np.float64))
    if vector.shape != (length,) or not np.isfinite(vector).all():
        raise ValueError(f"QuadraticProgram({name}): {length} finite numbers are needed, not shape {vector.shape}.")
    return vector
