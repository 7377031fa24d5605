"""Penalties ψ(w) = Σ_j ψ_j(w_j), convex; a constraint is a penalty in {0, ∞}.

`terms` and `conjugate_terms` return one number per coordinate, so that `certify` can choose how to add them. Each is within 16 u
of its size, u = 2^-53, or within 2^-1022 of the truth: products are ordered so that an underflow is never scaled up.
`maxmargin.testing.check_penalty` tests the laws.

All penalties here are one family, ψ_j(w) = l1 |w| + l2 w²/2 on [low, high], whose four numbers `Interval` holds.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True)
class Interval:
    """l1 |w| + l2 w²/2 for low <= w <= high, else ∞: what a coordinate step needs to know."""

    l1: float = 0.0
    l2: float = 0.0
    low: float = -math.inf
    high: float = math.inf


class Penalty(ABC):
    """ψ(w) with ψ(0) = 0, separable over coordinates."""

    __slots__ = ()

    @property
    def interval(self) -> Interval | None:
        """ψ_j as a member of the family l1 |w| + l2 w²/2 on [low, high]; None for others."""
        return None

    @property
    def bounded_dual(self) -> bool:
        """ψ* is ∞ somewhere, so that a dual point may have to be rescaled."""
        return False

    @abstractmethod
    def terms(self, w: Floats) -> Floats:
        """ψ_j(w_j)."""

    @abstractmethod
    def conjugate_terms(self, v: Floats) -> Floats:
        """ψ_j*(v_j) = sup_w (v_j w - ψ_j(w))."""

    @abstractmethod
    def prox(self, w: Floats, step: float) -> Floats:
        """argmin_x ψ(x) + |x - w|² / (2 step)."""

    def paired_terms(self, w: Floats, partner: Floats) -> Floats:
        """ψ_j, where |w|² is Σ_j w_j partner_j (`Design.partner`). Only a ridge tells a partner from w."""
        return self.terms(w)

    def paired_conjugate_terms(self, v: Floats, partner: Floats) -> Floats:
        """ψ_j*, where |v|² is Σ_j v_j partner_j."""
        return self.conjugate_terms(v)

    def clip(self, w: NDArray[Any]) -> NDArray[Any]:
        """The nearest point where ψ is finite, in the type of w."""
        return w

    def reach(self, low: Floats, high: Floats) -> float:
        """The largest t >= 0 for which ψ*(t v) is finite for all v between low and high."""
        return math.inf

    def value(self, w: Floats) -> float:
        """ψ(w)."""
        return float(np.sum(self.terms(w)))

    def conjugate(self, v: Floats) -> float:
        """ψ*(v)."""
        return float(np.sum(self.conjugate_terms(v)))


@final
@dataclass(frozen=True, slots=True)
class NoPenalty(Penalty):
    """ψ(w) = 0;  ψ*(v) = 0 for v = 0, else ∞.  No dual point is feasible but by luck: docs/certificate.md, section 7."""

    @property
    def interval(self) -> Interval:
        return Interval()

    @property
    def bounded_dual(self) -> bool:
        return True

    def terms(self, w: Floats) -> Floats:
        return np.zeros_like(w)

    def conjugate_terms(self, v: Floats) -> Floats:
        return np.where(v == 0.0, 0.0, np.inf)

    def prox(self, w: Floats, step: float) -> Floats:
        return w

    def reach(self, low: Floats, high: Floats) -> float:
        return 0.0 if low.any() or high.any() else math.inf


@final
@dataclass(frozen=True, slots=True)
class Ridge(Penalty):
    """ψ(w) = s w'w / 2;  ψ*(v) = v'v / (2s)."""

    strength: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self, strength=self.strength)

    @property
    def interval(self) -> Interval:
        return Interval(l2=self.strength)

    def terms(self, w: Floats) -> Floats:
        return self.paired_terms(w, w)

    def conjugate_terms(self, v: Floats) -> Floats:
        return self.paired_conjugate_terms(v, v)

    def paired_terms(self, w: Floats, partner: Floats) -> Floats:
        return np.asarray((0.5 * self.strength * w) * partner)

    def paired_conjugate_terms(self, v: Floats, partner: Floats) -> Floats:
        return np.asarray(0.5 * v * (partner / self.strength))

    def prox(self, w: Floats, step: float) -> Floats:
        return w / (1.0 + step * self.strength)


@final
@dataclass(frozen=True, slots=True)
class L1(Penalty):
    """ψ(w) = s Σ |w_j|;  ψ*(v) = 0 for max |v_j| <= s, else ∞."""

    strength: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self, strength=self.strength)

    @property
    def interval(self) -> Interval:
        return Interval(l1=self.strength)

    @property
    def bounded_dual(self) -> bool:
        return True

    def terms(self, w: Floats) -> Floats:
        return np.asarray(self.strength * np.abs(w))

    def conjugate_terms(self, v: Floats) -> Floats:
        return np.where(np.abs(v) <= self.strength, 0.0, np.inf)

    def prox(self, w: Floats, step: float) -> Floats:
        return _shrunk(w, step * self.strength)

    def reach(self, low: Floats, high: Floats) -> float:
        longest = float(np.maximum(np.abs(low), np.abs(high)).max(initial=0.0))
        return self.strength / longest if longest > 0.0 else math.inf


@final
@dataclass(frozen=True, slots=True)
class ElasticNet(Penalty):
    """ψ(w) = l1 Σ |w_j| + l2 w'w / 2;  ψ*(v) = Σ max(0, |v_j| - l1)² / (2 l2)."""

    l1: float = 0.5
    l2: float = 0.5

    def __post_init__(self) -> None:
        _require_positive(self, l1=self.l1, l2=self.l2)

    @property
    def interval(self) -> Interval:
        return Interval(l1=self.l1, l2=self.l2)

    def terms(self, w: Floats) -> Floats:
        return np.asarray(self.l1 * np.abs(w) + (0.5 * self.l2 * w) * w)

    def conjugate_terms(self, v: Floats) -> Floats:
        beyond = np.maximum(0.0, np.abs(v) - self.l1)
        return np.asarray(0.5 * beyond * (beyond / self.l2))

    def prox(self, w: Floats, step: float) -> Floats:
        return np.asarray(_shrunk(w, step * self.l1) / (1.0 + step * self.l2))


