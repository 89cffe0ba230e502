"""Arguments of conversions, checked and in float64."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.interop.mujoco.places import NAMES, TURNING, Place
from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
_SHORTEST = 1e-15  # mjMINVAL


def arrays(
    robot: Robot, leads: tuple[tuple[int, ...], ...] = (), **given: tuple[npt.ArrayLike, int]
) -> tuple[list[Array], tuple[int, ...]]:
    """Arguments in float64 with their batch dimensions broadcast, with `leads` too, and those."""
    arrays = []
    for name, (value, size) in given.items():
        array = numbers(name, value)
        if array.ndim == 0 or array.shape[-1] != size:
            raise ArgumentError(f"{name}: expected shape (..., {size}) for {robot.name}, found {array.shape}")
        arrays.append(array)
    try:
        lead = np.broadcast_shapes(*leads, *(array.shape[:-1] for array in arrays))
    except ValueError:
        found = ", ".join(f"{name} {a.shape}" for name, a in zip(given, arrays, strict=True))
        found += f" for matrices {' and '.join(map(str, leads))}" if leads else ""
        raise ArgumentError(f"expected batch dimensions that broadcast, found {found}") from None
    if "q" in given and robot.check_finite:
        single = getattr(given["q"][0], "dtype", None) == np.float32
        _check_lengths(robot, arrays[list(given).index("q")], 1e-4 if single else 1e-6)
    return [np.broadcast_to(array, (*lead, array.shape[-1])) for array in arrays], lead


def numbers(name: str, value: npt.ArrayLike) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:  # rows of several lengths
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise ArgumentError(f"{name}: expected an array of real numbers, found dtype {array.dtype}")
    return np.asarray(array, np.float64)


def _check_lengths(robot: Robot, q: Array, tolerance: float) -> None:
    """As kernels do: another length would scale velocities and forces."""
    for body in robot.model.bodies:
        if NAMES.get(body.kind) in TURNING:
            lengths = np.linalg.norm(q[..., robot.coordinates(body.joint_name)[0]][..., -4:], axis=-1)
            wrong = lengths[~(np.abs(lengths - 1.0) <= tolerance)]
            if wrong.size:
                raise ArgumentError(
                    f"q: joint {body.joint_name!r} needs a unit quaternion [x y z w], found length "
                    f"{wrong[0]:.9g} ({wrong.size} in all): divide it by its length, or step with "
                    "robot.integrate, which keeps it"
                )


def with_unit_quaternions(places: list[Place], qpos: Array) -> Array:
    """What MuJoCo takes positions for: quaternions of any length mean the turn of the one of length one.
    Those so short that it takes them for no turn, or too long to have a length, are refused."""
    out = qpos.copy()
    for place in places:
        if NAMES[place.body.kind] in TURNING:
            turn = out[..., place.qpos][..., -4:]
            with np.errstate(over="ignore"):
                length = np.linalg.norm(turn, axis=-1, keepdims=True)
            wrong = length[(length < _SHORTEST) | np.isinf(length)]
            if wrong.size:
                raise ArgumentError(
                    f"qpos: joint {place.body.joint_name!r} needs a quaternion [w x y z], found length "
                    f"{wrong[0]:g} in {wrong.size} of {length.size}: [1 0 0 0] is no turn"
                )
            turn /= length
    return np.asarray(out)
