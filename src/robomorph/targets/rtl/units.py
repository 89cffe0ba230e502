"""Programs whose operations are partly calls: the same operations on other operands, made by one unit.

The flat program stays the definition of every bit. A call names the nodes of the flat program that its unit
computes; a unit is a small program of its own, whose inputs are the call's operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robomorph.errors import TargetError
from robomorph.ir.fixed import FixedProgram
from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.unit_program import Call


@dataclass(frozen=True)
class Template:
    """What a unit computes. `kind` is forward, backward or product. Operations: `dense` without any sparsity,
    `average` of the calls one by one, the rest (`fixed`) being what all calls have in common."""

    name: str
    kind: str
    fixed: FixedProgram
    dense: int = 0
    average: float = 0.0

    @property
    def operands(self) -> int:
        return self.fixed.program.input_size

    @property
    def operations(self) -> int:
        return self.fixed.program.cost()


@dataclass(frozen=True)
class Units:
    """Templates, and all calls of them in an order in which operands come first."""

    templates: tuple[Template, ...]
    calls: tuple[Call, ...]

    def count(self, template: int) -> int:
        return sum(call.template == template for call in self.calls)

    def inner_nodes(self, call: Call) -> list[tuple[int, int]]:
        """(node of the template, flat node) of every operation of a call."""
        nodes = self.templates[call.template].fixed.program.nodes
        pairs = enumerate(call.nodes)
        return [(k, flat) for k, flat in pairs if nodes[k].op not in (CONST, INPUT)]


def fold_of(interval: int, calls: int, units: int, most: int) -> int:
    """Cycles between two calls of a unit: the largest divisor of the interval, at most `most`, with which the
    units can make all calls."""
    for fold in range(min(interval, max(1, most)), 0, -1):
        if interval % fold == 0 and calls * fold <= interval * units:
            return fold
    raise TargetError(f"rtl: {units} units cannot make {calls} calls in {interval} cycles")


KINDS = ("forward", "backward", "product")


def check_wishes(templates: Sequence[Template], wishes: Sequence[tuple[str, int]]) -> None:
    """Raise TargetError if a designer asked for units that the design does not have."""
    known = ["all", *KINDS, *(template.name for template in templates)]
    for name, _ in wishes:
        if name not in known:
            raise TargetError(f"rtl: units: unknown name {name!r}: known are {', '.join(known)}")


def wanted_count(template: Template, wishes: Sequence[tuple[str, int]]) -> int:
    """How many units of a template a designer asked for: by its name, its kind, or for "all"; one if not."""
    found = dict(wishes)
    for key in (template.name, template.kind, "all"):
        if key in found:
            return found[key]
    return 1
