"""Where a non-decreasing slope changes sign: the best intercept. Of an interval of zeros the midpoint is taken.

Slopes are sums over rows, off by rounding: a slope below its noise is a zero slope. Kinks are where one of the rows bends.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from maxmargin.losses.base import Loss

Floats = NDArray[np.float64]
EPS = 2.0**-52
SMALLEST_STEP = 2.0**-60  # intercepts this close to 0 are 0 beside a loss that bends on the scale of 1


def root_of_pieces(kinks: Floats, left: Floats, right: Floats) -> float:
    """From the slopes on both sides of each of the rising kinks, between which the slope is linear."""
    # Running sums of n terms are off by about n u of their size.
    noise = 4 * kinks.size * EPS * np.abs(right - left[0]).max(initial=0.0)
    first = int(np.argmax(right >= -noise)) if (right >= -noise).any() else kinks.size - 1
    if first > 0 and left[first] > noise:  # the root lies inside the linear piece before this kink
        start, share = kinks[first - 1], right[first - 1] / (right[first - 1] - left[first])
        return float(start + share * (kinks[first] - start))
    last = kinks.size - 1 - int(np.argmax(left[::-1] <= noise))  # flat from `first` to `last`
    return float(kinks[first] + 0.5 * (kinks[last] - kinks[first]))


def root_of_steps(kinks: Floats, jumps: Floats, lowest: float) -> float:
    """Of the step function that is `lowest` on the far left and rises by jumps_k at kink k: a weighted quantile."""
    if kinks.size == 0:
        return 0.0
    order = np.argsort(kinks, kind="stable")
    kinks, jumps = kinks[order], jumps[order]
    right = lowest + np.cumsum(jumps)
    return root_of_pieces(kinks, right - jumps, right)


def root_between_kinks(loss: Loss, y: Floats, z: Floats, cost: Floats, kinks: Floats) -> float:
    """Of b -> Σ c_i φ'(y_i, z_i + b), continuous and linear between these kinks: bisection over the kinks, then the linear piece.

    Slopes are summed anew at each kink that is met. Running sums would cancel where pieces are short and steep.
    """
    used = cost > 0
    y, z, cost = y[used], z[used], cost[used]
    kinks = np.unique(kinks)
    if y.size == 0:
        return 0.0

    def at(b: float) -> tuple[float, float]:
        """The slope, and its noise: of the pairwise sum, and of z_i + b where φ bends."""
        scores = z + b
        terms = cost * loss.slope(y, scores)
        bent = cost * loss.bend(y, scores)
        moved = EPS * (np.abs(z) + abs(b) + np.abs(y))
        return float(terms.sum()), 32.0 * EPS * float(np.abs(terms).sum()) + 2.0 * float(bent @ moved)

    def first(holds: Callable[[float, float], bool]) -> int:
        low, high = 0, kinks.size
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if holds(*at(float(kinks[middle]))) else (middle + 1, high)
        return low

    start = min(first(lambda slope, noise: slope >= -noise), kinks.size - 1)
    slope, noise = at(float(kinks[start]))
    if slope > noise and start > 0:
        before, width = at(float(kinks[start - 1]))[0], kinks[start] - kinks[start - 1]
        return float(kinks[start - 1] + width * (before / (before - slope)))
    end = max(start, first(lambda slope, noise: slope > noise) - 1)
    return float(kinks[start] + 0.5 * (kinks[end] - kinks[start]))


def root_of_rising(slope: Callable[[float], float], left: float, right: float) -> float:
    """Of a rising function, by Brent's safeguarded bisection, to two units in the last place."""
    if slope(left) >= 0.0:
        return left
    if slope(right) <= 0.0:
        return right
    return float(scipy.optimize.brentq(slope, left, right, xtol=SMALLEST_STEP, rtol=4 * EPS, maxiter=2000))
