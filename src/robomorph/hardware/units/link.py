"""From a recording to a flat program, and the calls in it: which invocations share a unit, which results of
them are needed, and where every node goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from robomorph.hardware.units.record import Invocation, Record, Recorder, result_scale
from robomorph.hardware.units.superpose import Known, Source, Superposed, live_positions, pruned, signature
from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, RECIP, SIN, SUB
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.trace import Expr, Tracer
from robomorph.spatial import cos, sin
from robomorph.spatial.scalar import reciprocal
from robomorph.targets.rtl.units import Call

_APPLY: dict[Any, Any] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    NEG: lambda a: -a,
    SIN: sin,
    COS: cos,
    RECIP: reciprocal,
}
# A template with fewer operations is not worth the selectors of its operands.
_FEWEST_OPERATIONS = 6


@dataclass
class RealTemplate:
    """A template in real numbers, made from the steps `names`. Operations: of a call without any sparsity,
    and of every call with its own."""

    names: list[str]
    kind: str
    program: Program
    dense: int
    alone: list[int]

    @property
    def name(self) -> str:
        return " and ".join(dict.fromkeys(self.names))

    @property
    def average(self) -> float:
        return sum(self.alone) / len(self.alone)


@dataclass
class UnitProgram:
    """A flat program, and the calls that it is partly made of. Formats are shared by values times 2**scale:
    `scales` has those of flat nodes, `operand_scales` and `result_scales` of every call's operands and
    results."""

    program: Program
    templates: list[RealTemplate]
    calls: list[Call]
    scales: list[int]
    operand_scales: list[tuple[int, ...]]
    result_scales: list[tuple[int, ...]]

    def call_scales(self, c: int, program: Program | None = None) -> list[int]:
        """Scales inside a call, of its template's nodes (or of a program with the same operations)."""
        given = program or self.templates[self.calls[c].template].program
        return node_scales(given, self.operand_scales[c], self.result_scales[c])


@dataclass
class _Group:
    """Invocations of one template while it is made. `wanted` are positions whose results are needed."""

    superposed: Superposed
    wanted: set[int] = field(default_factory=set)
    live: set[int] = field(default_factory=set)  # calls of which some result is needed

    def made(self) -> dict[int, int]:
        """Positions that are computed, with their nodes; the others are known, or operands passed on."""
        s = self.superposed
        pairs = ((k, s.values[k]) for k in self.wanted)
        return {k: n for k, n in pairs if isinstance(n, int) and s.nodes[n].op is not INPUT}

    def results(self) -> list[int]:
        """Nodes of the superposition that are results, in order."""
        return sorted(set(self.made().values()))


def link_units(
    recorder: Recorder, name: str, ports: Sequence[Port], results: Sequence[tuple[Port, list[Any]]]
) -> UnitProgram:
    """The program that computes `results` (scalars per output port, recorded or numbers)."""
    groups = _groups(recorder)
    while True:
        _Liveness(recorder, groups).run([x for _, values in results for x in values])
        small = [g for g in groups if g.live and not _worth_a_unit(g)]
        if not small:
            break
        groups = [g for g in groups if g not in small]
        for g in groups:
            g.wanted, g.live = set(), set()
    return _Linker(recorder, [g for g in groups if g.live]).run(name, ports, results)


def _groups(recorder: Recorder) -> list[_Group]:
    alike: dict[Any, list[Invocation]] = defaultdict(list)
    for call in recorder.invocations:
        alike[call.key, signature(recorder.records, call)].append(call)
    return [_Group(Superposed.of(recorder.records, calls)) for calls in alike.values() if len(calls) > 1]


def _worth_a_unit(group: _Group) -> bool:
    nodes = group.results()
    return not nodes or (
        len(group.live) > 1 and group.superposed.program("", nodes).cost() >= _FEWEST_OPERATIONS
    )


class _Places:
    """Which call, and which position in it, a record belongs to."""

    def __init__(self, groups: Sequence[_Group]) -> None:
        self.of: dict[int, tuple[_Group, int, int]] = {}
        for group in groups:
            for c, call in enumerate(group.superposed.calls):
                for k in range(call.stop - call.start):
                    self.of[call.start + k] = (group, c, k)


