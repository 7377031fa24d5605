"""Margins of a halfspace on labelled rows.

functional margin  y_i (x_i'w + b),        which grows with the length of w;
geometric margin   y_i (x_i'w + b) / |w|,  the signed distance from the plane, which does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from maxmargin.design import VALUE_TYPES, as_design
from maxmargin.losses import HardMargin

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Margins:
    """Both margins of every row. The margin of the data is the least; the rows that have it are the `nearest`."""

    functional: Floats
    geometric: Floats

    @property
    def least(self) -> float:
        """The geometric margin of the data: positive where the halfspace separates it."""
        return float(self.geometric.min())

    @property
    def nearest(self) -> int:
        """The first row with the least margin."""
        return int(self.geometric.argmin())


def margins(X: Any, y: Any, w: Any, b: float = 0.0) -> Margins:
    """The margins of the rows of X with labels y in {-1, +1} under the halfspace (w, b).

    >>> found = margins([[3.0, 0.0], [-1.0, 0.0]], [1, -1], [2.0, 0.0])
    >>> found.functional, found.geometric
    (array([6., 2.]), array([3., 1.]))
    """
    design, signs, direction = _rows(X, y, w)
    functional = signs * design.scores(direction, float(b))
    length = float(np.linalg.norm(direction))
    if length == 0.0:
        raise ValueError("margins(w): w = 0 is no direction, and has no geometric margin.")
    return Margins(functional, functional / length)


def best_intercept(X: Any, y: Any, w: Any) -> float:
    """b* = -(max over y = -1 of x'w + min over y = +1 of x'w) / 2: the plane halfway between the nearest rows of both classes."""
    design, signs, direction = _rows(X, y, w)
    if len(np.unique(signs)) < 2:
        raise ValueError("best_intercept(y): both labels are needed.")
    return HardMargin().best_intercept(signs, design.scores(direction), np.ones(design.n))


def _rows(X: Any, y: Any, w: Any) -> tuple[Any, Floats, Floats]:
    X = X if sp.issparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"margins(X): rows of equal length are needed, not shape {X.shape}.")
    design = as_design(X if X.dtype in VALUE_TYPES else X.astype(np.float64))
    signs, direction = np.asarray(y, dtype=np.float64), np.asarray(w, dtype=np.float64)
    if signs.shape != (design.n,) or not np.all(np.abs(signs) == 1.0):
        raise ValueError(f"margins(y): one label of -1 or +1 is needed for each of the {design.n} rows.")
    if direction.shape != (design.d,):
        raise ValueError(f"margins(w): {design.d} numbers are needed, one per column, not shape {direction.shape}.")
    return design, signs, direction
