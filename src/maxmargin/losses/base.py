"""Loss: φ(y, z), convex in the score z."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Loss(ABC):
    """φ(y, z) on one score per row, or on k scores per row (z of shape n x k)."""

    __slots__ = ()

    @property
    def curvature(self) -> float:
        """The largest φ'' in z; ∞ where φ has kinks."""
        return math.inf

    @property
    def finite(self) -> bool:
        """φ < ∞ everywhere."""
        return True

    @abstractmethod
    def value(self, y: Floats, z: Floats) -> Floats:
        """φ(y, z)."""

    @abstractmethod
    def slope(self, y: Floats, z: Floats) -> Floats:
        """φ'(y, z); at a kink the mean of the one-sided slopes."""

    def bend(self, y: Floats, z: Floats) -> Floats:
        """φ''(y, z) where it exists, else one of its limits; 0 for a loss that is linear between kinks."""
        return np.zeros_like(z)

    @abstractmethod
    def conjugate(self, y: Floats, u: Floats) -> Floats:
        """φ*(y, u), ∞ outside its domain."""

    @abstractmethod
    def box(self, y: Floats) -> tuple[Floats, Floats]:
        """The ends of the interval of -φ'(y, ·): where a_i / c_i may lie. 0 lies in it."""

    @abstractmethod
    def check_target(self, y: Floats) -> None:
        """Raise ValueError where φ is not meant for such targets."""

    @abstractmethod
    def best_intercept(self, y: Floats, z: Floats, cost: Floats) -> float:
        """argmin_b Σ c_i φ(y_i, z_i + b); of an interval its midpoint, of a half-line its finite end."""

    def least_scale(self, y: Floats, low: Floats, high: Floats) -> float:
        """The least t >= 0 for which φ(y, t z) is finite for all z in [low, high]; 1 where φ is finite everywhere or no t will do."""
        return 1.0


class TwoClassLoss(Loss):
    """A loss for y in {-1, +1}."""

    __slots__ = ()

    def check_target(self, y: Floats) -> None:
        if not np.all(np.abs(y) == 1.0):
            raise ValueError(f"{self!r}: targets must be -1 or +1.")


class RegressionLoss(Loss):
    """A loss of the residual z - y for any real y."""

    __slots__ = ()

    def check_target(self, y: Floats) -> None:
        if not np.all(np.isfinite(y)):
            raise ValueError(f"{self!r}: targets must be finite.")


def require_positive(loss: object, **numbers: float) -> None:
    """Raise where one of the numbers is not positive and finite."""
    for name, number in numbers.items():
        if not 0.0 < number < math.inf:
            raise ValueError(f"{type(loss).__name__}({name}={number}): {name} must be positive and finite.")


def require_not_negative(loss: object, **numbers: float) -> None:
    """Raise where one of the numbers is negative or not finite."""
    for name, number in numbers.items():
        if not 0.0 <= number < math.inf:
            raise ValueError(f"{type(loss).__name__}({name}={number}): {name} must be finite and not negative.")
