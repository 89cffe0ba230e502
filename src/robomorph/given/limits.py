"""Limits of joints as callers give them: the robot's own, a share of them, or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number
from robomorph.runtime.results import JointLimits

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


class read_limit:
    """Limits as a caller gives them."""

    @staticmethod
    def position(value: Any, limits: JointLimits, nv: int) -> tuple[Array, Array] | None:
        if value is None or value is False:
            return None
        if value is True:
            return limits.lower, limits.upper
        if not isinstance(value, (tuple, list)) or len(value) != 2:
            raise ArgumentError(f"position: expected True or (lower, upper), found {value!r}")
        low, high = (
            per_joint(f"position ({side})", x, nv) for side, x in zip(("lower", "upper"), value, strict=True)
        )
        if not (low < high).all():
            j = int(np.argmax(~(low < high)))
            raise ArgumentError(
                f"position: expected lower < upper, found {low[j]:g} and {high[j]:g} (joint {j})"
            )
        return low, high

    @staticmethod
    def share(value: Any, has_own: bool) -> float | None:
        """What share of the robot's own limits a caller asked for; None if he gave numbers of his own."""
        if value is True:
            return 1.0
        single = has_own and not isinstance(value, (tuple, list)) and np.ndim(value) == 0
        return float(value) if single else None

    @staticmethod
    def magnitude(name: str, value: Any, own: Array | None, nv: int) -> Array | None:
        """(nv,) largest magnitudes, or None."""
        if value is None or value is False:
            return None
        single = np.ndim(value) == 0 and value is not True
        if value is True or (single and own is not None):
            if own is None:
                raise ArgumentError(f"{name}: the robot's description has no such limit: give numbers")
            share = 1.0 if value is True else number(name, value)
            if share <= 0.0:
                raise ArgumentError(f"{name}: expected True, a share above 0 or magnitudes, found {value!r}")
            most = own * share
        else:
            most = per_joint(name, value, nv)
        if (most <= 0.0).any():
            j = int(np.argmax(most <= 0.0))
            raise ArgumentError(
                f"{name}: expected limits above 0, found {most[j]:g} (joint {j}): lock that joint"
            )
        if not np.isfinite(most).any():
            if value is True:
                return None
            raise ArgumentError(
                f"{name}: expected a finite limit of at least one joint, found none: give numbers"
            )
        return np.asarray(most)

    @staticmethod
    def masses(robot: Robot) -> None:
        if not any(body.inertia.mass > 0.0 for body in robot.model.bodies):
            raise ArgumentError(f"torque: robot {robot.name!r} has no masses, so torques are all zero")


def per_joint(name: str, value: Any, nv: int) -> Array:
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):
        given = np.asarray(None)
    if given.dtype.kind not in "iuf":  # neither words, nor True, nor complex numbers
        raise ArgumentError(f"{name}: expected a number or {nv} numbers, found {value!r}")
    array = given.astype(np.float64)
    if array.shape not in ((), (nv,)):
        raise ArgumentError(f"{name}: expected a number or {nv} numbers, found shape {array.shape}")
    if np.isnan(array).any():
        raise ArgumentError(f"{name}: expected numbers, found NaN")
    return np.array(np.broadcast_to(array, (nv,)))
