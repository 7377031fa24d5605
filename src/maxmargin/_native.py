"""The only importer of the compiled core.

The widest instruction set that the processor has is chosen at import. The environment variable MAXMARGIN_ISA (base, avx2
or avx512) overrides it: results are bit-identical only for the same instruction set and thread count.
"""

from __future__ import annotations

import os

import maxmargin._core as _core

CoordinateDescent = _core.CoordinateDescent
DualAscent = _core.DualAscent
Perceptron = _core.Perceptron
Rows = _core.Rows
ascend_pairs = _core.ascend_pairs
choose_working_set = _core.choose_working_set
combine = _core.combine
dense = _core.dense
isa = _core.isa
isas = _core.isas
max_threads = _core.max_threads
norms_sq = _core.norms_sq
own_degrees = _core.own_degrees
profiles = _core.profiles
scores = _core.scores
sgd = _core.sgd
sparse = _core.sparse
spectrum = _core.spectrum
subtract_rows = _core.subtract_rows
use_isa = _core.use_isa
weighted_degrees = _core.weighted_degrees


def choose_isa(name: str | None) -> None:
    """Use the named instruction set; None keeps the widest."""
    if name is None:
        return
    if name not in isas():
        raise ImportError(f"MAXMARGIN_ISA={name}: this processor and build offer {', '.join(isas())}.")
    use_isa(name)


choose_isa(os.environ.get("MAXMARGIN_ISA"))
