"""Superposition: what invocations with the same operations have in common, as one small program.

Every value of the step is a constant in all calls (known, though it may differ from call to call), or it is
computed. A constant that is the same everywhere folds as usual; one that differs becomes an operand that is
selected by the call, and what is made of such constants alone is computed beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from robomorph.ir.ops import ADD, CONST, INPUT, MUL, NEG, SUB, Op
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.record import Invocation, Record
from robomorph.passes.balance import balance
from robomorph.passes.dce import dce

Signature = tuple[tuple[Op, tuple[int, ...]], ...]


class Source(NamedTuple):
    """Where an operand comes from in one call: a record, or (record -1) a number; and its scale."""

    record: int
    number: float
    scale: int


Sources = tuple[Source, ...]  # one per call


@dataclass(frozen=True, slots=True)
class Known:
    """A value that no state changes: one number per call, and their scales."""

    values: tuple[float, ...]
    scales: tuple[int, ...]

    def all(self, number: float) -> bool:
        return all(v == number for v in self.values)

    @property
    def common(self) -> bool:
        return len(set(self.values)) == 1


Value = int | Known  # a node of the template, or known


def live_positions(records: Sequence[Record], call: Invocation, wanted: set[int]) -> set[int]:
    """Positions of an invocation that the wanted ones are made of."""
    live: set[int] = set()
    waiting = list(wanted)
    while waiting:
        k = waiting.pop()
        if k not in live:
            live.add(k)
            waiting += [a - call.start for a in records[call.start + k].args if a >= call.start]
    return live


def signature(records: Sequence[Record], call: Invocation) -> Signature:
    """The operations of an invocation; operands from outside it are -1."""
    start = call.start
    return tuple(
        (r.op, tuple(a - start if a >= start else -1 for a in r.args))
        for r in records[call.start : call.stop]
    )


@dataclass
class Superposed:
    """Invocations as calls of one template. `values` holds what each recorded position became, `nodes` the
    template's so far, `sources` where operand k comes from in each call."""

    calls: list[Invocation]
    values: list[Value | None] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    sources: list[Sources] = field(default_factory=list)
    _seen: dict[Node, int] = field(default_factory=dict)
    _operands: dict[Sources, int] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Sequence[Record], calls: list[Invocation], *live: set[int]) -> Superposed:
        """Of all positions, or of those in the sets `live`, one set after the other (the order of operands
        and nodes follows); the rest stays None."""
        count = calls[0].stop - calls[0].start
        made = cls(calls, [None] * count)
        for positions in live or (set(range(count)),):
            for k in sorted(positions):
                if made.values[k] is None:
                    made.values[k] = made._value(records, k)
        return made

    def _value(self, records: Sequence[Record], k: int) -> Value:
        here = [records[call.start + k] for call in self.calls]
        known = [r.known for r in here if r.known is not None]
        if len(known) == len(here):
            return Known(tuple(known), tuple(r.scale or 0 for r in here))
        args = [self._operand(records, [r.args[j] for r in here]) for j in range(len(here[0].args))]
        return self._operation(here[0].op, args)

    def _operand(self, records: Sequence[Record], indices: list[int]) -> Value:
        first = self.calls[0].start
        if indices[0] >= first:
            value = self.values[indices[0] - first]
            assert value is not None
            return value
        here = [records[i] for i in indices]
        known = [r.known for r in here if r.known is not None]
        if len(known) == len(here):
            return Known(tuple(known), tuple(r.scale or 0 for r in here))
        pairs = zip(indices, here, strict=True)
        return self._port(
            tuple(
                Source(i, 0.0, r.scale or 0) if r.known is None else Source(-1, r.known, r.scale or 0)
                for i, r in pairs
            )
        )

    def _operation(self, op: Op, args: list[Value]) -> Value:
        rule = {ADD: self._add, SUB: self._subtract, MUL: self._multiply}.get(op)
        if rule is not None:
            return rule(*args)
        if op is NEG:
            return self._negate(args[0])
        return self._node(op, tuple(self._materialise(a) for a in args))

    def _add(self, a: Value, b: Value) -> Value:
        if isinstance(a, Known) and a.all(0.0):
            return b
        if isinstance(b, Known) and b.all(0.0):
            return a
        return self._node(ADD, (self._materialise(a), self._materialise(b)))

    def _subtract(self, a: Value, b: Value) -> Value:
        if isinstance(b, Known) and b.all(0.0):
            return a
        if isinstance(a, Known) and a.all(0.0):
            return self._negate(b)
        if a == b:
            return Known((0.0,) * len(self.calls), (0,) * len(self.calls))
        return self._node(SUB, (self._materialise(a), self._materialise(b)))

    def _multiply(self, a: Value, b: Value) -> Value:
        if isinstance(b, Known):
            a, b = b, a
        if isinstance(a, Known):
            if a.all(1.0):
                return b
            if a.all(-1.0):
                return self._negate(b)
        return self._node(MUL, (self._materialise(a), self._materialise(b)))

    def _negate(self, a: Value) -> Value:
        if isinstance(a, Known):
            return Known(tuple(0.0 - v for v in a.values), a.scales)
        return self.nodes[a].args[0] if self.nodes[a].op is NEG else self._node(NEG, (a,))

    def _materialise(self, value: Value) -> int:
        if not isinstance(value, Known):
            return value
        if value.common:
            return self._node(CONST, (), value.values[0])
        pairs = zip(value.values, value.scales, strict=True)
        return self._port(tuple(Source(-1, v, scale) for v, scale in pairs))

    def _port(self, sources: Sources) -> int:
        if sources not in self._operands:
            self._operands[sources] = self._node(INPUT, (), float(len(self.sources)))
            self.sources.append(sources)
        return self._operands[sources]

    def _node(self, op: Op, args: tuple[int, ...] = (), value: float = 0.0) -> int:
        if op.commutative and args[1] < args[0]:
            args = (args[1], args[0])
        node = Node(op, args, value)
        if node not in self._seen:
            self._seen[node] = len(self.nodes)
            self.nodes.append(node)
        return self._seen[node]

    # --- what is needed of it --------------------------------------------------------------------------

    def program(self, name: str, results: Sequence[int]) -> Program:
        """The template that computes the nodes `results`, sums balanced; operands as in `sources`."""
        ports = (Port("operands", (len(self.sources),)),)
        return dce(
            Program(name, ports, (Port("results", (len(results),)),), tuple(self.nodes), tuple(results))
        )

    def operands_of(self, results: Sequence[int]) -> list[int]:
        """Which operands the nodes `results` depend on."""
        return sorted(int(n.value) for n in self.program("", results).nodes if n.op is INPUT)


def pruned(program: Program) -> tuple[Program, list[int]]:
    """The program balanced, with its used operands alone, numbered anew; and their old numbers."""
    made = balance(program)
    used = sorted({int(n.value) for n in made.nodes if n.op is INPUT})
    place = {old: new for new, old in enumerate(used)}
    nodes = [Node(INPUT, (), float(place[int(n.value)])) if n.op is INPUT else n for n in made.nodes]
    ports = (Port("operands", (len(used),)),)
    return Program(made.name, ports, made.outputs, tuple(nodes), made.results), used
