"""Penalties ψ(w) = Σ_j ψ_j(w_j), convex; a constraint is a penalty in {0, ∞}.

`terms` and `conjugate_terms` return one number per coordinate, so that `certify` can choose how to add them. Each is within 16 u
of its size, u = 2^-53, or within 2^-1022 of the truth: products are ordered so that an underflow is never scaled up.
`maxmargin.testing.check_penalty` tests the laws.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Penalty(ABC):
    """ψ(w) with ψ(0) = 0, separable over coordinates."""

    __slots__ = ()

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

    def value(self, w: Floats) -> float:
        """ψ(w)."""
        return float(np.sum(self.terms(w)))

    def conjugate(self, v: Floats) -> float:
        """ψ*(v)."""
        return float(np.sum(self.conjugate_terms(v)))


@final
@dataclass(frozen=True, slots=True)
class Ridge(Penalty):
    """ψ(w) = s w'w / 2;  ψ*(v) = v'v / (2s)."""

    strength: float = 1.0

    def __post_init__(self) -> None:
        if not (0 < self.strength < np.inf):
            raise ValueError(f"Ridge(strength={self.strength}): strength must be positive and finite.")

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
