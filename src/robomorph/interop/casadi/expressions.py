"""A callee as CasADi expressions: what SX can look into, and where no linker is to be had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
from robomorph.targets.casadi.callee import Argument, Callee


def expression_function(casadi: Any, callee: Callee) -> Any:
    """The callee's value as a casadi.Function of SX, whose derivatives are CasADi's own."""
    symbols = [casadi.SX.sym(a.name, _sparsity(casadi, a)) for a in callee.inputs]
    slots = [x for k in callee.used_inputs for x in symbols[k].nonzeros()]
    spelled = _spelling(casadi)
    values: list[Any] = []
    for node in callee.program.nodes:
        if node.op is CONST:
            values.append(casadi.SX(node.value))
        elif node.op is INPUT:
            values.append(slots[int(node.value)])
        else:
            values.append(spelled[node.op](*(values[a] for a in node.args)))
    found = iter([values[r] for r in callee.program.results])
    results = []
    for argument in callee.outputs:
        own = [next(found) for _ in argument.pattern.entries]
        column = casadi.vertcat(*own) if own else casadi.SX(0, 1)
        results.append(casadi.SX(_sparsity(casadi, argument), casadi.densify(column)))
    names = ([a.name for a in callee.inputs], [a.name for a in callee.outputs])
    return casadi.Function(callee.name, symbols, results, *names)


def _sparsity(casadi: Any, argument: Argument) -> Any:
    pattern = argument.pattern
    rows = [place % pattern.rows for place in pattern.entries]
    columns = [place // pattern.rows for place in pattern.entries]
    return casadi.Sparsity.triplet(pattern.rows, pattern.columns, rows, columns)


def _spelling(casadi: Any) -> dict[Op, Callable[..., Any]]:
    return {
        ADD: lambda a, b: a + b,
        SUB: lambda a, b: a - b,
        MUL: lambda a, b: a * b,
        NEG: lambda a: -a,
        RECIP: lambda a: 1.0 / a,
        SIN: casadi.sin,
        COS: casadi.cos,
        SQRT: casadi.sqrt,
        # Not fmin and fmax: where both are equal, these have the mean of the two derivatives.
        MIN: lambda a, b: casadi.if_else(a < b, a, b),
        MAX: lambda a, b: casadi.if_else(a >= b, a, b),
        SELECT: lambda x, a, b: casadi.if_else(x >= 0.0, a, b),
        FMA: lambda a, b, c: a * b + c,
        FMS: lambda a, b, c: a * b - c,
        FNMA: lambda a, b, c: c - a * b,
    }
