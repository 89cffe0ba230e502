"""An accelerator: a function in fixed point, and the design that computes it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from robomorph.ir.ops import CONST, MUL
from robomorph.ir.program import Program
from robomorph.targets.fixed_point.function import ChipSource, FixedFunction, make_function
from robomorph.targets.rtl.design import Design, module_name
from robomorph.targets.rtl.options import Options


@dataclass(frozen=True)
class Accelerator(FixedFunction[Options]):
    """A function on a chip."""

    @cached_property
    def design(self) -> Design:
        name = module_name("_".join(self.source.names))
        knobs = self.options.knobs(_multiplications(self.chip))
        o = self.options
        return Design(name, self.fixed, knobs, o.boundary, self.lowered[1], o.queue, o.pipelines)


def make_accelerator(source: ChipSource, options: Options) -> Accelerator:
    """From a function to an accelerator; nothing is scheduled before it is asked for."""
    # A flat chip that takes a state in every cycle shares nothing.
    f = make_function(source, options, all_at_once=options.interval == 1)
    return Accelerator(f.source, f.options, f.made, f.host, f.chip, f.units)


def _multiplications(program: Program) -> int:
    nodes = program.nodes
    return sum(n.op is MUL and not any(nodes[a].op is CONST for a in n.args) for n in nodes)
