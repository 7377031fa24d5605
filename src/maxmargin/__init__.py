"""Large-margin learning with proof: every fit ends in a certificate."""

from maxmargin.certificate import Certificate as Certificate
from maxmargin.certificate import certify as certify
from maxmargin.design import Dense as Dense
from maxmargin.design import Sparse as Sparse
from maxmargin.design import as_design as as_design
from maxmargin.estimators import HalfspaceLP as HalfspaceLP
from maxmargin.estimators import HardMarginSVC as HardMarginSVC
from maxmargin.estimators import InseparableError as InseparableError
from maxmargin.estimators import LinearSVC as LinearSVC
from maxmargin.estimators import Perceptron as Perceptron
from maxmargin.kkt import kkt_residuals as kkt_residuals
from maxmargin.losses import EpsilonInsensitive as EpsilonInsensitive
from maxmargin.losses import HardMargin as HardMargin
from maxmargin.losses import Hinge as Hinge
from maxmargin.losses import Huber as Huber
from maxmargin.losses import Logistic as Logistic
from maxmargin.losses import Pinball as Pinball
from maxmargin.losses import SmoothedHinge as SmoothedHinge
from maxmargin.losses import Squared as Squared
from maxmargin.losses import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
from maxmargin.losses import SquaredHinge as SquaredHinge
from maxmargin.margins import margins as margins
from maxmargin.penalties import L1 as L1
from maxmargin.penalties import Box as Box
from maxmargin.penalties import NonNegative as NonNegative
from maxmargin.penalties import NoPenalty as NoPenalty
from maxmargin.penalties import Ridge as Ridge
from maxmargin.problem import Intercept as Intercept
from maxmargin.problem import Problem as Problem
from maxmargin.quadratic import QuadraticProgram as QuadraticProgram
from maxmargin.separation import Inseparable as Inseparable
from maxmargin.separation import Separable as Separable
from maxmargin.separation import separability as separability
from maxmargin.solution import Solution as Solution
from maxmargin.solution import Status as Status
from maxmargin.solvers import SGD as SGD
from maxmargin.solvers import DualAscent as DualAscent
from maxmargin.solvers import Gradient as Gradient
from maxmargin.solvers import InteriorPoint as InteriorPoint
from maxmargin.solvers import MaximumMargin as MaximumMargin
from maxmargin.solvers import Newton as Newton
from maxmargin.solvers import Quadratic as Quadratic
from maxmargin.solvers import fit_problem as fit_problem
from maxmargin.versions import show_versions as show_versions

__version__ = "0.1.0"
