"""Straight-line programs: the form every algorithm takes between tracing and a target."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from robomorph.ir.ops import CONST, INPUT, Op


class Node(NamedTuple):
    """One value. `args` are indices of earlier nodes; `value` is the number of a constant, or the
    flat slot of an input."""

    op: Op
    args: tuple[int, ...] = ()
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Port:
    """A named argument or result and its trailing shape (a batch comes before it)."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class Program:
    """Nodes in an order in which every argument comes before its use.

    Inputs are the ports' entries laid end to end (row-major): slot k of an INPUT node. `results`
    holds one node index per output entry, laid out the same way.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    # Bounds (exclusive node indices) at which targets may cut the program; set by the chunk pass.
    cuts: tuple[int, ...] = field(default=())

    @property
    def input_size(self) -> int:
        return sum(port.size for port in self.inputs)

    @property
    def output_size(self) -> int:
        return sum(port.size for port in self.outputs)

    def with_nodes(self, nodes: Sequence[Node], results: Sequence[int]) -> Program:
        """The same ports over other nodes; any cuts are dropped, as their places have moved."""
        return Program(self.name, self.inputs, self.outputs, tuple(nodes), tuple(results))

    def counts(self) -> dict[str, int]:
        """Arithmetic nodes by operation name."""
        counts: dict[str, int] = {}
        for node in self.nodes:
            if node.op is not CONST and node.op is not INPUT:
                counts[node.op.name] = counts.get(node.op.name, 0) + 1
        return counts

    def cost(self) -> int:
        """Arithmetic operations, a fused multiply-add counting two."""
        return sum(node.op.cost for node in self.nodes)

    def depth(self) -> int:
        """Operations on the longest path from an input to a result."""
        depth = [0] * len(self.nodes)
        for i, node in enumerate(self.nodes):
            if node.args:
                depth[i] = 1 + max(depth[a] for a in node.args)
        return max((depth[r] for r in self.results), default=0)

    def nonzeros(self) -> dict[str, int]:
        """Per output, the entries that are not the constant zero."""
        found: dict[str, int] = {}
        start = 0
        for port in self.outputs:
            entries = self.results[start : start + port.size]
            found[port.name] = sum(not self.is_zero(r) for r in entries)
            start += port.size
        return found

    def is_zero(self, index: int) -> bool:
        node = self.nodes[index]
        return node.op is CONST and node.value == 0.0
