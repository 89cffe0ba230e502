"""From control points to the motion at a piece's nodes, as a program: only control points need to travel."""

from __future__ import annotations

from functools import cache
from typing import Any

from robomorph.compiler.program import compile_program
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.targets.gpu.kernel import GpuKernel

STATES = ("q", "qd", "qdd")


@cache
def states_kernel(width: int, nodes: int, nv: int, depth: int, target: str, dtype: str) -> GpuKernel:
    """A kernel for batches of pieces, see `states_program`."""
    program = states_program(width, nodes, nv, depth)
    made = compile_program(program, target, dtype=dtype, check_finite=False)
    assert isinstance(made, GpuKernel)
    return made


def states_program(width: int, nodes: int, nv: int, depth: int) -> Program:
    """(control (width, nv), rate (1,), basis (3, nodes, width)) -> q, qd, qdd (nodes, nv), the first `depth`
    of them: the d-th sum over control points of basis[d], times rate^d."""
    tracer = Tracer()
    inputs = Port("control", (width, nv)), Port("rate", (1,)), Port("basis", (3, nodes, width))
    given = tracer.inputs(inputs)
    control, rate, basis = given["control"], given["rate"][0], given["basis"]
    results = {}
    for d, name in enumerate(STATES[:depth]):
        rows = []
        for k in range(nodes):
            at = basis[(d * nodes + k) * width :][:width]
            for _ in range(d):
                at = [b * rate for b in at]
            rows.append([_dot(at, control[j::nv]) for j in range(nv)])
        results[name] = rows
    return run_passes(tracer.program(f"states_{nodes}", inputs, results), SIMPLIFY)


def _dot(a: list[Any], b: list[Any]) -> Any:
    total = a[0] * b[0]
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + x * y
    return total
