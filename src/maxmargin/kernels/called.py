"""A function of two sets of rows as a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from maxmargin.kernels.base import Kernel
from maxmargin.kernels.rows import Floats, Pairs, Rows

FEW = 64  # rows whose whole block is formed for its diagonal


@final
@dataclass(frozen=True, slots=True)
class Called(Kernel):
    """k(x_i, z_j) = function(X, Z)_ij, as scikit-learn calls its kernels.  Nothing is known of it: neither that it is positive
    semidefinite nor how it rounds."""

    function: Callable[[Any, Any], Any]

    @property
    def positive(self) -> bool:
        return False

    def tile(self, pairs: Pairs) -> Floats:
        left, right = pairs.left, pairs.right
        values = np.asarray(self.function(left.data, right.data), dtype=np.float64)
        if values.shape != (left.n, right.n):
            raise ValueError(
                f"Called(function={self.function!r}): of {left.n} and {right.n} rows it returns shape {values.shape}; it must return "
                f"({left.n}, {right.n})."
            )
        return values.copy()

    def own(self, rows: Rows) -> Floats:
        parts = [rows.part(at, min(at + FEW, rows.n)) for at in range(0, rows.n, FEW)]
        return np.concatenate([np.empty(0), *(np.diagonal(self.tile(Pairs(part, part))) for part in parts)])

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        raise ValueError(
            f"Called(function={self.function!r}): a function promises no bound on its rounding. Use precision='computed', or a Kernel "
            "of maxmargin.kernels."
        )
