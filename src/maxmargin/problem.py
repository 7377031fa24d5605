"""Problem: what is minimised.

    P(w, b) = Σ c_i φ(y_i, z_i) + ψ(w) + β(b),   z_i = x_i'w + b,
    D(a)    = - Σ c_i φ*(y_i, -a_i / c_i) - ψ*(X'a) - β*(Σ a_i).

A Problem can be evaluated, not solved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import final

import numpy as np
from numpy.typing import NDArray

from maxmargin.design import Design
from maxmargin.losses import Loss
from maxmargin.penalties import Penalty, Ridge

Floats = NDArray[np.float64]


class Intercept(Enum):
    """How b enters: not at all, as one more weight under the ridge penalty, or free of any penalty."""

    NONE = "none"
    PENALIZED = "penalized"
    FREE = "free"


@final
@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Σ c_i φ(y_i, x_i'w + b) + ψ(w), with β(b) = s b² / (2 scale²) where the intercept is penalised."""

    design: Design
    target: Floats
    loss: Loss
    penalty: Penalty
    cost: Floats
    intercept: Intercept = Intercept.FREE
    intercept_scale: float = 1.0

    def __post_init__(self) -> None:
        n = self.design.n
        if len(self.target) != n or self.cost.shape != (n,):
            raise ValueError(f"Problem(target, cost): both need one entry for each of the {n} rows.")
        if not (np.isfinite(self.cost).all() and (self.cost >= 0).all()):
            raise ValueError("Problem(cost): costs must be finite and not negative.")
        self.loss.check_target(self.target)
        if self.intercept is Intercept.PENALIZED and not isinstance(self.penalty, Ridge):
            raise ValueError(
                f"Problem(intercept=PENALIZED, penalty={self.penalty!r}): a penalised intercept shares the ridge "
                "strength. Use Ridge, or intercept FREE or NONE."
            )
        if not self.design.explicit and not isinstance(self.penalty, Ridge):
            raise ValueError(
                f"Problem(design={type(self.design).__name__}, penalty={self.penalty!r}): of weights that are known by inner products "
                "alone only |w|² can be told. Use Ridge."
            )
        if self.intercept is Intercept.PENALIZED and not 2.0**-1000 < self.intercept_strength < 2.0**1000:
            raise ValueError(
                f"Problem(intercept_scale={self.intercept_scale}): the scale must be positive, and small and large enough that "
                "strength / scale² is a double."
            )

    def primal(self, w: Floats, b: float) -> float:
        """P(w, b) in float64."""
        z = self.design.scores(w, b)
        return float(np.sum(self.loss_terms(z))) + self.penalty_value(w) + self.beta(b)

    def dual(self, a: Floats) -> float:
        """D(a) in float64; -∞ where a is not feasible."""
        if self.intercept is Intercept.FREE and math.fsum(a) != 0.0:
            return -math.inf
        loss = float(np.sum(self.conjugate_terms(a)))
        u = self.design.combine(a)
        penalty = float(np.sum(self.penalty.paired_conjugate_terms(u, self.design.partner(u))))
        return -loss - penalty - self.beta_conjugate(math.fsum(a))

    def lagrangian(self, w: Floats, b: float, z: Floats, a: Floats) -> float:
        """L(w, b, z, a) = Σ c_i φ(y_i, z_i) + ψ(w) + β(b) + Σ a_i (z_i - x_i'w - b): a_i prices the constraint z_i = x_i'w + b.

        Its maximum over a is P(w, b) where z = Xw + b, else ∞; its minimum over w, b and z is D(a).
        """
        prices = float(a @ (z - self.design.scores(w, b)))
        return float(np.sum(self.loss_terms(z))) + self.penalty_value(w) + self.beta(b) + prices

    def penalty_value(self, w: Floats) -> float:
        """ψ(w)."""
        return float(np.sum(self.penalty.paired_terms(w, self.design.partner(w))))

    def loss_terms(self, z: Floats) -> Floats:
        """c_i φ(y_i, z_i), and 0 where c_i = 0, whatever φ is."""
        return self.weighted(self.loss.value(self.target, z))

    def weighted(self, values: Floats) -> Floats:
        """c_i times each value, and 0 where c_i = 0 even if the value is ∞."""
        return np.multiply(self.cost, values, out=np.zeros_like(values), where=self.cost > 0)

    def conjugate_terms(self, a: Floats) -> Floats:
        """c_i φ*(y_i, -a_i / c_i), where c_i = 0 allows a_i = 0 alone."""
        used = self.cost > 0
        u = np.divide(-a, self.cost, out=np.zeros_like(a), where=used)
        terms = np.where(used, self.cost * self.loss.conjugate(self.target, u), 0.0)
        return np.where(~used & (a != 0), np.inf, terms)

    def zero(self) -> float:
        """P(0, 0): the objective of the predictor that is always 0."""
        return float(np.sum(self.loss_terms(np.zeros(self.design.n))))

    def box(self) -> tuple[Floats, Floats]:
        """The interval in which each a_i may lie."""
        low, high = self.loss.box(self.target)
        return _scaled_end(self.cost, low), _scaled_end(self.cost, high)

    def best_intercept(self, z: Floats, b: float) -> float:
        """The b that minimises P for the scores z = Xw where b is free; else the given one."""
        if self.intercept is Intercept.FREE:
            return self.loss.best_intercept(self.target, z, self.cost)
        return b

    @property
    def intercept_strength(self) -> float:
        """β(b) = intercept_strength b² / 2."""
        if self.intercept is Intercept.PENALIZED and isinstance(self.penalty, Ridge):
            return self.penalty.strength / self.intercept_scale / self.intercept_scale if self.intercept_scale else math.inf
        return 0.0 if self.intercept is Intercept.FREE else math.inf

    def beta(self, b: float) -> float:
        """β(b)."""
        return 0.5 * self.intercept_strength * b * b if b else 0.0

    def beta_conjugate(self, t: float) -> float:
        """β*(t)."""
        if t == 0.0:
            return 0.0
        return 0.5 * t * (t / self.intercept_strength) if self.intercept_strength else math.inf


def _scaled_end(cost: Floats, end: Floats) -> Floats:
    """cost * end, rounded towards 0: a product with 0, 1 or ∞ is exact, any other may have been rounded outwards."""
    with np.errstate(invalid="ignore", over="ignore"):
        product = cost * end
    exact = (end == 0.0) | (np.abs(end) == 1.0) | np.isinf(end)
    return np.where(cost > 0, np.where(exact, product, np.nextafter(product, 0.0)), 0.0)
