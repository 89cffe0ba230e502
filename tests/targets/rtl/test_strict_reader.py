"""Generated SystemVerilog by the letter of the standard: slang finds no error in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from robomorph.export.rtl import export_accelerator
from robomorph.targets.rtl.simulate import write_files
from tests.targets.rtl.accelerators import PAPERS, accelerator
from tests.targets.rtl.toolchains import needs_slang

DESIGNS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "papers' design": ("iiwa14", "forward_dynamics_gradient", {**PAPERS, "interval": 24}),
    "complete": ("chain:2", "forward_dynamics_gradient", {"interval": 16}),
    "units": (
        "chain:4",
        "inverse_dynamics_gradient",
        {"structure": "units", "interval": 24, "queue": 16, "boundary": "float32", "multiply_stages": 2},
    ),
    "pipelines": ("chain:3", "forward_dynamics", {"interval": 16, "pipelines": 3, "queue": 16}),
}


def errors(folder: Path, top: str) -> list[str]:
    """What slang says of all files in a folder; warnings do not count."""
    from pyslang import Bag, DiagnosticEngine
    from pyslang.ast import Compilation, CompilationOptions
    from pyslang.syntax import SyntaxTree

    options = CompilationOptions()
    options.topModules = {top}
    compilation = Compilation(Bag([options]))
    for path in sorted(folder.glob("*.sv")):
        compilation.addSyntaxTree(SyntaxTree.fromFile(str(path)))
    wrong = [d for d in compilation.getAllDiagnostics() if d.isError()]
    return DiagnosticEngine.reportAll(SyntaxTree.getDefaultSourceManager(), wrong).splitlines()


@needs_slang
@pytest.mark.parametrize("name", DESIGNS)
def test_no_errors(name: str, tmp_path: Path) -> None:
    robot, algorithm, options = DESIGNS[name]
    design = accelerator(robot, algorithm, **options).design
    write_files(design, tmp_path)
    assert errors(tmp_path, design.top) == []


@needs_slang
def test_a_signal_used_before_its_declaration_is_noticed(tmp_path: Path) -> None:
    text = (
        "module m (input logic a, output logic b);\n  assign b = c;\n  logic c;\n  assign c = a;\nendmodule\n"
    )
    (tmp_path / "m.sv").write_text(text)
    assert any("before its declaration" in line for line in errors(tmp_path, "m"))


@needs_slang
def test_exported_testbench(tmp_path: Path) -> None:
    a = accelerator("chain:2", "inverse_dynamics", interval=8, bits=16, trig="host")
    export_accelerator(a, tmp_path / "made")
    for path in (tmp_path / "made").glob("*/*.sv*"):
        (tmp_path / path.name).write_text(path.read_text())
    assert errors(tmp_path, "testbench") == []
