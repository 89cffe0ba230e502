"""Ordering: trigonometry first, then everything where the trace put it.

Sweeps finish one link before the next, which keeps values alive briefly; orders that chase registers harder
(depth first from the results, greedy list scheduling) were measured and lost (docs/benchmarks.md).
"""

from __future__ import annotations

from robomorph.ir.ops import COS, SIN
from robomorph.ir.program import Node, Program


def order(program: Program) -> Program:
    """Puts trigonometry first and keeps the rest in traced order, which finishes one link before the next.

    Sines and cosines, with what they need, are long and independent of each other.
    """
    nodes = program.nodes
    new: dict[int, int] = {}
    out: list[Node] = []

    def place(root: int) -> None:
        stack = [root]
        while stack:
            top = stack[-1]
            if top in new:
                stack.pop()
                continue
            waiting = [a for a in nodes[top].args if a not in new]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            new[top] = len(out)
            out.append(Node(nodes[top].op, tuple([new[a] for a in nodes[top].args]), nodes[top].value))

    for i, node in enumerate(nodes):
        if node.op is SIN or node.op is COS:
            place(i)
    for i in range(len(nodes)):
        place(i)
    return program.with_nodes(out, [new[r] for r in program.results])
