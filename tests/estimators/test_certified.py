import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import ConvergenceWarning

from examples import data
from maxmargin import DualAscent, LinearSVC, Status, reductions
from maxmargin.solvers import Solver


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_certificate_verifies_from_scratch(classes, loss):
    X, y = data(classes=classes)
    machine = LinearSVC(loss=loss).fit(X, y)
    rows = 1 if classes == 2 else classes
    assert machine.coef_.shape == (rows, 5)
    assert machine.intercept_.shape == (rows,)
    assert machine.certificate_.relative_gap <= 1e-4
    assert machine.status_ is Status.SOLVED
    again = machine.certificate_.verify(X, y)
    assert again.primal == pytest.approx(machine.certificate_.primal, rel=1e-13)
    assert again.dual == pytest.approx(machine.certificate_.dual, rel=1e-13)
    rigorous = machine.certificate_.verify(X, y, precision="rigorous")
    assert rigorous.precision == "rigorous"
    assert rigorous.relative_gap <= 1.01e-4
    assert len(again.parts) == (0 if classes == 2 else classes)
    everything = machine.dual_coef_ @ X[machine.support_]
    for k, part in enumerate(machine.certificate_.parts or (machine.certificate_,)):
        assert np.linalg.norm(everything[k] - machine.coef_[k]) <= 2 * np.sqrt(2 * part.gap) + 1e-9
        assert machine.dual_coef_[k].sum() == 0.0


def test_verify_tells_of_changed_data_and_refuses_other_rows():
    X, y = data()
    machine = LinearSVC().fit(X, y)
    assert machine.certificate_.verify(X + 0.1, y).gap > machine.certificate_.gap
    with pytest.raises(ValueError, match="the fit saw 120 rows of 5 features"):
        machine.certificate_.verify(X[:50], y[:50])
    with pytest.raises(ValueError, match="labels that the fit did not see"):
        machine.certificate_.verify(X, y + 7)


def test_a_column_of_labels_verifies_too():
    X, y = data()
    with pytest.warns(sklearn.exceptions.DataConversionWarning):
        machine = LinearSVC().fit(X, y[:, None])
    assert machine.certificate_.verify(X, y[:, None]).relative_gap <= 1e-4


def test_a_failed_refit_leaves_the_estimator_as_it_was():
    X, y = data()
    machine = LinearSVC().fit(X, y)
    before = dict(vars(machine))
    with pytest.raises(ValueError, match="NaN"):
        machine.fit(np.full((3, 2), np.nan), [0, 1, 0])
    assert vars(machine) == before
    assert machine.predict(X).shape == (120,)


def test_an_early_end_keeps_the_best_model_and_warns_with_the_number():
    X, y = data(n=400, d=60)
    with pytest.warns(
        ConvergenceWarning, match=r"stopped at a relative gap of \d.*\(asked 1.0e-12\) after .* s: The epoch limit"
    ):
        machine = LinearSVC(max_iter=1, tol=1e-12, C=100.0, solver="dual_ascent").fit(X, y)
    assert machine.status_ is Status.MAX_ITER
    assert 0 < machine.certificate_.relative_gap < 1
    assert machine.n_iter_ == 1
    with pytest.warns(ConvergenceWarning, match="The time limit came first"):
        hurried = LinearSVC(max_time=1e-6, tol=1e-12, C=100.0).fit(X, y)
    assert hurried.status_ is Status.MAX_TIME
    assert np.isfinite(hurried.certificate_.gap)


INTERRUPT = """
import json, sys, time, warnings, numpy as np
from maxmargin import LinearSVC, DualAscent
rng = np.random.default_rng(0)
X = rng.normal(size=(20000, 300)); y = rng.integers(0, 4, 20000)
machine = LinearSVC(solver=DualAscent(tol=1e-300, max_epochs=10**9, finish=False), n_jobs=2, loss="hinge", C=100.0)
print("ready", flush=True)
warnings.simplefilter("ignore")
try:
    machine.fit(X, y)
except KeyboardInterrupt:
    print(json.dumps({"status": machine.status_.name, "at": time.time(), "gap": machine.certificate_.gap}), flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_the_fit_with_the_best_model():
    child = subprocess.Popen([sys.executable, "-c", INTERRUPT], stdout=subprocess.PIPE, text=True, env=os.environ)
    assert child.stdout.readline().strip() == "ready"
    time.sleep(1.0)
    sent = time.time()
    child.send_signal(signal.SIGINT)
    told = json.loads(child.communicate(timeout=60)[0].strip())
    assert told["status"] == "INTERRUPTED"
    assert np.isfinite(told["gap"])
    assert told["at"] - sent < 20.0, "the half second that is promised is measured by the benchmarks"


@dataclass(frozen=True, slots=True)
class Patient(Solver):
    """Starts when it is interrupted."""

    tol: float = 1e-4

    def refuse(self, problem):
        return None

    def solve(self, problem, start=None, watch=None):
        while not watch.interrupted:
            time.sleep(0.01)
        return DualAscent(tol=1e-300).solve(problem, watch=watch)


def test_an_interrupted_refit_publishes_the_new_model(monkeypatch):
    X, y = data()
    machine = LinearSVC(solver=Patient())

    def pressed(futures, **how):
        monkeypatch.undo()
        raise KeyboardInterrupt

    for columns in (5, 3):
        monkeypatch.setattr(reductions, "wait", pressed)
        with pytest.warns(ConvergenceWarning), pytest.raises(KeyboardInterrupt):
            machine.fit(X[:, :columns], y)
        assert machine.coef_.shape == (1, columns)
        assert machine.status_ is Status.INTERRUPTED


def test_ctrl_c_after_the_last_solve_is_handed_on(monkeypatch):
    X, y = data()
    machine = LinearSVC()
    honest = reductions.wait

    def pressed(futures, **how):
        monkeypatch.undo()
        honest(futures)
        raise KeyboardInterrupt

    monkeypatch.setattr(reductions, "wait", pressed)
    with pytest.raises(KeyboardInterrupt):
        machine.fit(X, y)
    assert machine.status_ is Status.SOLVED


def test_verbose_tells_the_gap(capsys):
    X, y = data()
    LinearSVC(verbose=2).fit(X, y)
    out = capsys.readouterr().out
    assert "certified relative gap" in out
    assert "estimated relative gap" in out
    LinearSVC().fit(X, y)
    assert capsys.readouterr().out == ""


def test_squares_beyond_the_doubles_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match="Scale the features"):
        LinearSVC().fit(X * 1e200, y)
