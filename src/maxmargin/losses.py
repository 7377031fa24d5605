"""Losses φ(y, z), convex in the score z.

A loss knows its value, its slope in z, its conjugate φ*(y, u) = sup_z (u z - φ(y, z)), and the interval in which the dual
variable a / c = -φ'(y, z) lies. Arrays go in and come out, one entry per row. Two promises on rounding, with u = 2^-53,
let `certify` be rigorous:

    |computed φ - φ| <= 16 u (1 + |φ| + |y| + |z|),
    |computed φ* - φ*| <= 16 u (1 + |v|)(1 + |v| + |y|)  at an argument v that is itself off by a relative u.

`maxmargin.testing.check_loss` tests all of it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Loss(ABC):
    """φ(y, z) on one score per row, or on k scores per row (z of shape n x k)."""

    __slots__ = ()

    curvature: ClassVar[float] = math.inf  # the largest φ'' in z; ∞ where φ has kinks
    finite: ClassVar[bool] = True  # φ < ∞ everywhere

    @abstractmethod
    def value(self, y: Floats, z: Floats) -> Floats:
        """φ(y, z)."""

    @abstractmethod
    def slope(self, y: Floats, z: Floats) -> Floats:
        """φ'(y, z); at a kink the mean of the one-sided slopes."""

    @abstractmethod
    def conjugate(self, y: Floats, u: Floats) -> Floats:
        """φ*(y, u), ∞ outside its domain."""

    @abstractmethod
    def box(self, y: Floats) -> tuple[Floats, Floats]:
        """The ends of the interval of -φ'(y, ·): where a_i / c_i may lie."""

    @abstractmethod
    def check_target(self, y: Floats) -> None:
        """Raise ValueError where φ is not meant for such targets."""

    @abstractmethod
    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        """argmin_b Σ c_i φ(y_i, z_i + b); of an interval its midpoint, of a half-line its finite end."""

    def least_scale(self, y: Floats, low: Floats, high: Floats) -> float:
        """The least t >= 0 for which φ(y, t z) is finite for all z in [low, high]; 1 where φ is finite everywhere or no t will do."""
        return 1.0


class MarginLoss(Loss):
    """A finite loss of the margin y z, y in {-1, +1}, that vanishes from margin 1 on. Its kinks in b lie at y_i - z_i."""

    __slots__ = ()

    @staticmethod
    @abstractmethod
    def _slopes_at_kinks(kinks: Floats, y: Floats, cost: Floats) -> tuple[Floats, Floats]:
        """Left and right slope of b -> Σ c_i φ(y_i, z_i + b) at each of the sorted kinks."""

    def check_target(self, y: Floats) -> None:
        if not np.all(np.abs(y) == 1.0):
            raise ValueError(f"{self!r}: targets must be -1 or +1.")

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        used = cost > 0
        kinks = (y - z)[used]
        order = np.argsort(kinks, kind="stable")
        kinks, y, cost = kinks[order], y[used][order], cost[used][order]
        if kinks.size == 0:
            return 0.0
        left, right = self._slopes_at_kinks(kinks, y, cost)
        # Sums of n terms are off by about n u of their size: a slope below that is a zero slope.
        noise = 4 * kinks.size * np.finfo(float).eps * np.abs(right - left[0]).max(initial=0.0)
        first = int(np.argmax(right >= -noise)) if (right >= -noise).any() else kinks.size - 1
        if first > 0 and left[first] > noise:  # the root lies inside the linear piece before this kink
            start, share = kinks[first - 1], right[first - 1] / (right[first - 1] - left[first])
            return float(start + share * (kinks[first] - start))
        last = kinks.size - 1 - int(np.argmax(left[::-1] <= noise))  # flat from `first` to `last`
        return float(kinks[first] + 0.5 * (kinks[last] - kinks[first]))


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

    curvature: ClassVar[float] = 2.0

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.maximum(0.0, 1.0 - y * z) ** 2

    def slope(self, y: Floats, z: Floats) -> Floats:
        return -2.0 * y * np.maximum(0.0, 1.0 - y * z)

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
class HardMargin(Loss):
    """φ(y, z) = 0 where y z >= 1, else ∞, for y in {-1, +1};  φ*(y, u) = y u for y u <= 0.  The hinge of infinite cost."""

    finite: ClassVar[bool] = False

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.where(y * z >= 1.0, 0.0, np.inf)

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.zeros_like(z)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        v = y * u
        return np.where(v <= 0.0, v, np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.where(y < 0, -np.inf, 0.0), np.where(y > 0, np.inf, 0.0)

    def check_target(self, y: Floats) -> None:
        if not np.all(np.abs(y) == 1.0):
            raise ValueError(f"{self!r}: targets must be -1 or +1.")

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
