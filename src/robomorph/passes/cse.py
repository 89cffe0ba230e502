"""Common subexpressions: the same operation on the same values is computed once."""

from __future__ import annotations

from robomorph.ir.ops import NEG, SUB
from robomorph.ir.program import Node, Program
from robomorph.passes.rewrite import Rebuild, rewrite


def cse(program: Program) -> Program:
    """Computes equal expressions once."""
    seen: dict[Node, int] = {}

    def rule(build: Rebuild, node: Node) -> int:
        if node.op.commutative and node.args[1] < node.args[0]:
            node = Node(node.op, (node.args[1], node.args[0]), node.value)
        index = seen.get(node)
        if index is None:
            index = seen[node] = _emit(build, node, seen)
        return index

    return rewrite(program, rule)


def _emit(build: Rebuild, node: Node, seen: dict[Node, int]) -> int:
    if node.op is SUB:  # b - a known: a - b is its negation
        opposite = seen.get(Node(SUB, (node.args[1], node.args[0])))
        if opposite is not None:
            return build.emit(NEG, (opposite,))
    return build.emit(*node)
