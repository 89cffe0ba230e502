"""A dragged frame: inverse kinematics from where the robot is, and why it does not follow where it cannot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.model.model import WORLD
from robomorph.viewer.poses import matrix, sevens

if TYPE_CHECKING:
    from robomorph.ik import IKResult
    from robomorph.robot import Robot
    from robomorph.viewer.shown import Shown

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Followed:
    """Where a robot goes as its frame is dragged: q (nq,), the target, and how well it meets that."""

    q: Array
    frame: str
    target: Array  # (3,) or (4, 4)
    result: IKResult
    searched: IKResult  # by all starts, where the way from here did not lead there

    def words(self, robot: Robot, *, explain: bool = False) -> dict[str, Any]:
        """The part `ik` of a state. explain: with the reason worked out, which may take a second search."""
        done = bool(self.result.success)
        return {
            "success": done,
            "reason": str(self.searched.reason) if explain and not done else self._short(done),
            "position_error": float(self.result.position_error),
            "rotation_error": float(self.result.rotation_error),
            "limits": at_limits(robot, self.result),
            "frame": self.frame,
            "target": _seven(self.target, robot, self.q, self.frame),
        }

    def _short(self, done: bool) -> str:
        if done:
            return "converged"
        turn = f" and {float(self.result.rotation_error):.3g} rad" if self.target.ndim == 2 else ""
        return f"does not follow: {float(self.result.position_error):.3g} m{turn} away"


def follow(shown: Shown, frame: str, position: Array, quaternion: Array | None) -> Followed:
    """The configuration that brings `frame` to a position (3,), or with a quaternion (4,) xyzw to a pose,
    nearest to where the robot is. First from there alone; if that fails, from other starts too; if none gets
    there, as near as the way from here leads."""
    robot, q = shown.robot, shown.q
    target = position if quaternion is None else matrix(position, quaternion)
    fixed = held_joints(robot, frame, move_base=shown.move_base)
    near = robot.inverse_kinematics(target, frame, q, fixed=fixed, starts=1)
    searched = near if near.success else robot.inverse_kinematics(target, frame, q, fixed=fixed)
    result = searched if searched.success else near
    return Followed(np.asarray(result.q), frame, target, result, searched)


def held_joints(robot: Robot, frame: str, *, move_base: bool) -> tuple[str, ...]:
    """Joints that keep their place while `frame` is dragged: a floating base; but where the base itself is
    dragged, all others."""
    model = robot.model
    carrier = model.frames[model.frame_index(frame)].body
    if carrier == WORLD:
        raise ArgumentError(f"frame: expected one that a joint of {robot.name} moves, found {frame!r}")
    bases = [i for i, body in enumerate(model.bodies) if body.parent == WORLD and body.kind == "floating"]
    if carrier in bases:
        return tuple(name for i, name in enumerate(model.joint_names) if i != carrier and _own(robot, i))
    return () if move_base else tuple(model.joint_names[i] for i in bases)


def _own(robot: Robot, body: int) -> bool:
    return robot.model.bodies[body].mimic is None


def at_limits(robot: Robot, result: IKResult) -> list[str]:
    """Every coordinate that is at a limit, in words."""
    active = result.active_limits
    names = robot.coordinate_names
    return [
        f"{names[k]} at its {'upper' if active[k] > 0 else 'lower'} limit" for k in np.flatnonzero(active)
    ]


def _seven(target: Array, robot: Robot, q: Array, frame: str) -> list[float]:
    """[x y z qx qy qz qw] of a target; a position alone leaves the frame turned as it is."""
    pose = target
    if target.ndim == 1:
        pose = robot.forward_kinematics(q, frame).copy()
        pose[:3, 3] = target
    out: list[float] = sevens(pose).tolist()
    return out
