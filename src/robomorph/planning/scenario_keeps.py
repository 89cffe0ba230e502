"""[[keep]] of a scenario: a task, its bounds and its window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.given.named_robot import NamedRobot
from robomorph.given.task_tables import TASK_KEYS, read_task
from robomorph.given.toml_files import known_keys
from robomorph.planning.motion import Motion
from robomorph.tasks import CenterOfMass

_KEYS = {*TASK_KEYS, "sole", "lower", "upper", "reference", "during", "rate"}


def read_keep(motion: Motion, robot: NamedRobot, table: Mapping[str, Any]) -> None:
    """One [[keep]] table."""
    if not isinstance(table, Mapping):
        raise ArgumentError(f"expected a table, found {table!r}: write [[keep]] and its keys below")
    known_keys("keep", table, _KEYS)
    task = read_task(robot, None if motion.start is None else motion.start[0], table)
    lower, upper, reference = table.get("lower"), table.get("upper"), table.get("reference")
    if "sole" in table:
        if (
            not isinstance(task, CenterOfMass)
            or reference is not None
            or lower is not None
            or upper is not None
        ):
            raise ArgumentError(
                "sole: stands alone with the task 'center of mass', without bounds or reference"
            )
        lower, upper = robot.above_sole(table["sole"], motion.start)
    during, rate = table.get("during"), table.get("rate", 0)
    motion.keep(task, lower, upper, reference=reference, during=during, rate=rate)
