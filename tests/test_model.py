import numpy as np
import pytest

from maxmargin import as_design
from maxmargin.kernels import Gaussian, as_rows
from maxmargin.model import KernelModel, LinearModel


def test_scores_accumulate_in_float64():
    X = np.array([[1e8, 1.0, -1e8]], dtype=np.float32)
    model = LinearModel(np.ones((1, 3), dtype=np.float32), np.array([0.25]))
    assert model.scores(as_design(X)).tolist() == [[1.25]]


def test_kernel_scores_come_in_tiles(monkeypatch):
    rng = np.random.default_rng(0)
    X, support, coef, b = rng.normal(size=(23, 3)), rng.normal(size=(5, 3)), rng.normal(size=(5, 2)), np.array([1.0, -1.0])
    model = KernelModel(Gaussian(0.5), as_rows(support), coef, b)
    expected = Gaussian(0.5).block(X, support) @ coef + b
    assert model.scores(as_rows(X)) == pytest.approx(expected, abs=1e-12)
    monkeypatch.setattr("maxmargin.model.TILE", 20)
    assert model.scores(as_rows(X)) == pytest.approx(expected, abs=1e-12)
