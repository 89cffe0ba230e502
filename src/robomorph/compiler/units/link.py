"""From a recording to a flat program and the calls in it: where every node goes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from robomorph.compiler.units.groups import Group, Liveness, Places, find_groups, worth_a_unit
from robomorph.compiler.units.superpose import Known, Source, Superposed, live_positions, pruned
from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, RECIP, SIN, SUB
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.record import Record, Recorder
from robomorph.ir.trace import Expr, Opaque, Tracer
from robomorph.ir.unit_program import Call, RealTemplate, UnitProgram, node_scales
from robomorph.passes.dce import compact
from robomorph.spatial import cos, sin
from robomorph.spatial.scalar import reciprocal

_APPLY: dict[Any, Any] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    NEG: lambda a: -a,
    SIN: sin,
    COS: cos,
    RECIP: reciprocal,
}


def link_units(
    recorder: Recorder, name: str, ports: Sequence[Port], results: Sequence[tuple[Port, list[Any]]]
) -> UnitProgram:
    """The program that computes `results` (scalars per output port, recorded or numbers)."""
    groups = find_groups(recorder)
    while True:
        Liveness(recorder, groups).run([x for _, values in results for x in values])
        small = [g for g in groups if g.live and not worth_a_unit(g)]
        if not small:
            break
        groups = [g for g in groups if g not in small]
        for g in groups:
            g.wanted, g.live = set(), set()
    return _Linker(recorder, [g for g in groups if g.live]).run(name, ports, results)


class _Linker:
    """Builds the flat program: plain operations fold as in any trace, calls are inlined node by node."""

    def __init__(self, recorder: Recorder, groups: list[Group]) -> None:
        self.records, self.groups = recorder.records, groups
        self.places = Places(groups).of
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

    def _template(self, group: Group) -> None:
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

    def _cost_alone(self, group: Group, c: int) -> int:
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

    def _inline(self, group: Group, c: int) -> None:
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

    def _call(self, index: int, group: Group, c: int) -> list[Expr]:
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
        return [Opaque(self.tracer, nodes[r]) for r in program.results]  # what made them stays in the unit

    def _result_scales(self, group: Group, c: int) -> tuple[int, ...]:
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
