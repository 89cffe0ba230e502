"""Names for the coordinates of a configuration, for messages and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robomorph.robot import Robot


def coordinate_names(robot: Robot) -> list[str]:
    """(nq,) the joint of every coordinate, with its number where the joint has several; a mimic joint has
    none of its own."""
    names = [""] * robot.nq
    for joint in robot.joint_names:
        place, _ = robot.coordinates(joint)
        for k in range(place.start, place.stop):
            suffix = f"[{k - place.start}]" if place.stop - place.start > 1 else ""
            names[k] = names[k] or f"{joint}{suffix}"
    return names
