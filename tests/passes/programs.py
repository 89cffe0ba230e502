"""Programs over every operation, and arguments at the ends of what numbers can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.ops import CONST, INPUT, OPS, Op
from robomorph.ir.program import Node, Port, Program

Array = npt.NDArray[Any]
ARITHMETIC = tuple(op for op in OPS.values() if op.arity)
INPUTS = 4
# What passes look for, what a rounding shows in, and the ends of float64.
CONSTANTS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 0.1, 1 / 3, -0.7, 1e16, 1e-9, 1e300, -1e-300, 5e-324)
EXTREMES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, 1 + 2.0**-52, 1 - 2.0**-53, 1e16, -1e16, 2.0**53 + 2, 1e-16),
    *(1e150, -1e150, 1e-160, 1.7e308, -1.7e308, 2.0**-1022, 5e-324, -5e-324, 1e5, -3e4),
)
NOT_FINITE = (np.inf, -np.inf, np.nan)


class Maker:
    """A program under construction: inputs, then constants, then whatever is asked for."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes = [Node(INPUT, (), float(slot)) for slot in range(INPUTS)]
        self.nodes += [Node(CONST, (), value) for value in CONSTANTS]
        self.leaves = len(self.nodes)

    def add(self, op: Op, *args: int) -> int:
        self.nodes.append(Node(op, args))
        return len(self.nodes) - 1

    def leaf(self) -> int:
        """An input three times out of four, else a constant."""
        return int(self.rng.integers(INPUTS if self.rng.random() < 0.75 else self.leaves))

    def program(self, results: list[int]) -> Program:
        """Outputs of two shapes, so that padding has something to do."""
        results = results + results[:1] * (-len(results) % 4 + 1)
        outputs = (Port("y", ((len(results) - 1) // 4, 4)), Port("z", ()))
        ports = (Port("a", (INPUTS - 1,)), Port("b", ()))
        return Program("random", ports, outputs, tuple(self.nodes), tuple(results))


def pairs(seed: int) -> Iterator[Program]:
    """Every operation on every operation in every place, other arguments at random: what a rule about
    neighbours can meet."""
    for outer in ARITHMETIC:
        maker = Maker(seed)
        results = []
        for inner in ARITHMETIC:
            for place in range(outer.arity):
                args = [maker.leaf() for _ in range(outer.arity)]
                args[place] = maker.add(inner, *(maker.leaf() for _ in range(inner.arity)))
                results.append(maker.add(outer, *args))
        yield maker.program(results)


def tangles(seed: int, count: int, length: int) -> Iterator[Program]:
    """Random programs of up to `length` operations that use each other's values, some of them twice."""
    for k in range(count):
        maker = Maker(1000 * seed + k)
        made: list[int] = []
        for _ in range(int(maker.rng.integers(2, length + 1))):
            op = ARITHMETIC[int(maker.rng.integers(len(ARITHMETIC)))]
            args = [
                made[-1 - int(maker.rng.integers(min(3, len(made))))]
                if made and maker.rng.random() < 0.6
                else maker.leaf()
                for _ in range(op.arity)
            ]
            made.append(maker.add(op, *args))
        yield maker.program([*made[-4:], int(maker.rng.integers(len(maker.nodes)))])


def sums(seed: int, count: int) -> Iterator[Program]:
    """Sums of products, as robots have them: what is fused and regrouped."""
    ops = [OPS[name] for name in ("add", "sub", "mul", "neg", "add", "sub", "mul")]
    for k in range(count):
        maker = Maker(2000 * seed + k)
        made = [maker.add(OPS["mul"], maker.leaf(), maker.leaf()) for _ in range(3)]
        for _ in range(8):
            op = ops[int(maker.rng.integers(len(ops)))]
            args = [
                made[int(maker.rng.integers(len(made)))] if maker.rng.random() < 0.7 else maker.leaf()
                for _ in range(op.arity)
            ]
            made.append(maker.add(op, *args))
        yield maker.program(made[-4:])


def arguments(seed: int, rows: int, *, finite: bool = False, extreme: float = 0.4) -> dict[str, Array]:
    """Ordinary numbers with extremes among them, and infinities and NaNs unless `finite`."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-2.0, 2.0, (rows, INPUTS))
    pool = np.array(EXTREMES if finite else (*EXTREMES, *NOT_FINITE))
    mask = rng.random(values.shape) < extreme * rng.random((rows, 1)) * 2.0
    values = np.where(mask, rng.choice(pool, values.shape), values)
    equal = rng.random(rows) < 0.2  # x - x, x >= x
    values[equal, 1] = values[equal, 0]
    return {"a": values[:, :-1], "b": values[:, -1]}
