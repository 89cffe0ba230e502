"""Dead code of a program with calls in it: calls stay whole, because their units compute every node."""

from __future__ import annotations

from robomorph.ir.unit_program import Call, UnitProgram
from robomorph.passes.dce import living_nodes


def compact(units: UnitProgram) -> UnitProgram:
    """Without plain nodes that neither results nor calls need."""
    program = units.program
    called = (n for call in units.calls for n in (*call.args, *call.nodes))
    nodes, new = living_nodes(program.nodes, (*program.results, *called))
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
