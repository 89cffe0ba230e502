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
    of fourth order."""
    found: dict[tuple[str, str], Array] = {}
    for argument in callee.inputs:
        if not argument.pattern.entries:
            continue
        for place in range(argument.pattern.size):
            total: dict[str, Array] = {}
            for k, weight in ((-2, 1 / 12), (-1, -8 / 12), (1, 8 / 12), (2, -1 / 12)):
                moved = np.array(given[argument.name])
                moved[:, place] += k * step
                for name, value in evaluate(callee, {**given, argument.name: moved}).items():
                    total[name] = total.get(name, 0.0) + weight / step * value
            for name, value in total.items():
                shape = (*value.shape, argument.pattern.size)
                found.setdefault((name, argument.name), np.zeros(shape))[..., place] = value
    return found


def as_matrix(argument: Argument, values: Array) -> Array:
    """(..., rows, columns) from columns laid end to end."""
    pattern = argument.pattern
    columns = values.reshape((*values.shape[:-1], pattern.columns, pattern.rows))
    return np.asarray(columns.swapaxes(-1, -2))
