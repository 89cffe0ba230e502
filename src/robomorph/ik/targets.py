"""What can be asked of a robot: targets, their weights and their tolerances.

Positions are in metres, in the world's axes; rotations in radians. A weight says how much a row counts
while the search is under way, and 0 frees it: it is then neither sought nor judged. A tolerance is a bound
on the length of the error, or, given per axis, on each component: x, y, z of the world for positions, turns
about the axes of the target frame for orientations. Arrays may have leading batch dimensions, which
broadcast.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, ModelWarning
from robomorph.ik.layout import AXIS, CENTER_OF_MASS, ORIENTATION, POSITION, Block
from robomorph.model.rotation import EXACT, ROUNDED, nearest_rotation
from robomorph.runtime.arguments import as_array, check_shape

Array = npt.NDArray[Any]
PerAxis = float | Sequence[float] | Array
# No robot's workspace, and far from where squares overflow (m; kFarthest in native code).
FARTHEST = 1e12


@dataclass(frozen=True, eq=False)
class Part:
    """One block of the residual with its numbers (..., n), and its rows' weights and tolerances.
    `together`: the rows are judged by their length, not one by one."""

    block: Block
    numbers: Array
    weights: tuple[float, ...]
    tolerance: tuple[float, ...]
    together: bool


class _Compared:
    """Equality of dataclasses whose fields may be arrays: lists and arrays of the same numbers are equal."""

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(np.array_equal(value, getattr(other, name)) for name, value in vars(self).items())

    def __hash__(self) -> int:
        return hash((type(self), getattr(self, "frame", None)))


@dataclass(frozen=True, eq=False)
class PositionTarget(_Compared):
    """The origin of `frame` at `position` (..., 3)."""

    frame: str
    position: npt.ArrayLike
    weight: PerAxis = 1.0
    tolerance: PerAxis | None = None

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        numbers = as_position(f"position of {self.frame!r}", self.position)
        return [_part(Block(POSITION, self.frame), numbers, self.weight, self.tolerance, tolerance[0])]


@dataclass(frozen=True, eq=False)
class OrientationTarget(_Compared):
    """The axes of `frame` along the columns of `rotation` (..., 3, 3)."""

    frame: str
    rotation: npt.ArrayLike
    weight: PerAxis = 1.0
    tolerance: PerAxis | None = None

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        rotation = as_rotation(f"orientation of {self.frame!r}", self.rotation)
        return [_turn_part(self.frame, rotation, self.weight, self.tolerance, tolerance[1])]


@dataclass(frozen=True, eq=False)
class PoseTarget(_Compared):
    """`frame` at `pose` (..., 4, 4)."""

    frame: str
    pose: npt.ArrayLike
    position_weight: PerAxis = 1.0
    rotation_weight: PerAxis = 1.0
    position_tolerance: PerAxis | None = None
    rotation_tolerance: PerAxis | None = None

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        pose = as_pose(f"pose of {self.frame!r}", self.pose)
        place = Block(POSITION, self.frame)
        where = pose[..., :3, 3]
        return [
            _part(place, where, self.position_weight, self.position_tolerance, tolerance[0]),
            _turn_part(
                self.frame, pose[..., :3, :3], self.rotation_weight, self.rotation_tolerance, tolerance[1]
            ),
        ]


@dataclass(frozen=True, eq=False)
class AxisTarget(_Compared):
    """The direction `axis` (3,) of `frame`'s own axes pointed along `direction` (..., 3) of the world's;
    turns about it are free."""

    frame: str
    axis: npt.ArrayLike
    direction: npt.ArrayLike
    weight: float = 1.0
    tolerance: float | None = None

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        axis = _unit(f"axis of {self.frame!r}", self.axis)
        if axis.ndim != 1:
            raise ArgumentError(f"axis of {self.frame!r}: expected shape (3,), found {axis.shape}")
        direction = _unit(f"direction of {self.frame!r}", self.direction)
        x, y, z = (float(a) for a in axis)
        numbers = _with_normals(direction).reshape(*direction.shape[:-1], 9)
        block = Block(AXIS, self.frame, (x, y, z))
        return [_part(block, numbers, self.weight, self.tolerance, tolerance[1])]


@dataclass(frozen=True, eq=False)
class CenterOfMassTarget(_Compared):
    """The centre of mass of all moving bodies at `position` (..., 3)."""

    position: npt.ArrayLike
    weight: PerAxis = 1.0
    tolerance: PerAxis | None = None

    def parts(self, tolerance: tuple[float, float]) -> list[Part]:
        numbers = as_position("centre of mass", self.position)
        return [_part(Block(CENTER_OF_MASS), numbers, self.weight, self.tolerance, tolerance[0])]


Target = PositionTarget | OrientationTarget | PoseTarget | AxisTarget | CenterOfMassTarget


def _turn_part(
    frame: str, rotation: Array, weight: PerAxis, tolerance: PerAxis | None, default: float
) -> Part:
    """Rows about the target's own axes when they are told apart, else about the world's, which is cheaper."""
    block = Block(ORIENTATION, frame)
    own_axes = len(set(_per_row("weight", block, weight, 3))) > 1
    if tolerance is not None:
        own_axes = own_axes or _finite(f"tolerance of {_title(block)}", tolerance, ()).ndim > 0
    block = Block(ORIENTATION, frame, own_axes=own_axes)
    numbers = rotation.reshape(*rotation.shape[:-2], 9)
    return _part(block, numbers, weight, tolerance, default)


def _part(block: Block, numbers: Array, weight: PerAxis, tolerance: PerAxis | None, default: float) -> Part:
    rows = block.size.rows
    weights = _per_row("weight", block, weight, rows)
    if any(w < 0.0 for w in weights) or not any(weights):
        raise ArgumentError(f"weight of {_title(block)}: expected numbers >= 0, not all 0, found {weights}")
    bounds = _per_row("tolerance", block, default if tolerance is None else tolerance, rows)
    if any(t <= 0.0 for t in bounds):
        raise ArgumentError(f"tolerance of {_title(block)}: expected numbers > 0, found {bounds}")
    return Part(block, numbers, weights, bounds, tolerance is None or np.ndim(tolerance) == 0)


def _per_row(what: str, block: Block, value: PerAxis, rows: int) -> tuple[float, ...]:
    array = _finite(f"{what} of {_title(block)}", value, ())
    if array.shape not in ((), (rows,)):
        raise ArgumentError(
            f"{what} of {_title(block)}: expected a number or {rows} numbers, found shape {array.shape}"
        )
    return tuple(float(x) for x in np.broadcast_to(array, (rows,)))


def _title(block: Block) -> str:
    return block.kind if block.frame is None else f"{block.kind} of {block.frame!r}"


def _finite(name: str, value: npt.ArrayLike, shape: tuple[int, ...]) -> Array:
    array: Array = as_array(name, value).astype(np.float64, copy=False)
    check_shape(name, array, shape)
    if not np.isfinite(array).all():
        raise ArgumentError(f"{name}: expected finite numbers, found NaN or infinity")
    return array


def as_position(name: str, value: npt.ArrayLike) -> Array:
    """A checked position (..., 3)."""
    position = _finite(name, value, (3,))
    farthest = np.abs(position).max(initial=0.0)
    if farthest > FARTHEST:
        raise ArgumentError(
            f"{name}: expected coordinates within {FARTHEST:g} m, found {farthest:g}: are they in metres?"
        )
    return position


def as_pose(name: str, value: npt.ArrayLike) -> Array:
    """A checked pose (..., 4, 4), its rotation made exactly orthogonal."""
    pose = _finite(name, value, (4, 4))
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
    turn = _finite(name, value, (3, 3))
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


def _unit(name: str, value: npt.ArrayLike) -> Array:
    vector = _finite(name, value, (3,))
    largest = np.abs(vector).max(axis=-1, keepdims=True)
    if (largest == 0.0).any():
        raise ArgumentError(f"{name}: expected a direction, found a vector of length zero")
    vector = vector / largest  # so that squares neither vanish nor overflow
    return np.asarray(vector / np.linalg.norm(vector, axis=-1, keepdims=True))


def _with_normals(direction: Array) -> Array:
    """Rows u, v, d (..., 3, 3): d the direction, u and v normal to it and to each other, u x v = d."""
    least = np.abs(direction).argmin(axis=-1)
    u = np.cross(np.eye(3)[least], direction)
    u /= np.linalg.norm(u, axis=-1, keepdims=True)
    return np.stack([u, np.cross(direction, u), direction], axis=-2)
