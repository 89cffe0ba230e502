"""What every task is held to: its rows by Pinocchio, its Jacobian by differences, its programs by both."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio

from robomorph import Robot
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.tasks import AnyTask, Matrix, Scene
from tests.ik.arms import arm
from tests.oracle.finite_differences import by_configuration
from tests.oracle.kernels import kernel_of
from tests.oracle.reference import Reference

Array = npt.NDArray[Any]
# What Pinocchio says of one configuration and one reference, as the caller gives it.
Expected = Callable[[Array], Array]
ROBOTS = {
    "panda": "panda_hand",
    "floating panda": "panda_hand",
    "atlas": "l_hand",
    "iiwa14": "lbr_iiwa_link_7",
}


def robot_of(name: str) -> tuple[Robot, Reference, str]:
    """A robot, Pinocchio's model of it, and a frame that moves."""
    robot, reference = arm(name.removeprefix("floating "), name.startswith("floating "))
    return robot, reference, ROBOTS[name]


def states(robot: Robot, count: int = 4) -> Array:
    return robot.random_state(11, count).q


def rotations(count: int) -> Array:
    """Random rotations (count, 3, 3)."""
    return np.stack([pinocchio.exp3(v) for v in np.random.default_rng(5).normal(size=(count, 3))])


def stacked(rows: Sequence[Any], shape: tuple[int, ...]) -> Array:
    """Rows of scalars, some of them plain numbers, as (*shape, rows)."""
    return np.stack([np.broadcast_to(row, shape) for row in rows], axis=-1)


def traced(robot: Robot, task: AnyTask, what: str) -> Program:
    """(q, reference) -> (values, jacobian) of the residual's rows ("residual"; "exact": with the exact
    Jacobian) or of the bound rows."""
    tracer, tree = Tracer(), robot.specialiser.tree(regroup=False)
    ports = [Port("q", (robot.nq,)), Port("reference", (task.size.reference,))]
    inputs = tracer.inputs(ports)
    values, jacobian = evaluated(task, what, Scene(tree, inputs["q"]), inputs["reference"])
    program = tracer.program("task", ports, {"values": values, "jacobian": jacobian})
    return run_passes(program, SIMPLIFY)


def evaluated(task: AnyTask, what: str, scene: Scene, reference: Sequence[Any]) -> tuple[list[Any], Matrix]:
    if what == "bounds":
        return task.bound_rows(scene, reference)
    if what == "exact":
        return task.exact_rows(scene, reference)
    raw, jacobian = task.residual(scene, reference)
    assert len(raw) == task.size.raw
    return task.rows(raw), jacobian


def over_arrays(robot: Robot, task: AnyTask, what: str, q: Array, numbers: Array) -> tuple[Array, Array]:
    """The same over NumPy arrays as scalars: batches without a program."""
    scene = Scene(robot.specialiser.tree(regroup=False), list(np.moveaxis(q, -1, 0)))
    values, jacobian = evaluated(task, what, scene, list(np.moveaxis(numbers, -1, 0)))
    lead = np.broadcast_shapes(q.shape[:-1], numbers.shape[:-1])
    rows = np.stack([stacked(row, lead) for row in jacobian], axis=-2)
    return stacked(values, lead), rows


@cache
def _kernel(robot: Robot, task: AnyTask, what: str, dtype: str) -> Any:
    return kernel_of(traced(robot, task, what), dtype)


def _of_each(one: Expected) -> Expected:
    return lambda batch: np.stack([one(q) for q in batch])


def check(
    robot: Robot, task: AnyTask, what: str, q: Array, reference: Array, expected: Sequence[Expected]
) -> None:
    """Values against Pinocchio's at each of q (n, nq), over arrays and compiled in both precisions; the
    Jacobian against differences of Pinocchio's values: exactly, or for turning rows by J^T e."""
    count = task.bound_size.rows if what == "bounds" else task.size.rows
    numbers = np.broadcast_to(task.read(reference), (len(q), task.size.reference))
    values, jacobian = over_arrays(robot, task, what, q, numbers)
    assert values.shape == (len(q), count) and jacobian.shape == (len(q), count, robot.nv)
    wanted = np.stack([e(x) for e, x in zip(expected, q, strict=True)])
    assert np.allclose(values, wanted, rtol=0, atol=1e-9)
    for one, x, e, rows in zip(expected, q, wanted, jacobian, strict=True):
        slope = by_configuration(robot, _of_each(one), x)
        if what in ("bounds", "exact") or not any(part.kind.turning for part in task.parts):
            assert np.allclose(rows, slope, rtol=0, atol=1e-7)
        else:
            assert np.allclose(rows.T @ e, slope.T @ e, rtol=0, atol=1e-6)
    for dtype, tolerance in (("float64", 1e-9), ("float32", 1e-3)):
        found = _kernel(robot, task, what, dtype)(q.astype(dtype), numbers.astype(dtype))
        assert found.values.dtype == dtype
        assert np.allclose(found.values, wanted, rtol=0, atol=tolerance)
        assert np.allclose(found.jacobian, jacobian, rtol=0, atol=tolerance)
    task.check(robot.model)
    same = copy.deepcopy(task)
    assert same == task and hash(same) == hash(task)
