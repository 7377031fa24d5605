import numpy as np

from maxmargin import Intercept, Problem, Ridge, SquaredHinge, Status, as_design, certify
from maxmargin.solution import conclude


def test_every_status_is_a_sentence():
    for status in Status:
        assert status.value[0].isupper()
        assert status.value.endswith(".")


def test_conclude_publishes_what_certify_confirms():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)).astype(np.float32)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    problem = Problem(as_design(X), y, SquaredHinge(), Ridge(1.0), np.ones(30), Intercept.FREE)
    coef, b, a, certificate = conclude(problem, rng.normal(size=4), 0.0, y * rng.uniform(size=30))
    assert coef.dtype == np.float32
    assert a.sum() == 0.0
    again = certify(problem, coef, b, a)
    assert np.isclose(again.primal, certificate.primal, rtol=1e-14)
    assert again.dual == certificate.dual
