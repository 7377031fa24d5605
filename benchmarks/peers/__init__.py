"""The peers, ours first. Each is optional but ours; one that is not installed is listed as absent."""

from __future__ import annotations

from benchmarks.peers.base import Peer
from benchmarks.peers.intelex import Intelex
from benchmarks.peers.liblinear import Liblinear
from benchmarks.peers.maxmargin import MaxMargin
from benchmarks.peers.scikit_learn import ScikitLearn
from benchmarks.peers.snapml import SnapML
from benchmarks.peers.vowpal_wabbit import VowpalWabbit

PEERS: dict[str, Peer] = {
    peer.name: peer for peer in (MaxMargin(), ScikitLearn(), Liblinear(), SnapML(), Intelex(), VowpalWabbit())
}
