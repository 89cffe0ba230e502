"""Checking the numbers that tasks take: references, weights, tolerances and bounds."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, ModelWarning
from robomorph.model.rotation import EXACT, ROUNDED, nearest_rotation
from robomorph.runtime.arguments import as_array, check_shape

Array = npt.NDArray[Any]
PerAxis = float | Sequence[float] | Array
# No robot's workspace, and far from where squares overflow (m; kFarthest in native code).
FARTHEST = 1e12


def per_row(name: str, value: PerAxis, rows: int) -> tuple[float, ...]:
    """One number for each of `rows`, from one for all or one for each."""
    array = finite(name, value, ())
    if array.shape not in ((), (rows,)):
        raise ArgumentError(f"{name}: expected a number or {rows} numbers, found shape {array.shape}")
    return tuple(float(x) for x in np.broadcast_to(array, (rows,)))


def finite(name: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    """A checked array (..., *shape) without NaN and infinity, float64."""
    array: Array = as_array(name, value).astype(np.float64, copy=False)
    check_shape(name, array, shape)
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name}: expected finite numbers, found NaN or infinity")
    return array


def as_position(name: str, value: npt.ArrayLike) -> Array:
    """A checked position (..., 3)."""
    position = finite(name, value, (3,))
    farthest = np.abs(position).max(initial=0.0)
    if farthest > FARTHEST:
        raise ArgumentError(
            f"{name}: expected coordinates within {FARTHEST:g} m, found {farthest:g}: are they in metres?"
        )
    return position


def as_pose(name: str, value: npt.ArrayLike) -> Array:
    """A checked pose (..., 4, 4), its rotation made exactly orthogonal."""
    pose = finite(name, value, (4, 4))
    if not np.allclose(pose[..., 3, :], (0.0, 0.0, 0.0, 1.0), atol=1e-9):
        raise ArgumentError(f"{name}: the last row of a pose is (0, 0, 0, 1), found {pose[..., 3, :]}")
    as_position(name, pose[..., :3, 3])
    turn = as_rotation(name, pose[..., :3, :3])
    if turn.base is pose:
        return pose
    out: Array = pose.copy()
    out[..., :3, :3] = turn
    return out


def as_rotation(name: str, value: npt.ArrayLike) -> Array:
    """A checked rotation (..., 3, 3); one that is only nearly so becomes the nearest rotation."""
    turn = finite(name, value, (3, 3))
    bounded = np.clip(turn, -2.0, 2.0)  # no entry of a rotation exceeds 1; squares must not overflow
    residue = np.abs(bounded @ np.swapaxes(bounded, -1, -2) - np.eye(3)).max(initial=0.0)
    if residue < 1e-14 and (np.linalg.det(bounded) > 0.0).all():
        return turn
    nearest, off = nearest_rotation(turn)
    if off > ROUNDED:
        found = (
            f"one that misses it by {residue:.3g}" if np.isfinite(off) else "a reflection (determinant -1)"
        )
        raise ArgumentError(f"{name}: expected a rotation matrix (R R^T = 1, det 1), found {found}")
    if off > EXACT:
        warnings.warn(
            f"{name}: a matrix that is only nearly a rotation, an entry {off:.2g} off; the nearest rotation "
            "was used. To mend it: give the matrix with all its digits.",
            ModelWarning,
            stacklevel=2,
        )
    return nearest


def unit_vector(name: str, value: npt.ArrayLike) -> Array:
    """A checked direction (..., 3), brought to unit length."""
    vector = finite(name, value, (3,))
    largest = np.abs(vector).max(axis=-1, keepdims=True)
    if (largest == 0.0).any():
        raise ArgumentError(f"{name}: expected a direction, found a vector of length zero")
    vector = vector / largest  # so that squares neither vanish nor overflow
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True))


def read_bounds(name: str, count: int, lower: Any, upper: Any) -> tuple[Array, Array]:
    """Bounds (..., count) each, lower <= upper; a number holds for all; no bound is None, or infinite."""
    low, high = (
        _bound(f"{which} bound of {name}", count, default if value is None else value)
        for which, value, default in (("lower", lower, -np.inf), ("upper", upper, np.inf))
    )
    try:
        shape = np.broadcast_shapes(low.shape, high.shape, (count,))
    except ValueError:
        raise ArgumentError(
            f"bounds of {name}: batch dimensions do not broadcast together: {low.shape[:-1]}, "
            f"{high.shape[:-1]}"
        ) from None
    low, high = np.broadcast_to(low, shape), np.broadcast_to(high, shape)
    if (low == np.inf).any() or (high == -np.inf).any():
        raise ArgumentError(
            f"bounds of {name}: expected a lower bound below infinity and an upper one above minus infinity, "
            "found one that nothing can hold: for no bound give None, -inf below or inf above"
        )
    if not (low <= high).all():
        worst = np.unravel_index(np.argmax(low - high), shape)
        raise ArgumentError(
            f"bounds of {name}: expected lower <= upper, found {low[worst]:g} and {high[worst]:g}"
        )
    return low, high


def _bound(name: str, count: int, value: npt.ArrayLike) -> Array:
    array: Array = as_array(name, value).astype(np.float64, copy=False)
    if array.ndim and array.shape[-1] != count:
        raise ArgumentError(f"{name}: expected a number or {count} numbers, found shape {array.shape}")
    if np.isnan(array).any():
        raise ArgumentError(f"{name}: expected numbers, found NaN")
    return array


def inward(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds that were computed, drawn in by some rounding errors where there is room between them."""
    ulps = 4.0 * np.finfo(np.float64).eps
    low, high = (
        bound + side * ulps * np.where(np.isfinite(bound), np.abs(bound), 0.0)
        for bound, side in ((lower, 1.0), (upper, -1.0))
    )
    room = low <= high
    return np.where(room, low, lower), np.where(room, high, upper)
