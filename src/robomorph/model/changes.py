"""What a caller changes about a robot while loading it: locked joints, payloads, tool frames, gravity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import ArgumentError
from .arrays import LARGEST, Array, frozen
from .inertia import Inertia
from .joint_values import JointChanges, read_joint_changes
from .passive import Passive, read_passive
from .pose import Pose
from .rotation import EXACT, ROUNDED, nearest_rotation

_Number: TypeAlias = np.floating[Any] | np.integer[Any]
# One number, or one for each coordinate of the joint.
LockedValue: TypeAlias = float | _Number | Sequence[float] | NDArray[_Number]
Payload: TypeAlias = Inertia | tuple[float, ArrayLike] | tuple[float, ArrayLike, ArrayLike]
ToolFrame: TypeAlias = tuple[str, Pose | ArrayLike]

# Distance from a rotation that float64 explains.
_NOISE = 1e-14


@dataclass(frozen=True, eq=False)
class Changes:
    """The caller's changes with every number checked; names are checked against the robot later."""

    locked: Mapping[str, Array]  # joint name -> coordinates, 1-D
    payloads: Mapping[str, Inertia]  # link name -> inertia in the link's frame
    tool_frames: Mapping[str, tuple[str, Pose]]  # frame name -> (link name, pose in the link's frame)
    rounded: Mapping[str, float]  # tool frames made rotations again -> how far an entry was off
    gravity: Array | None  # None: straight down
    joints: JointChanges = field(default_factory=JointChanges)
    passive: Passive | None = None


def read_changes(
    locked: Mapping[str, LockedValue] | None,
    payloads: Mapping[str, Payload] | None,
    tool_frames: Mapping[str, ToolFrame] | None,
    gravity: ArrayLike | None,
    joints: Mapping[str, Any] | None = None,
    passive: bool | Passive = False,
) -> Changes:
    """Check the arguments of `load_model` that change the robot; ArgumentError names the one at fault."""
    for argument, value in (("locked", locked), ("payloads", payloads), ("tool_frames", tool_frames)):
        if value is not None and not isinstance(value, Mapping):
            raise ArgumentError(f"{argument}: expected a mapping from names, found {type(value).__name__}.")
    frames = {name: _tool_frame(name, value) for name, value in (tool_frames or {}).items()}
    return Changes(
        {name: _coordinates(name, value) for name, value in (locked or {}).items()},
        {name: _payload(name, value) for name, value in (payloads or {}).items()},
        {name: (link, pose) for name, (link, pose, _) in frames.items()},
        {name: off for name, (_, _, off) in frames.items() if off > EXACT},
        None
        if gravity is None
        else _finite("gravity", gravity, (3,), "three finite numbers (m/s^2, world axes)"),
        read_joint_changes(joints or {}),
        read_passive(passive),
    )


def _finite(argument: str, value: ArrayLike, shape: tuple[int, ...] | None, expected: str) -> Array:
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # the last of whole numbers that no float has
        array = np.array(np.nan)
    # Written so that NaN fails too.
    if (shape is not None and array.shape != shape) or not (np.abs(array) <= LARGEST).all():
        raise ArgumentError(f"{argument}: expected {expected}, found {value!r}.")
    return frozen(array, array.shape)


def _coordinates(name: str, value: LockedValue) -> Array:
    argument = f"locked[{name!r}]"
    array = _finite(argument, value, None, "a finite number, or a sequence of them")
    if array.ndim > 1:
        raise ArgumentError(f"{argument}: expected a number or a flat sequence, found shape {array.shape}.")
    return array.reshape(-1)


def _payload(name: str, value: Payload) -> Inertia:
    argument = f"payloads[{name!r}]"
    parts = (value.mass, value.com, value.tensor) if isinstance(value, Inertia) else value
    if not isinstance(parts, tuple) or len(parts) not in (2, 3):
        raise ArgumentError(
            f"{argument}: expected an Inertia, (mass, com) or (mass, com, tensor), found {value!r}."
        )
    mass = float(_finite(f"{argument} mass", parts[0], (), "a finite number (kg)"))
    com = _finite(f"{argument} com", parts[1], (3,), "three finite numbers (m)")
    point = np.zeros((3, 3))
    tensor = _finite(
        f"{argument} tensor", parts[2] if len(parts) == 3 else point, (3, 3), "a finite 3x3 matrix"
    )
    inertia = Inertia(mass, com, tensor)
    if mass < 0.0:
        raise ArgumentError(f"{argument}: expected a mass of 0 or more, found {mass:g} kg.")
    if not np.allclose(tensor, tensor.T, rtol=1e-9, atol=0.0) or inertia.is_indefinite:
        raise ArgumentError(
            f"{argument}: expected a symmetric inertia tensor without negative principal "
            f"moments, found {tensor.tolist()}."
        )
    return inertia


def _tool_frame(name: str, value: ToolFrame) -> tuple[str, Pose, float]:
    """The link, the pose in it, and how far the rotation given was from one."""
    argument = f"tool_frames[{name!r}]"
    if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[0], str):
        raise ArgumentError(f"{argument}: expected (link name, Pose, 4x4 matrix or xyz), found {value!r}.")
    link, where = value
    if isinstance(where, Pose):
        where = where.matrix
    array = _finite(argument, where, None, "a Pose, a finite 4x4 matrix or three numbers")
    if array.shape == (3,):
        return link, Pose(np.eye(3), array), 0.0
    if array.shape != (4, 4):
        raise ArgumentError(
            f"{argument}: expected a Pose, a 4x4 matrix or three numbers, found shape {array.shape}."
        )
    rotation, off = nearest_rotation(array[:3, :3])
    if off > ROUNDED or not np.array_equal(array[3], (0.0, 0.0, 0.0, 1.0)):
        raise ArgumentError(
            f"{argument}: expected a rigid motion (rotation matrix, last row 0 0 0 1), "
            f"found {array.tolist()}."
        )
    if off <= _NOISE:  # as given, so that right angles stay exact
        rotation = array[:3, :3]
    return link, Pose(rotation, array[:3, 3]), off
