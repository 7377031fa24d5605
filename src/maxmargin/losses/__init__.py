"""Losses φ(y, z), convex in the score z.

A loss knows its value, its slope in z, its conjugate φ*(y, u) = sup_z (u z - φ(y, z)), and the interval in which the dual
variable a / c = -φ'(y, z) lies. Arrays go in and come out, one entry per row. Two promises on rounding, with u = 2^-53,
let `certify` be rigorous:

    |computed φ - φ| <= 16 u (1 + |φ| + |y| + |z|),
    |computed φ* - φ*| <= 16 u ((1 + |v|)(1 + |v| + |y|) + |φ*|)  at an argument v that is itself off by a relative u.

`maxmargin.testing.check_loss` tests all of it.
"""

from maxmargin.losses.base import Loss as Loss
from maxmargin.losses.base import RegressionLoss as RegressionLoss
from maxmargin.losses.base import TwoClassLoss as TwoClassLoss
from maxmargin.losses.logistic import Logistic as Logistic
from maxmargin.losses.margin import HardMargin as HardMargin
from maxmargin.losses.margin import Hinge as Hinge
from maxmargin.losses.margin import MarginLoss as MarginLoss
from maxmargin.losses.margin import SmoothedHinge as SmoothedHinge
from maxmargin.losses.margin import SquaredHinge as SquaredHinge
from maxmargin.losses.regression import EpsilonInsensitive as EpsilonInsensitive
from maxmargin.losses.regression import Huber as Huber
from maxmargin.losses.regression import Pinball as Pinball
from maxmargin.losses.regression import Squared as Squared
from maxmargin.losses.regression import SquaredEpsilonInsensitive as SquaredEpsilonInsensitive
