"""The laws that losses, penalties, kernels and solvers obey, for ours and for yours.

Each `check_*` draws its own examples from a seed and raises AssertionError with the numbers when a law is broken. Tolerances
follow from the theory or from the rounding that the contracts allow.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin import kernels
from maxmargin.certificate import certify, feasible
from maxmargin.design import UNIT, Dense
from maxmargin.losses import Loss
from maxmargin.penalties import Penalty, Ridge
from maxmargin.problem import Intercept, Problem
from maxmargin.solvers.base import Solver

Floats = NDArray[np.float64]

SIGNS = np.array([-1.0, 1.0])


def check_loss(loss: Loss, targets: Floats = SIGNS, seed: int = 0) -> None:
    """Convexity, sub-gradients, Fenchel-Young, box and best intercept of a loss of one score, on targets drawn from these."""
    rng = np.random.default_rng(seed)
    y = rng.choice(targets, 400)
    z, other = rng.normal(scale=3.0, size=(2, y.size))
    value, at_other, slope = loss.value(y, z), loss.value(y, other), loss.slope(y, z)
    size = 1.0 + np.abs(value) + np.abs(at_other) + np.abs(y) + np.abs(z) + np.abs(other)
    slack = 64.0 * UNIT * size * (1.0 + np.abs(slope))

    share = rng.uniform(size=y.size)
    between = loss.value(y, share * z + (1.0 - share) * other)
    _assert_all(between <= share * value + (1.0 - share) * at_other + slack, "convex in z", loss)
    inside = np.isfinite(value)  # a loss has no sub-gradient where it is ∞
    tangent = np.where(inside, value, 0.0) + slope * (other - z)
    _assert_all(~inside | (at_other >= tangent - slack), "slope is a sub-gradient", loss)

    low, high = loss.box(y)
    _assert_all((low <= high) & (-slope >= low) & (-slope <= high), "-slope lies in the box", loss)
    finite_low, finite_high = np.maximum(low, -10.0), np.minimum(high, 10.0)
    u = -(finite_low + rng.uniform(size=y.size) * (finite_high - finite_low))
    conjugate = loss.conjugate(y, u)
    _assert_all(np.isfinite(conjugate), "the conjugate is finite inside the box", loss)
    young = 64.0 * UNIT * (1.0 + np.abs(u)) * (size + np.abs(u))
    _assert_all(value + conjugate >= u * z - young, "Fenchel-Young: φ(z) + φ*(u) >= u z", loss)
    tight = 64.0 * UNIT * (1.0 + np.abs(slope)) * (size + np.abs(slope))
    _assert_all(np.abs(value + loss.conjugate(y, slope) - slope * z) <= tight, "equality at u = φ'(z)", loss)
    beyond = np.isfinite(high)
    outside = loss.conjugate(y[beyond], -(high[beyond] + 0.5))
    _assert_all(np.isinf(outside), "the conjugate is ∞ outside the box", loss)

    cost = rng.uniform(0.1, 2.0, size=y.size)
    b = loss.best_intercept(y, z, cost)

    def objective(at: float) -> float:
        return float(cost @ loss.value(y, z + at))

    for step in (1e-6, 1e-3, 0.1, 1.0, 10.0):
        for at in (b - step, b + step):
            reached, allowed = objective(b), objective(at) * (1.0 + 1e-12) + 1e-12
            assert reached <= allowed, f"{loss!r}: best_intercept {b} gives {reached}, {at} gives {objective(at)}"


def check_penalty(penalty: Penalty, seed: int = 0) -> None:
    """Convexity, Fenchel-Young, the optimality of prox, and the domains of ψ and ψ*."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        w, v, other = rng.normal(scale=2.0, size=(3, 30))
        near, far = penalty.clip(w), penalty.clip(other)
        slack = 1e-12 * (1.0 + penalty.value(near) + penalty.value(far) + float(np.abs(w) @ np.abs(v)))
        assert np.isfinite(slack), f"{penalty!r}: clip leaves the domain"
        assert np.array_equal(penalty.clip(near), near), f"{penalty!r}: clip moves a point of the domain"
        middle = penalty.value(0.5 * (near + far))
        assert middle <= 0.5 * (penalty.value(near) + penalty.value(far)) + slack, f"{penalty!r}: not convex"
        v = v * min(1.0, (1.0 - 1e-15) * penalty.reach(v, v))
        young = penalty.value(near) + penalty.conjugate(v) - float(near @ v)
        assert np.isfinite(young), f"{penalty!r}: reach leaves the domain of ψ*"
        assert young >= -slack, f"{penalty!r}: Fenchel-Young fails"
        x = penalty.prox(w, 1.0)  # w - x is a sub-gradient at x, where Fenchel-Young is an equality
        g = (w - x) * min(1.0, (1.0 - 1e-15) * penalty.reach(w - x, w - x))
        tight = penalty.value(x) + penalty.conjugate(g) - float(x @ g)
        assert abs(tight) <= 100.0 * slack, f"{penalty!r}: no equality at the sub-gradient w - prox(w)"
        for step in (0.1, 1.0, 10.0):
            x = penalty.prox(w, step)

            def moreau(at: Floats, w: Floats = w, step: float = step) -> float:
                return penalty.value(at) + float(np.sum((at - w) ** 2)) / (2.0 * step)

            for trial in (x + 1e-3 * v, x + v, np.zeros_like(x), w, near):
                assert moreau(x) <= moreau(trial) + 100.0 * slack, f"{penalty!r}: prox(w, {step}) is not optimal"
    assert penalty.value(np.zeros(3)) == 0.0, f"{penalty!r}: value(0) must be 0"
    if penalty.interval is not None:
        l1, l2, low, high = (getattr(penalty.interval, name) for name in ("l1", "l2", "low", "high"))
        inside = (w >= low) & (w <= high)
        family = np.where(inside, l1 * np.abs(w) + 0.5 * l2 * w * w, np.inf)
        assert np.allclose(family, penalty.terms(w)), f"{penalty!r}: interval says something else than terms"


