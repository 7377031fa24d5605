"""Losses of the margin y z that vanish from margin 1 on, for y in {-1, +1}."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from maxmargin.losses.base import TwoClassLoss, require_positive
from maxmargin.losses.roots import root_between_kinks, root_of_pieces

Floats = NDArray[np.float64]


class MarginLoss(TwoClassLoss):
    """A finite loss of the margin y z, y in {-1, +1}, that vanishes from margin 1 on. Its kinks in b lie at y_i - z_i."""

    __slots__ = ()

    @staticmethod
    @abstractmethod
    def _slopes_at_kinks(kinks: Floats, y: Floats, cost: Floats) -> tuple[Floats, Floats]:
        """Left and right slope of b -> Σ c_i φ(y_i, z_i + b) at each of the sorted kinks."""

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        used = cost > 0
        kinks = (y - z)[used]
        order = np.argsort(kinks, kind="stable")
        kinks, y, cost = kinks[order], y[used][order], cost[used][order]
        if kinks.size == 0:
            return 0.0
        left, right = self._slopes_at_kinks(kinks, y, cost)
        return root_of_pieces(kinks, left, right)


@final
@dataclass(frozen=True, slots=True)
class Hinge(MarginLoss):
    """φ(y, z) = max(0, 1 - y z) for y in {-1, +1};  φ*(y, u) = y u for -1 <= y u <= 0."""

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.maximum(0.0, 1.0 - y * z)

    def slope(self, y: Floats, z: Floats) -> Floats:
        return -y * np.heaviside(1.0 - y * z, 0.5)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        v = y * u
        return np.where((v >= -1.0) & (v <= 0.0), v, np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.minimum(y, 0.0), np.maximum(y, 0.0)

    @staticmethod
    def _slopes_at_kinks(kinks: Floats, y: Floats, cost: Floats) -> tuple[Floats, Floats]:
        right = np.cumsum(cost) - cost[y > 0].sum()
        return right - cost, right


@final
@dataclass(frozen=True, slots=True)
class SquaredHinge(MarginLoss):
    """φ(y, z) = max(0, 1 - y z)² for y in {-1, +1};  φ*(y, u) = y u + u²/4 for y u <= 0."""

    @property
    def curvature(self) -> float:
        return 2.0

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.maximum(0.0, 1.0 - y * z) ** 2

    def slope(self, y: Floats, z: Floats) -> Floats:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * z)

    def bend(self, y: Floats, z: Floats) -> Floats:
        return np.where(y * z < 1.0, 2.0, 0.0)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        v = y * u
        return np.where(v <= 0.0, v * (1.0 + 0.25 * v), np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.where(y < 0, -np.inf, 0.0), np.where(y > 0, np.inf, 0.0)

    @staticmethod
    def _slopes_at_kinks(kinks: Floats, y: Floats, cost: Floats) -> tuple[Floats, Floats]:
        # At kink t: 2 Σ c_i (t - t_i) over rows of +1 with t_i > t and of -1 with t_i < t. Kinks are taken from the middle
        # one, so that a common offset does not cancel digits.
        shifted = kinks - kinks[kinks.size // 2]
        above, below = np.where(y > 0, cost, 0.0), np.where(y < 0, cost, 0.0)
        weight = np.cumsum(below) + above.sum() - np.cumsum(above)
        moment = np.cumsum(below * shifted) + (above * shifted).sum() - np.cumsum(above * shifted)
        slope = 2.0 * (weight * shifted - moment)
        return slope, slope


@final
@dataclass(frozen=True, slots=True)
class SmoothedHinge(TwoClassLoss):
    """φ(y, z) = r²/(2δ) + (h - r), h = max(0, 1 - y z), r = min(h, δ), δ = width;  φ*(y, u) = v + δ v²/2 for -1 <= v = y u <= 0.

    The hinge with its kink rounded over margins from 1 - δ to 1.
    """

    width: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, width=self.width)

    @property
    def curvature(self) -> float:
        return 1.0 / self.width

    def value(self, y: Floats, z: Floats) -> Floats:
        h = np.maximum(0.0, 1.0 - y * z)
        r = np.minimum(h, self.width)
        return np.asarray(0.5 * r * (r / self.width) + (h - r))

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(-y * (np.clip(1.0 - y * z, 0.0, self.width) / self.width))

    def bend(self, y: Floats, z: Floats) -> Floats:
        h = 1.0 - y * z
        return np.where((h > 0.0) & (h < self.width), self.curvature, 0.0)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        v = y * u
        return np.where((v >= -1.0) & (v <= 0.0), v * (1.0 + 0.5 * self.width * v), np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.minimum(y, 0.0), np.maximum(y, 0.0)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        used = cost > 0
        at_margin_one = (y - z)[used]
        return root_between_kinks(self, y, z, cost, np.concatenate([at_margin_one, at_margin_one - self.width * y[used]]))


@final
@dataclass(frozen=True, slots=True)
class HardMargin(TwoClassLoss):
    """φ(y, z) = 0 where y z >= 1, else ∞, for y in {-1, +1};  φ*(y, u) = y u for y u <= 0.  The hinge of infinite cost."""

    @property
    def finite(self) -> bool:
        return False

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.where(y * z >= 1.0, 0.0, np.inf)

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.zeros_like(z)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        v = y * u
        return np.where(v <= 0.0, v, np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.where(y < 0, -np.inf, 0.0), np.where(y > 0, np.inf, 0.0)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        """-(max over y = -1 of z + min over y = +1 of z) / 2: halfway between the nearest rows of the two classes."""
        used = cost > 0
        above, below = used & (y > 0), used & (y < 0)
        if not above.any() or not below.any():
            return float(1.0 - z[above].min()) if above.any() else float(-1.0 - z[below].max()) if below.any() else 0.0
        highest, lowest = float(z[below].max()), float(z[above].min())
        return -(highest + 0.5 * (lowest - highest))

    def least_scale(self, y: Floats, low: Floats, high: Floats) -> float:
        margin = float(np.where(y > 0, low, -high).min(initial=np.inf))
        return 1.0 / margin if 0.0 < margin < np.inf else 1.0