@final
@dataclass(frozen=True, slots=True)
class Box(Penalty):
    """ψ(w) = 0 for low <= w_j <= high, else ∞;  ψ*(v) = Σ max(low v_j, high v_j).  0 lies in the box."""

    low: float = -1.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not -math.inf < self.low <= 0.0 <= self.high < math.inf:
            raise ValueError(f"{self!r}: both ends must be finite, and 0 must lie between them.")

    @property
    def interval(self) -> Interval:
        return Interval(low=self.low, high=self.high)

    def terms(self, w: Floats) -> Floats:
        return np.where((w >= self.low) & (w <= self.high), 0.0, np.inf)

    def conjugate_terms(self, v: Floats) -> Floats:
        return np.maximum(self.low * v, self.high * v)

    def prox(self, w: Floats, step: float) -> Floats:
        return np.clip(w, self.low, self.high)

    def clip(self, w: NDArray[Any]) -> NDArray[Any]:
        low, high = w.dtype.type(self.low), w.dtype.type(self.high)
        low = low if float(low) >= self.low else np.nextafter(low, w.dtype.type(0.0))  # rounded towards 0, not outwards
        high = high if float(high) <= self.high else np.nextafter(high, w.dtype.type(0.0))
        return np.asarray(np.clip(w, low, high))


@final
@dataclass(frozen=True, slots=True)
class NonNegative(Penalty):
    """ψ(w) = s w'w / 2 for w >= 0, else ∞;  ψ*(v) = Σ max(0, v_j)² / (2s)."""

    strength: float = 1.0

    def __post_init__(self) -> None:
        _require_positive(self, strength=self.strength)

    @property
    def interval(self) -> Interval:
        return Interval(l2=self.strength, low=0.0)

    def terms(self, w: Floats) -> Floats:
        return np.where(w >= 0.0, (0.5 * self.strength * w) * w, np.inf)

    def conjugate_terms(self, v: Floats) -> Floats:
        pushed = np.maximum(0.0, v)
        return np.asarray(0.5 * pushed * (pushed / self.strength))

    def prox(self, w: Floats, step: float) -> Floats:
        return np.asarray(np.maximum(0.0, w) / (1.0 + step * self.strength))

    def clip(self, w: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(np.maximum(w, w.dtype.type(0.0)))


def _shrunk(w: Floats, by: float) -> Floats:
    """sgn(w) max(0, |w| - by), the soft threshold."""
    return np.asarray(np.sign(w) * np.maximum(0.0, np.abs(w) - by))


def _require_positive(penalty: Penalty, **numbers: float) -> None:
    for name, number in numbers.items():
        if not 0.0 < number < math.inf:
            raise ValueError(f"{type(penalty).__name__}({name}={number}): {name} must be positive and finite.")
