"""Which hardware tools are here; a test that needs a missing one is skipped with the reason.

With ROBOMORPH_REQUIRE_RTL_TOOLCHAINS=1 such tests run, and fail, instead.
"""

from __future__ import annotations

import importlib.util
import os

import pytest

from robomorph.errors import TargetError
from robomorph.targets.rtl.tools import find_compiler, find_verilator


def _simulator_problem() -> str | None:
    try:
        find_verilator()
        find_compiler()
    except TargetError as error:
        return str(error)
    return None


def yosys_problem() -> str | None:
    return "pyosys is not installed" if importlib.util.find_spec("pyosys") is None else None


def slang_problem() -> str | None:
    return "pyslang is not installed" if importlib.util.find_spec("pyslang") is None else None


def _skip(problem: str | None) -> pytest.MarkDecorator:
    required = os.environ.get("ROBOMORPH_REQUIRE_RTL_TOOLCHAINS") == "1"
    return pytest.mark.skipif(problem is not None and not required, reason=f"{problem}")


needs_verilator = _skip(_simulator_problem())
needs_yosys = _skip(yosys_problem())
needs_slang = pytest.mark.skipif(slang_problem() is not None, reason=f"{slang_problem()}")
