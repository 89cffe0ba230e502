"""Dead code: what no result needs is not computed. Every input keeps its place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from robomorph.ir.program import Node, Program


def dce(program: Program) -> Program:
    """Drops what no result needs."""
    nodes, new = living_nodes(program.nodes, program.results)
    return program.with_nodes(nodes, [new[r] for r in program.results])


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
