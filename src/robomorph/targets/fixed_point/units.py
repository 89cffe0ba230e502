"""Programs whose operations are partly calls: the same operations on other operands, made by one unit.

The flat program stays the definition of every bit. A call names the nodes of the flat program that its unit
computes; a unit is a small program of its own, whose inputs are the call's operands.
"""

from __future__ import annotations

from dataclasses import dataclass

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
