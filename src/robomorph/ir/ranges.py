"""How large every value of a program can be: intervals proven from the inputs', and profiles of samples.

Intervals hold for every state inside the input ranges, but widen with each operation that meets the same
value twice; profiles are tight, but say nothing about states that were not sampled. Both are reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.ops import ADD, CONST, COS, INPUT, MAX, MIN, MUL, NEG, RECIP, SELECT, SIN, SQRT, SUB, Op
from robomorph.ir.program import Node, Program

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Interval:
    low: float
    high: float

    @property
    def size(self) -> float:
        """The largest magnitude inside."""
        return max(abs(self.low), abs(self.high))


def intervals(program: Program, inputs: Sequence[Interval]) -> list[Interval]:
    """An interval per node that holds for all inputs inside theirs (one per input entry)."""
    found: list[Interval] = []
    for node in program.nodes:
        if node.op is CONST:
            found.append(Interval(node.value, node.value))
        elif node.op is INPUT:
            found.append(inputs[int(node.value)])
        else:
            found.append(_propagate(node, [found[a] for a in node.args]))
    return found


def _propagate(node: Node, args: list[Interval]) -> Interval:
    a, b = args[0], args[-1]
    if node.op is ADD:
        return Interval(a.low + b.low, a.high + b.high)
    if node.op is SUB:
        return Interval(a.low - b.high, a.high - b.low)
    if node.op is NEG:
        return Interval(-a.high, -a.low)
    if node.op is MUL:
        return _product(a, b, same=node.args[0] == node.args[1])
    if node.op is RECIP:
        if a.low <= 0.0 <= a.high:
            return Interval(-math.inf, math.inf)
        return Interval(1.0 / a.high, 1.0 / a.low)
    if node.op in _CHOICES:
        return _CHOICES[node.op](*args)
    assert node.op in (SIN, COS), f"no interval rule for {node.op}"
    return _sine(a if node.op is SIN else Interval(a.low + math.pi / 2, a.high + math.pi / 2))


def _root(a: Interval) -> Interval:
    # Below zero the root is NaN, which no interval holds.
    return Interval(-math.inf, math.inf) if a.low < 0.0 else Interval(math.sqrt(a.low), math.sqrt(a.high))


def _selected(x: Interval, a: Interval, b: Interval) -> Interval:
    if x.low >= 0.0:
        return a
    return b if x.high < 0.0 else Interval(min(a.low, b.low), max(a.high, b.high))


_CHOICES: dict[Op, Callable[..., Interval]] = {
    SQRT: _root,
    MIN: lambda a, b: Interval(min(a.low, b.low), min(a.high, b.high)),
    MAX: lambda a, b: Interval(max(a.low, b.low), max(a.high, b.high)),
    SELECT: _selected,
}


def _product(a: Interval, b: Interval, *, same: bool) -> Interval:
    corners = [_times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    if same:
        crosses = a.low <= 0.0 <= a.high
        return Interval(0.0 if crosses else min(a.low**2, a.high**2), max(corners))
    return Interval(min(corners), max(corners))


def _times(x: float, y: float) -> float:
    return 0.0 if x == 0.0 or y == 0.0 else x * y


def _sine(a: Interval) -> Interval:
    if not (math.isfinite(a.low) and math.isfinite(a.high)) or a.high - a.low >= 2 * math.pi:
        return Interval(-1.0, 1.0)
    ends = (math.sin(a.low), math.sin(a.high))
    first_top = math.ceil((a.low - math.pi / 2) / (2 * math.pi)) * 2 * math.pi + math.pi / 2
    first_bottom = math.ceil((a.low + math.pi / 2) / (2 * math.pi)) * 2 * math.pi - math.pi / 2
    low = -1.0 if first_bottom <= a.high else min(ends)
    high = 1.0 if first_top <= a.high else max(ends)
    return Interval(low, high)


def profile(program: Program, arguments: Mapping[str, Array]) -> list[float]:
    """The largest magnitude of every node over sampled states (n, *shape)."""
    return [float(np.max(np.abs(v))) for v in node_values(program, arguments)]


def node_values(program: Program, arguments: Mapping[str, Array]) -> list[Array]:
    """Every node's value in float64 over sampled states (n, *shape): shape (n,), or () for constants."""
    columns: list[Array] = []
    for port in program.inputs:
        value = np.asarray(arguments[port.name], np.float64)
        flat = value.reshape((-1, port.size))
        columns.extend(flat[:, k] for k in range(port.size))
    values: list[Array] = []
    for node in program.nodes:
        if node.op is CONST:
            values.append(np.asarray(node.value))
        elif node.op is INPUT:
            values.append(columns[int(node.value)])
        else:
            assert node.op.evaluate is not None
            values.append(node.op.evaluate(*(values[a] for a in node.args)))
    return values
