"""From what a user passes to a solver and its arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.configuration import neutral, position_limits
from robomorph.algorithms.tree import coordinate_starts
from robomorph.errors import ArgumentError
from robomorph.ik.layout import Layout
from robomorph.ik.options import Options
from robomorph.ik.solver import RowRules, Solver
from robomorph.ik.targets import TARGETS, Part, PoseTarget, PositionTarget, Target
from robomorph.model.joints import JOINT_TYPES
from robomorph.naming import listed
from robomorph.runtime.arguments import as_array, check_shape
from robomorph.tasks.base import AnyTask, check_frame

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """A batch of problems of one kind; `numbers` (..., n) are the references of its tasks."""

    layout: Layout
    rows: RowRules
    numbers: Array


def read_tolerance(tolerance: Any) -> tuple[float, float]:
    """(metres, radians) from a pair or one number for both."""
    try:
        for part in tolerance if isinstance(tolerance, (list, tuple)) else ():
            as_array("tolerance", part)  # each alone: beside a number True would become 1
        array = as_array("tolerance", tolerance)
        position, rotation = (float(x) for x in np.broadcast_to(array, (2,)))
    except (ArgumentError, ValueError):
        raise ArgumentError(
            f"tolerance: expected one number or a pair (metres, radians), found {tolerance!r}"
        ) from None
    if not (0.0 < position < np.inf and 0.0 < rotation < np.inf):
        raise ArgumentError(f"tolerance: expected positive numbers, found {tolerance!r}")
    return position, rotation


def read_targets(robot: Robot, target: Any, frame: str | None) -> list[Target]:
    """A pose (..., 4, 4), a position (..., 3), one target or a list of them, as targets with known frames."""
    if isinstance(target, TARGETS):
        targets: list[Any] = [target]
    elif isinstance(target, (list, tuple)) and any(isinstance(t, TARGETS) for t in target):
        targets = list(target)
    else:
        targets, frame = [_from_array(robot, target, frame)], None
    if frame is not None:
        raise ArgumentError(f"frame: every target names its own: leave `frame` out, found {frame!r}")
    for item in targets:
        if not isinstance(item, TARGETS):
            raise ArgumentError(
                f"target: expected targets of robomorph.ik, found {type(item).__name__} among them"
            )
        if not isinstance(item.task, AnyTask):
            raise ArgumentError(f"task: expected a task of robomorph.tasks, found {item.task!r}")
        item.task.check(robot.model)
    return targets


def _from_array(robot: Robot, target: Any, frame: str | None) -> Target:
    array = as_array("target", target)
    if frame is None:
        frame = only_tip(robot)
    check_frame(robot.model, frame)
    if array.ndim >= 2 and array.shape[-2:] == (4, 4):
        return PoseTarget(frame, array)
    if array.ndim >= 1 and array.shape[-1] == 3:
        return PositionTarget(frame, array)
    raise ArgumentError(
        f"target: expected a pose (..., 4, 4), a position (..., 3) or targets of robomorph.ik, "
        f"found shape {array.shape}"
    )


def only_tip(robot: Robot) -> str:
    """The last frame of a robot with one end; a robot with several must be told which is meant."""
    bodies = robot.model.bodies
    parents = {body.parent for body in bodies}
    tips = [i for i in range(len(bodies)) if i not in parents]
    ends = [[f.name for f in robot.model.frames if f.body == tip][-1] for tip in tips]
    if len(tips) != 1:
        raise ArgumentError(
            f"frame: {robot.name} has {len(tips)} ends: name the frame that shall reach the target"
            f"{', such as ' * bool(ends)}{listed(ends)}"
        )
    return ends[0]


def make_problem(targets: Sequence[Target], tolerance: tuple[float, float]) -> Problem:
    """All targets stacked; their batch dimensions broadcast."""
    parts = [part for target in targets for part in target.parts(tolerance)]
    if not parts:
        raise ArgumentError("target: expected at least one target, found an empty list")
    weighted = any(w != 1.0 for part in parts for w in part.weights)
    layout = Layout(tuple(part.task for part in parts), weighted)
    try:
        lead = np.broadcast_shapes(*(part.numbers.shape[:-1] for part in parts))
    except ValueError:
        shapes = ", ".join(str(part.numbers.shape[:-1]) for part in parts)
        raise ArgumentError(f"target: batch dimensions do not broadcast together: {shapes}") from None
    numbers = np.concatenate(
        [np.broadcast_to(p.numbers, (*lead, p.numbers.shape[-1])) for p in parts], axis=-1
    )
    return Problem(layout, _rows(parts), numbers)


def _rows(parts: Sequence[Part]) -> RowRules:
    weights: list[float] = []
    inverse: list[float] = []
    group: list[int] = []
    for part in parts:
        weights += part.weights
        inverse += [1.0 / t if w > 0.0 else 0.0 for t, w in zip(part.tolerance, part.weights, strict=True)]
        first = group[-1] + 1 if group else 0
        group += [first + (0 if part.together else k) for k in range(len(part.weights))]
    return RowRules(tuple(weights), tuple(inverse), tuple(group))


def solver_for(robot: Robot, layout: Layout, rows: RowRules, options: Options) -> Solver:
    """The robot's solver of this kind, made once."""
    key = ("ik", layout, rows, options)
    solver = robot._kernels.get(key)
    if solver is None:
        for name in options.fixed:
            robot.model.joint_index(name)
        solver = robot._kernels[key] = Solver(robot, layout, rows, options)
    assert isinstance(solver, Solver)
    return solver


def default_start(robot: Robot) -> Array:
    """(nq,) the middle of every joint's range; the neutral value of joints without limits. Read-only."""
    known: Array | None = robot._kernels.get("ik start")
    if known is not None:
        return known
    q = neutral(robot.model)
    lower, upper = position_limits(robot.model)
    both = np.isfinite(lower) & np.isfinite(upper)
    q[both] = 0.5 * (lower[both] + upper[both])
    q = robot._kernels["ik start"] = np.clip(q, lower, upper)
    q.flags.writeable = False
    return q


def read_configuration(robot: Robot, name: str, value: Any) -> Array:
    """A configuration (..., nq), finite; quaternions and planar angles are brought to unit length."""
    q = as_array(name, value).astype(np.float64, copy=False)
    check_shape(name, q, (robot.nq,))
    if not np.isfinite(q).all():
        raise ArgumentError(f"{name}: expected finite numbers, found NaN or infinity")
    return _normalised(robot, name, q)


def _normalised(robot: Robot, name: str, q: Array) -> Array:
    for place, joint in unit_parts(robot):
        length = np.linalg.norm(q[..., place], axis=-1, keepdims=True)
        if (length < 1e-6).any():
            raise ArgumentError(
                f"{name}: the rotation of joint {joint!r} has length zero: expected a vector of unit length"
            )
        q = q.copy()
        q[..., place] /= length
    return q


def unit_parts(robot: Robot) -> list[tuple[slice, str]]:
    """Where q holds vectors of unit length (quaternions, (cos, sin) pairs), and of which joint."""
    out = []
    for i, (iq, _) in coordinate_starts(robot.model).items():
        body = robot.model.bodies[i]
        part = JOINT_TYPES[body.kind].unit_part
        if part.stop > part.start:
            out.append((slice(iq + part.start, iq + part.stop), body.joint_name))
    return out
