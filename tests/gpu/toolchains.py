"""Which GPU toolchains are here; a test that needs a missing one is skipped with the reason."""

from __future__ import annotations

import shutil
from functools import cache

import pytest

from robomorph.errors import TargetError


@cache
def _opencl_problem() -> str | None:
    from robomorph.targets.opencl.device import open_device

    try:
        open_device()
    except TargetError as error:
        return str(error)
    return None


@cache
def _nvrtc_problem() -> str | None:
    from robomorph.targets.cuda.nvrtc import nvrtc

    try:
        nvrtc()
    except TargetError as error:
        return str(error)
    return None


needs_opencl = pytest.mark.skipif(_opencl_problem() is not None, reason=f"{_opencl_problem()}")
needs_nvrtc = pytest.mark.skipif(_nvrtc_problem() is not None, reason=f"{_nvrtc_problem()}")
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the path")
needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on the path")
