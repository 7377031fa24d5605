import threading
import time

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController

from maxmargin import DualAscent, Hinge, Status
from maxmargin.reductions import one_vs_one, one_vs_rest, solve_all
from maxmargin.solvers import Watch
from maxmargin.testing import planted_problem


def test_one_target_per_class_and_one_in_all_for_two():
    codes = np.array([0, 1, 2, 1])
    assert [t.tolist() for t in one_vs_rest(codes, 3)] == [[1, -1, -1, -1], [-1, 1, -1, 1], [-1, -1, 1, -1]]
    assert [t.tolist() for t in one_vs_rest(np.array([0, 1, 1]), 2)] == [[-1, 1, 1]]


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_change_solutions(threads):
    problems = [planted_problem(Hinge(), seed=seed)[0] for seed in range(4)]
    found = solve_all(problems, lambda problem: DualAscent(), Watch(), threads)
    alone = [DualAscent().solve(problem) for problem in problems]
    for one, other in zip(found, alone, strict=True):
        assert np.array_equal(one.coef, other.coef)
        assert np.array_equal(one.dual, other.dual)


def test_an_error_in_a_solve_reaches_the_caller():
    def make(problem):
        raise ValueError("this one")

    with pytest.raises(ValueError, match="this one"):
        solve_all([planted_problem(Hinge())[0]], make, Watch())


def test_every_problem_gets_a_share_of_the_time():
    problems = [planted_problem(Hinge(), n=2000, d=50, seed=seed)[0] for seed in range(4)]
    found = solve_all(problems, lambda problem: DualAscent(tol=1e-300, max_epochs=10**9, finish=False), Watch(max_time=0.4))
    assert {solution.status for solution in found} <= {Status.MAX_TIME, Status.PRECISION}
    assert all(solution.work.epochs > 0 for solution in found)


def test_interrupt_ends_all_solves_with_what_they_have():
    problems = [planted_problem(Hinge(), n=3000, d=50, seed=seed)[0] for seed in range(3)]
    watch = Watch()
    threading.Timer(0.2, watch.interrupt).start()
    started = time.perf_counter()
    found = solve_all(problems, lambda problem: DualAscent(tol=1e-300, max_epochs=10**9, finish=False), watch)
    assert time.perf_counter() - started < 5.0
    assert found[-1].status is Status.INTERRUPTED
    assert all(np.isfinite(solution.certificate.gap) for solution in found)


def test_one_vs_one_takes_the_rows_of_each_pair():
    codes = np.array([0, 2, 1, 0, 2])
    pairs = one_vs_one(codes, 3)
    assert [rows.tolist() for rows, _ in pairs] == [[0, 2, 3], [0, 1, 3, 4], [1, 2, 4]]
    assert [target.tolist() for _, target in pairs] == [[1, -1, 1], [1, -1, 1, -1], [-1, 1, -1]]
    rows, target = one_vs_one(np.array([0, 1, 1]), 2)[0]
    assert rows.tolist() == [0, 1, 2]
    assert target.tolist() == [-1, 1, 1]


def test_blas_takes_no_more_threads_than_a_solve():
    controller = ThreadpoolController()

    def in_use():
        return max(
            (library.get_num_threads() for library in controller.lib_controllers if library.user_api == "blas"), default=1
        )

    seen = []
    problem, _, _ = planted_problem(Hinge())
    with controller.limit(limits=2, user_api="blas"):
        if in_use() < 2:
            pytest.skip("this BLAS has one thread")
        watch = Watch(listener=lambda _: seen.append(in_use()) and None)
        solve_all([problem], lambda _: DualAscent(), watch)
        assert in_use() == 2
    assert set(seen) == {1}
