"""Names for the coordinates of a configuration, for messages and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robomorph.robot import Robot


def coordinate_names(robot: Robot) -> list[str]:
    """(nq,) the joint of every coordinate, with its number where the joint has several; a mimic joint has
    none of its own."""
    return list(robot.coordinate_names)
