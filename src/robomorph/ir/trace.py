"""Tracing: run an algorithm on symbolic scalars and keep the straight-line program it made.

Constants stay plain floats while tracing, so arithmetic between them is done by Python, and
a zero or a one that meets a symbolic value folds away at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robomorph.ir.ops import ADD, CONST, COS, INPUT, MAX, MIN, MUL, NEG, RECIP, SELECT, SIN, SQRT, SUB, Op
from robomorph.ir.program import Node, Port, Program


class TraceTooLong(Exception):
    """A trace was abandoned at its limit."""


class Tracer:
    """Collects interned nodes: the same operation on the same values is one node."""

    def __init__(self, limit: int | None = None) -> None:
        self.nodes: list[Node] = []
        self.limit = limit  # give up (TraceTooLong) beyond so many nodes
        self._index: dict[Node, int] = {}

    def node(self, op: Op, args: tuple[int, ...] = (), value: float = 0.0) -> int:
        key = Node(op, args, value)
        index = self._index.get(key)
        if index is None:
            index = self._index[key] = len(self.nodes)
            self.nodes.append(key)
            if index == self.limit:
                raise TraceTooLong
        return index

    def index_of(self, x: Any) -> int:
        """The node of a traced value or a number."""
        if isinstance(x, Expr):
            return x.index
        return self.node(CONST, (), float(x))

    def input(self, slot: int) -> Expr:
        return Expr(self, self.node(INPUT, (), float(slot)))

    def inputs(self, ports: Sequence[Port]) -> dict[str, list[Expr]]:
        """Fresh symbolic inputs for all ports, flat and row-major."""
        values: dict[str, list[Expr]] = {}
        slot = 0
        for port in ports:
            values[port.name] = [self.input(slot + k) for k in range(port.size)]
            slot += port.size
        return values

    def program(
        self,
        name: str,
        inputs: Sequence[Port],
        results: Mapping[str, Any],
        shapes: Mapping[str, tuple[int, ...]] | None = None,
    ) -> Program:
        """The program that computes `results`: nested sequences of scalars by output name. `shapes` gives the
        shapes that cannot be read off them (a matrix without rows)."""
        ports: list[Port] = []
        flat: list[int] = []
        for key, value in results.items():
            entries = np.asarray(value, dtype=object)
            if shapes is not None:
                entries = entries.reshape(shapes[key])
            ports.append(Port(key, entries.shape))
            flat.extend(self.index_of(x) for x in entries.ravel())
        return Program(name, tuple(inputs), tuple(ports), tuple(self.nodes), tuple(flat))


class Expr:
    """A traced scalar."""

    __slots__ = ("index", "tracer")

    def __init__(self, tracer: Tracer, index: int) -> None:
        self.tracer = tracer
        self.index = index

    def _binary(self, op: Op, a: int, b: int) -> Expr:
        if op.commutative and b < a:
            a, b = b, a
        return Expr(self.tracer, self.tracer.node(op, (a, b)))

    def _unary(self, op: Op) -> Expr:
        return Expr(self.tracer, self.tracer.node(op, (self.index,)))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Expr):
            return self._binary(ADD, self.index, other.index)
        return self if other == 0.0 else self._binary(ADD, self.index, self.tracer.index_of(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, Expr):
            return 0.0 if other.index == self.index else self._binary(SUB, self.index, other.index)
        return self if other == 0.0 else self._binary(SUB, self.index, self.tracer.index_of(other))

    def __rsub__(self, other: Any) -> Any:
        return -self if other == 0.0 else self._binary(SUB, self.tracer.index_of(other), self.index)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, Expr):
            return self._binary(MUL, self.index, other.index)
        if other == 0.0:
            return 0.0
        if other == 1.0:
            return self
        if other == -1.0:
            return -self
        return self._binary(MUL, self.index, self.tracer.index_of(other))

    __rmul__ = __mul__

    def __neg__(self) -> Expr:
        node = self.tracer.nodes[self.index]
        return Expr(self.tracer, node.args[0]) if node.op is NEG else self._unary(NEG)

    def sin(self) -> Expr:
        return self._unary(SIN)

    def cos(self) -> Expr:
        return self._unary(COS)

    def reciprocal(self) -> Expr:
        return self._unary(RECIP)

    def sqrt(self) -> Expr:
        return self._unary(SQRT)

    def minimum(self, other: Any) -> Expr:
        return self._either(MIN, other)

    def maximum(self, other: Any) -> Expr:
        return self._either(MAX, other)

    def _either(self, op: Op, other: Any) -> Expr:
        index = self.tracer.index_of(other)
        return self if index == self.index else self._binary(op, self.index, index)

    def select(self, a: Any, b: Any) -> Any:
        """`a` where this is not negative, else `b`."""
        first, second = self.tracer.index_of(a), self.tracer.index_of(b)
        return (
            a if first == second else Expr(self.tracer, self.tracer.node(SELECT, (self.index, first, second)))
        )

    def __bool__(self) -> bool:
        raise TypeError("a traced scalar has no value: algorithms must not branch on it")

    def __repr__(self) -> str:
        return f"Expr(%{self.index})"


class Opaque(Expr):
    """A traced scalar that nothing looks behind: its opposite is a new operation, even if it was made by a
    change of sign."""

    __slots__ = ()

    def __neg__(self) -> Expr:
        return self._unary(NEG)
