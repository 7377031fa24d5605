"""Losses of the residual z - y, for targets y in the reals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from maxmargin.losses.base import RegressionLoss, require_not_negative, require_positive
from maxmargin.losses.roots import root_between_kinks, root_of_steps

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Squared(RegressionLoss):
    """φ(y, z) = (z - y)²/2;  φ*(y, u) = u²/2 + u y."""

    @property
    def curvature(self) -> float:
        return 1.0

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(0.5 * (z - y) ** 2)

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(z - y)

    def bend(self, y: Floats, z: Floats) -> Floats:
        return np.ones_like(z)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        return np.asarray(u * (0.5 * u + y))

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        """The weighted mean of y - z."""
        total = float(cost.sum())
        return float(cost @ (y - z)) / total if total > 0.0 else 0.0


@final
@dataclass(frozen=True, slots=True)
class Huber(RegressionLoss):
    """φ(y, z) = r²/2 for |r| <= δ, else δ (|r| - δ/2), with r = z - y and δ = width;  φ*(y, u) = u²/2 + u y for |u| <= δ."""

    width: float = 1.0

    def __post_init__(self) -> None:
        require_positive(self, width=self.width)

    @property
    def curvature(self) -> float:
        return 1.0

    def value(self, y: Floats, z: Floats) -> Floats:
        r = z - y
        near = np.clip(r, -self.width, self.width)
        return np.asarray(near * (r - 0.5 * near))

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.clip(z - y, -self.width, self.width))

    def bend(self, y: Floats, z: Floats) -> Floats:
        return np.where(np.abs(z - y) < self.width, 1.0, 0.0)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        return np.where(np.abs(u) <= self.width, u * (0.5 * u + y), np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.full_like(y, -self.width), np.full_like(y, self.width)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        wanted = (y - z)[cost > 0]
        return root_between_kinks(self, y, z, cost, np.concatenate([wanted - self.width, wanted + self.width]))


@final
@dataclass(frozen=True, slots=True)
class EpsilonInsensitive(RegressionLoss):
    """φ(y, z) = max(0, |z - y| - ε), ε = width;  φ*(y, u) = u y + ε |u| for |u| <= 1."""

    width: float = 0.1

    def __post_init__(self) -> None:
        require_not_negative(self, width=self.width)

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.maximum(0.0, _beyond(y, z, self.width))

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.sign(z - y) * np.heaviside(_beyond(y, z, self.width), 0.5))

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        return np.where(np.abs(u) <= 1.0, u * y + self.width * np.abs(u), np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.full_like(y, -1.0), np.full_like(y, 1.0)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        wanted, cost = (y - z)[cost > 0], cost[cost > 0]
        kinks = np.concatenate([wanted - self.width, wanted + self.width])
        return root_of_steps(kinks, np.concatenate([cost, cost]), -float(cost.sum()))


@final
@dataclass(frozen=True, slots=True)
class SquaredEpsilonInsensitive(RegressionLoss):
    """φ(y, z) = max(0, |z - y| - ε)², ε = width;  φ*(y, u) = u y + ε |u| + u²/4."""

    width: float = 0.1

    def __post_init__(self) -> None:
        require_not_negative(self, width=self.width)

    @property
    def curvature(self) -> float:
        return 2.0

    def value(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(np.maximum(0.0, _beyond(y, z, self.width)) ** 2)

    def slope(self, y: Floats, z: Floats) -> Floats:
        return np.asarray(2.0 * np.sign(z - y) * np.maximum(0.0, _beyond(y, z, self.width)))

    def bend(self, y: Floats, z: Floats) -> Floats:
        return np.where(_beyond(y, z, self.width) > 0.0, 2.0, 0.0)

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        return np.asarray(u * (0.25 * u + y) + self.width * np.abs(u))

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.full_like(y, -np.inf), np.full_like(y, np.inf)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        wanted = (y - z)[cost > 0]
        return root_between_kinks(self, y, z, cost, np.concatenate([wanted - self.width, wanted + self.width]))


@final
@dataclass(frozen=True, slots=True)
class Pinball(RegressionLoss):
    """φ(y, z) = τ max(0, y - z) + (1 - τ) max(0, z - y), τ = quantile;  φ*(y, u) = u y for -τ <= u <= 1 - τ."""

    quantile: float = 0.5

    def __post_init__(self) -> None:
        if not 0.0 < self.quantile < 1.0:
            raise ValueError(f"Pinball(quantile={self.quantile}): quantile must lie strictly between 0 and 1.")

    @property
    def _rest(self) -> float:
        """The largest double that is at most 1 - τ, so that no slope leaves the exact box."""
        rest = 1.0 - self.quantile
        rounded_up = (1.0 - rest) < self.quantile  # 1 - rest is exact
        return math.nextafter(rest, 0.0) if rounded_up else rest

    def value(self, y: Floats, z: Floats) -> Floats:
        r = z - y
        return np.where(r > 0.0, (1.0 - self.quantile) * r, -self.quantile * r)

    def slope(self, y: Floats, z: Floats) -> Floats:
        r = z - y
        middle = 0.5 * (self._rest - self.quantile)
        return np.where(r > 0.0, self._rest, np.where(r < 0.0, -self.quantile, middle))

    def conjugate(self, y: Floats, u: Floats) -> Floats:
        return np.where((u >= -self.quantile) & (u <= self._rest), u * y, np.inf)

    def box(self, y: Floats) -> tuple[Floats, Floats]:
        return np.full_like(y, -self._rest), np.full_like(y, self.quantile)

    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        """The weighted τ-quantile of y - z."""
        wanted, cost = (y - z)[cost > 0], cost[cost > 0]
        return root_of_steps(wanted, cost, -self.quantile * float(cost.sum()))


def _beyond(y: Floats, z: Floats, width: float) -> Floats:
    """|z - y| - ε, to a unit in the last place or two even where both are nearly equal.

    The rounding error of z - y is known exactly (Knuth's TwoSum) and is put back after ε is taken off.
    """
    r = z - y
    with np.errstate(invalid="ignore", over="ignore"):
        part = r - z
        error = (z - (r - part)) - (y + part)
    error = np.where(np.isfinite(error), error, 0.0)
    return np.asarray((np.abs(r) - width) + np.where(r < 0.0, -error, error))
