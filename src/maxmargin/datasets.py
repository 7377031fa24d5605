"""Data whose answer is known beforehand. Nothing is downloaded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def slow_perceptron(d: int) -> tuple[Floats, NDArray[np.int64]]:
    """2d rows of -1, 0 and 1 on which every perceptron with plain updates makes 2^(d-1) mistakes at least.

    Row k asks for w_k - Σ_{j<k} w_j + b > 0, and its mirror image, with the other label, for w_k - Σ_{j<k} w_j - b > 0. All
    updates are whole numbers, so when every row is on its side each left side is at least 1; by induction w_k >= 2^(k-1). One
    update changes w_d by 1 at most. The margin shrinks like 2^-d, which is what the bound (R/γ)² sees.
    """
    if d < 1:
        raise ValueError(f"slow_perceptron(d={d}): d must be 1 or more.")
    rows = np.eye(d) - np.tril(np.ones((d, d)), -1)
    return np.vstack([rows, -rows]), np.repeat([1, -1], d)


def misleading_average() -> tuple[Floats, NDArray[np.int64]]:
    """Eight rows that (0, 1) separates and that U = (1/n) Σ y_i x_i does not: many long rows on one side outvote the others."""
    rows = np.array([[5.0, 1.0], [5.0, 1.0], [5.0, 1.0], [-1.0, 1.0]])
    return np.vstack([rows, -rows]), np.repeat([1, -1], 4)
