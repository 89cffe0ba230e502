"""Where rounding hurts: how strongly the results of a program answer to each of its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.ops import ADD, COS, MAX, MIN, MUL, NEG, RECIP, SELECT, SIN, SQRT, SUB, Op
from robomorph.ir.program import Program
from robomorph.ir.ranges import node_values

Array = npt.NDArray[Any]

# Given the values of the operands, the derivative by each.
_PARTIALS: dict[Op, Callable[..., tuple[Any, ...]]] = {
    ADD: lambda a, b: (1.0, 1.0),
    SUB: lambda a, b: (1.0, -1.0),
    NEG: lambda a: (-1.0,),
    MUL: lambda a, b: (b, a),
    RECIP: lambda a: (-1.0 / (a * a),),
    SIN: lambda a: (np.cos(a),),
    COS: lambda a: (-np.sin(a),),
    SQRT: lambda a: (0.5 / np.sqrt(a),),
    MIN: lambda a, b: (np.where(a <= b, 1.0, 0.0), np.where(a <= b, 0.0, 1.0)),
    MAX: lambda a, b: (np.where(a >= b, 1.0, 0.0), np.where(a >= b, 0.0, 1.0)),
    SELECT: lambda x, a, b: (0.0, np.where(x >= 0.0, 1.0, 0.0), np.where(x >= 0.0, 0.0, 1.0)),
}


def sensitivities(program: Program, arguments: Mapping[str, Array], *, seed: int = 0) -> Array:
    """Per node, the root mean square over states of the norm of the results' derivatives by its value.

    By reverse accumulation with random signs on the results: their expected square is the squared norm.
    """
    values = node_values(program, arguments)
    count = max(np.size(v) for v in values)
    rng = np.random.default_rng(seed)
    adjoint: list[Any] = [0.0] * len(program.nodes)
    for r in program.results:
        adjoint[r] = adjoint[r] + rng.choice([-1.0, 1.0], count)
    for i in reversed(range(len(program.nodes))):
        node = program.nodes[i]
        if not node.args:
            continue
        partials = _PARTIALS[node.op](*(values[a] for a in node.args))
        for a, partial in zip(node.args, partials, strict=True):
            adjoint[a] = adjoint[a] + adjoint[i] * partial
    return np.array([float(np.sqrt(np.mean(np.square(a)))) for a in adjoint])


def answers(program: Program, arguments: Mapping[str, Array], node: int) -> Array:
    """Per result, the root mean square over states of its derivative by one node's value: forward
    accumulation, exact to first order."""
    values = node_values(program, arguments)
    tangents: dict[int, Any] = {node: 1.0}
    for i in range(node + 1, len(program.nodes)):
        args = program.nodes[i].args
        if any(a in tangents for a in args):
            partials = _PARTIALS[program.nodes[i].op](*(values[a] for a in args))
            tangents[i] = sum(tangents.get(a, 0.0) * p for a, p in zip(args, partials, strict=True))
    return np.array([float(np.sqrt(np.mean(np.square(tangents.get(r, 0.0))))) for r in program.results])
