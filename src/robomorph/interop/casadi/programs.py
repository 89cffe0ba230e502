"""The programs behind a function for CasADi: its value and its derivatives, by the names CasADi looks for.

`f` is the value. `jac_f` has a block for every result and argument, `adj1_f` is the derivative of weighted
results, and `jac_adj1_f` has the blocks of that one's own: the exact Hessian of whatever the function is used
in. Where there are several ways to a derivative they compete as formulations do: the fewest operations win.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robomorph.compiler.specialise import Request, Specialiser, no_collection
from robomorph.errors import ArgumentError
from robomorph.interop.casadi.jacobians import block, blocks, jacobian, times
from robomorph.interop.casadi.source import Row, Source, flat, run, slots
from robomorph.interop.functions import function_named
from robomorph.ir.derivatives import Run
from robomorph.ir.trace import Tracer
from robomorph.targets.casadi.callee import Callee, Values, in_columns, make_callee


def make_callees(specialiser: Specialiser, request: Request, name: str, order: int) -> tuple[Callee, ...]:
    """The function called `name`, and its derivatives up to `order` (0, 1 or 2). Functions whose derivatives
    robomorph does not have (gradients themselves) come alone: CasADi then says so when one is needed."""
    check_order(order)
    if function_named(request.algorithm).undifferentiable:
        order = 0
    with no_collection():
        source = Source.of(specialiser, request)
        value = _value(source, name)
        if order == 0:
            return (value,)
        first = jacobian(source, value)
        if order == 1:
            return value, first
        adjoint = _adjoint(source, value)
        return value, first, adjoint, _adjoint_jacobian(value, first, adjoint)


def check_order(order: Any) -> None:
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order not in (0, 1, 2):
        raise ArgumentError(f"derivatives: expected their highest order, 0, 1 or 2, found {order!r}")


def _value(source: Source, name: str) -> Callee:
    def compute(tracer: Tracer, values: Values) -> Values:
        found = run(tracer, source.program, source.unit(values))
        order = zip(source.results, source.program.outputs, strict=True)
        return {result.name: in_columns(port.shape, found[port.name]) for result, port in order}

    return make_callee(name, source.arguments, source.results, compute)


# --- the derivative of weighted results ----------------------------------------------------------------


def _adjoint(source: Source, value: Callee) -> Callee:
    """`adj1_f`: weights of the results, of their patterns, -> `adj_<argument>`."""

    def reverse(tracer: Tracer, values: Values) -> Values:
        program = value.program
        weights = [x for r in value.outputs if r.pattern.entries for x in values[f"adj_{r.name}"]]
        pulled = Run(tracer, program, flat(program.inputs, values)).pull(weights)
        return {f"adj_{a.name}": [pulled.get(k, 0.0) for k in own] for a, own in slots(value.inputs)}

    def kernel(tracer: Tracer, values: Values) -> Values:
        """By the derivative in the tangent space, which may have a closed form."""
        weights: dict[str, list[Any]] = {}
        for result, port in zip(value.outputs, source.program.outputs, strict=True):
            weights[f"w_{port.name}"] = own = [0.0] * port.size
            order = in_columns(port.shape, range(port.size))
            for k, place in enumerate(result.pattern.entries):
                own[order[place]] = values[f"adj_{result.name}"][k]
        found = run(tracer, source.derivative("vjp"), {**source.unit(values), **weights})
        if "q" in values:
            step: Row = dict(enumerate(found["dq"]))
            moved = times(step, source.tangents(values))
            found["dq"] = [moved.get(k, 0.0) for k in range(len(values["q"]))]
        return {f"adj_{a.name}": found[f"d{a.name}"] for a in value.inputs}

    unread = [result.unread("out_") for result in value.outputs]
    inputs = [*value.inputs, *unread, *(result.renamed("adj_") for result in value.outputs)]
    outputs = [argument.renamed("adj_") for argument in value.inputs]
    name = f"adj1_{value.name}"  # CasADi holds its results to the patterns of the arguments
    made = [make_callee(name, inputs, outputs, way, fixed=True) for way in (reverse, kernel)]
    return min(made, key=lambda callee: callee.program.cost())


# --- its own derivative: Hessian and transposed Jacobian ------------------------------------------------


def _adjoint_jacobian(value: Callee, first: Callee, adjoint: Callee) -> Callee:
    """`jac_adj1_f`. The Hessian is symmetric, and one half is computed: each entry as the derivative of the
    later argument's adjoint by the earlier one, which is the cheaper half of dynamics."""

    def compute(tracer: Tracer, values: Values) -> Values:
        hessian = blocks(adjoint.outputs, value.inputs, _hessian_rows(value, adjoint, tracer, values))
        return {**hessian, **_transposed(value, adjoint, first, run(tracer, first.program, values))}

    inputs = [*adjoint.inputs, *(result.unread("out_") for result in adjoint.outputs)]
    outputs = [block(r, a) for r in adjoint.outputs for a in adjoint.inputs]
    return make_callee(f"jac_{adjoint.name}", inputs, outputs, compute)


def _hessian_rows(value: Callee, adjoint: Callee, tracer: Tracer, values: Values) -> list[Row]:
    """A row for every entry of the adjoint's results, by the slots of the function's arguments."""
    program = adjoint.program
    count = value.program.input_size
    units: dict[int, Row] = {k: {k: 1.0} for k in range(count)}  # arguments come before the weights
    pushed = Run(tracer, program, flat(program.inputs, values)).push(units)
    rows: list[Row] = [{} for _ in range(count)]
    for i, row in enumerate(pushed):  # the adjoint's entries are those of the arguments, all of them
        for j, x in row.items():
            if j <= i:
                rows[i][j] = rows[j][i] = x
    return rows


def _transposed(value: Callee, adjoint: Callee, first: Callee, jacobian: Values) -> Values:
    """The blocks d adj_<argument> / d adj_<result>: those of the Jacobian, transposed."""
    found: dict[str, list[Any]] = {}
    patterns = {argument.name: argument.pattern for argument in first.outputs}
    for result in value.outputs:
        for argument, weighted in zip(value.inputs, adjoint.outputs, strict=True):
            name = block(result, argument).name
            known = dict(zip(patterns[name].entries, jacobian.get(name, ()), strict=True))
            found[block(weighted, result.renamed("adj_")).name] = [
                known.get(c * result.pattern.size + r, 0.0)
                for r in result.pattern.entries
                for c in weighted.pattern.entries
            ]
    return found
