"""Run a program on models: operation by operation, all values of one kind and depth together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph.errors import ProgramError
from robomorph.ir.chebyshev import functions
from robomorph.ir.chebyshev.models import Models, add, multiply, negate, scale, subtract
from robomorph.ir.chebyshev.rounding import Array, constant_error
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
from robomorph.ir.program import Program

Places = npt.NDArray[np.int64]
Inputs = Mapping[str, Models | Sequence[float]]
"""By port: models (D + 1, size, pieces), or plain numbers (size,) that are exactly what they are."""

_APPLY: dict[Op, Callable[..., Models]] = {
    ADD: add,
    SUB: subtract,
    MUL: multiply,
    NEG: negate,
    RECIP: functions.reciprocal,
    SIN: functions.sine,
    COS: functions.cosine,
    SQRT: functions.root,
    MIN: functions.minimum,
    MAX: functions.maximum,
    SELECT: functions.select,
    FMA: lambda a, b, c: add(multiply(a, b), c),
    FMS: lambda a, b, c: subtract(multiply(a, b), c),
    FNMA: lambda a, b, c: subtract(c, multiply(a, b)),
}
# Numbers that may be in memory at once; more pieces are done one batch after another.
_MOST = 2**24


class _Step(NamedTuple):
    """Nodes of one operation and depth. Their arguments' nodes; `scales`: the first ones are constants."""

    op: Op
    nodes: slice
    args: tuple[Places, ...]
    scales: bool


@dataclass(frozen=True)
class Order:
    """The program's nodes sorted by depth and operation: `place[i]` is where node i went. Constants, their
    places, and how far they may be off."""

    place: Places
    steps: tuple[_Step, ...]
    constants: Array
    constant_places: Places
    constant_errors: Array


def run_models(program: Program, inputs: Inputs, degree: int, order: Order | None = None) -> Models:
    """Models (D + 1, results, pieces) of all results, from those of the inputs. order: of this program and
    the same inputs that are plain numbers, if it was made before."""
    lacking = [m.degree for m in inputs.values() if isinstance(m, Models) and m.degree > degree]
    if lacking:
        raise ProgramError(f"{program.name}: models of degree {degree} cannot hold inputs of {max(lacking)}")
    pieces = next((m.remainder.shape[1] for m in inputs.values() if isinstance(m, Models)), 1)
    if order is None:
        order = ordered(program, {name for name, given in inputs.items() if not isinstance(given, Models)})
    batch = max(1, _MOST // ((degree + 1) * max(1, len(program.nodes))))
    parts = [
        _run(program, order, inputs, degree, slice(k, min(k + batch, pieces)))
        for k in range(0, pieces, batch)
    ]
    return Models(
        np.concatenate([part.coefficients for part in parts], axis=-1),
        np.concatenate([part.remainder for part in parts], axis=-1),
        np.concatenate([part.size for part in parts], axis=-1),
    )


def _run(program: Program, order: Order, inputs: Inputs, degree: int, pieces: slice) -> Models:
    count, width = len(program.nodes), pieces.stop - pieces.start
    values = Models(np.zeros((degree + 1, count, width)), np.zeros((count, width)), np.zeros((count, width)))
    _fill(program, order, inputs, values, pieces)
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for step in order.steps:
            taken = [values.take(args) for args in step.args]
            found = _scaled(taken) if step.scales else _APPLY[step.op](*taken)
            values.coefficients[:, step.nodes] = found.coefficients
            values.remainder[step.nodes] = found.remainder
            values.size[step.nodes] = found.size
    return values.take(order.place[np.array(program.results, dtype=np.int64)])


def _scaled(taken: list[Models]) -> Models:
    factor, other = taken
    return scale(other, factor.coefficients[0], factor.remainder)


def _fill(program: Program, order: Order, inputs: Inputs, values: Models, pieces: slice) -> None:
    """Constants and inputs."""
    values.coefficients[0, order.constant_places] = order.constants[:, None]
    values.remainder[order.constant_places] = order.constant_errors[:, None]
    values.size[order.constant_places] = np.abs(order.constants[:, None])
    slots = _slots(program, inputs, pieces)
    for i, node in enumerate(program.nodes):
        if node.op is INPUT:
            place, given = int(order.place[i]), slots[int(node.value)]
            if isinstance(given, Models):
                values.coefficients[: given.degree + 1, place] = given.coefficients
                values.remainder[place] = given.remainder
                values.size[place] = given.size
            else:
                values.coefficients[0, place], values.size[place] = given, abs(given)


def _slots(program: Program, inputs: Inputs, pieces: slice) -> list[Models | float]:
    out: list[Models | float] = []
    for port in program.inputs:
        if port.name not in inputs:
            raise ProgramError(f"{program.name}: no model of its input {port.name!r} was given")
        given = inputs[port.name]
        count = given.remainder.shape[0] if isinstance(given, Models) else len(given)
        if count != port.size:
            raise ProgramError(f"{program.name}: {port.name}: expected {port.size} entries, found {count}")
        if isinstance(given, Models):
            batch = Models(given.coefficients[..., pieces], given.remainder[:, pieces], given.size[:, pieces])
            out += [batch.take(k) for k in range(count)]
        else:
            out += [float(x) for x in given]
    return out


def ordered(program: Program, plain: set[str]) -> Order:
    """Nodes by depth, then operation; a product with a constant is a kind of its own. plain: ports that are
    plain numbers."""
    fixed = _fixed_slots(program, plain)
    depth: list[int] = []
    kinds: list[tuple[int, str, bool]] = []
    constant: list[bool] = []
    for node in program.nodes:
        depth.append(1 + max((depth[a] for a in node.args), default=-1))
        constant.append(node.op is CONST or (node.op is INPUT and int(node.value) in fixed))
        scales = node.op is MUL and (constant[node.args[0]] or constant[node.args[1]])
        kinds.append((depth[-1], node.op.name, scales))
        if node.op not in _APPLY and node.args:
            raise ProgramError(f"{program.name}: no rule for models of {node.op.name!r}")
    order = sorted(range(len(kinds)), key=kinds.__getitem__)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    own = [i for i, node in enumerate(program.nodes) if node.op is CONST]
    numbers = np.array([program.nodes[i].value for i in own])
    errors = constant_error(numbers, float(np.abs(numbers).max(initial=0.0)))
    steps = tuple(_steps(program, order, kinds, constant, place))
    return Order(place, steps, numbers, place[own], errors)


def _steps(
    program: Program,
    order: list[int],
    kinds: list[tuple[int, str, bool]],
    constant: list[bool],
    place: Places,
) -> list[_Step]:
    steps, first = [], 0
    while first < len(order):
        kind, last = kinds[order[first]], first
        while last < len(order) and kinds[order[last]] == kind:
            last += 1
        members = [program.nodes[i] for i in order[first:last]]
        if members[0].args:
            args = [[*n.args] if not kind[2] or constant[n.args[0]] else [*n.args[::-1]] for n in members]
            columns = tuple(place[np.array(column)] for column in zip(*args, strict=True))
            steps.append(_Step(members[0].op, slice(first, last), columns, kind[2]))
        first = last
    return steps


def _fixed_slots(program: Program, plain: set[str]) -> set[int]:
    fixed: set[int] = set()
    first = 0
    for port in program.inputs:
        if port.name in plain:
            fixed |= set(range(first, first + port.size))
        first += port.size
    return fixed