class _Liveness:
    """Marks which results of which calls are needed. All calls of a template have the same results, so what
    one call needs, its fellows compute, and their operands are needed too."""

    def __init__(self, recorder: Recorder, groups: list[_Group]) -> None:
        self.records, self.groups = recorder.records, groups
        self.places = _Places(groups).of
        self.done: set[int] = set()

    def run(self, results: list[Any]) -> None:
        self._need([x.index for x in results if not isinstance(x, float)])
        before = -1
        while before != (before := self._size()):
            for group in self.groups:
                if not group.live:
                    continue
                for operand in group.superposed.operands_of(group.results()):
                    sources = group.superposed.sources[operand]
                    self._need([sources[c].record for c in group.live if sources[c].record >= 0])

    def _size(self) -> int:
        return sum(len(g.results()) + len(g.live) for g in self.groups)

    def _need(self, waiting: list[int]) -> None:
        while waiting:
            i = waiting.pop()
            if i in self.done or self.records[i].known is not None:
                continue
            self.done.add(i)
            if i in self.places:
                waiting += self._need_result(*self.places[i])
            else:
                waiting += self.records[i].args

    def _need_result(self, group: _Group, c: int, k: int) -> list[int]:
        value = group.superposed.values[k]
        group.wanted.add(k)
        if not isinstance(value, int):
            return []
        node = group.superposed.nodes[value]
        if node.op is INPUT:
            source = group.superposed.sources[int(node.value)][c]
            return [source.record] if source.record >= 0 else []
        group.live.add(c)
        return []


class _Linker:
    """Builds the flat program: plain operations fold as in any trace, calls are inlined node by node."""

    def __init__(self, recorder: Recorder, groups: list[_Group]) -> None:
        self.records, self.groups = recorder.records, groups
        self.places = _Places(groups).of
        self.tracer = Tracer()
        self.values: dict[int, Any] = {}  # record -> number or traced value
        self.programs: list[tuple[int, list[int]]] = []  # per group: its template, and its operands in it
        self.templates: list[RealTemplate] = []
        self.calls: list[Call] = []
        self.scales: dict[int, int] = {}  # of flat nodes
        self.operand_scales: list[tuple[int, ...]] = []
        self.result_scales: list[tuple[int, ...]] = []

    def run(self, name: str, ports: Sequence[Port], results: Sequence[tuple[Port, list[Any]]]) -> UnitProgram:
        for group in self.groups:
            self._template(group)
        for i, record in enumerate(self.records):
            if i not in self.places:
                self.values[i] = made = self._plain(record)
                if isinstance(made, Expr):
                    self.scales.setdefault(made.index, record.scale or 0)
                continue
            group, c, k = self.places[i]
            if k == 0:
                self._inline(group, c)
        flat = [self.tracer.index_of(self._final(x)) for _, values in results for x in values]
        outputs = tuple(port for port, _ in results)
        program = Program(name, tuple(ports), outputs, tuple(self.tracer.nodes), tuple(flat))
        scales = [self.scales.get(i, 0) for i in range(len(program.nodes))]
        return compact(
            UnitProgram(program, self._named(), self.calls, scales, self.operand_scales, self.result_scales)
        )

    def _template(self, group: _Group) -> None:
        """The group's template: a new one, or an equal one of another group."""
        calls = group.superposed.calls
        first = calls[0]
        made, passed = (live_positions(self.records, first, set(w)) for w in (group.made(), group.wanted))
        group.superposed = Superposed.of(self.records, calls, made, passed)
        program, operands = pruned(group.superposed.program("", group.results()))
        dense = sum(self.records[first.start + k].op.cost for k in made)
        note = f" ({first.note})" if first.note and all(c.note == first.note for c in calls) else ""
        alone = [self._cost_alone(group, c) for c in sorted(group.live)]
        for k, t in enumerate(self.templates):
            if t.program == program and t.kind == first.kind:
                self.programs.append((k, operands))
                t.names.append(first.name + note)
                t.alone += alone
                return
        self.programs.append((len(self.templates), operands))
        self.templates.append(RealTemplate([first.name + note], first.kind, program, dense, alone))

    def _named(self) -> list[RealTemplate]:
        """Templates with different names: several of one sweep are numbered."""
        seen: dict[str, int] = defaultdict(int)
        for t in self.templates:
            seen[t.names[0]] += 1
            if seen[t.names[0]] > 1:
                t.names = [f"{t.names[0]}, kind {seen[t.names[0]]}"]
        return self.templates

    def _cost_alone(self, group: _Group, c: int) -> int:
        """Operations of one call with all of its own sparsity."""
        alone = Superposed.of(self.records, [group.superposed.calls[c]])
        wanted = [alone.values[k] for k in group.wanted]
        return pruned(alone.program("", [v for v in wanted if isinstance(v, int)]))[0].cost()

    def _plain(self, record: Record) -> Any:
        if record.known is not None:
            return record.known
        if record.op is INPUT:
            return self.tracer.input(int(record.value))
        if any(a not in self.values for a in record.args):
            return None  # of a dead call: never needed
        args = [self.values[a] for a in record.args]
        return None if any(a is None for a in args) else _APPLY[record.op](*args)

    def _inline(self, group: _Group, c: int) -> None:
        s, call = group.superposed, group.superposed.calls[c]
        index = self.groups.index(group)
        results = (
            dict(zip(group.results(), self._call(index, group, c), strict=True)) if c in group.live else {}
        )
        for k, value in enumerate(s.values):
            i = call.start + k
            if value is None or self.records[i].known is not None:
                self.values[i] = self.records[i].known
            elif isinstance(value, Known):
                self.values[i] = value.values[c]
            elif s.nodes[value].op is INPUT:
                self.values[i] = self._source(s.sources[int(s.nodes[value].value)][c])
            else:
                self.values[i] = results.get(value)

    def _call(self, index: int, group: _Group, c: int) -> list[Expr]:
        """Append a call's nodes to the flat program; its results."""
        which, operands = self.programs[index]
        program = self.templates[which].program
        sources = [self._source(group.superposed.sources[k][c]) for k in operands]
        args = tuple(self.tracer.index_of(s) for s in sources)
        nodes: list[int] = []
        for node in program.nodes:
            if node.op is INPUT:
                nodes.append(args[int(node.value)])
            elif node.op is CONST:
                nodes.append(self.tracer.index_of(node.value))
            else:  # never shared with another call's
                self.tracer.nodes.append(Node(node.op, tuple(nodes[a] for a in node.args)))
                nodes.append(len(self.tracer.nodes) - 1)
        scales = tuple(
            self.scales[arg] if arg in self.scales else group.superposed.sources[k][c].scale
            for k, arg in zip(operands, args, strict=True)
        )
        results = self._result_scales(group, c)
        self.operand_scales.append(scales)
        self.result_scales.append(results)
        for flat, scale in zip(nodes, node_scales(program, scales, results), strict=True):
            if self.tracer.nodes[flat].op is not CONST:
                self.scales.setdefault(flat, scale)
        call = group.superposed.calls[c]
        self.calls.append(Call(which, args, tuple(nodes), call.label, call.limb))
        return [Expr(self.tracer, nodes[r]) for r in program.results]

    def _result_scales(self, group: _Group, c: int) -> tuple[int, ...]:
        start = group.superposed.calls[c].start
        found: dict[int, int] = {}
        for k, node in sorted(group.made().items()):
            scale = self.records[start + k].scale or 0
            found[node] = min(scale, found.get(node, scale))
        return tuple(found[node] for node in group.results())

    def _source(self, source: Source) -> Any:
        return source.number if source.record < 0 else self.values[source.record]

    def _final(self, result: Any) -> Any:
        return result if isinstance(result, float) else self.values[result.index]


