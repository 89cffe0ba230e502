"""The short way for plain arrays and lists of numbers: a solver found by its options, checks and packing in
native code.

A call with clean arguments costs a few microseconds beside the search; anything else takes the general way,
which converts, explains and answers the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.ik.methods import METHODS
from robomorph.ik.options import ALL
from robomorph.ik.problem import default_start
from robomorph.ik.solver import Raw, Solver
from robomorph.ik.targets import PoseTarget, PositionTarget
from robomorph.model.rotation import EXACT, nearest_rotation
from robomorph.runtime import _native
from robomorph.tasks.numbers import as_pose

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]
MakeSolver = Callable[[], Solver]
_GENERAL_ONLY = frozenset({"path", "posture", "solutions"})


class PlainCall:
    """A solver with what it needs for every call."""

    def __init__(self, robot: Robot, solver: Solver) -> None:
        self.solver = solver
        self.nq = robot.nq
        self.start = np.ascontiguousarray(default_start(robot)[None])

    def starts(self, q0: Any, lead: tuple[int, ...], count: int) -> Any:
        """(n, nq), or None if `q0` is not clean or must be broadcast."""
        if q0 is None:
            return self.start if count == 1 else np.repeat(self.start, count, axis=0)
        q0 = _native.ik_numbers(q0)
        if q0 is None:
            return None
        if q0.shape[:-1] != lead:
            if q0.ndim != 1:
                return None
            q0 = np.repeat(q0[None], count, axis=0)
        return _native.ik_pack_rows(q0, self.nq)


def plain_solve(
    robot: Robot, target: Any, frame: str | None, q0: Any, options: dict[str, Any], make: MakeSolver
) -> tuple[Solver, Raw, Array, tuple[int, ...]] | None:
    """The solver, its answer, the packed targets and the batch shape; None if the general way is needed."""
    if robot.nq != robot.nv or not _GENERAL_ONLY.isdisjoint(options):
        return None
    target, frame, wanted = _unwrapped(target, frame)
    target = _native.ik_numbers(target)
    if target is None:
        return None
    threads = options.get("threads")
    if threads is None:
        threads = 0
    elif type(threads) is not int or threads < 1:
        return None
    shape = target.shape
    is_pose = len(shape) >= 2 and shape[-1] == 4
    if wanted is not None and is_pose != wanted:
        return None
    numbers = _numbers(target, is_pose)
    if numbers is None:
        return None
    try:
        rule = METHODS.get(options.get("method", "lm"))  # the name may come to mean another
        asked = ((k, tuple(v) if type(v) is list else v) for k, v in options.items() if k != "threads")
        key = ("ik plain", frame, is_pose, rule, *asked)
        call: PlainCall | None = robot._kernels.get(key)
    except TypeError:  # an option that cannot be hashed
        return None
    if call is None:
        call = robot._kernels[key] = PlainCall(robot, make())
        if call.solver.options.choice == ALL:
            return None
    lead = shape[:-2] if is_pose else shape[:-1]
    start = call.starts(q0, lead, len(numbers))
    if start is None or len(start) != len(numbers):
        return None
    return call.solver, call.solver.solve(numbers, start, start, threads), numbers, lead


def _numbers(target: Array, is_pose: bool) -> Any:
    """(n, target_size), or None if the target is not clean: the general way says what is wrong, once."""
    if not is_pose:
        return _native.ik_pack_rows(target, 3)
    packed = _native.ik_pack_poses(target)
    if packed is not None or target.shape[-2:] != (4, 4) or not np.isfinite(target).all():
        return packed
    if nearest_rotation(target[..., :3, :3])[1] > EXACT:
        return None
    try:  # in float32, or with few digits less: a pose, but one to be made exact
        return _native.ik_pack_poses(as_pose("target", target))
    except ArgumentError:
        return None


def _unwrapped(target: Any, frame: str | None) -> tuple[Any, str | None, bool | None]:
    """The numbers and frame of a target object that asks for nothing else, and whether they must be a pose;
    anything else as it came."""
    if frame is not None or type(target) not in (PositionTarget, PoseTarget) or type(target.frame) is not str:
        return target, frame, None
    if type(target) is PositionTarget and _plain(target.weight, target.tolerance):
        return target.position, target.frame, False
    if type(target) is PoseTarget:
        place, turn = target.position_weight, target.rotation_weight
        if _plain(place, target.position_tolerance) and _plain(turn, target.rotation_tolerance):
            return target.pose, target.frame, True
    return target, frame, None


def _plain(weight: Any, tolerance: Any) -> bool:
    return tolerance is None and type(weight) is float and weight == 1.0
