"""Mercer's condition on given points: is the matrix K_ij = k(x_i, x_j) positive semidefinite?

Three answers. "indefinite" comes with a witness z, for which z'Kz < 0 is proved. "psd" comes with δ >= 0, at most 2^-20 of the
largest k(x, x), and the proof that no eigenvalue is below -δ. "undecided" says that rounding hides the answer. Each is about
these points: "indefinite" refutes the kernel, "psd" does not prove it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np
import scipy.linalg

from maxmargin.kernels.base import OWN_ROUNDING, Kernel
from maxmargin.kernels.rows import TINY, UNIT, Floats, gamma

LARGEST_EXACT = 100  # rows of a matrix for which z'Kz is worked out in fractions where doubles cannot tell its sign
LARGEST_SHIFT = 2.0**-20  # of the largest diagonal value: a proof that no eigenvalue is below -δ means little for larger δ


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mercer:
    """What `check_mercer` found on n points.

    verdict: "psd", "indefinite" or "undecided". smallest_eigenvalue: computed, not proved. delta: every eigenvalue is proved to
    be at least -delta; ∞ where nothing is proved. witness: z with z'Kz <= value < 0, proved; None unless indefinite.
    """

    verdict: str
    n: int
    smallest_eigenvalue: float
    delta: float = np.inf
    witness: Floats | None = None
    value: float = np.nan

    @property
    def valid(self) -> bool | None:
        """True for "psd", False for "indefinite", None for "undecided"."""
        return {"psd": True, "indefinite": False}.get(self.verdict)

    def __repr__(self) -> str:
        where = f"{self.verdict}: on {'this point' if self.n == 1 else f'these {self.n} points'}"
        computed = f"The smallest, computed, is {self.smallest_eigenvalue:.3g}."
        if self.verdict == "psd":
            return f"{where} every eigenvalue is proved to be at least {0.0 - self.delta:.3g}.\n{computed} Other points may differ."
        if self.verdict == "indefinite":
            return f"{where} z'Kz <= {self.value:.3g} < 0 for the witness z, rounding included.\nNo φ has <φ(x), φ(z)> = k(x, z)."
        return f"{where} rounding hides the sign of the smallest eigenvalue.\n{computed} Scale the values, or take fewer points."


def check_mercer(kernel: Any, X: Any = None, threads: int = 1) -> Mercer:
    """Whether a kernel on the rows of X, or a symmetric matrix, is positive semidefinite: a verdict with its proof.

    Of a kernel the rounding of its values is included (`Kernel.error`), so that x'z on more points than columns, whose exact
    matrix is singular and whose computed one may be indefinite, is not called indefinite.
    """
    if isinstance(kernel, Kernel):
        if X is None:
            raise TypeError("check_mercer(kernel, X): give the points X on which the kernel is to be checked.")
        return _decide(kernel.block(X, threads=threads), kernel.error(X, threads=threads))
    if X is not None:
        raise TypeError(
            "check_mercer(matrix): a matrix is checked as it is, without X. For a kernel give a Kernel value first."
        )
    K = np.asarray(kernel, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not np.isfinite(K).all():
        raise ValueError(f"check_mercer(matrix of shape {K.shape}): the matrix must be square and finite.")
    if not np.array_equal(K, K.T):
        i, j = np.argwhere(K != K.T)[0]
        raise ValueError(
            f"check_mercer(matrix): K[{i}, {j}] = {float(K[i, j])!r} and K[{j}, {i}] = {float(K[j, i])!r}, but a kernel is "
            "symmetric. If rounding made the difference, give (K + K.T) / 2."
        )
    return _decide(K, None)


def _decide(K: Floats, error: Floats | None) -> Mercer:
    n = K.shape[0]
    if n == 0:
        return Mercer("psd", 0, np.inf, 0.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):  # an overflow proves nothing
        try:
            eigenvalues, V = np.linalg.eigh(K)
            smallest = float(eigenvalues[0])
        except np.linalg.LinAlgError:
            return Mercer("undecided", n, np.nan)
        for z in _candidates(K, V[:, 0]):
            value = _upper_bound(K, error, z)
            if value < 0.0:
                return Mercer("indefinite", n, smallest, witness=z, value=value)
        delta = _shift_needed(K, 0.0 if error is None else OWN_ROUNDING * float(np.linalg.norm(error)))
    small = delta <= LARGEST_SHIFT * float(np.diagonal(K).max()) + TINY / UNIT
    return Mercer("psd" if small else "undecided", n, smallest, delta)


def _candidates(K: Floats, eigenvector: Floats) -> Iterator[Floats]:
    """Directions in which z'Kz may be negative."""
    n = K.shape[0]
    diagonal = np.diagonal(K)
    yield np.eye(1, n, int(diagonal.argmin()))[0]
    if np.isfinite(eigenvector).all():
        yield eigenvector
    # SKS with S a diagonal of powers of two has the same signs of eigenvalues, exactly, and shows those that the size of
    # other rows hides.
    scale = np.exp2(-np.round(0.5 * np.log2(np.where(diagonal > 0, diagonal, 1.0))))
    try:
        z = scale * np.linalg.eigh(scale[:, None] * K * scale)[1][:, 0]
    except np.linalg.LinAlgError:
        return
    if np.isfinite(z).all() and z.any():
        yield z / np.exp2(np.round(np.log2(np.abs(z).max())))


