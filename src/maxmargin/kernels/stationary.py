"""Kernels of the distance between x and z."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from maxmargin.kernels.base import ELEMENTARY, Kernel, checked
from maxmargin.kernels.dot import check_width, monomials, numbers
from maxmargin.kernels.rows import TINY, UNIT, Floats, Pairs, Rows, as_rows


def _of_distance(distances: Floats, rate: float) -> Floats:
    """exp(-γ q)."""
    K = -rate * distances
    return np.exp(K, out=K)


def _of_distance_error(tile: Floats, distances: Floats, error: Floats, rate: float) -> Floats:
    """exp(-γ q) changes by a factor of at most exp(±γ e) where q changes by e; all values lie in [0, 1]."""
    shift = rate * error + 2.0 * UNIT * rate * distances
    return np.minimum(1.0, (tile + TINY) * (1.0 + ELEMENTARY) * np.expm1(shift) + ELEMENTARY * tile + TINY)


@final
@dataclass(frozen=True, slots=True)
class Gaussian(Kernel):
    """k(x, z) = exp(-γ |x - z|²), γ > 0.

    = exp(-γ|x|²) exp(2γ x'z) exp(-γ|z|²): the rules for exp and for f(x) k f(z) prove it positive semidefinite, and the series
    of exp gives φ. For γ -> ∞ the matrix of distinct rows goes to the identity, for γ -> 0 to ones.
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        checked(self, "gamma", lambda g: g > 0, "positive and finite")

    @staticmethod
    def from_sigma(sigma: float) -> Gaussian:
        """exp(-|x - z|² / (2σ²))."""
        if not sigma > 0:
            raise ValueError(f"Gaussian.from_sigma(sigma={sigma!r}): sigma must be positive.")
        return Gaussian(0.5 / sigma / sigma)

    @staticmethod
    def from_c(c: float) -> Gaussian:
        """exp(-|x - z|² / c)."""
        if not c > 0:
            raise ValueError(f"Gaussian.from_c(c={c!r}): c must be positive.")
        return Gaussian(1.0 / c)

    @property
    def positive(self) -> bool:
        return True

    def tile(self, pairs: Pairs) -> Floats:
        return _of_distance(pairs.distances_sq, self.gamma)

    def own(self, rows: Rows) -> Floats:
        return np.ones(numbers(rows).n)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return _of_distance_error(tile, pairs.distances_sq, pairs.distances_sq_error, self.gamma)

    def features(self, X: Any, order: int) -> Floats:
        """exp(-γ|x|²) √((2γ)^|α| / α!) x^α for every multi-index |α| <= order: the Taylor series of exp(2γ x'z), cut.

        <φ(x), φ(z)> differs from k(x, z) by at most `remainder(X, order)`.
        """
        rows = numbers(as_rows(X))
        check_width(self, math.comb(rows.d + order, order))
        blocks = []
        for p in range(order + 1):
            values, orders = monomials(rows.dense, p)
            blocks.append(values * np.sqrt(orders * (2.0 * self.gamma) ** p / math.factorial(p)))
        return np.asarray(np.exp(-self.gamma * rows.norms_sq)[:, None] * np.hstack(blocks))

    def remainder(self, X: Any, order: int) -> float:
        """t^(m+1) / (m+1)!,  t = 2γ max |x|²,  m = order.

        By Taylor with Lagrange's rest the terms left out are exp(-γ(|x|²+|z|²)) s^(m+1)/(m+1)! exp(ξ), s = 2γ x'z and
        ξ between 0 and s; |s| <= t and exp(ξ) <= exp(2γ|x||z|) <= exp(γ(|x|²+|z|²)).
        """
        t = 2.0 * self.gamma * float(numbers(as_rows(X)).norms_sq.max(initial=0.0))
        return math.exp((order + 1) * math.log(t) - math.lgamma(order + 2)) if t > 0.0 else 0.0


@final
@dataclass(frozen=True, slots=True)
class Laplacian(Kernel):
    """k(x, z) = exp(-γ |x - z|_1), γ > 0.

    A product over columns of exp(-γ |x_j - z_j|), the characteristic function of a Cauchy variable in x_j - z_j (Bochner).
    """

    gamma: float = 1.0

    def __post_init__(self) -> None:
        checked(self, "gamma", lambda g: g > 0, "positive and finite")

    @property
    def positive(self) -> bool:
        return True

    def tile(self, pairs: Pairs) -> Floats:
        return _of_distance(pairs.distances, self.gamma)

    def own(self, rows: Rows) -> Floats:
        return np.ones(numbers(rows).n)

    def tile_error(self, pairs: Pairs, tile: Floats) -> Floats:
        return _of_distance_error(tile, pairs.distances, pairs.distances_error, self.gamma)
