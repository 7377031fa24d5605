"""Where it was measured: processor, versions, commit, the BLAS kernels with OPENBLAS_CORETYPE as it is set and unset; memory."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.peers import PEERS

ROOT = Path(__file__).parents[1]
BLAS = """
import json, numpy, scipy.linalg, threadpoolctl
print(json.dumps([{k: each.get(k) for k in ("internal_api", "version", "architecture")} for each in threadpoolctl.threadpool_info()]))
"""


def cpu() -> str:
    """The processor's own name."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()


def commit() -> str:
    """The commit of the checkout, marked where tracked files differ from it."""
    told = subprocess.run(
        ["git", "describe", "--always", "--abbrev=12", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return told.stdout.strip() or "unknown"


def blas(coretype: str | None) -> Any:
    """What threadpoolctl says of the BLAS in a fresh process."""
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
    if coretype:
        environment["OPENBLAS_CORETYPE"] = coretype
    told = subprocess.run([sys.executable, "-c", BLAS], env=environment, capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


def facts() -> dict[str, Any]:
    """All of it, for the head of a results file."""
    from importlib.metadata import version

    from maxmargin import _native

    coretype = os.environ.get("OPENBLAS_CORETYPE")
    return {
        "when": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "commit": commit(),
        "cpu": cpu(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.machine()}",
        "isa": _native.isa(),
        "OPENBLAS_CORETYPE": coretype,
        "blas": {"as set": blas(coretype), "unset": blas(None)},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ("numpy", "scipy")}},
        "peers": {name: peer.version() if peer.present() else "absent" for name, peer in PEERS.items()},
    }


def memory_bytes(field: str) -> int:
    """VmRSS or VmHWM (its highest value) of this process; elsewhere than on Linux the highest value for both."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reset_peak() -> int:
    """Start the highest value again from the present one, which is returned."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return memory_bytes("VmHWM")
    return memory_bytes("VmRSS")
