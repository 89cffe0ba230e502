"""The same robot with more mass on it: a payload that a controller does not know of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.model.changes import Payload, read_changes
from robomorph.robot import Robot

# kg at the origin of the tool's frame, or the inertia (see `robomorph.load`) by link or tool frame.
Payloads: TypeAlias = float | Mapping[str, Payload]


def loaded(robot: Robot, payload: Payloads | None) -> Robot:
    """The robot with the payload welded to it."""
    if payload is None:
        return robot
    if not isinstance(payload, Mapping):
        payload = {tool_frame(robot): (payload, np.zeros(3))}
    bodies = list(robot.model.bodies)
    for name, inertia in read_changes(None, payload, None, None).payloads.items():
        frame = robot.model.frames[robot.model.frame_index(name)]
        if frame.body < 0:
            raise ArgumentError(
                f"payload: expected a frame that moves, found {name!r}, which is fixed to the world"
            )
        body = bodies[frame.body]
        bodies[frame.body] = replace(body, inertia=body.inertia + inertia.moved(frame.placement))
    return Robot(replace(robot.model, bodies=tuple(bodies)), check_finite=robot.check_finite)


def tool_frame(robot: Robot) -> str:
    """The tool frame that was added last, or the link farthest from the base."""
    names = robot.frame_names
    return names[-1] if len(names) > len(robot.link_names) else robot.model.farthest_link
