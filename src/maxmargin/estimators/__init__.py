"""Estimators: scikit-learn's conventions, and nothing else."""

from maxmargin.estimators.halfspace_lp import HalfspaceLP as HalfspaceLP
from maxmargin.estimators.hard_margin_svc import HardMarginSVC as HardMarginSVC
from maxmargin.estimators.hard_margin_svc import InseparableError as InseparableError
from maxmargin.estimators.lasso import ElasticNet as ElasticNet
from maxmargin.estimators.lasso import Lasso as Lasso
from maxmargin.estimators.linear_regression import LinearRegression as LinearRegression
from maxmargin.estimators.linear_svc import LinearSVC as LinearSVC
from maxmargin.estimators.logistic_regression import LogisticRegression as LogisticRegression
from maxmargin.estimators.perceptron import Perceptron as Perceptron
from maxmargin.estimators.ridge import RidgeRegression as RidgeRegression
from maxmargin.estimators.svc import SVC as SVC
