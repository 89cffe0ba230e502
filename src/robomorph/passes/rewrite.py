"""What passes share: rebuilding a program node by node."""

from __future__ import annotations

from collections.abc import Callable

from robomorph.ir.ops import CONST, Op
from robomorph.ir.program import Node, Program


class Rebuild:
    """A program under construction. Rules ask it about nodes made so far and emit new ones."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._constants: dict[float, int] = {}

    def emit(self, op: Op, args: tuple[int, ...] = (), value: float = 0.0) -> int:
        if op is CONST:
            return self.constant(value)
        self.nodes.append(Node(op, args, value))
        return len(self.nodes) - 1

    def constant(self, value: float) -> int:
        value = value + 0.0  # -0.0 is 0.0: the sign of a zero carries no meaning in a program
        index = self._constants.get(value)
        if index is None:
            index = self._constants[value] = len(self.nodes)
            self.nodes.append(Node(CONST, (), value))
        return index

    def value(self, index: int) -> float | None:
        """The number of a constant node, None for any other."""
        node = self.nodes[index]
        return node.value if node.op is CONST else None


# Given the program so far and a node whose arguments are already renamed, the index that stands for it.
Rule = Callable[[Rebuild, Node], int]


def rewrite(program: Program, rule: Rule) -> Program:
    """Apply `rule` to every node in order."""
    build = Rebuild()
    new: list[int] = []
    for node in program.nodes:
        renamed = Node(node.op, tuple([new[a] for a in node.args]), node.value) if node.args else node
        new.append(rule(build, renamed))
    return program.with_nodes(build.nodes, [new[r] for r in program.results])


def use_counts(program: Program) -> list[int]:
    """How often each node is used, results included."""
    uses = [0] * len(program.nodes)
    for node in program.nodes:
        for a in node.args:
            uses[a] += 1
    for r in program.results:
        uses[r] += 1
    return uses
