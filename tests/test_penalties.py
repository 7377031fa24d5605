import numpy as np
import pytest

from maxmargin import L1, Box, NonNegative, NoPenalty, Ridge
from maxmargin.penalties import ElasticNet
from maxmargin.testing import check_penalty

ALL = [
    NoPenalty(),
    Ridge(1e-3),
    Ridge(),
    Ridge(70.0),
    L1(),
    L1(1e-3),
    L1(7.0),
    ElasticNet(),
    ElasticNet(l1=1e-3, l2=2.0),
    ElasticNet(l1=3.0, l2=1e-3),
    Box(),
    Box(low=0.0, high=0.5),
    Box(low=-3.0, high=0.0),
    NonNegative(),
    NonNegative(0.01),
]


@pytest.mark.parametrize("penalty", ALL, ids=repr)
def test_laws(penalty):
    check_penalty(penalty)


@pytest.mark.parametrize("penalty", ALL, ids=repr)
def test_read_back(penalty):
    assert eval(repr(penalty)) == penalty


def test_exact_points():
    w = np.array([-2.0, 0.0, 1.0])
    assert L1(3.0).terms(w).tolist() == [6.0, 0.0, 3.0]
    assert ElasticNet(1.0, 2.0).terms(w).tolist() == [6.0, 0.0, 2.0]
    assert ElasticNet(1.0, 2.0).conjugate_terms(w).tolist() == [0.25, 0.0, 0.0]
    assert Box(-1.0, 2.0).terms(w).tolist() == [np.inf, 0.0, 0.0]
    assert Box(-1.0, 2.0).conjugate_terms(w).tolist() == [2.0, 0.0, 2.0]
    assert NonNegative(2.0).terms(w).tolist() == [np.inf, 0.0, 1.0]
    assert NonNegative(2.0).conjugate_terms(w).tolist() == [0.0, 0.0, 0.25]
    assert L1(1.0).prox(w, 1.5).tolist() == [-0.5, 0.0, 0.0]


def test_limits_of_the_elastic_net():
    rng = np.random.default_rng(0)
    w = rng.normal(size=100)
    assert np.allclose(ElasticNet(1e-12, 2.0).terms(w), Ridge(2.0).terms(w), atol=1e-11)
    assert np.allclose(ElasticNet(1e-12, 2.0).conjugate_terms(w), Ridge(2.0).conjugate_terms(w), atol=1e-11)
    assert np.allclose(ElasticNet(2.0, 1e-12).terms(w), L1(2.0).terms(w), atol=1e-11)
    assert np.allclose(ElasticNet(2.0, 1e-12).prox(w, 0.3), L1(2.0).prox(w, 0.3), atol=1e-11)


def test_reach_is_what_the_dual_ball_allows():
    low, high = np.array([-2.0, 0.0]), np.array([-1.0, 4.0])
    assert L1(2.0).reach(low, high) == 0.5
    assert L1(2.0).reach(np.zeros(2), np.zeros(2)) == np.inf
    assert NoPenalty().reach(low, high) == 0.0
    assert NoPenalty().reach(np.zeros(2), np.zeros(2)) == np.inf
    assert Ridge().reach(low, high) == np.inf


def test_float32_coefficients_are_clipped_inwards():
    box = Box(-0.1, 0.7)
    w = box.clip(np.array([-1.0, 1.0, 0.5], dtype=np.float32))
    assert w.dtype == np.float32
    assert box.value(w.astype(np.float64)) == 0.0
    assert np.allclose(w, [-0.1, 0.7, 0.5])
    assert box.clip(np.array([1.0]))[0] == 0.7


@pytest.mark.parametrize("strength", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("make", [Ridge, L1, NonNegative])
def test_a_strength_that_is_not_positive_is_refused(make, strength):
    with pytest.raises(ValueError, match=rf"{make.__name__}\(strength=.*must be positive"):
        make(strength)


def test_other_parameters_are_checked():
    with pytest.raises(ValueError, match=r"ElasticNet\(l2=0.0\): l2 must be positive"):
        ElasticNet(1.0, 0.0)
    for ends in ((0.5, 1.0), (-1.0, -0.5), (-np.inf, 1.0), (-1.0, np.nan)):
        with pytest.raises(ValueError, match="0 must lie between them"):
            Box(*ends)
