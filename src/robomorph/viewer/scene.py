"""Scene documents from robots: links, joints, and shapes with their meshes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.tree import coordinate_starts
from robomorph.errors import ArgumentError
from robomorph.model.joints import JOINT_TYPES
from robomorph.robot import Robot
from robomorph.viewer.document import VERSION, check_scene
from robomorph.viewer.drawn import Meshes, robot_shapes
from robomorph.viewer.poses import sevens

Array = npt.NDArray[np.float64]


class Placed(Protocol):
    """A robot in a scene: q (nq,) where it is, frames: what a handle can hold, ghost: drawn translucent."""

    robot: Robot
    q: Array
    name: str
    ghost: bool
    frames: tuple[str, ...]


@dataclass
class Placing:
    """The plainest `Placed`: a robot, by default with all joints at zero or as near as their limits allow."""

    robot: Robot
    q: Any = None
    name: str = ""
    ghost: bool = False
    frames: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        limits = self.robot.limits
        self.name = self.name or self.robot.name
        if self.q is None:
            self.q = np.clip(self.robot.neutral, limits.lower, limits.upper)
        self.q = np.asarray(self.q, np.float64)


def make_scene(
    robots: Sequence[Robot | Placed],
    *,
    title: str | None = None,
    trajectories: Sequence[Mapping[str, Any]] = (),
    marks: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The document (see `document.py`) of robots where they are, of motions and of marks, checked.

    title: None for the robots' names. A mesh that cannot be read is a ModelWarning, and what is drawn of the
    link's body from its tree stands in for it.
    """
    placed = [Placing(one) if isinstance(one, Robot) else one for one in robots]
    if not placed:
        raise ArgumentError("robots: expected one at least, found none")
    meshes = Meshes()
    scene = {
        "version": VERSION,
        "title": title if title is not None else ", ".join(dict.fromkeys(one.name for one in placed)),
        "up": "z",
        "robots": [_robot(one, meshes) for one in placed],
        "meshes": meshes.documents,
        "marks": [dict(mark) for mark in marks],
        "trajectories": [dict(motion) for motion in trajectories],
    }
    check_scene(scene)
    return scene


def _robot(placed: Placed, meshes: Meshes) -> dict[str, Any]:
    robot = placed.robot
    return {
        "name": placed.name,
        "ghost": bool(placed.ghost),
        "links": list(robot.link_names),
        "poses": sevens(robot.link_poses(placed.q)).tolist(),
        "q": np.asarray(placed.q, np.float64).tolist(),
        "coordinates": _coordinates(robot),
        "frames": list(placed.frames),
        "tools": _tools(robot),
        "shapes": robot_shapes(robot.model, meshes),
    }


def _coordinates(robot: Robot) -> list[dict[str, Any]]:
    """What can be set of a configuration; parts of quaternions and (cos, sin) pairs have no slider."""
    limits, names, out = robot.limits, robot.coordinate_names, []
    for i, (iq, _) in coordinate_starts(robot.model).items():
        body = robot.model.bodies[i]
        joint = JOINT_TYPES[body.kind]
        parts = range(joint.nq)[joint.unit_part]
        for k in range(joint.nq):
            turns = joint.nq == joint.nv and any(joint.subspace[k].ang)
            out.append(
                {
                    "name": names[iq + k],
                    "joint": body.joint_name,
                    "index": iq + k,
                    "lower": _limit(limits.lower[iq + k]),
                    "upper": _limit(limits.upper[iq + k]),
                    "kind": "other" if k in parts else "angle" if turns else "length",
                    "slider": k not in parts,
                }
            )
    return out


def _limit(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _tools(robot: Robot) -> list[dict[str, Any]]:
    """Frames that are no links, each in the frame of a link that is fixed to it."""
    model, out = robot.model, []
    for frame in model.frames:
        carriers = [i for i, link in enumerate(model.link_placements) if link.body == frame.body]
        if not frame.tool or not carriers:
            continue
        inside = model.link_placements[carriers[0]].placement.inverse().compose(frame.placement)
        pose = sevens(inside.matrix).tolist()
        out.append({"name": frame.name, "link": carriers[0], "position": pose[:3], "quaternion": pose[3:]})
    return out
