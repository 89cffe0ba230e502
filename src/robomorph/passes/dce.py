"""Dead code: what no result needs is not computed. Every input keeps its place."""

from __future__ import annotations

from robomorph.ir.program import Node, Program


def dce(program: Program) -> Program:
    alive = bytearray(len(program.nodes))
    for r in program.results:
        alive[r] = 1
    for i in reversed(range(len(program.nodes))):
        if alive[i]:
            for a in program.nodes[i].args:
                alive[a] = 1
    new: dict[int, int] = {}
    nodes: list[Node] = []
    for i, node in enumerate(program.nodes):
        if alive[i]:
            new[i] = len(nodes)
            nodes.append(Node(node.op, tuple([new[a] for a in node.args]), node.value))
    return program.with_nodes(nodes, [new[r] for r in program.results])
