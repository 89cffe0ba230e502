"""Dead code: what no result needs is not computed. Every input keeps its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from robomorph.ir.program import Node, Program

if TYPE_CHECKING:
    from robomorph.ir.unit_program import UnitProgram


def dce(program: Program) -> Program:
    """Drops what no result needs."""
    nodes, new = living_nodes(program.nodes, program.results)
    return program.with_nodes(nodes, [new[r] for r in program.results])


def compact(units: UnitProgram) -> UnitProgram:
    """The same for a program with calls in it. Calls stay whole: their units compute every node."""
    program = units.program
    called = (n for call in units.calls for n in (*call.args, *call.nodes))
    nodes, new = living_nodes(program.nodes, (*program.results, *called))
    calls = [
        replace(call, args=tuple(new[a] for a in call.args), nodes=tuple(new[n] for n in call.nodes))
        for call in units.calls
    ]
    living = program.with_nodes(nodes, [new[r] for r in program.results])
    return replace(units, program=living, calls=calls, scales=[units.scales[i] for i in new])


def living_nodes(nodes: Sequence[Node], roots: Iterable[int]) -> tuple[list[Node], dict[int, int]]:
    """The nodes that `roots` need, in their order, and the new place of each."""
    alive = bytearray(len(nodes))
    for r in roots:
        alive[r] = 1
    for i in reversed(range(len(nodes))):
        if alive[i]:
            for a in nodes[i].args:
                alive[a] = 1
    new: dict[int, int] = {}
    kept: list[Node] = []
    for i, node in enumerate(nodes):
        if alive[i]:
            new[i] = len(kept)
            kept.append(Node(node.op, tuple([new[a] for a in node.args]), node.value))
    return kept, new
