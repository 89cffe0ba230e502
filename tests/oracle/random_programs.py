"""Random legal programs by Hypothesis, over every operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from robomorph.ir.interpret import interpret
from robomorph.ir.ops import CONST, INPUT, OPS, RECIP
from robomorph.ir.program import Node, Port, Program

INPUTS = 4
# Zeros, ones and pairs of opposite signs are what passes look for.
CONSTANTS = (0.0, 1.0, -1.0, 2.0, -2.0, 0.5, 3.25)
ARITHMETIC = tuple(op for op in OPS.values() if op.arity)
BASIC = tuple(op for op in ARITHMETIC if op.arity < 3)


@st.composite
def random_programs(draw: st.DrawFn, longest: int = 40, fused: bool = True) -> Program:
    """A program of two inputs and two outputs; `fused` allows multiply-adds."""
    nodes = [Node(INPUT, (), float(slot)) for slot in range(INPUTS)]
    nodes += [Node(CONST, (), value) for value in draw(st.lists(st.sampled_from(CONSTANTS), max_size=4))]
    ops = ARITHMETIC if fused else BASIC
    for _ in range(draw(st.integers(1, longest), label="operations")):
        op = draw(st.sampled_from(ops))
        earlier = st.integers(0, len(nodes) - 1)
        nodes.append(Node(op, tuple(draw(earlier) for _ in range(op.arity))))
    results = [draw(st.integers(0, len(nodes) - 1)) for _ in range(5)]
    outputs = (Port("y", (2, 2)), Port("z", ()))
    return Program("random", (Port("a", (3,)), Port("b", ())), outputs, tuple(nodes), tuple(results))


def arguments(seed: int, rows: int, dtype: str = "float64") -> dict[str, npt.NDArray[Any]]:
    rng = np.random.default_rng(seed)
    return {
        "a": rng.uniform(-2.0, 2.0, (rows, 3)).astype(dtype),
        "b": rng.uniform(-2.0, 2.0, rows).astype(dtype),
    }


def run(program: Program, values: dict[str, npt.NDArray[Any]], dtype: str = "float64") -> npt.NDArray[Any]:
    """All results, (rows, entries)."""
    with np.errstate(all="ignore"):
        out = interpret(program, values, dtype)
    rows = len(values["b"])
    return np.concatenate([out[port.name].reshape(rows, -1) for port in program.outputs], axis=1)


def tame_rows(
    program: Program, values: dict[str, npt.NDArray[Any]], largest: float = 1e6
) -> npt.NDArray[Any]:
    """Rows in which every node is finite and neither huge nor the reciprocal of almost nothing: identities
    such as 0 x = 0 promise nothing elsewhere."""
    count = len(program.nodes)
    everything = Program("all", program.inputs, (Port("all", (count,)),), program.nodes, tuple(range(count)))
    with np.errstate(all="ignore"):
        found = interpret(everything, values)["all"]
    tame = np.all(np.isfinite(found) & (np.abs(found) < largest), axis=1)
    for node in program.nodes:
        if node.op is RECIP:
            tame &= np.abs(found[:, node.args[0]]) > 1.0 / largest
    return np.asarray(tame)
