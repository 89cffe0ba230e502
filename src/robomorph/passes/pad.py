"""Output layouts with padding: results in larger arrays, as a native driver wants its matrices."""

from __future__ import annotations

import numpy as np

from robomorph.errors import ProgramError
from robomorph.ir.ops import CONST
from robomorph.ir.program import Node, Port, Program


def pad(program: Program, name: str, shape: tuple[int, ...]) -> Program:
    """The program with output `name` in an array of `shape`, no smaller than its own in any dimension; the
    rest is zero, written with the results on every target."""
    nodes = [*program.nodes, Node(CONST, (), 0.0)]
    outputs: list[Port] = []
    results: list[int] = []
    start, found = 0, False
    for port in program.outputs:
        own = list(program.results[start : start + port.size])
        start += port.size
        if port.name == name:
            found = True
            port, own = Port(name, shape), _padded(port, own, shape, len(nodes) - 1)
        outputs.append(port)
        results += own
    if not found:
        raise ProgramError(f"{program.name}: no output {name!r} to pad: {[p.name for p in program.outputs]}")
    return Program(program.name, program.inputs, tuple(outputs), tuple(nodes), tuple(results))


def _padded(port: Port, results: list[int], shape: tuple[int, ...], zero: int) -> list[int]:
    if len(shape) != len(port.shape) or any(n < m for n, m in zip(shape, port.shape, strict=True)):
        raise ProgramError(f"output {port.name!r} of shape {port.shape} does not fit into {shape}")
    places = np.full(shape, zero)
    places[tuple(slice(0, n) for n in port.shape)] = np.reshape(results, port.shape)
    return [int(x) for x in places.ravel()]
