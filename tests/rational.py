"""Problems in exact rational arithmetic: both objectives, and the optimum by enumerating active sets."""

import math
from fractions import Fraction
from itertools import product

import numpy as np

from maxmargin import HardMargin, Hinge, Intercept

ZERO, ONE = Fraction(0), Fraction(1)


def exact(values):
    return [Fraction(float(v)) for v in np.ravel(values)]


class RationalProblem:
    """The Problem of the given arrays with ridge strength s, all numbers taken as the exact values of the floats."""

    def __init__(self, X, y, cost, loss, strength, intercept, scale=1.0):
        self.X = [exact(row) for row in np.asarray(X, dtype=float)]
        self.y, self.cost = exact(y), exact(cost)
        self.hinge, self.hard = isinstance(loss, Hinge), isinstance(loss, HardMargin)
        self.s, self.intercept = Fraction(float(strength)), intercept
        self.beta_strength = self.s / Fraction(float(scale)) ** 2 if intercept is Intercept.PENALIZED else ZERO

    def scores(self, w, b):
        return [sum((x * v for x, v in zip(row, w, strict=True)), b) for row in self.X]

    def primal(self, w, b):
        """∞ where a hard margin is not kept."""
        w, b = exact(w) if not isinstance(w, list) else w, Fraction(b)
        assert self.intercept is not Intercept.NONE or b == 0
        total = self.s * sum(v * v for v in w) / 2 + self.beta_strength * b * b / 2
        for z, y, c in zip(self.scores(w, b), self.y, self.cost, strict=True):
            h = max(ZERO, 1 - y * z)
            if self.hard and c > 0 and h > 0:
                return math.inf
            total += ZERO if self.hard else c * (h if self.hinge else h * h)
        return total

    def dual(self, a):
        """-∞ (None) where a is not feasible."""
        a = exact(a) if not isinstance(a, list) else a
        total = -sum(v * v for v in self.combine(a)) / (2 * self.s)
        for v, y, c in zip(a, self.y, self.cost, strict=True):
            alpha = y * v
            if alpha < 0 or (self.hinge and alpha > c) or (c == 0 and alpha != 0):
                return None
            total += alpha if self.hinge or self.hard or c == 0 else alpha - alpha * alpha / (4 * c)
        balance = sum(a)
        if self.intercept is Intercept.FREE:
            return total if balance == 0 else None
        return total - (balance**2 / (2 * self.beta_strength) if self.beta_strength else ZERO)

    def combine(self, a):
        return [sum((v * row[j] for v, row in zip(a, self.X, strict=True)), ZERO) for j in range(len(self.X[0]))]

    def optimum(self):
        """P* = D*, from the first assignment of rows to {0, inside, upper end} whose KKT system checks out."""
        choices = "0iu" if self.hinge else "0i"
        for sets in product(choices, repeat=len(self.X)):
            found = self._solve(sets)
            if found is not None:
                return found
        raise AssertionError("no active set satisfies the KKT conditions")

    def _solve(self, sets):
        n = len(self.X)
        inside = [i for i in range(n) if sets[i] == "i"]
        a = [self.y[i] * self.cost[i] if sets[i] == "u" else ZERO for i in range(n)]
        free = self.intercept is Intercept.FREE
        # x_i'w + b + curvature_i a_i = y_i on the inside, w = X'a / s, and b's own equation.
        fixed = [v / self.s for v in self.combine(a)]
        size = len(inside) + (1 if self.intercept is not Intercept.NONE else 0)
        rows = []
        for i in inside:
            row = [sum((p * q for p, q in zip(self.X[i], self.X[j], strict=True)), ZERO) / self.s for j in inside]
            if not self.hinge and self.cost[i] == 0:
                return None
            if not self.hinge and not self.hard:
                row[inside.index(i)] += 1 / (2 * self.cost[i])
            right = self.y[i] - sum((p * q for p, q in zip(self.X[i], fixed, strict=True)), ZERO)
            rows.append(row + ([ONE] if size > len(inside) else []) + [right])
        if free and not inside:
            return self._interval(a, fixed) if sum(a) == 0 else None
        if size > len(inside):
            rows.append([ONE] * len(inside) + [-self.beta_strength, -sum(a)])
        solved = gauss(rows, size)
        if solved is None:
            return None
        for i, value in zip(inside, solved, strict=False):
            a[i] = value
        b = solved[-1] if size > len(inside) else ZERO
        w = [v / self.s for v in self.combine(a)]
        return self._checked(a, w, b)

    def _interval(self, a, w):
        """No row inside: any b at a kink may do."""
        for b in {y - z for y, z in zip(self.y, self.scores(w, ZERO), strict=True)}:
            found = self._checked(a, w, b)
            if found is not None:
                return found
        return None

    def _checked(self, a, w, b):
        dual = self.dual(a)
        return dual if dual is not None and dual == self.primal(w, b) else None


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