def check_kernel(kernel: kernels.Kernel, X: Any, names: Mapping[str, Any] | None = None, seed: int = 0) -> None:
    """Symmetry, diagonal, elements, assembly from blocks, eval(repr(k)) == k, and, where claimed, positive semidefiniteness.

    The laws are tested on the rows of X (strings, or numbers on which the kernel is defined) and on random draws from them.
    `names` holds the functions that the kernel's repr mentions.
    """
    rows = kernels.as_rows(X)
    rng = np.random.default_rng(seed)
    K, error, diagonal = kernel.block(rows), kernel.error(rows), kernel.diagonal(rows)
    assert K.shape == (rows.n, rows.n), f"{kernel!r}: a block of {rows.n} and {rows.n} rows has shape {K.shape}"
    assert K.dtype == np.float64, f"{kernel!r}: blocks are of float64, not {K.dtype}"
    _assert_all(np.isfinite(error) & (error >= 0.0), "the error is finite", kernel)
    _assert_all(K == K.T, "k(x, z) = k(z, x), to the bit", kernel)
    _assert_all(np.diagonal(K) == diagonal, "the diagonal of block is diagonal", kernel)

    split = int(rng.integers(0, rows.n + 1))
    first, second = rows.part(0, split), rows.part(split, rows.n)
    pieces = np.vstack([np.hstack([kernel.block(a, b) for b in (first, second)]) for a in (first, second)])
    _assert_all(np.abs(pieces - K) <= 2.0 * error, "blocks assemble to the block", kernel)
    for _ in range(20):
        i, j = (int(at) for at in rng.integers(0, rows.n, size=2))
        element = kernel.block(rows.part(i, i + 1), rows.part(j, j + 1))[0, 0]
        assert abs(element - K[i, j]) <= 2.0 * error[i, j], (
            f"{kernel!r}: k({i}, {j}) is {element} alone and {K[i, j]} in a block"
        )

    if kernel.positive:
        drawn = [np.arange(rows.n), *(rng.integers(0, rows.n, size=int(rng.integers(1, rows.n + 1))) for _ in range(3))]
        for chosen in drawn:
            found = kernels.check_mercer(kernel, rows.take(chosen))
            assert found.valid, f"{kernel!r}: claims to be positive semidefinite. {found!r}"

    known = {**vars(kernels), **vars(sys.modules[type(kernel).__module__]), **(names or {})}
    again = eval(repr(kernel), known)
    assert again == kernel, f"{kernel!r}: prints as a value that differs from it"
    assert hash(again) == hash(kernel), f"{kernel!r}: equal values must have equal hashes"


