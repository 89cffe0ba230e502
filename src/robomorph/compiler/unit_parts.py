"""Which entries of a robot's configuration form unit vectors."""

from __future__ import annotations

from robomorph.algorithms.tree import coordinate_starts
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.runtime.values import UnitPart


def unit_parts(model: Model) -> tuple[UnitPart, ...]:
    """Quaternions and (cos, sin) pairs of the robot's configuration, as its joint types name them."""
    parts = []
    for i, (iq, _) in coordinate_starts(model).items():
        own = range(JOINT_TYPES[model.bodies[i].kind].nq)[JOINT_TYPES[model.bodies[i].kind].unit_part]
        if own:
            parts.append(UnitPart(model.bodies[i].joint_name, iq + own.start, iq + own.stop))
    return tuple(parts)
