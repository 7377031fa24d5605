import threading
import time

from maxmargin import Status
from maxmargin.solvers import Watch


def test_a_quiet_watch_says_go_on():
    assert Watch().heard(1, 0.5) is None


def test_time_runs_out():
    watch = Watch(max_time=0.01)
    time.sleep(0.02)
    assert watch.heard(1, 0.5) is Status.MAX_TIME


def test_a_share_is_a_part_of_the_time_and_hears_interrupts():
    watch = Watch(max_time=100.0)
    part = watch.share(4)
    assert part.heard(0, 1.0) is None
    watch.interrupt()
    assert part.heard(0, 1.0) is Status.INTERRUPTED
    assert Watch().share(3).heard(0, 1.0) is None


def test_the_listener_hears_numbers_and_may_stop():
    heard = []
    watch = Watch(listener=lambda progress: heard.append(progress) or progress.epoch == 2)
    assert watch.heard(1, 0.5) is None
    assert watch.heard(2, 0.25, certified=True) is Status.INTERRUPTED
    assert [(p.epoch, p.relative_gap, p.certified) for p in heard] == [(1, 0.5, False), (2, 0.25, True)]


def test_the_listener_is_never_called_from_two_threads_at_once():
    inside, worst = [0], [0]

    def listen(progress):
        inside[0] += 1
        worst[0] = max(worst[0], inside[0])
        time.sleep(0.001)
        inside[0] -= 1

    watch = Watch(listener=listen)
    threads = [threading.Thread(target=lambda: [watch.heard(k, 1.0) for k in range(10)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert worst[0] == 1
