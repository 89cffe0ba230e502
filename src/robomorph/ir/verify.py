"""Which programs are legal. Tests run this after every pass."""

from __future__ import annotations

import math

from robomorph.errors import ProgramError
from robomorph.ir.ops import CONST, INPUT, OPS
from robomorph.ir.program import Node, Program


def verify(program: Program) -> None:
    """Raise ProgramError, naming the node, if the program breaks a rule."""
    for index, node in enumerate(program.nodes):
        problem = _node_problem(program, index, node)
        if problem:
            raise ProgramError(f"{program.name}: node %{index} ({node.op.name}): {problem}")
    if len(program.results) != program.output_size:
        raise ProgramError(
            f"{program.name}: {len(program.results)} results for {program.output_size} output entries"
        )
    for k, r in enumerate(program.results):
        if not 0 <= r < len(program.nodes):
            raise ProgramError(f"{program.name}: result {k} names node %{r}, which does not exist")
    for ports in (program.inputs, program.outputs):
        names = [port.name for port in ports]
        if len(set(names)) != len(names):
            raise ProgramError(f"{program.name}: ports must have different names, found {names}")
    if list(program.cuts) != sorted(set(program.cuts)) or (program.cuts and program.cuts[0] <= 0):
        raise ProgramError(f"{program.name}: cuts must rise from above 0, found {program.cuts}")
    if program.cuts and program.cuts[-1] != len(program.nodes):
        raise ProgramError(f"{program.name}: the last cut must end the program")


def _node_problem(program: Program, index: int, node: Node) -> str | None:
    if OPS.get(node.op.name) is not node.op:
        return "unknown operation"
    if len(node.args) != node.op.arity:
        return f"takes {node.op.arity} arguments, found {len(node.args)}"
    for a in node.args:
        if not 0 <= a < index:
            return f"argument %{a} does not come before it"
    if node.op is CONST and not math.isfinite(node.value):
        return f"constant {node.value} is not finite"
    if node.op is INPUT and not (0 <= node.value < program.input_size and node.value == int(node.value)):
        return f"input slot {node.value} outside 0..{program.input_size - 1}"
    return None
