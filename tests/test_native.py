"""The instruction sets, threads and forks of the core."""

import os
import subprocess
import sys

import numpy as np
import pytest

from maxmargin import _native

FIT = """
import numpy as np
from maxmargin import LinearSVC, _native
rng = np.random.default_rng(0)
X = rng.normal(size=(400, 20)); y = X[:, 0] + rng.normal(size=400) > 0
m = LinearSVC(loss="hinge", C=0.1).fit(X, y)
print(_native.isa(), m.certificate_.relative_gap <= 1e-4, round(m.certificate_.primal, 2))
"""


def python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )
    return done.stdout.strip(), done.stderr


def test_the_widest_set_is_the_default():
    assert _native.isas()[0] == "base"
    assert _native.isa() in _native.isas()


@pytest.mark.parametrize("isa", _native.isas())
def test_every_instruction_set_solves(isa):
    out, err = python(FIT, MAXMARGIN_ISA=isa)
    name, solved, primal = out.split()
    assert (name, solved) == (isa, "True"), err
    assert primal == python(FIT, MAXMARGIN_ISA="base")[0].split()[2]


def test_an_unknown_instruction_set_is_refused_in_words():
    _, err = python("import maxmargin", MAXMARGIN_ISA="mmx")
    assert "ImportError: MAXMARGIN_ISA=mmx: this processor and build offer base" in err


TEAM = """
import numpy as np, scipy.sparse as sp
from threadpoolctl import threadpool_limits
from maxmargin import LinearSVC, _native, as_design
assert _native.max_threads() == 2
with threadpool_limits(1):
    assert _native.max_threads() == 1
rng = np.random.default_rng(0)
X = rng.normal(size=(4000, 60)); w, a = np.ones(60), np.ones(4000)
for stored in (X, sp.csr_array(X)):
    alone, team = as_design(stored), as_design(stored, 2)
    assert np.array_equal(alone.scores(w), team.scores(w))
    assert np.allclose(alone.combine(a), team.combine(a), rtol=1e-12)
    assert np.array_equal(team.combine(a), team.combine(a))
y = rng.integers(0, 4, 4000)
one, two, again = (LinearSVC(n_jobs=jobs, loss="hinge", tol=1e-2).fit(X, y) for jobs in (1, 2, 2))
assert np.array_equal(two.coef_, again.coef_)
assert np.allclose(one.certificate_.primal, two.certificate_.primal, rtol=1e-2)
print("same")
"""


def test_teams_of_two_give_the_same_results_and_obey_threadpoolctl():
    out, err = python(TEAM, OMP_NUM_THREADS="2", OPENBLAS_NUM_THREADS="1")
    assert out == "same", err


FORK = """
import os, signal, sys, numpy as np
from maxmargin import as_design
X = np.ones((3000, 100)); design = as_design(X, threads=2)
before = design.scores(np.ones(100))          # opens a team
pid = os.fork()
if pid == 0:
    signal.alarm(20)                          # a deadlock dies here
    os._exit(0 if np.array_equal(as_design(X, threads=2).scores(np.ones(100)), before) else 3)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this platform")
def test_a_forked_child_does_not_deadlock_after_a_parallel_region():
    out, err = python(FORK, OMP_NUM_THREADS="2")
    assert out == "0", err


def test_lengths_are_checked_at_the_border():
    rows = _native.dense(np.ones((3, 2)))
    with pytest.raises(ValueError, match="wrong length"):
        _native.scores(rows, np.ones(3), 0.0, np.ones(3), 1)
    with pytest.raises(ValueError, match="wrong length"):
        _native.combine(rows, np.ones(3), np.ones(3), 1)
    with pytest.raises(TypeError):
        _native.dense(np.ones((3, 2), dtype=np.int64))


def test_an_order_that_points_outside_is_refused():
    rows, ones = _native.dense(np.ones((2, 1))), np.ones(2)
    with pytest.raises(ValueError, match="row numbers"):
        _native.DualAscent(
            rows=rows, y=ones, cost=ones, norm_sq=ones, a=np.zeros(2), w=np.zeros(1), order=np.array([0, 2]), squared=False,
            strength=1.0, intercept=0.0, sum_a=0.0, dual=0.0, rho=0.0, intercept_strength=0.0, shrink=True, seed=0,
        )  # fmt: skip


def test_a_working_set_that_points_outside_is_refused():
    columns, ones = _native.dense(np.ones((2, 3))), np.ones(3)
    for order, length, words in ((np.array([0, 2]), 2, "column numbers"), (np.array([0]), 3, "one entry per column")):
        with pytest.raises(ValueError, match=words):
            _native.CoordinateDescent(
                columns=columns, weight=ones, slope=np.ones(3), w=np.zeros(length), curvature=np.zeros(2), mean=np.zeros(2),
                order=order, l1=1.0, l2=0.0, low=-1.0, high=1.0, pull=0.0, shift=0.0,
            )  # fmt: skip
