"""The laws must be able to fail: broken losses, penalties and solvers are caught."""

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest

from maxmargin import DualAscent, Hinge, Intercept, SquaredHinge
from maxmargin.kernels import Kernel
from maxmargin.losses import MarginLoss
from maxmargin.penalties import Penalty
from maxmargin.solvers import Solver
from maxmargin.testing import check_kernel, check_loss, check_penalty, check_solver, planted_problem


@dataclass(frozen=True, slots=True)
class Broken(MarginLoss):
    """A hinge with one method exchanged."""

    method: str

    def value(self, y, z):
        return np.minimum(1.0, Hinge().value(y, z)) if self.method == "value" else Hinge().value(y, z)

    def slope(self, y, z):
        return (2.0 if self.method == "slope" else 1.0) * Hinge().slope(y, z)

    def conjugate(self, y, u):
        return Hinge().conjugate(y, u) - (0.01 if self.method == "conjugate" else 0.0)

    def box(self, y):
        low, high = Hinge().box(y)
        return (low, 2.0 * high) if self.method == "box" else (low, high)

    def best_intercept(self, y, z, cost):
        return Hinge().best_intercept(y, z, cost) + (0.1 if self.method == "best_intercept" else 0.0)

    @staticmethod
    def _slopes_at_kinks(kinks, y, cost):
        raise NotImplementedError


@pytest.mark.parametrize("method", ["value", "slope", "conjugate", "box", "best_intercept"])
def test_a_broken_loss_is_caught(method):
    with pytest.raises(AssertionError):
        check_loss(Broken(method))


def test_the_unbroken_one_passes():
    check_loss(Broken("none"))


@dataclass(frozen=True, slots=True)
class BrokenRidge(Penalty):
    method: str

    def terms(self, w):
        return 0.5 * w * w

    def conjugate_terms(self, v):
        return (0.4 if self.method == "conjugate" else 0.5) * v * v

    def prox(self, w, step):
        return w / (1.1 + step) if self.method == "prox" else w / (1.0 + step)


@pytest.mark.parametrize("method", ["conjugate", "prox"])
def test_a_broken_penalty_is_caught(method):
    check_penalty(BrokenRidge("none"))
    with pytest.raises(AssertionError):
        check_penalty(BrokenRidge(method))


@dataclass(frozen=True, slots=True)
class BrokenKernel(Kernel):
    """x'z with one law broken."""

    law: str

    @property
    def positive(self):
        return True

    def tile(self, pairs):
        K = pairs.inner.copy()
        if self.law == "element":
            K += pairs.left.n
        if self.law == "blocks":
            K[:, -1] += 1e-6
        return -K if self.law == "positive" else K

    def own(self, rows):
        return (-1.0 if self.law == "positive" else 1.0) * rows.norms_sq + (3.0 if self.law == "diagonal" else 0.0)

    def __repr__(self):
        law = "another" if self.law == "repr" else self.law
        return f"BrokenKernel({law!r})"


@pytest.mark.parametrize("law", ["element", "blocks", "positive", "repr", "diagonal"])
def test_a_broken_kernel_is_caught(law):
    X = np.random.default_rng(0).normal(size=(9, 2))
    check_kernel(BrokenKernel("none"), X)
    with pytest.raises(AssertionError):
        check_kernel(BrokenKernel(law), X)


@dataclass(frozen=True, slots=True)
class Lazy(Solver):
    """Stops early and says otherwise."""

    def refuse(self, problem):
        return None

    def solve(self, problem, start=None, watch=None):
        solution = DualAscent(tol=0.2, finish=False).solve(problem)
        return dataclasses.replace(
            solution, certificate=dataclasses.replace(solution.certificate, dual=solution.certificate.primal)
        )


def test_a_lying_solver_is_caught():
    with pytest.raises(AssertionError, match="relative gap"):
        check_solver(Lazy(), Hinge())


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()], ids=repr)
@pytest.mark.parametrize("intercept", list(Intercept), ids=lambda i: i.value)
@pytest.mark.parametrize("seed", range(5))
def test_planted_optima_are_optimal(loss, intercept, seed):
    problem, w, b = planted_problem(loss, intercept, strength=0.5, seed=seed)
    a = -problem.cost * loss.slope(problem.target, problem.design.scores(w, b))
    gap_in_w = np.linalg.norm(problem.design.combine(a) - 0.5 * w)
    assert gap_in_w <= 1e-12 * np.linalg.norm(np.abs(a) @ np.ones_like(a))
    expected = {Intercept.FREE: 0.0, Intercept.PENALIZED: 0.5 * b, Intercept.NONE: a.sum()}[intercept]
    assert abs(a.sum() - expected) <= 1e-12 * np.abs(a).sum()
