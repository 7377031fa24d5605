"""What a bug report needs."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from maxmargin import _native

PACKAGES = ("maxmargin", "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl")


def show_versions() -> None:
    """Print versions, processor, instruction set and thread settings."""
    print(f"{'python':<16}{platform.python_version()} on {platform.platform()}")
    for package in PACKAGES:
        try:
            print(f"{package:<16}{version(package)}")
        except PackageNotFoundError:
            print(f"{package:<16}not installed")
    print(f"{'isa':<16}{_native.isa()} of {', '.join(_native.isas())}")
    print(f"{'threads':<16}{_native.max_threads()} of {os.cpu_count()}")
    for name in ("MAXMARGIN_ISA", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENBLAS_CORETYPE"):
        print(f"{name:<24}{os.environ.get(name, '-')}")
