"""A proven lower bound of the smallest eigenvalue of a weighted Gram matrix: how curved least squares is at least.

H = [X 1]' diag(c) [X 1], the column of ones where there is a free intercept. With S a diagonal of powers of two that brings the
diagonal of S H S near 1, every residual gradient g of least squares gives

    f(w) - f* <= |S g|² / (2 λ)   for any   0 < λ <= λ_min(S H S),

and the scale of the columns does not matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from maxmargin.design import BLOCK, Design

Floats = NDArray[np.float64]

UNIT = 2.0**-53
MOST_COLUMNS = 4000  # a second of Cholesky
WIDEST = 2.0**900  # diagonal entries beyond this, or below its inverse, might meet overflow or underflow


def curvature_below(design: Design, cost: Floats, intercept: bool) -> tuple[Floats, float]:
    """(S, λ) with λ <= λ_min(S H S); λ = 0 where no positive bound is found.

    Proof. Each entry of the computed H is off by at most γ_k of the same sum with absolute values, k = n + 16 + the blocks that
    were added up. The matrix of these sums is positive semidefinite too, so its norm is at most its trace, which is that of H.
    If a floating-point Cholesky factorisation of M - μ I runs to its end, then λ_min(M) >= μ - γ_{p+1} / (1 - γ_{p+1}) tr(M)
    (Rump 2006), p the order of M. Both errors are taken four times for what their own rounding may add.
    """
    d, p = design.d, design.d + intercept
    scale = np.ones(p)
    if p > MOST_COLUMNS:
        return scale, 0.0
    matrix = np.zeros((p, p))
    matrix[:d, :d] = design.weighted_gram(cost)
    if intercept:
        matrix[d, :d] = matrix[:d, d] = design.combine(cost)
        matrix[d, d] = cost.sum()
    diagonal = np.diag(matrix)
    if not np.isfinite(matrix).all() or diagonal.min(initial=1.0) < 1.0 / WIDEST or diagonal.max(initial=1.0) > WIDEST:
        return scale, 0.0
    scale = np.exp2(-np.rint(0.5 * np.log2(diagonal)))
    matrix *= scale[:, None] * scale
    error = 4.0 * float(np.trace(matrix)) * (_gamma(design.n + design.n // BLOCK + 17) + _gamma(p + 2))
    error += design.n * 2.0**-100  # underflow, scaled up by at most 2^900
    shift = float(np.linalg.eigvalsh(matrix)[0]) - error
    if not shift > 2.0 * error:
        return scale, 0.0
    matrix[np.diag_indices(p)] -= shift
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return scale, 0.0
    return scale, shift - error


def _gamma(k: int) -> float:
    return k * UNIT / (1.0 - k * UNIT)
