"""Model: what prediction needs, and no memory of how it was found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from maxmargin.design import Design

Floats = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """z = X coef' + intercept, one column per row of coef."""

    coef: NDArray[Any]
    intercept: Floats

    def scores(self, design: Design) -> Floats:
        """n x k scores in float64."""
        return design.scores(self.coef.T.astype(np.float64), self.intercept)
