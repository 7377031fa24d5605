"""Solvers: one algorithm per file."""

from maxmargin.solvers.base import Progress as Progress
from maxmargin.solvers.base import Solver as Solver
from maxmargin.solvers.base import Watch as Watch
from maxmargin.solvers.choose import SOLVERS as SOLVERS
from maxmargin.solvers.choose import Plan as Plan
from maxmargin.solvers.choose import fit_problem as fit_problem
from maxmargin.solvers.choose import make_solver as make_solver
from maxmargin.solvers.choose import plan as plan
from maxmargin.solvers.coordinate_descent import CoordinateDescent as CoordinateDescent
from maxmargin.solvers.dual_ascent import DualAscent as DualAscent
from maxmargin.solvers.gradient import Gradient as Gradient
from maxmargin.solvers.interior_point import InteriorPoint as InteriorPoint
from maxmargin.solvers.least_squares import LeastSquares as LeastSquares
from maxmargin.solvers.maximum_margin import MaximumMargin as MaximumMargin
from maxmargin.solvers.newton import Newton as Newton
from maxmargin.solvers.newton_cholesky import NewtonCholesky as NewtonCholesky
from maxmargin.solvers.pair_ascent import PairAscent as PairAscent
from maxmargin.solvers.quadratic import Quadratic as Quadratic
from maxmargin.solvers.sgd import SGD as SGD
from maxmargin.solvers.sgd import Stream as Stream
from maxmargin.solvers.textbook_smo import TextbookSMO as TextbookSMO
