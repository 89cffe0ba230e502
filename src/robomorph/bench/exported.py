"""The exported C++ header and the in-process kernel, timed in one C loop, without Python."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.bench.functions import Function
from robomorph.bench.measuring import Contestant, Results
from robomorph.bench.records import OURS
from robomorph.bench.subject import Subject
from robomorph.errors import TargetError
from robomorph.targets.cpu.kernel import Kernel

HEADER = "exported header"
KERNEL = "in-process kernel"
_TIMEOUT_S = 300.0

_DRIVER = """\
extern "C" {{
void {symbol}({parameters});
void header_loop(long count, const double *const *in, double *const *out) {{
  for (long i = 0; i < count; ++i) {symbol}({arguments});
}}
typedef void (*kernel_function)(const double *const *, double *const *, void *);
void kernel_loop(long count, const double *const *in, double *const *out, kernel_function call,
                 void *space) {{
  for (long i = 0; i < count; ++i) call(in, out, space);
}}
}}
"""


def cpp_compiler() -> str | None:
    return shutil.which("g++") or shutil.which("clang++")


def export_contestants(subject: Subject, function: Function) -> list[Contestant]:
    """The header's and the kernel's evaluation of one state; TargetError if the export cannot be made."""
    compiler = cpp_compiler()
    if compiler is None:
        raise TargetError("no C++ compiler here: g++ or clang++ is needed")
    kernel = subject.robot.compile(function.name, threads=1)
    assert isinstance(kernel, Kernel)
    kernel.prepare(1)
    with tempfile.TemporaryDirectory(prefix="robomorph-bench-") as folder:
        library = _build(compiler, subject, kernel, Path(folder))
    inputs = [subject.states(1)[port.name][0] for port in kernel.inputs]
    return [_header(library, kernel, inputs), _kernel(library, kernel, inputs)]


def _build(compiler: str, subject: Subject, kernel: Kernel, folder: Path) -> ctypes.CDLL:
    export = [sys.executable, "-m", "robomorph", "export", subject.source, "--target", "cpp"]
    options = ["--no-mimic", "--dtype", "float64", "--functions", kernel.name]
    _run([*export, *options, "-o", str(folder / "cpp")])
    package = next((folder / "cpp" / "include").iterdir()).name
    driver, library = folder / "driver.cpp", folder / "driver.so"
    driver.write_text(_driver_text(f"{package}_{kernel.name}", kernel))
    source, include = folder / "cpp" / "src" / "c_abi.cpp", folder / "cpp" / "include"
    # As in a Release build of the exported CMake project.
    options = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", f"-I{include}"]
    _run([compiler, *options, str(source), str(driver), "-o", str(library)])
    return ctypes.CDLL(str(library))


def _driver_text(symbol: str, kernel: Kernel) -> str:
    n, m = len(kernel.inputs), len(kernel.outputs)
    return _DRIVER.format(
        symbol=symbol,
        parameters=", ".join(["const double *"] * n + ["double *"] * m),
        arguments=", ".join([f"in[{i}]" for i in range(n)] + [f"out[{i}]" for i in range(m)]),
    )


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"{Path(command[0]).name} took more than {_TIMEOUT_S:.0f} s") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise TargetError(f"{Path(command[0]).name} failed: {last[:200]}")


class _Arrays:
    """Inputs and outputs of one state, and the tables of pointers that C wants."""

    def __init__(self, kernel: Kernel, inputs: list[Any]) -> None:
        self.names = [port.name for port in kernel.outputs]
        self.inputs = [np.ascontiguousarray(a) for a in inputs]
        self.outputs = [np.zeros(port.shape) for port in kernel.outputs]
        self.space = np.zeros(kernel.workspace + 64, np.uint8)
        self.aligned = (self.space.ctypes.data + 63) // 64 * 64
        self.in_table = (ctypes.c_void_p * len(self.inputs))(*(a.ctypes.data for a in self.inputs))
        self.out_table = (ctypes.c_void_p * len(self.outputs))(*(a.ctypes.data for a in self.outputs))

    def results(self) -> Results:
        return {name: a[None] for name, a in zip(self.names, self.outputs, strict=True)}


def _header(library: ctypes.CDLL, kernel: Kernel, inputs: list[Any]) -> Contestant:
    arrays = _Arrays(kernel, inputs)

    def loop(count: int) -> None:
        library.header_loop(ctypes.c_long(count), arrays.in_table, arrays.out_table)

    return Contestant(OURS, HEADER, loop, 1, arrays.results)


def _kernel(library: ctypes.CDLL, kernel: Kernel, inputs: list[Any]) -> Contestant:
    arrays = _Arrays(kernel, inputs)
    address, space = ctypes.c_void_p(kernel.single_fn), ctypes.c_void_p(arrays.aligned)

    def loop(count: int) -> None:
        library.kernel_loop(ctypes.c_long(count), arrays.in_table, arrays.out_table, address, space)

    loop.__dict__["kept"] = kernel
    return Contestant(OURS, KERNEL, loop, 1, arrays.results)
