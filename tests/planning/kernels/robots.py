"""The robots that kernels of planning are tested on, states of them, and derivatives by complex steps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ModelWarning, Robot
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.tasks import AnyTask, Axis, CenterOfMass, Orientation, Pose, Position, Posture
from tests.model.oracle import example_robot
from tests.oracle.crane import CRANE

Array = npt.NDArray[Any]
Arguments = dict[str, Array]

# Built-in ones, one with prismatic and mimic joints, files of example-robot-data, and two standing on a foot.
FILES = {"panda": "panda", "talos": "talos_reduced"}
REROOTED = {"atlas on a foot": ("atlas", "r_foot"), "talos on a foot": ("talos", "leg_left_6_link")}
NAMES = ("iiwa14", "chain:5", "crane", "atlas", *FILES, *REROOTED)
_STEP = 1e-30  # of a complex step: exact to rounding, as nothing is subtracted


@cache
def robot(name: str) -> Robot:
    stem, root = REROOTED.get(name, (name, None))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(source_of(stem), root=root)


def source_of(name: str) -> Any:
    """What `load` takes."""
    if name not in FILES:
        return CRANE if name == "crane" else name
    found = example_robot(FILES[name])
    if found is None:
        pytest.skip(f"example-robot-data has no {FILES[name]}")
    return found


def some_tasks(made: Robot) -> tuple[AnyTask, ...]:
    """One of every kind, on frames of different branches."""
    frames = made.frame_names
    return (
        Position(frames[-1]),
        Orientation(frames[len(frames) // 2]),
        Axis(frames[-1], (0.6, 0.0, 0.8)),
        CenterOfMass(),
        Pose(frames[len(frames) // 3]),
        Posture.of(made.model),
    )


def random_references(tasks: Sequence[AnyTask], seed: int) -> Array:
    """Numbers of all tasks; those of turned tasks are rotations, as `read` would give them."""
    rng = np.random.default_rng(seed)
    out: list[Array] = []
    for task in (part for combined in tasks for part in combined.parts):
        if task.size.reference == 9:
            q, r = np.linalg.qr(rng.normal(size=(3, 3)))
            q = q * np.sign(np.diag(r))
            out.append((q * np.linalg.det(q)).ravel())
        else:
            out.append(rng.uniform(-1.0, 1.0, task.size.reference))
    return np.concatenate(out)


def random_arguments(program: Program, seed: int, batch: tuple[int, ...] = ()) -> Arguments:
    rng = np.random.default_rng(seed)
    return {port.name: rng.uniform(-1.5, 1.5, (*batch, *port.shape)) for port in program.inputs}


def derivative(program: Program, arguments: Arguments, by: str) -> dict[str, Array]:
    """Of every output by one input (n,): shape (*output, n), by complex steps."""
    n = arguments[by].size
    stepped = {name: np.repeat(x[None].astype(complex), n, axis=0) for name, x in arguments.items()}
    stepped[by] = stepped[by] + 1j * _STEP * np.eye(n)
    out = interpret(program, stepped, complex)
    return {name: np.moveaxis(value.imag / _STEP, 0, -1) for name, value in out.items()}


def assert_close(found: Array, expected: Array, tolerance: float = 1e-12) -> None:
    """Equal to within `tolerance` of the largest entry."""
    assert found.shape == expected.shape
    assert np.abs(found - expected).max(initial=0.0) <= tolerance * max(
        1.0, np.abs(expected).max(initial=0.0)
    )
