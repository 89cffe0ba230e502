"""Values alone of a program that has derivatives too: what a line search asks for."""

from __future__ import annotations

from dataclasses import replace

from robomorph.ir.program import Program
from robomorph.passes.pipeline import SIMPLIFY, run_passes


def first_output(program: Program, name: str) -> Program:
    """The program of its first output alone."""
    port = program.outputs[0]
    cut = replace(program, name=name, outputs=(port,), results=program.results[: port.size], cuts=())
    return run_passes(cut, SIMPLIFY)
