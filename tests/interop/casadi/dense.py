"""Callees for tests: run by the interpreter on many states, their results as whole matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph import Robot
from robomorph.compiler.specialise import make_request
from robomorph.interop.casadi.programs import make_callees
from robomorph.interop.functions import FUNCTIONS
from robomorph.ir.interpret import interpret
from robomorph.targets.casadi.callee import Argument, Callee

Array = npt.NDArray[Any]


def callees(robot: Robot, name: str, order: int = 2, f_ext: Any = False, **wishes: Any) -> tuple[Callee, ...]:
    frame = robot.link_names[-1] if FUNCTIONS[name].frame else None
    f_ext = f_ext if FUNCTIONS[name].wrenches else False
    request = make_request(robot.model, name, frame=frame, f_ext=f_ext, **wishes)
    return make_callees(robot.specialiser, request, "f", order)


def spread(argument: Argument, entries: Array | None, lead: tuple[int, ...]) -> Array:
    """(..., columns * rows) the whole matrix, column by column, from the entries of its pattern."""
    out = np.zeros((*lead, argument.pattern.size))
    if entries is not None:
        out[..., list(argument.pattern.entries)] = entries
    return out


def evaluate(callee: Callee, given: dict[str, Array]) -> dict[str, Array]:
    """Results by name, (states, size) each; `given` (states, size) by name, zeros where it has none."""
    states = len(next(iter(given.values())))
    arguments = {
        a.name: given[a.name][:, list(a.pattern.entries)] for a in callee.inputs if a.pattern.entries
    }
    found = interpret(callee.program, arguments)
    return {a.name: spread(a, found.get(a.name), (states,)) for a in callee.outputs}


def differences(callee: Callee, given: dict[str, Array], step: float = 1e-3) -> dict[tuple[str, str], Array]:
    """By result and argument, (states, entries of the result, entries of the argument): central differences
    of fourth order, of all entries in one call."""
    found: dict[tuple[str, str], Array] = {}
    read = {a.name for a in callee.inputs if a.pattern.entries}
    ways = np.array([-2.0, -1.0, 1.0, 2.0])
    for name in (a.name for a in callee.inputs if a.pattern.entries):
        states, size = given[name].shape
        moves = step * ways[:, None, None] * np.eye(size)  # (way, entry, entries)
        many = {other: np.tile(x, (len(ways) * size, 1)) for other, x in given.items() if other in read}
        many[name] = (given[name] + moves[:, :, None]).reshape(-1, size)
        for result, values in evaluate(callee, many).items():
            rows = values.reshape(len(ways), size, states, -1)
            slopes = np.tensordot(np.array([1.0, -8.0, 8.0, -1.0]) / (12 * step), rows, 1)
            found[result, name] = np.moveaxis(slopes, 0, -1)
    return found


def as_matrix(argument: Argument, values: Array) -> Array:
    """(..., rows, columns) from columns laid end to end."""
    pattern = argument.pattern
    columns = values.reshape((*values.shape[:-1], pattern.columns, pattern.rows))
    return np.asarray(columns.swapaxes(-1, -2))