def _upper_bound(K: Floats, error: Floats | None, z: Floats) -> float:
    """At least z'kz for the true values k, |K - k| <= error.

    |fl(z'Kz) - z'Kz| <= γ_2n |z|'|K||z|: Kz sums n products, and z'(Kz) n more. Where that is too coarse for a small matrix,
    z'Kz is worked out in fractions.
    """
    n = K.shape[0]
    size = np.abs(z)
    own = OWN_ROUNDING * (1.0 + gamma(4 * n + 8))  # these bounds are such sums themselves
    spread = 0.0 if error is None else own * float(size @ (error @ size)) + 4.0 * n * n * TINY
    value = float(z @ (K @ z))
    rounding = own * gamma(2 * n + 4) * float(size @ (np.abs(K) @ size)) + 4.0 * n * n * TINY
    bound = rounding + spread
    above = float(value + bound + 4.0 * UNIT * (abs(value) + bound))
    if above < 0.0:
        return above
    if n > LARGEST_EXACT or not np.isfinite(bound) or value + spread > rounding:  # in fractions no better
        return np.inf
    exact = [Fraction(float(v)) for v in z]
    total = Fraction(spread)
    for zi, row in zip(exact, K, strict=True):
        total += zi * sum((Fraction(float(k)) * zj for k, zj in zip(row, exact, strict=True)), Fraction(0))
    return float(np.nextafter(float(total), np.inf)) if total < 0 and float(total) < 0.0 else np.inf


def _shift_needed(K: Floats, spread: float) -> float:
    """δ >= 0 such that k + δI is proved to be positive semidefinite if |K - k|_F <= spread; ∞ if none near rounding is found.

    For any upper triangular R, λ_min(K + sI) >= -|K + sI - R'R|, because R'R is positive semidefinite. R is the Cholesky factor
    in floats, which exists if λ_min(K + sI) > γ tr(K) (Rump 2006, Verification of positive definiteness), so that s is tried
    at a few multiples of that: below 0 first, which proves k itself; last beyond what the error of K may have made negative.
    The residual is bounded from R alone:
    |fl(M - R'R) - (M - R'R)| <= γ_n |R|'|R| + u |...|, and | |R|'|R| |_F <= |R|_F².
    """
    n = K.shape[0]
    diagonal = np.diagonal(K)
    step = gamma(n + 4) * float(np.abs(diagonal).sum()) + 8.0 * n * n * TINY
    for shift in (-8.0 * step - 2.0 * spread, 2.0 * step, 8.0 * step, 32.0 * step, 32.0 * step + 2.0 * spread):
        M = K.copy()
        np.fill_diagonal(M, diagonal + shift)
        try:
            R = scipy.linalg.cholesky(M, check_finite=False)
        except np.linalg.LinAlgError:
            continue
        residual = float(np.linalg.norm(M - R.T @ R))
        rounding = gamma(n + 4) * float(np.sum(R * R)) + 4.0 * UNIT * float(np.abs(M).max()) + 4.0 * n * n * TINY
        delta = shift + OWN_ROUNDING * (1.0 + gamma(n * n + 4)) * (residual + rounding + spread)
        if np.isfinite(delta):
            return max(0.0, float(delta))
    return np.inf
