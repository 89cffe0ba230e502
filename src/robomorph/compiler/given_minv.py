"""The gradient of forward dynamics with M^-1 given, as the papers' accelerator has it."""

from __future__ import annotations

from typing import Any

from robomorph.ir.ops import CONST
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Expr, Tracer
from robomorph.passes.cse import cse
from robomorph.passes.dce import dce


def with_minv_given(gradient: Program, nv: int) -> Program:
    """The gradient of forward dynamics from that of inverse dynamics (at the true qdd) and M^-1 as a further
    input: dqdd = -M^-1 dtau. M^-1 is symmetric: only its lower triangle is read."""
    tracer = Tracer()
    values = _replay(tracer, gradient)
    first = gradient.input_size
    negative = [[-tracer.input(first + nv * max(i, k) + min(i, k)) for k in range(nv)] for i in range(nv)]
    results: dict[str, Any] = {}
    start = 0
    for port in gradient.outputs:
        inner = [values[r] for r in gradient.results[start : start + port.size]]
        results[port.name.replace("dtau", "dqdd")] = [
            [_dot(negative[i], [inner[k * nv + j] for k in range(nv)]) for j in range(nv)] for i in range(nv)
        ]
        start += port.size
    ports = (*gradient.inputs, Port("minv", (nv, nv)))
    return dce(cse(tracer.program("forward_dynamics_gradient", ports, results)))


def _dot(row: list[Any], column: list[Any]) -> Any:
    total: Any = 0.0
    for a, b in zip(row, column, strict=True):
        total = total + a * b
    return total


def _replay(tracer: Tracer, program: Program) -> list[Any]:
    """Every node of a program as a value of the tracer."""
    values: list[Any] = []
    for node in program.nodes:
        if node.op is CONST:
            values.append(node.value)
        else:
            args = tuple(tracer.index_of(values[a]) for a in node.args)
            values.append(Expr(tracer, tracer.node(node.op, args, node.value)))
    return values
