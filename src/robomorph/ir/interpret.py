"""The NumPy interpreter: the definition of what a program computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.program import Program

Array = npt.NDArray[Any]


def interpret(program: Program, arguments: Mapping[str, Array], dtype: Any = np.float64) -> dict[str, Array]:
    """Evaluate `program` on arrays of shape (..., *port.shape), all of one batch shape.

    Returns one array of shape (..., *port.shape) per output.
    """
    columns: list[Array] = []
    lead: tuple[int, ...] = ()
    for port in program.inputs:
        value = np.asarray(arguments[port.name], dtype=dtype)
        lead = value.shape[: value.ndim - len(port.shape)]
        flat = value.reshape((*lead, port.size))
        columns.extend(flat[..., k] for k in range(port.size))

    values: list[Any] = [None] * len(program.nodes)
    for i, node in enumerate(program.nodes):
        if node.op is CONST:
            values[i] = np.asarray(node.value, dtype=dtype)
        elif node.op is INPUT:
            values[i] = columns[int(node.value)]
        else:
            assert node.op.evaluate is not None
            values[i] = node.op.evaluate(*(values[a] for a in node.args))

    results: dict[str, Array] = {}
    start = 0
    for port in program.outputs:
        out = np.empty((*lead, port.size), dtype=dtype)
        for k in range(port.size):
            out[..., k] = values[program.results[start + k]]
        results[port.name] = out.reshape((*lead, *port.shape))
        start += port.size
    return results
