"""Solvers: one algorithm per file."""

from maxmargin.solvers.base import Progress as Progress
from maxmargin.solvers.base import Solver as Solver
from maxmargin.solvers.base import Watch as Watch
from maxmargin.solvers.choose import SOLVERS as SOLVERS
from maxmargin.solvers.choose import fit_problem as fit_problem
from maxmargin.solvers.choose import make_solver as make_solver
from maxmargin.solvers.dual_ascent import DualAscent as DualAscent
from maxmargin.solvers.newton import Newton as Newton
