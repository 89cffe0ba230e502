"""Derivatives of programs: reverse mode, sparse forward mode, and the one over the other.

All of them run a program again on traced values, so what they make is a program like any other: zeros and
ones fold while it is traced, equal work is one node, and the passes simplify the rest. Minimum, maximum and
select have the derivative of the branch they take. A square root at zero and a division by zero have none:
programs keep away from them, also in branches that are not taken.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robomorph.errors import ProgramError
from robomorph.ir.ops import (
    ADD,
    CONST,
    COS,
    FMA,
    FMS,
    FNMA,
    INPUT,
    MAX,
    MIN,
    MUL,
    NEG,
    RECIP,
    SELECT,
    SIN,
    SQRT,
    SUB,
    Op,
)
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Expr, Tracer

Value = Any  # a traced scalar or a plain number


def _select(x: Value, a: Value, b: Value) -> Value:
    if isinstance(x, Expr):
        return x.select(a, b)
    return a if x >= 0.0 else b


def _either(name: str, a: Value, b: Value) -> Value:
    return getattr(a, name)(b) if isinstance(a, Expr) else getattr(b, name)(a)


# The operations where at least one argument is traced.
_APPLY: dict[Op, Callable[..., Value]] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    NEG: lambda a: -a,
    RECIP: lambda a: a.reciprocal(),
    SIN: lambda a: a.sin(),
    COS: lambda a: a.cos(),
    SQRT: lambda a: a.sqrt(),
    MIN: lambda a, b: _either("minimum", a, b),
    MAX: lambda a, b: _either("maximum", a, b),
    SELECT: _select,
    FMA: lambda a, b, c: a * b + c,
    FMS: lambda a, b, c: a * b - c,
    FNMA: lambda a, b, c: c - a * b,
}
# One entry per argument: from a small change (or an adjoint) x, the arguments and the result y, what that
# argument's derivative makes of it. The same numbers serve both modes, as the derivative of a scalar
# operation is a row.
_Partial = Callable[[Value, tuple[Value, ...], Value], Value]
_PARTIALS: dict[Op, tuple[_Partial, ...]] = {
    ADD: (lambda x, a, y: x, lambda x, a, y: x),
    SUB: (lambda x, a, y: x, lambda x, a, y: -x),
    MUL: (lambda x, a, y: x * a[1], lambda x, a, y: x * a[0]),
    NEG: (lambda x, a, y: -x,),
    RECIP: (lambda x, a, y: -(x * (y * y)),),
    SIN: (lambda x, a, y: x * a[0].cos(),),
    COS: (lambda x, a, y: -(x * a[0].sin()),),
    SQRT: (lambda x, a, y: x * (0.5 * y.reciprocal()),),
    # Of two that are equal the maximum is the first and the minimum the second: together they stay the pair.
    MIN: (lambda x, a, y: _select(a[0] - a[1], 0.0, x), lambda x, a, y: _select(a[0] - a[1], x, 0.0)),
    MAX: (lambda x, a, y: _select(a[0] - a[1], x, 0.0), lambda x, a, y: _select(a[0] - a[1], 0.0, x)),
    SELECT: (
        lambda x, a, y: 0.0,
        lambda x, a, y: _select(a[0], x, 0.0),
        lambda x, a, y: _select(a[0], 0.0, x),
    ),
    FMA: (lambda x, a, y: x * a[1], lambda x, a, y: x * a[0], lambda x, a, y: x),
    FMS: (lambda x, a, y: x * a[1], lambda x, a, y: x * a[0], lambda x, a, y: -x),
    FNMA: (lambda x, a, y: -(x * a[1]), lambda x, a, y: -(x * a[0]), lambda x, a, y: x),
}
# Those whose derivatives apply functions to arguments or results, which plain numbers do not have.
_OF_EXPRESSIONS = (SIN, COS, SQRT)


class Run:
    """A program on traced values: `inputs` by flat slot, `values` of all nodes."""

    def __init__(self, tracer: Tracer, program: Program, inputs: Sequence[Value]) -> None:
        self.tracer, self.program = tracer, program
        self.values: list[Value] = []
        for node in program.nodes:
            if node.op is CONST:
                self.values.append(node.value)
            elif node.op is INPUT:
                self.values.append(inputs[int(node.value)])
            else:
                self.values.append(self._apply(node.op, [self.values[a] for a in node.args]))

    def _apply(self, op: Op, arguments: list[Value]) -> Value:
        """Constants fold, unless the result is not finite: that is left for run time to show."""
        if any(isinstance(x, Expr) for x in arguments):
            return _APPLY[op](*arguments)
        assert op.evaluate is not None
        with np.errstate(all="ignore"):
            result = float(op.evaluate(*map(np.float64, arguments)))
        if math.isfinite(result):
            return result
        return Expr(self.tracer, self.tracer.node(op, tuple(self.tracer.index_of(x) for x in arguments)))

    @property
    def results(self) -> list[Value]:
        return [self.values[r] for r in self.program.results]

    def _partial(self, i: int, k: int, x: Value) -> Value:
        node = self.program.nodes[i]
        arguments, result = tuple(self.values[a] for a in node.args), self.values[i]
        if node.op in _OF_EXPRESSIONS:  # what is constant here may still have a change, as u - u has
            arguments, result = tuple(map(self._traced, arguments)), self._traced(result)
        return _PARTIALS[node.op][k](x, arguments, result)

    def _traced(self, x: Value) -> Expr:
        return Expr(self.tracer, self.tracer.index_of(x))

    def pull(self, weights: Sequence[Value]) -> dict[int, Value]:
        """Reverse mode: by input slot, the derivative of the sum of weights times results; slots that
        nothing depends on are left out."""
        adjoint: list[Value] = [0.0] * len(self.values)
        for r, weight in zip(self.program.results, weights, strict=True):
            adjoint[r] = adjoint[r] + weight
        out: dict[int, Value] = {}
        for i in reversed(range(len(self.values))):
            node, own = self.program.nodes[i], adjoint[i]
            if _is_zero(own):
                continue
            if node.op is INPUT:
                out[int(node.value)] = own
            for k, a in enumerate(node.args):
                if isinstance(self.values[a], Expr):
                    adjoint[a] = adjoint[a] + self._partial(i, k, own)
        return out

    def push(self, seeds: Mapping[int, Mapping[Any, Value]]) -> list[dict[Any, Value]]:
        """Sparse forward mode, all directions at once. `seeds`: by input slot, its derivative along each
        direction (of any name) in which it moves. Returns the same for every result."""
        tangents: list[dict[Any, Value]] = []
        for i, node in enumerate(self.program.nodes):
            if node.op is INPUT:
                tangents.append(dict(seeds.get(int(node.value), {})))
                continue
            own: dict[Any, Value] = {}
            for k, a in enumerate(node.args):
                for direction, x in tangents[a].items():
                    change = self._partial(i, k, x)
                    own[direction] = own[direction] + change if direction in own else change
            tangents.append({d: x for d, x in own.items() if not _is_zero(x)})
        return [tangents[r] for r in self.program.results]


def _is_zero(x: Value) -> bool:
    return not isinstance(x, Expr) and x == 0.0


def slots_of(program: Program, names: Iterable[str]) -> list[int]:
    """The flat input slots of the ports named, in that order."""
    starts, first = {}, 0
    for port in program.inputs:
        starts[port.name] = range(first, first + port.size)
        first += port.size
    out: list[int] = []
    for name in names:
        if name not in starts:
            raise ProgramError(f"{program.name}: no input {name!r} to differentiate by: {list(starts)}")
        out += starts[name]
    return out


def gradient_of(program: Program, wrt: Sequence[str], name: str | None = None) -> Program:
    """Reverse mode: the inputs of `program` and `multipliers` (its output size) -> for each port of `wrt` an
    output `d<port>` of its shape, the derivative of multipliers . results."""
    tracer, inputs, weights, ports = _begin(program)
    pulled = Run(tracer, program, inputs).pull(weights)
    results, shapes = {}, {}
    for port in _ports(program, wrt):
        results[f"d{port.name}"] = [pulled.get(slot, 0.0) for slot in slots_of(program, [port.name])]
        shapes[f"d{port.name}"] = port.shape
    return tracer.program(name or f"{program.name}_gradient", ports, results, shapes)


def jacobian_of(program: Program, wrt: Sequence[str], name: str | None = None) -> Program:
    """Sparse forward mode: the inputs of `program` -> for each of its outputs and each port of `wrt` an
    output `d<output>_d<port>` of shape (*output, *port)."""
    tracer = Tracer()
    inputs = [x for values in tracer.inputs(program.inputs).values() for x in values]
    slots = slots_of(program, wrt)
    rows = Run(tracer, program, inputs).push({slot: {slot: 1.0} for slot in slots})
    results, shapes = {}, {}
    first = 0
    for output in program.outputs:
        own, first = rows[first : first + output.size], first + output.size
        for port in _ports(program, wrt):
            key = f"d{output.name}_d{port.name}"
            columns = slots_of(program, [port.name])
            results[key] = [row.get(column, 0.0) for row in own for column in columns]
            shapes[key] = (*output.shape, *port.shape)
    return tracer.program(name or f"{program.name}_jacobian", program.inputs, results, shapes)


def hessian_of(
    program: Program, wrt: Sequence[str], name: str | None = None, *, upper: bool = True
) -> Program:
    """Forward over reverse mode: the inputs of `program` and `multipliers` -> `hessian` (n, n), the second
    derivatives of multipliers . results by all entries of the ports `wrt`. Symmetric by construction: one
    triangle is computed (`upper`: entry (i, j >= i) as the derivative of gradient i along j)."""
    gradient = gradient_of(program, wrt)
    tracer = Tracer()
    inputs = [x for values in tracer.inputs(gradient.inputs).values() for x in values]
    slots = slots_of(program, wrt)
    rows = Run(tracer, gradient, inputs).push({slot: {k: 1.0} for k, slot in enumerate(slots)})
    n = len(slots)
    out: list[list[Value]] = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i, n):
            of, along = (i, j) if upper else (j, i)
            out[i][j] = out[j][i] = rows[of].get(along, 0.0)
    results, shapes = {"hessian": out}, {"hessian": (n, n)}
    return tracer.program(name or f"{program.name}_hessian", gradient.inputs, results, shapes)


def _begin(program: Program) -> tuple[Tracer, list[Value], list[Value], tuple[Port, ...]]:
    tracer = Tracer()
    ports = (*program.inputs, Port("multipliers", (program.output_size,)))
    values = tracer.inputs(ports)
    weights = values.pop("multipliers")
    return tracer, [x for own in values.values() for x in own], list(weights), ports


def _ports(program: Program, names: Sequence[str]) -> list[Port]:
    slots_of(program, names)  # names them if one is unknown
    known = {port.name: port for port in program.inputs}
    return [known[name] for name in names]