def node_scales(program: Program, operands: Sequence[int], results: Sequence[int]) -> list[int]:
    """The scale of every node of a template whose operands and results have these."""
    fixed: dict[int, int] = {}
    for r, scale in zip(program.results, results, strict=True):
        fixed[r] = min(scale, fixed.get(r, scale))
    scales: list[int | None] = []
    for i, node in enumerate(program.nodes):
        if node.op is INPUT:
            scales.append(operands[int(node.value)])
        elif node.op is CONST:
            scales.append(None if node.value == 0.0 else 0)
        else:
            scales.append(fixed.get(i, result_scale(node.op, [scales[a] for a in node.args])))
    return [s or 0 for s in scales]


def scales_agree(units: UnitProgram) -> bool:
    """Does every call shift its words as its fellows do? It does if the scales of every operation's operands
    and result differ alike in all calls."""
    first: dict[int, list[tuple[int, ...]]] = {}
    for c, call in enumerate(units.calls):
        scales = units.call_scales(c)
        nodes = units.templates[call.template].program.nodes
        found = [
            _relative(node, scales[i], [scales[a] for a in node.args])
            for i, node in enumerate(nodes)
            if node.args
        ]
        if first.setdefault(call.template, found) != found:
            return False
    return True


def _relative(node: Node, own: int, args: list[int]) -> tuple[int, ...]:
    if node.op is MUL:
        return (own - sum(args),)
    if node.op in (ADD, SUB, NEG):
        return tuple(own - a for a in args)
    return (own + args[0],) if node.op is RECIP else (own, *args)


def compact(units: UnitProgram) -> UnitProgram:
    """Without plain nodes that nothing needs. Calls stay whole: their units compute every node."""
    program = units.program
    alive = bytearray(len(program.nodes))
    for r in (*program.results, *(n for call in units.calls for n in (*call.args, *call.nodes))):
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
            nodes.append(Node(node.op, tuple(new[a] for a in node.args), node.value))
    calls = [
        Call(c.template, tuple(new[a] for a in c.args), tuple(new[n] for n in c.nodes), c.label, c.limb)
        for c in units.calls
    ]
    results = [new[r] for r in program.results]
    scales = [units.scales[i] for i in new]
    return UnitProgram(
        program.with_nodes(nodes, results),
        units.templates,
        calls,
        scales,
        units.operand_scales,
        units.result_scales,
    )
