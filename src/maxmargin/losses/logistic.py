"""The logistic loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlog1py, xlogy

from maxmargin.losses.base import TwoClassLoss
from maxmargin.losses.roots import root_of_rising

Floats = NDArray[np.float64]

GONE = 750.0  # e^-750 is 0 in doubles


@final
@dataclass(frozen=True, slots=True)
class Logistic(TwoClassLoss):
    """φ(y, z) = ln(1 + e^{-y z}) for y in {-1, +1};  φ*(y, u) = v ln v + (1 - v) ln(1 - v), v = -y u in [0, 1].

    φ'' = p (1 - p) <= 1/4 with p = 1 / (1 + e^{-z}), the probability of y = +1 that the score stands for.
    """

    @property
    def curvature(self) -> float:
        return 0.25

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.logaddexp(0.0, -y * z))

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(-y * expit(-y * z))

    def bend(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(expit(z) * expit(-z))

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        v = -y * u
        inside = (v >= 0.0) & (v <= 1.0)
        v = np.where(inside, v, 0.0)
        return np.where(inside, xlogy(v, v) + xlog1py(1.0 - v, -v), np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.minimum(y, 0.0), np.maximum(y, 0.0)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        """Where one class alone has cost, φ falls for ever: then a b from which on every φ is 0 in doubles.

        Were all scores equal to t, the slope would vanish at t + b = ln(Σ cost of +1 / Σ cost of -1). So the root lies between the
        intercepts that bring the highest and the lowest score there.
        """
        used = cost > 0
        y, z, cost = y[used], z[used], cost[used]
        above, below = float(cost[y > 0].sum()), float(cost[y < 0].sum())
        if below == 0.0:
            return float(GONE - z.min()) if above > 0.0 else 0.0
        if above == 0.0:
            return float(-GONE - z.max())
        even = math.log(above) - math.log(below)

        def slope(b: float) -> float:
            return float(np.sum(cost * self.slope(y, z + b)))

        return root_of_rising(slope, even - float(z.max()), even - float(z.min()))
