"""Problems in exact rational arithmetic: both objectives, and the optimum by enumerating active sets.

At the optimum every row is on a line, where a_i = c_i (p - q z_i), or at a kink, where z_i is known and a_i is not; and every
weight is on a line, v_j = p + q w_j with v = X'a, or fixed, where w_j is known and v_j is not. Each choice gives a linear system.
Its solution is the optimum exactly where P = D.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np

from maxmargin import (
    L1,
    Box,
    EpsilonInsensitive,
    HardMargin,
    Hinge,
    Huber,
    Intercept,
    NonNegative,
    NoPenalty,
    Pinball,
    Ridge,
    SmoothedHinge,
    Squared,
    SquaredEpsilonInsensitive,
    SquaredHinge,
)
from maxmargin.penalties import ElasticNet

ZERO, ONE = Fraction(0), Fraction(1)


def exact(values):
    return [Fraction(float(v)) for v in np.ravel(values)]


def loss_value(loss, y, z):
    h, r = max(ZERO, 1 - y * z), z - y
    match loss:
        case Hinge():
            return h
        case HardMargin():
            return math.inf if h > 0 else ZERO
        case SquaredHinge():
            return h * h
        case SmoothedHinge():
            near = min(h, Fraction(loss.width))
            return near * near / (2 * Fraction(loss.width)) + h - near
        case Squared():
            return r * r / 2
        case Huber():
            width = Fraction(loss.width)
            return r * r / 2 if abs(r) <= width else width * (abs(r) - width / 2)
        case EpsilonInsensitive():
            return max(ZERO, abs(r) - Fraction(loss.width))
        case SquaredEpsilonInsensitive():
            return max(ZERO, abs(r) - Fraction(loss.width)) ** 2
        case Pinball():
            return max(-Fraction(loss.quantile) * r, (1 - Fraction(loss.quantile)) * r)


def loss_conjugate(loss, y, u):
    """None outside the domain."""
    v = y * u
    match loss:
        case Hinge():
            return v if -1 <= v <= 0 else None
        case HardMargin():
            return v if v <= 0 else None
        case SquaredHinge():
            return v + v * v / 4 if v <= 0 else None
        case SmoothedHinge():
            return v + Fraction(loss.width) * v * v / 2 if -1 <= v <= 0 else None
        case Squared():
            return u * u / 2 + v
        case Huber():
            return u * u / 2 + v if abs(u) <= Fraction(loss.width) else None
        case EpsilonInsensitive():
            return v + Fraction(loss.width) * abs(u) if abs(u) <= 1 else None
        case SquaredEpsilonInsensitive():
            return v + Fraction(loss.width) * abs(u) + u * u / 4
        case Pinball():
            return v if -Fraction(loss.quantile) <= u <= 1 - Fraction(loss.quantile) else None


def loss_states(loss, y):
    """("line", p, q) or ("kink", z)."""
    flat = ("line", ZERO, ZERO)
    match loss:
        case Hinge():
            return [flat, ("kink", y), ("line", y, ZERO)]
        case HardMargin():
            return [flat, ("kink", y)]
        case SquaredHinge():
            return [flat, ("line", 2 * y, Fraction(2))]
        case SmoothedHinge():
            width = Fraction(loss.width)
            return [flat, ("line", y / width, 1 / width), ("line", y, ZERO)]
        case Squared():
            return [("line", y, ONE)]
        case Huber():
            width = Fraction(loss.width)
            return [("line", y, ONE), ("line", width, ZERO), ("line", -width, ZERO)]
        case EpsilonInsensitive():
            width = Fraction(loss.width)
            return [("kink", y - width), ("kink", y + width), flat, ("line", ONE, ZERO), ("line", -ONE, ZERO)]
        case SquaredEpsilonInsensitive():
            width = Fraction(loss.width)
            return [flat, ("line", 2 * (y - width), Fraction(2)), ("line", 2 * (y + width), Fraction(2))]
        case Pinball():
            quantile = Fraction(loss.quantile)
            return [("kink", y), ("line", quantile, ZERO), ("line", quantile - 1, ZERO)]


def penalty_value(penalty, w):
    """None where it is ∞."""
    match penalty:
        case NoPenalty():
            return ZERO
        case Ridge():
            return Fraction(penalty.strength) * w * w / 2
        case L1():
            return Fraction(penalty.strength) * abs(w)
        case ElasticNet():
            return Fraction(penalty.l1) * abs(w) + Fraction(penalty.l2) * w * w / 2
        case Box():
            return ZERO if Fraction(penalty.low) <= w <= Fraction(penalty.high) else None
        case NonNegative():
            return Fraction(penalty.strength) * w * w / 2 if w >= 0 else None


def penalty_conjugate(penalty, v):
    """None where it is ∞."""
    match penalty:
        case NoPenalty():
            return ZERO if v == 0 else None
        case Ridge():
            return v * v / (2 * Fraction(penalty.strength))
        case L1():
            return ZERO if abs(v) <= Fraction(penalty.strength) else None
        case ElasticNet():
            return max(ZERO, abs(v) - Fraction(penalty.l1)) ** 2 / (2 * Fraction(penalty.l2))
        case Box():
            return max(Fraction(penalty.low) * v, Fraction(penalty.high) * v)
        case NonNegative():
            return max(ZERO, v) ** 2 / (2 * Fraction(penalty.strength))


def penalty_states(penalty):
    """("line", p, q) or ("fixed", w)."""
    zero = ("fixed", ZERO)
    match penalty:
        case NoPenalty():
            return [("line", ZERO, ZERO)]
        case Ridge():
            return [("line", ZERO, Fraction(penalty.strength))]
        case L1():
            s = Fraction(penalty.strength)
            return [zero, ("line", s, ZERO), ("line", -s, ZERO)]
        case ElasticNet():
            s, q = Fraction(penalty.l1), Fraction(penalty.l2)
            return [zero, ("line", s, q), ("line", -s, q)]
        case Box():
            return [("fixed", Fraction(penalty.low)), ("fixed", Fraction(penalty.high)), ("line", ZERO, ZERO)]
        case NonNegative():
            return [zero, ("line", ZERO, Fraction(penalty.strength))]


class RationalProblem:
    """The Problem of the given arrays, all numbers taken as the exact values of the floats."""

    def __init__(self, X, y, cost, loss, penalty, intercept, scale=1.0):
        self.X = [exact(row) for row in np.asarray(X, dtype=float)]
        self.y, self.cost = exact(y), exact(cost)
        self.loss, self.penalty, self.intercept = loss, penalty, intercept
        penalized = intercept is Intercept.PENALIZED
        self.beta_strength = Fraction(penalty.strength) / Fraction(float(scale)) ** 2 if penalized else ZERO

    def scores(self, w, b):
        return [sum((x * v for x, v in zip(row, w, strict=True)), b) for row in self.X]

    def primal(self, w, b):
        """∞ (None) where w breaks a constraint, inf where a hard margin is not kept."""
        w, b = exact(w) if not isinstance(w, list) else w, Fraction(b)
        assert self.intercept is not Intercept.NONE or b == 0
        terms = [penalty_value(self.penalty, v) for v in w]
        if None in terms:
            return None
        rows = zip(self.scores(w, b), self.y, self.cost, strict=True)
        return sum(terms, self.beta_strength * b * b / 2) + sum(c * loss_value(self.loss, y, z) for z, y, c in rows if c > 0)

    def dual(self, a):
        """-∞ (None) where a is not feasible."""
        a = exact(a) if not isinstance(a, list) else a
        terms = [penalty_conjugate(self.penalty, v) for v in self.combine(a)]
        for v, y, c in zip(a, self.y, self.cost, strict=True):
            if c == 0:
                terms.append(ZERO if v == 0 else None)
                continue
            conjugate = loss_conjugate(self.loss, y, -v / c)
            terms.append(None if conjugate is None else c * conjugate)
        balance = sum(a)
        if None in terms or (self.intercept is Intercept.FREE and balance != 0):
            return None
        return -sum(terms) - (balance**2 / (2 * self.beta_strength) if self.beta_strength else ZERO)

    def combine(self, a):
        return [sum((v * row[j] for v, row in zip(a, self.X, strict=True)), ZERO) for j in range(len(self.X[0]))]

    def optimum(self):
        """P* = D*."""
        return self.solution()[0]

    def solution(self):
        """(P*, w, b, a), from the first choice of states whose system gives P = D."""
        columns, unknowns = range(len(self.X[0])), len(self.X[0]) + (self.intercept is not Intercept.NONE)
        rows = [
            loss_states(self.loss, y) if c > 0 else [("line", ZERO, ZERO)] for y, c in zip(self.y, self.cost, strict=True)
        ]
        for weights in product(penalty_states(self.penalty), repeat=len(columns)):
            fixed = sum(state[0] == "fixed" for state in weights)
            for states in product(*rows):
                if sum(state[0] == "kink" for state in states) > unknowns - fixed:
                    continue
                for point in self._points(weights, states):
                    dual = self.dual(point[2])
                    if dual is not None and dual == self.primal(*point[:2]):
                        return dual, *point
        raise AssertionError("no choice of states satisfies the optimality conditions")

    def _points(self, weights, states):
        """(w, b, a) of one choice of states: unknowns are w, b if there is one, and a at the kinks."""
        d, has_b = len(self.X[0]), self.intercept is not Intercept.NONE
        kinks = [i for i, state in enumerate(states) if state[0] == "kink"]
        size = d + has_b + len(kinks)
        full = [[*row, *([ONE] if has_b else [])] for row in self.X]
        # Σ_i a_i x_ij - q_j w_j = p_j for weights on a line, the same for b; a_i = c_i (p - q z_i) off the kinks.
        equations = []
        for j in range(d + has_b):
            state = weights[j] if j < d else ("line", ZERO, self.beta_strength)
            equation = [ZERO] * (size + 1)
            if state[0] == "fixed":
                equation[j], equation[-1] = ONE, state[1]
            else:
                equation[j], equation[-1] = -state[2], state[1]
                for i, (row, at) in enumerate(zip(full, states, strict=True)):
                    if at[0] == "kink":
                        equation[d + has_b + kinks.index(i)] += row[j]
                    elif row[j] != 0:
                        equation[-1] -= self.cost[i] * at[1] * row[j]
                        for k, x in enumerate(row):
                            equation[k] -= self.cost[i] * at[2] * row[j] * x
            equations.append(equation)
        equations += [[*full[i], *[ZERO] * len(kinks), states[i][1]] for i in kinks]
        lone = has_b and self.beta_strength == 0 and all(at[0] == "line" and at[2] == 0 for at in states)
        if lone:  # b enters no equation: any kink may be its place
            if equations[d][-1] != 0:
                return
            equations[d] = [ZERO] * (size + 1)
            equations[d][d] = ONE
            solved = gauss(equations, size)
            if solved is not None:
                w = solved[:d]
                for b in {y - z for y, z in zip(self.y, self.scores(w, ZERO), strict=True)}:
                    yield w, b, self._dual_point(states, kinks, w, b, [])
            return
        solved = gauss(equations, size)
        if solved is not None:
            w, b = solved[:d], solved[d] if has_b else ZERO
            yield w, b, self._dual_point(states, kinks, w, b, solved[d + has_b :])

    def _dual_point(self, states, kinks, w, b, at_kinks):
        a = [c * (at[1] - at[2] * z) if at[0] == "line" else ZERO
             for at, c, z in zip(states, self.cost, self.scores(w, b), strict=True)]  # fmt: skip
        for i, value in zip(kinks, at_kinks, strict=True):
            a[i] = value
        return a


def gauss(rows, size):
    """The solution of a square rational system, or None where it is singular."""
    rows = [list(row) for row in rows]
    for k in range(size):
        pivot = next((r for r in range(k, size) if rows[r][k] != 0), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        for r in range(size):
            if r != k and rows[r][k] != 0:
                factor = rows[r][k] / rows[k][k]
                rows[r] = [p - factor * q for p, q in zip(rows[r], rows[k], strict=True)]
    return [rows[k][size] / rows[k][k] for k in range(size)]
