import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from maxmargin import DualAscent, LinearSVC, Status

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 has callbacks")


class Recorder:
    """A callback that notes each certificate and may stop the fit."""

    def __init__(self, stop=False):
        self.stop, self.ends, self.down = stop, [], 0

    def setup(self, estimator, context):
        self.ends.clear()

    def on_fit_task_begin(self, estimator, context, **data):
        pass

    def on_fit_task_end(self, estimator, context, **data):
        self.ends.append(context.task_name)
        return self.stop

    def teardown(self, estimator, context):
        self.down += 1


def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    return X, (X[:, 0] + rng.normal(size=200) > 0).astype(int)


def test_each_certificate_is_a_task_of_the_fit():
    recorder = Recorder()
    LinearSVC().set_callbacks(recorder).fit(*data())
    assert recorder.ends[-1] == "fit"
    assert set(recorder.ends[:-1]) == {"certificate"}
    assert recorder.down == 1


def test_a_callback_can_stop_the_fit():
    recorder = Recorder(stop=True)
    solver = DualAscent(tol=1e-300, max_epochs=10**6, finish=False)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        machine = LinearSVC(solver=solver, C=100.0).set_callbacks(recorder).fit(*data())
    assert machine.status_ is Status.INTERRUPTED


def test_progress_bars_work():
    pytest.importorskip("rich")
    LinearSVC().set_callbacks(callback.ProgressBar()).fit(*data())
