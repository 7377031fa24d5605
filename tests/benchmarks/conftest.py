"""Snap ML switches denormal numbers off for the whole process as it is imported: every test here gives back what it found."""

import ctypes
import ctypes.util

import pytest


@pytest.fixture(autouse=True)
def _floating_point_environment():
    found = ctypes.util.find_library("m")
    if found is None:
        yield
        return
    library, saved = ctypes.CDLL(found), ctypes.create_string_buffer(64)
    library.fegetenv(saved)
    yield
    library.fesetenv(saved)
