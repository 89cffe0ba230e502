"""Units in fixed point: one format per node of a template, whatever the call.

Operands of a unit come from many places, so those places share the operand's format: formats are chosen for
classes of nodes that meet at an operand, wide enough for the largest magnitude of any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.ir.cordic import cordic
from robomorph.ir.fixed import MAX_FRAC, MIN_FRAC, FixedProgram, Format, check_fixed
from robomorph.ir.lower import Numbers, whole_bits
from robomorph.ir.ops import ADD, CONST, COS, INPUT, MUL, NEG, RECIP, SIN, SUB
from robomorph.ir.program import Node, Program
from robomorph.ir.unit_program import Call, UnitProgram
from robomorph.targets.fixed_point.units import Template, Units


def lower_units(
    units: UnitProgram, numbers: Numbers, magnitudes: Sequence[float]
) -> tuple[FixedProgram, Units]:
    """The flat program in fixed point and its calls; `magnitudes` has one entry per node of the flat one."""
    classes = _Classes(units, numbers, magnitudes)
    templates = tuple(
        Template(t.name, t.kind, _lower(t.program, numbers, classes.template(k)), t.dense, t.average)
        for k, t in enumerate(units.templates)
    )
    fixed, calls = _Inliner(units, templates, numbers, classes.flat()).run()
    for program in (fixed, *(t.fixed for t in templates)):
        check_fixed(program)
    return fixed, Units(templates, tuple(calls))


def made_by(units: UnitProgram, call: Call) -> list[int]:
    """Flat nodes that a call makes."""
    nodes = units.templates[call.template].program.nodes
    return [flat for k, flat in enumerate(call.nodes) if nodes[k].op not in (CONST, INPUT)]


class _Classes:
    """Fraction bits of every node: flat nodes first, then those of each template."""

    def __init__(self, units: UnitProgram, numbers: Numbers, magnitudes: Sequence[float]) -> None:
        self.units, self.numbers = units, numbers
        self.bits = numbers.word_bits
        self.inner = {flat for call in units.calls for flat in made_by(units, call)}
        self.starts = [len(units.program.nodes)]
        self.scale = list(units.scales)  # flat nodes', then those of every template in its first call
        for k, t in enumerate(units.templates):
            self.starts.append(self.starts[-1] + len(t.program.nodes))
            first = next(c for c, call in enumerate(units.calls) if call.template == k)
            self.scale += units.call_scales(first)
        self.parent = list(range(self.starts[-1]))
        self.size = [0.0] * self.starts[-1]
        self.own: dict[int, int] = {}  # operands that are constants in every call, factors: fraction bits
        self._join(magnitudes)
        self.frac = [numbers.signal_frac(self.size[self._find(i)]) for i in range(self.starts[-1])]
        while self._tighten():
            pass

    def flat(self) -> list[int]:
        return [self._frac(i) for i in range(self.starts[0])]

    def template(self, k: int) -> list[int]:
        return [self._frac(i) for i in range(self.starts[k], self.starts[k + 1])]

    def _find(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = i = self.parent[self.parent[i]]
        return i

    def _unite(self, i: int, j: int) -> None:
        a, b = self._find(i), self._find(j)
        self.parent[a] = b
        self.size[b] = max(self.size[a], self.size[b])

    def _frac(self, i: int) -> int:
        return self.scale[i] + (self.own[i] if i in self.own else self.frac[self._find(i)])

    def _join(self, magnitudes: Sequence[float]) -> None:
        nodes = self.units.program.nodes
        for i, size in enumerate(magnitudes):
            self.size[i] = 0.0 if nodes[i].op is CONST else size * 2.0 ** self.scale[i]
        for call, scales in zip(self.units.calls, self.units.operand_scales, strict=True):
            start = self.starts[call.template]
            template = self.units.templates[call.template].program
            for k, flat in enumerate(call.nodes):
                if nodes[flat].op is not CONST:
                    self._unite(start + k, flat)
                elif template.nodes[k].op is INPUT:
                    root = self._find(start + k)
                    scale = scales[int(template.nodes[k].value)]
                    self.size[root] = max(self.size[root], abs(nodes[flat].value) * 2.0**scale)
        for k in range(len(self.units.templates)):
            self._join_tables(k)

    def _join_tables(self, k: int) -> None:
        """Operands that are constant in every call, and only factors: as many bits as a factor has."""
        nodes, program = self.units.program.nodes, self.units.templates[k].program
        pairs = zip(self.units.calls, self.units.operand_scales, strict=True)
        calls = [(call, scales) for call, scales in pairs if call.template == k]
        summed = {a for n in program.nodes if n.op is not MUL for a in n.args}
        for i, node in enumerate(program.nodes):
            if node.op is not INPUT or i in summed:
                continue
            words = [(nodes[call.nodes[i]], scales[int(node.value)]) for call, scales in calls]
            if all(word.op is CONST for word, _ in words):
                values = [word.value * 2.0**scale for word, scale in words]
                self.own[self.starts[k] + i] = self.numbers.factor_frac(values)

    def _tighten(self) -> bool:
        """Take away fraction bits that operands cannot fill; was there any?"""
        programs = [self.units.program, *(t.program for t in self.units.templates)]
        changed = False
        for program, start in zip(programs, (0, *self.starts), strict=False):
            for i, node in enumerate(program.nodes):
                if node.op in (CONST, INPUT) or (start == 0 and i in self.inner):
                    continue
                root, scale = self._find(start + i), self.scale[start + i]
                most = self._most(program, start, node, self.frac[root] + scale) - scale
                if self.frac[root] > most:
                    self.frac[root], changed = most, True
        return changed

    def _most(self, program: Program, start: int, node: Node, wanted: int) -> int:
        fracs = []
        for a in node.args:
            arg = program.nodes[a]
            if arg.op is not CONST:
                fracs.append(self._frac(start + a))
            elif node.op is MUL:
                fracs.append(self.numbers.factor_frac([arg.value]))
            else:
                fracs.append(min(wanted, self.bits - 1 - whole_bits(arg.value)))
        if node.op is MUL:
            return sum(fracs)
        if node.op is RECIP:
            return 60 - fracs[0]
        if node.op in (SIN, COS):
            return min(wanted, cordic(self.bits, fracs[0]).inner)
        return max(fracs) if node.op in (ADD, SUB, NEG) else wanted


def _lower(program: Program, numbers: Numbers, fracs: Sequence[int]) -> FixedProgram:
    """A program with given fraction bits per node; constants rounded for their use."""
    build = _Builder(numbers)
    place: dict[int, int] = {}
    for i, node in enumerate(program.nodes):
        if node.op is not CONST:
            place[i] = build.add(program, fracs, node, fracs[i], place)
    return FixedProgram(program.with_nodes(build.nodes, [place[r] for r in program.results]), build.all())


class _Builder:
    """Nodes with formats, constants made once per value and format."""

    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.bits = numbers.word_bits
        self.nodes: list[Node] = []
        self.formats: list[Format] = []
        self._constants: dict[tuple[float, Format], int] = {}

    def all(self) -> tuple[Format, ...]:
        return tuple(self.formats)

    def emit(self, node: Node, frac: int) -> int:
        self.nodes.append(node)
        self.formats.append(Format(self.bits, frac))
        return len(self.nodes) - 1

    def constant(self, value: float, frac: int) -> int:
        key = (value, Format(self.bits, frac))
        if key not in self._constants:
            self._constants[key] = self.emit(Node(CONST, (), value), frac)
        return self._constants[key]

    def add(
        self, program: Program, fracs: Sequence[int], node: Node, frac: int, place: dict[int, int]
    ) -> int:
        args = []
        for a in node.args:
            arg = program.nodes[a]
            if arg.op is not CONST:
                args.append(place[a])
            elif node.op is MUL:
                args.append(self.constant(arg.value, self.numbers.factor_frac([arg.value])))
            else:
                others = [fracs[b] for b in node.args if program.nodes[b].op is not CONST]
                fits = self.bits - 1 - whole_bits(arg.value)
                args.append(self.constant(arg.value, max(min(frac, fits), max(others) - MAX_FRAC)))
        return self.emit(Node(node.op, tuple(args), node.value), frac)


class _Inliner:
    """The flat program from the templates': the same nodes in the same order, call by call."""

    def __init__(
        self, units: UnitProgram, templates: Sequence[Template], numbers: Numbers, fracs: Sequence[int]
    ) -> None:
        self.units, self.templates, self.fracs = units, templates, fracs
        self.build = _Builder(numbers)
        self.place: dict[int, int] = {}

    def run(self) -> tuple[FixedProgram, list[Call]]:
        program = self.units.program
        starting = {min(made_by(self.units, call)): c for c, call in enumerate(self.units.calls)}
        inner = {n for call in self.units.calls for n in made_by(self.units, call)}
        calls = []
        for i, node in enumerate(program.nodes):
            if i in starting:
                calls.append(self._call(starting[i]))
            elif i not in inner and node.op is not CONST:
                self.place[i] = self.build.add(program, self.fracs, node, self.fracs[i], self.place)
        results = [self._result(r) for r in program.results]
        fixed = FixedProgram(program.with_nodes(self.build.nodes, results), self.build.all())
        return fixed, calls

    def _call(self, c: int) -> Call:
        call = self.units.calls[c]
        fixed, real = self.templates[call.template].fixed, self.units.templates[call.template].program
        # How much further the binary point of each node is than in the template's formats.
        shifts = self._shifts(call.template, c, fixed.program)
        ports = {
            int(n.value): fixed.formats[k].frac + shifts[k]
            for k, n in enumerate(fixed.program.nodes)
            if n.op is INPUT
        }
        args = [self._argument(a, ports[k]) for k, a in enumerate(call.args)]
        nodes: list[int] = []
        made: list[int] = []
        for node, form, shift in zip(fixed.program.nodes, fixed.formats, shifts, strict=True):
            if node.op is INPUT:
                nodes.append(args[int(node.value)])
            elif node.op is CONST:
                nodes.append(self.build.constant(node.value, form.frac))
            else:
                inner = Node(node.op, tuple(nodes[a] for a in node.args))
                nodes.append(self.build.emit(inner, form.frac + shift))
                made.append(nodes[-1])
        whole = [k for k, node in enumerate(real.nodes) if node.op not in (CONST, INPUT)]
        for k, flat in zip(whole, made, strict=True):
            self.place[call.nodes[k]] = flat
        return Call(call.template, tuple(args), tuple(nodes), call.label, call.limb)

    def _shifts(self, template: int, c: int, program: Program) -> list[int]:
        first = next(k for k, call in enumerate(self.units.calls) if call.template == template)
        pair = (self.units.call_scales(k, program) for k in (c, first))
        return [a - b for a, b in zip(*pair, strict=True)]

    def _argument(self, flat: int, frac: int) -> int:
        node = self.units.program.nodes[flat]
        return self.build.constant(node.value, frac) if node.op is CONST else self.place[flat]

    def _result(self, flat: int) -> int:
        node = self.units.program.nodes[flat]
        if node.op is not CONST:
            return self.place[flat]
        fits = self.build.bits - 2 - whole_bits(node.value)
        return self.build.constant(node.value, max(MIN_FRAC, min(fits, MAX_FRAC)))
