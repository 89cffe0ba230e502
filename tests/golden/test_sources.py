"""Generated sources of a two-joint chain, as files: a change of any generator shows as a change of these.

`pytest tests/golden --update-golden` writes them anew; read the difference before committing it. That the
sources are right is tested elsewhere; here only that they change when somebody means to change them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest

import robomorph
from robomorph import Robot
from robomorph.compiler.program import program_recipe
from robomorph.export import default_functions, make_package
from robomorph.export.casadi import casadi_package
from robomorph.ir.program import Program
from robomorph.ir.text import to_text
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.targets.casadi.sources import casadi_files
from robomorph.targets.cpp.project import project_files
from robomorph.targets.cpu.emit import emit
from robomorph.targets.gpu.devices import gpu_dialect
from robomorph.targets.gpu.kernel import make_launch_plan

FOLDER = Path(__file__).parent / "sources"
ALGORITHM = "inverse_dynamics"


@cache
def robot() -> Robot:
    return robomorph.load("chain:2")


def program() -> Program:
    kernel: Any = robot().compile(ALGORITHM, target="interpreter")
    return cast(Program, kernel.program)


def ir_text() -> str:
    return to_text(program())


def llvm() -> str:
    """For a CPU with fused multiply-adds and vectors of 256 bits, whatever this one has."""
    return emit(run_passes(program(), SCHEDULE), "float64", 4, fma=True, vector_bits=256).text


def gpu(target: str, mapping: str) -> str:
    return make_launch_plan(program_recipe(program(), "float32"), gpu_dialect(target), mapping).source


def cpp() -> str:
    specs = [spec for spec in default_functions(["tool"]) if spec.algorithm == ALGORITHM]
    files = project_files(make_package(robot(), specs))
    return next(text for path, text in files.items() if path.endswith(f"{ALGORITHM}.hpp"))


def casadi_source(ending: str) -> str:
    chosen: dict[str, Any] = {"dtypes": None, "name": None, "f_ext": False, "derivatives": 1}
    files = casadi_files(casadi_package(robot(), [ALGORITHM], **chosen))
    return next(text for path, text in files.items() if path.endswith(ending))


def systemverilog(part: str) -> str:
    kernel: Any = robot().compile(ALGORITHM, target="rtl", interval=8)
    files: dict[str, str] = kernel.accelerator.design.files
    return next(text for name, text in files.items() if name.endswith(f"_{part}.sv"))


SOURCES: dict[str, Callable[[], str]] = {
    "program.ir": ir_text,
    "kernel.ll": llvm,
    "thread.cu": lambda: gpu("cuda", "thread"),
    "group.cu": lambda: gpu("cuda", "group"),
    "thread.cl": lambda: gpu("opencl", "thread"),
    "inverse_dynamics.hpp": cpp,
    "casadi.cpp": lambda: casadi_source("src/chain_2.cpp"),
    "casadi.md": lambda: casadi_source("README.md"),
    "core.sv": lambda: systemverilog("core"),
    "top.sv": lambda: systemverilog("top"),
}


@pytest.mark.parametrize("name", SOURCES)
def test_the_source_is_the_one_on_file(name: str, request: pytest.FixtureRequest) -> None:
    path, text = FOLDER / name, SOURCES[name]()
    if request.config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{name} is not there yet: run pytest tests/golden --update-golden"
    assert text == path.read_text(encoding="utf-8"), f"{name} changed: if that is meant, use --update-golden"
