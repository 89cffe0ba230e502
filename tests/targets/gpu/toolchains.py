"""Which GPU toolchains are here; a test that needs a missing one is skipped with the reason.

With ROBOMORPH_REQUIRE_GPU_TOOLCHAINS=1 nothing that pip can install may be missing: such tests fail instead.
"""

from __future__ import annotations

import os
import shutil
from functools import cache

import pytest

from robomorph.errors import TargetError


@cache
def _opencl_problem() -> str | None:
    from robomorph.targets.gpu.opencl.device import open_device

    try:
        open_device()
    except TargetError as error:
        return str(error)
    return None


@cache
def _nvrtc_problem() -> str | None:
    from robomorph.targets.gpu.cuda.nvrtc import nvrtc

    try:
        nvrtc()
    except TargetError as error:
        return str(error)
    return None


def _skip(problem: str | None) -> pytest.MarkDecorator:
    required = os.environ.get("ROBOMORPH_REQUIRE_GPU_TOOLCHAINS") == "1"
    return pytest.mark.skipif(problem is not None and not required, reason=f"{problem}")


needs_opencl = _skip(_opencl_problem())
needs_nvrtc = _skip(_nvrtc_problem())
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not on the path")
needs_gxx = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is not on the path")
