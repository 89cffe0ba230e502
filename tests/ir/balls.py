"""Programs in ball arithmetic (python-flint): an enclosure of exact values that shares nothing with ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import flint

from robomorph.ir.program import Program

BITS = 200


def ball(x: Fraction | float) -> Any:
    exact = Fraction(x)
    return flint.arb(flint.fmpz(exact.numerator)) / flint.arb(flint.fmpz(exact.denominator))


_APPLY: dict[str, Any] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "recip": lambda a: 1 / a,
    "sin": lambda a: a.sin(),
    "cos": lambda a: a.cos(),
    "sqrt": lambda a: a.sqrt(),
    "min": lambda a, b: a.min(b),
    "max": lambda a, b: a.max(b),
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
}


def evaluate(program: Program, inputs: Sequence[Fraction], nudge: Sequence[float] | None = None) -> list[Any]:
    """Every result at exact inputs (flat). nudge: by node, how far a constant is moved, in parts of it."""
    values: list[Any] = []
    for i, node in enumerate(program.nodes):
        if node.op.name == "const":
            moved = Fraction(node.value) * (1 + Fraction(nudge[i])) if nudge else Fraction(node.value)
            values.append(ball(moved))
        elif node.op.name == "input":
            values.append(ball(inputs[int(node.value)]))
        elif node.op.name == "select":
            x, a, b = (values[k] for k in node.args)
            values.append(a if x >= 0 else b if x < 0 else x * flint.arb("nan"))
        else:
            values.append(_APPLY[node.op.name](*(values[k] for k in node.args)))
    return [values[r] for r in program.results]


@contextmanager
def precise() -> Iterator[None]:
    """So many bits that balls are points beside what is compared."""
    before, flint.ctx.prec = flint.ctx.prec, BITS
    try:
        yield
    finally:
        flint.ctx.prec = before
