"""What actuators say of joints: the largest effort, and armature and damping seen through the gear.

The effort limit of a hinge or slide is the sum over its actuators of gear times the force that each can
exert: gain times `ctrlrange` where the force is a fixed gain times a limited control and nothing else,
clamped to `forcerange` where that is limited; an actuator with neither has no limit, and so has its joint
then. A joint without actuators has none either. The sum is clamped to `actuatorfrcrange` of the joint. Where
the two directions differ the larger counts, with a warning.
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
_LAST_GROUP = 30  # that a model can switch off
_ALL = -2  # in jnt_actuatorid: more than one
_MANY = 1e-9  # relative: two sizes that differ by less are one


@dataclass
class Motors:
    """By MuJoCo's number of a joint: its effort limit (where there is one), and what actuators add to it."""

    effort: dict[int, float] = field(default_factory=dict)
    armature: dict[int, float] = field(default_factory=dict)
    damping: dict[int, float] = field(default_factory=dict)


def actuated(arrays: Arrays, names: Names, reading: Reading) -> Motors:
    """What the actuators of a model do to its joints; those that are refused or left out (mjcf_refusals.py)
    have no say in effort limits, and then neither has any other of the joint. Those that are switched off
    limit nothing, but have their armature and damping."""
    motors = Motors()
    ranges: dict[int, np.ndarray] = {}
    for actuator in range(actuator_count(arrays)):
        joint = _target(arrays, actuator)
        if joint is None:
            continue
        gear = float(arrays["actuator_gear"][_address(arrays, actuator, "out")][0])
        _add(motors, arrays, names, actuator, joint, gear)
        if driven(arrays, actuator) is None or is_off(arrays, actuator):
            continue
        left_out = not is_simple(arrays, actuator) or int(arrays["actuator_plugin"][actuator]) >= 0
        force = np.array([-np.inf, np.inf]) if left_out else _force(arrays, actuator)
        span = np.sort(gear * force) if gear else np.zeros(2)
        ranges[joint] = ranges.get(joint, np.zeros(2)) + span
    for joint in range(arrays.count("njnt")):
        if bool(arrays["jnt_actfrclimited"][joint]):
            span = ranges.get(joint, np.array([-np.inf, np.inf]))
            ranges[joint] = np.clip(span, *arrays["jnt_actfrcrange"][joint])
    for joint, span in ranges.items():
        sizes = np.abs(span)
        motors.effort[joint] = float(sizes.max())
        if np.isfinite(sizes).all() and abs(span[0] + span[1]) > _MANY * sizes.max():
            place = Place(arrays.label, 0, f'<joint name="{names.joints[joint]}">')
            reading.notes.add(UNEVEN_EFFORT, place, f"from {span[0]:g} to {span[1]:g}")
    return motors


def actuator_count(arrays: Arrays) -> int:
    """Of the actuators: MuJoCo 4 lets one have several controls, which `nu` counts."""
    return len(arrays["actuator_trntype"])


def driven(arrays: Arrays, actuator: int) -> int | None:
    """The hinge or slide that an actuator drives, or None."""
    joint = _target(arrays, actuator)
    return joint if joint is not None and int(arrays["jnt_type"][joint]) in _SCALAR else None


def _target(arrays: Arrays, actuator: int) -> int | None:
    """The joint of any kind that an actuator acts on, or None."""
    is_joint = int(arrays["actuator_trntype"][actuator]) in (_JOINT, _JOINT_IN_PARENT)
    return int(arrays["actuator_trnid"][actuator][0]) if is_joint else None


def is_off(arrays: Arrays, actuator: int) -> bool:
    """Whether a flag, or the group that it is in, switches an actuator off: it exerts nothing then."""
    group = int(arrays["actuator_group"][actuator])
    off = 0 <= group <= _LAST_GROUP and bool(int(arrays.option("disableactuator")) & (1 << group))
    return off or arrays.disabled("mjDSBL_ACTUATION")


def is_simple(arrays: Arrays, actuator: int) -> bool:
    """Whether the force is a function of control, position and velocity alone."""
    delayed = "actuator_delay"
    return (
        int(arrays["actuator_dyntype"][actuator]) == 0
        and not arrays.get(delayed, "actuator_dyntype")[actuator]
    )


def _force(arrays: Arrays, actuator: int) -> np.ndarray:
    """(2,) the least and the largest force, infinite where nothing limits it."""
    span = _driven_force(arrays, actuator)
    limited = bool(arrays["actuator_forcelimited"][actuator])
    return np.clip(span, *arrays["actuator_forcerange"][actuator]) if limited else span


def _driven_force(arrays: Arrays, actuator: int) -> np.ndarray:
    """The same, whatever `forcerange` says."""
    fixed = (
        int(arrays["actuator_gaintype"][actuator]) == 0 and int(arrays["actuator_biastype"][actuator]) == 0
    )
    control, clamped = _address(arrays, actuator, "ctrl"), not arrays.disabled("mjDSBL_CLAMPCTRL")
    limited = clamped and bool(arrays["actuator_ctrllimited"][control])
    if fixed and _controls(arrays, actuator) == 1 and limited:
        gain = float(arrays["actuator_gainprm"][actuator][0])
        return np.sort(gain * arrays["actuator_ctrlrange"][control]) if gain else np.zeros(2)
    return np.array([-math.inf, math.inf])


def _controls(arrays: Arrays, actuator: int) -> int:
    counts = "actuator_ctrlnum"
    return int(arrays[counts][actuator]) if hasattr(arrays.model, counts) else 1


def _address(arrays: Arrays, actuator: int, what: str) -> int:
    """Of the actuator's first control ("ctrl") or force ("out"): before MuJoCo 4 it has one of each."""
    name = f"actuator_{what}adr"
    return int(arrays[name][actuator]) if hasattr(arrays.model, name) else actuator


def _add(motors: Motors, arrays: Arrays, names: Names, actuator: int, joint: int, gear: float) -> None:
    """Armature and damping of an actuator, which joints of all kinds have along all their axes."""
    noted = hasattr(arrays.model, "jnt_actuatorid")  # by the compiler: who has any
    for name, found in (("armature", motors.armature), ("damping", motors.damping)):
        value = float(arrays.get(f"actuator_{name}", "actuator_trntype")[actuator])
        if value and noted and int(arrays["jnt_actuatorid"][joint]) not in (actuator, _ALL):
            raise arrays.wrong(
                f"joint {names.joints[joint]!r}",
                f"{name} of actuators that MuJoCo counts, as jnt_actuatorid says",
                f"actuator number {actuator}, which got it after the model was compiled",
                "call mj_setConst, which notes it anew",
            )
        found[joint] = found.get(joint, 0.0) + gear * gear * value
