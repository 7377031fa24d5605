"""The linear programs of halfspaces: find (w, b) with y_i (x_i'w + b) >= 1 for all rows, or learn how far that fails.

The program as it stands has no solution on inseparable data, and then a solver has nothing to return. Two programs that are
always feasible take its place; their multipliers are the proof:

    slack       min Σ ξ_i   s.t.  y_i (x_i'w + b) >= 1 - ξ_i,  ξ >= 0      dual: max Σ a,  0 <= a <= 1,  Σ a_i y_i (x_i, 1) = 0
    violation   min t       s.t.  y_i (x_i'w + b) >= 1 - t,    t >= 0      dual: max Σ a,  0 <= a,  Σ a <= 1,  the same equations

Both are 0 exactly on separable data. The least t is 0 or 1: a (w, b) with t < 1 could be scaled up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SLACK, VIOLATION = "slack", "violation"
OUT_OF_TIME = 1  # HiGHS's status, as SciPy numbers it


@final
@dataclass(frozen=True, slots=True, eq=False)
class Halfspace:
    """What the linear program found: (w, b), its value, and the multiplier a_i >= 0 of each row. Floats, not yet a proof."""

    w: Floats
    b: float
    value: float
    multipliers: Floats
    steps: int


def solve_halfspace(
    X: Any, y: Floats, intercept: bool = True, objective: str = VIOLATION, max_time: float | None = None
) -> Halfspace | None:
    """Solve one of the two programs by HiGHS; None where the time limit came first.

    Rows and columns are scaled by powers of two, which is exact, so that the tolerances of the program mean something.
    """
    n, d = X.shape
    V, rows, columns = _balanced(X, y, intercept)
    slacks = sp.eye_array(n) if objective == SLACK else np.ones((n, 1))
    sparse = sp.issparse(V) or objective == SLACK
    constraints = sp.hstack([V, slacks], format="csr") if sparse else np.hstack([V, slacks])
    free = d + intercept
    costs = np.zeros(constraints.shape[1])
    costs[free:] = 1.0 / rows if objective == SLACK else 1.0
    options = {} if max_time is None else {"time_limit": max_time}
    bounds = [(None, None)] * free + [(0.0, None)] * (len(costs) - free)
    # A row scaled by r asks for a margin of r: the slack program keeps its meaning, the violation program its answer 0 or 1.
    needed = rows if objective == SLACK else np.ones(n)
    found = scipy.optimize.linprog(costs, -constraints, -needed, bounds=bounds, method="highs", options=options)
    if found.status == OUT_OF_TIME:
        return None
    if found.x is None:
        raise ArithmeticError(f"solve_halfspace: the linear program could not be solved: {found.message}")
    w = found.x[:free] * columns
    multipliers = np.maximum(-found.ineqlin.marginals, 0.0) * rows
    return Halfspace(w[:d], float(w[d]) if intercept else 0.0, float(found.fun), multipliers, int(found.nit))


def _balanced(X: Any, y: Floats, intercept: bool) -> tuple[Any, Floats, Floats]:
    """diag(rows y) [X, 1] diag(columns) with entries of size about 1 at most, and the powers of two that made it."""
    n, sparse = len(y), sp.issparse(X)
    V = X.astype(np.float64)
    if intercept:
        V = sp.hstack([V, np.ones((n, 1))], format="csr") if sparse else np.hstack([V, np.ones((n, 1))])
    columns = _inverse_sizes(abs(V).max(axis=0))
    V = V @ sp.diags_array(columns) if sparse else V * columns
    rows = _inverse_sizes(abs(V).max(axis=1))
    V = sp.diags_array(rows * y) @ V if sparse else (rows * y)[:, None] * V
    return V, rows, columns


def _inverse_sizes(largest: Any) -> Floats:
    largest = np.asarray(largest.toarray() if sp.issparse(largest) else largest).ravel()
    exponents = np.clip(np.frexp(largest)[1], -1000, 1000)
    return np.where(largest > 0, np.ldexp(1.0, -exponents), 1.0)
