"""Which hardware tools are here; a test that needs a missing one is skipped with the reason."""

from __future__ import annotations

import importlib.util

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


needs_verilator = pytest.mark.skipif(_simulator_problem() is not None, reason=f"{_simulator_problem()}")
needs_yosys = pytest.mark.skipif(yosys_problem() is not None, reason=f"{yosys_problem()}")
