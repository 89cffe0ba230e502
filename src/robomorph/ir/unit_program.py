"""Flat programs with the calls in them, and the scales by which calls of one unit may differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.ir.ops import ADD, CONST, INPUT, MUL, NEG, RECIP, SUB
from robomorph.ir.program import Node, Program
from robomorph.ir.scales import result_scale


@dataclass(frozen=True, slots=True)
class Call:
    """One use of a template. `args`: a node of the flat program per operand; `nodes`: the flat node of every
    node of the template. `limb` tells calls of one limb, to be kept on one unit."""

    template: int
    args: tuple[int, ...]
    nodes: tuple[int, ...]
    label: str
    limb: int = 0


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
