"""Small data for the tests of estimators."""

import numpy as np


def data(n=120, d=5, classes=2, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(dtype)
    scores = X @ rng.normal(size=(d, classes)) + 0.5 * rng.normal(size=(n, classes))
    return X, scores.argmax(axis=1)
