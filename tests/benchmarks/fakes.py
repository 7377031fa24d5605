"""Peers that misbehave, each in one way. A child process can import them by name."""

import time

import numpy as np

from benchmarks.peers.base import Answer, Peer, Setting
from benchmarks.peers.maxmargin import MaxMargin


class Fake(Peer):
    """Right answers from ours; subclasses spoil them."""

    module = package = "numpy"

    def refuse(self, task):
        return None

    def settings(self, task):
        return [Setting("loose", {"tol": 1e-2}), Setting("tight", {"tol": 1e-8}, strict=True)]

    def fit(self, task, loaded, options, threads):
        return MaxMargin().fit(task, loaded, options, threads)


class Scaled(Fake):
    name = "scaled"

    def fit(self, task, loaded, options, threads):
        right = super().fit(task, loaded, options, threads)
        return Answer(3.0 * right.coef, right.intercept, converged=True)


class Boasting(Fake):
    """Stops at 1e-2 and claims 1e-9."""

    name = "boasting"

    def fit(self, task, loaded, options, threads):
        right = super().fit(task, loaded, {"tol": 1e-2}, threads)
        return Answer(right.coef, right.intercept, True, claimed=1e-9)


class Broken(Fake):
    name = "broken"

    def fit(self, task, loaded, options, threads):
        if len(loaded[1]) > 100:  # not while it warms up
            raise ArithmeticError("no answer today")
        return super().fit(task, loaded, options, threads)


class Slow(Fake):
    name = "slow"

    def fit(self, task, loaded, options, threads):
        if len(loaded[1]) > 100:
            time.sleep(60.0)
        return super().fit(task, loaded, options, threads)


class Undefined(Fake):
    name = "undefined"

    def fit(self, task, loaded, options, threads):
        return Answer(np.full((1, loaded[0].shape[1]), np.nan), np.zeros(1), True)


class Absent(Fake):
    name = "absent"
    module = package = "a_package_that_nobody_has"


class Refusing(Fake):
    name = "refusing"

    def refuse(self, task):
        return "not today"


PEERS = {
    peer.name: peer for peer in (MaxMargin(), Scaled(), Boasting(), Broken(), Slow(), Undefined(), Absent(), Refusing())
}
