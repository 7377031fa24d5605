import numpy as np

from maxmargin import as_design
from maxmargin.model import LinearModel


def test_scores_accumulate_in_float64():
    X = np.array([[1e8, 1.0, -1e8]], dtype=np.float32)
    model = LinearModel(np.ones((1, 3), dtype=np.float32), np.array([0.25]))
    assert model.scores(as_design(X)).tolist() == [[1.25]]
