"""Model: what prediction needs, and no memory of how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin.design import Design
from maxmargin.kernels import Kernel, Rows

Floats = NDArray[np.float64]

TILE = 1 << 22  # values of a tile of K: 32 MiB


@final
@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """z = X coef' + intercept, one column per row of coef."""

    coef: NDArray[Any]
    intercept: Floats

    def scores(self, design: Design) -> Floats:
        """n x k scores in float64."""
        return design.scores(self.coef.T.astype(np.float64), self.intercept)


@final
@dataclass(frozen=True, slots=True, eq=False)
class KernelModel:
    """z = K(X, support) coef + intercept, one column per column of coef."""

    kernel: Kernel
    support: Rows
    coef: Floats
    intercept: Floats

    def scores(self, rows: Rows) -> Floats:
        """n x k scores in float64; K is formed in tiles and never stored."""
        z = np.empty((rows.n, self.coef.shape[1]))
        tall = max(1, TILE // max(1, self.support.n))
        for first in range(0, rows.n, tall):
            part = rows.part(first, min(first + tall, rows.n))
            z[first : first + part.n] = self.kernel.block(part, self.support) @ self.coef
        return np.asarray(z + self.intercept)
