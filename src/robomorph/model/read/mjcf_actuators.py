"""What actuators say of joints: the largest effort, and armature and damping seen through the gear.

The effort limit of a hinge or slide is the sum over its actuators of gear times the force that each can
exert: `forcerange` where that is limited, else gain times `ctrlrange` where the force is a fixed gain times a
limited control and nothing else; an actuator with neither has no limit, and so has its joint then. A joint
without actuators has none either. `actuatorfrcrange` of the joint bounds the sum. Where the two directions
differ the larger counts, with a warning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..notes import UNEVEN_EFFORT, Place
from .base import Reading
from .mjcf_arrays import Arrays
from .mjcf_names import Names

_JOINT, _JOINT_IN_PARENT = 0, 1  # MuJoCo's mjtTrn
_SCALAR = (2, 3)  # slides and hinges
_MANY = 1e-9  # relative: two sizes that differ by less are one


@dataclass
class Motors:
    """By MuJoCo's number of a joint: its effort limit (where there is one), and what actuators add to it."""

    effort: dict[int, float] = field(default_factory=dict)
    armature: dict[int, float] = field(default_factory=dict)
    damping: dict[int, float] = field(default_factory=dict)


def actuated(arrays: Arrays, names: Names, reading: Reading) -> Motors:
    """What the actuators of a model do to its hinges and slides; those that are refused or left out
    (mjcf_refusals.py) have no say in effort limits, and then neither has any other of the joint."""
    motors = Motors()
    ranges: dict[int, np.ndarray] = {}
    for actuator in range(actuator_count(arrays)):
        joint = driven(arrays, actuator)
        if joint is None:
            continue
        gear = float(arrays["actuator_gear"][actuator][0])
        for name, found in (("armature", motors.armature), ("damping", motors.damping)):
            value = float(arrays.get(f"actuator_{name}", "actuator_trntype")[actuator])
            found[joint] = found.get(joint, 0.0) + gear * gear * value
        force = _force(arrays, actuator) if is_simple(arrays, actuator) else np.array([-np.inf, np.inf])
        span = np.sort(gear * force) if gear else np.zeros(2)
        ranges[joint] = ranges.get(joint, np.zeros(2)) + span
    for joint in range(arrays.count("njnt")):
        if bool(arrays["jnt_actfrclimited"][joint]):
            low, high = arrays["jnt_actfrcrange"][joint]
            span = ranges.get(joint, np.array([-np.inf, np.inf]))
            ranges[joint] = np.array([max(low, span[0]), min(high, span[1])])
    for joint, span in ranges.items():
        sizes = np.abs(span)
        motors.effort[joint] = float(sizes.max())
        if np.isfinite(sizes).all() and abs(sizes[0] - sizes[1]) > _MANY * sizes.max():
            place = Place(arrays.label, 0, f'<joint name="{names.joints[joint]}">')
            reading.notes.add(UNEVEN_EFFORT, place, f"from {span[0]:g} to {span[1]:g}")
    return motors


def actuator_count(arrays: Arrays) -> int:
    """Of the actuators: MuJoCo 4 lets one have several controls, which `nu` counts."""
    return len(arrays["actuator_trntype"])


def driven(arrays: Arrays, actuator: int) -> int | None:
    """The hinge or slide that an actuator drives, or None."""
    joint = int(arrays["actuator_trnid"][actuator][0])
    if int(arrays["actuator_trntype"][actuator]) not in (_JOINT, _JOINT_IN_PARENT):
        return None
    return joint if int(arrays["jnt_type"][joint]) in _SCALAR else None


def is_simple(arrays: Arrays, actuator: int) -> bool:
    """Whether the force is a function of control, position and velocity alone."""
    delayed = "actuator_delay"
    return (
        int(arrays["actuator_dyntype"][actuator]) == 0
        and not arrays.get(delayed, "actuator_dyntype")[actuator]
    )


def _force(arrays: Arrays, actuator: int) -> np.ndarray:
    """(2,) the least and the largest force, infinite where nothing limits it."""
    if bool(arrays["actuator_forcelimited"][actuator]):
        return np.array(arrays["actuator_forcerange"][actuator])
    fixed = (
        int(arrays["actuator_gaintype"][actuator]) == 0 and int(arrays["actuator_biastype"][actuator]) == 0
    )
    if fixed and _controls(arrays, actuator) == 1 and bool(arrays["actuator_ctrllimited"][actuator]):
        gain = float(arrays["actuator_gainprm"][actuator][0])
        return np.sort(gain * arrays["actuator_ctrlrange"][actuator]) if gain else np.zeros(2)
    return np.array([-math.inf, math.inf])


def _controls(arrays: Arrays, actuator: int) -> int:
    counts = "actuator_ctrlnum"
    return int(arrays[counts][actuator]) if hasattr(arrays.model, counts) else 1