def check_weak_duality(problem: Problem, seed: int = 0) -> None:
    """D(a) <= P(w, b) for random w, b and random feasible a, and feasible points are feasible exactly."""
    rng = np.random.default_rng(seed)
    low, high = (np.clip(end, -10.0, 10.0) for end in problem.box())
    for scale in (1e-3, 1.0, 100.0):
        w, b = rng.normal(scale=scale, size=problem.design.d), float(rng.normal(scale=scale))
        b = 0.0 if problem.intercept is Intercept.NONE else b
        a = feasible(problem, low + rng.uniform(size=problem.design.n) * (high - low))
        primal, dual = problem.primal(w, b), problem.dual(a)
        assert np.isfinite(dual), f"{problem!r}: a repaired point is not feasible"
        assert dual <= primal + 1e-12 * (abs(primal) + abs(dual)), f"D = {dual} lies above P = {primal}"


def planted_problem(
    loss: Loss, intercept: Intercept = Intercept.FREE, n: int = 60, d: int = 5, strength: float = 1.0, seed: int = 0
) -> tuple[Problem, Floats, float]:
    """A two-class problem with a known optimum (w, b).

    w, b and the labels are drawn first, then rows x_i with chosen margins, which give a_i = -c_i φ'(z_i). Two more rows close
    the books: they make s w = X'a and, where the intercept is free, Σ a = 0 hold.
    """
    rng = np.random.default_rng(seed)
    w, b = rng.normal(size=d), 0.0 if intercept is Intercept.NONE else float(rng.normal())
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    margin = np.where(rng.uniform(size=n) < 0.5, rng.uniform(-1.0, 0.9, size=n), rng.uniform(1.1, 3.0, size=n))
    X = rng.normal(size=(n, d))
    X += np.outer((y * margin - b - X @ w) / (w @ w), w)
    cost = rng.uniform(0.1, 1.0, size=n)
    a = -cost * loss.slope(y, X @ w + b)
    # Two closing rows absorb what is left of s w - X'a, and of what Σ a should be.
    total = {Intercept.FREE: -a.sum(), Intercept.PENALIZED: strength * b - a.sum(), Intercept.NONE: 0.0}[intercept]
    rows, labels, pulls = _closing_rows(w, b, strength * w - a @ X, float(total))
    X, y = np.ascontiguousarray(np.vstack([X, rows])), np.append(y, labels)
    cost = np.append(cost, pulls / -loss.slope(labels, rows @ w + b))
    return Problem(Dense(X), y, loss, Ridge(strength), cost, intercept), w, b


def _closing_rows(w: Floats, b: float, rest: Floats, total: float) -> tuple[Floats, Floats, Floats]:
    """Rows x_1, x_2 of labels +1, -1 and margins below 1, and a_1 > 0 > a_2, with a_1 x_1 + a_2 x_2 = rest, a_1 + a_2 = total.

    In the direction of w the first equation is a_1 (z_1 - b) + a_2 (z_2 - b) = rest'w. With z_2 = -1/2 it gives z_1, which
    tends to -1/2 as a_1 grows.
    """
    along = float(rest @ w)
    needed = along + total * (b + 0.5)
    a_1 = 1.0 + abs(total) + 2.0 * abs(needed)
    a_2 = total - a_1
    z_1, z_2 = needed / a_1 - 0.5, -0.5
    unit = w / (w @ w)
    first = (z_1 - b) * unit + (rest - along * unit) / a_1
    return np.stack([first, (z_2 - b) * unit]), np.array([1.0, -1.0]), np.array([a_1, a_2])


def check_solver(solver: Solver, loss: Loss, tol: float = 1e-4, seeds: range = range(4)) -> None:
    """A solver reaches planted optima: its gap is true, and |w - w*| <= sqrt(2 gap / s)."""
    for seed in seeds:
        for intercept in Intercept:
            problem, w, b = planted_problem(loss, intercept, seed=seed)
            assert solver.refuse(problem) is None, solver.refuse(problem)
            solution = solver.solve(problem)
            certificate = certify(problem, solution.coef, solution.intercept, solution.dual)
            assert certificate.relative_gap <= tol, f"{solver!r}: relative gap {certificate.relative_gap} on {intercept}"
            best = problem.primal(w, b)
            slack = 1e-12 * abs(best)
            assert certificate.dual - slack <= best <= certificate.primal + slack, (
                f"{solver!r}: {best} is outside {certificate}"
            )
            distance = float(np.linalg.norm(solution.coef - w))
            assert distance <= np.sqrt(2.0 * (certificate.gap + slack)), f"{solver!r}: |w - w*| = {distance}"


def _assert_all(holds: NDArray[np.bool_], law: str, subject: object) -> None:
    assert bool(np.all(holds)), f"{subject!r}: {law}: broken at {np.flatnonzero(~holds)[:5].tolist()}"
