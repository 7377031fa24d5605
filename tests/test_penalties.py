import numpy as np
import pytest

from maxmargin import Ridge
from maxmargin.testing import check_penalty


@pytest.mark.parametrize("strength", [1e-3, 1.0, 70.0])
def test_laws(strength):
    check_penalty(Ridge(strength))


def test_read_back():
    assert eval(repr(Ridge(2.5))) == Ridge(2.5)


@pytest.mark.parametrize("strength", [0.0, -1.0, np.inf, np.nan])
def test_a_strength_that_is_not_positive_is_refused(strength):
    with pytest.raises(ValueError, match=r"Ridge\(strength=.*must be positive"):
        Ridge(strength)
