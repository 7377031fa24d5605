"""One thread for BLAS and OpenMP: with two busy cores, threaded tiny problems take twenty times as long.

SCIPY_ARRAY_API lets scikit-learn's checks of array API input run instead of skipping themselves.
"""

import os

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["SCIPY_ARRAY_API"] = "1"

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("fixed")


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="also run the long tier: sanitizers, instruction sets, simulations")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--all"):
        return
    left_out = [item for item in items if item.get_closest_marker("all")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
