"""The C++ tests of the loops, plain and under the sanitizers, and the extension itself under the sanitizers."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from maxmargin import _native

ROOT = Path(__file__).parents[1]
COMPILER = shutil.which(os.environ.get("CXX", "g++"))
SANITIZE = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]

pytestmark = pytest.mark.skipif(COMPILER is None or sys.platform != "linux", reason="no g++ on this machine")


def build_and_run(folder, flags):
    program = folder / "test_core"
    source = ROOT / "cpp" / "tests" / "test_core.cpp"
    command = [
        COMPILER,
        "-std=c++20",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-fopenmp",
        f"-I{ROOT / 'cpp'}",
        *flags,
        source,
        "-o",
        program,
    ]
    subprocess.run(command, check=True, timeout=300)
    return subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)


def test_loops_against_brute_force(tmp_path):
    done = build_and_run(tmp_path, ["-O2"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout
    assert done.stdout.count("ok: ") > 60


@pytest.mark.all
def test_loops_under_the_sanitizers(tmp_path):
    done = build_and_run(tmp_path, SANITIZE)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


@pytest.mark.all
@pytest.mark.parametrize("isa", [isa for isa in _native.isas() if isa != _native.isa()])
def test_the_whole_suite_on_every_other_instruction_set(isa):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", str(ROOT / "tests")],
        capture_output=True, text=True, env={**os.environ, "MAXMARGIN_ISA": isa}, cwd=ROOT, timeout=900, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]


HANG = """
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>
int team() { int n = 0;
_Pragma("omp parallel num_threads(2) reduction(+ : n)") n += 1;
return n; }
int main() { team(); const pid_t child = fork();
  if (child == 0) { alarm(3); team(); _exit(0); }
  int status = 0; waitpid(child, &status, 0); return WIFSIGNALED(status) ? 1 : 0; }
"""


@pytest.mark.all
def test_libgomp_deadlocks_in_a_forked_child_without_our_guard(tmp_path):
    """The defect that tests/test_native.py shows to be gone: an unguarded team in the child never comes back."""
    source = tmp_path / "hang.cpp"
    source.write_text(HANG)
    subprocess.run([COMPILER, "-fopenmp", source, "-o", tmp_path / "hang"], check=True)
    assert subprocess.run([tmp_path / "hang"], timeout=60, check=False).returncode == 1


@pytest.fixture(scope="session")
def sanitized(tmp_path_factory):
    """A package folder whose extension is built with ASan and UBSan."""
    cmake, ninja = shutil.which("cmake"), shutil.which("ninja")
    if cmake is None or ninja is None:
        pytest.skip("cmake and ninja are needed")
    folder = tmp_path_factory.mktemp("sanitized")
    nanobind = subprocess.run(
        [sys.executable, "-m", "nanobind", "--cmake_dir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    build, package = folder / "build", folder / "package"
    configure = [cmake, "-S", ROOT, "-B", build, "-G", "Ninja", f"-Dnanobind_DIR={nanobind}", "-DMAXMARGIN_SANITIZE=ON"]
    subprocess.run([*configure, f"-DPython_EXECUTABLE={sys.executable}"], check=True, capture_output=True, timeout=300)
    subprocess.run([cmake, "--build", build], check=True, capture_output=True, timeout=900)
    shutil.copytree(ROOT / "src" / "maxmargin", package / "maxmargin", ignore=shutil.ignore_patterns("*.so"))
    for library in build.glob("_core*.so"):
        shutil.copy(library, package / "maxmargin")
    return package


@pytest.mark.all
@pytest.mark.parametrize("isa", _native.isas())
def test_the_extension_under_the_sanitizers(sanitized, isa):
    """The tests that drive the extension, on a build with ASan and UBSan."""
    runtime = [subprocess.run([COMPILER, f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()
               for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")]  # fmt: skip
    tests = [
        "test_design.py",
        "test_native.py",
        "kernels/test_strings.py",
        "solvers/test_coordinate_descent.py",
        "solvers/test_dual_ascent.py",
        "estimators/test_linear.py",
        "estimators/test_certified.py",
        "estimators/test_linear_svc.py",
    ]
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(runtime),
        "PYTHONPATH": str(sanitized),
        "ASAN_OPTIONS": "detect_leaks=0",
        "MAXMARGIN_ISA": isa,
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *(str(ROOT / "tests" / name) for name in tests)],
        capture_output=True, text=True, env=environment, cwd=ROOT, timeout=1500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    assert "passed" in done.stdout
