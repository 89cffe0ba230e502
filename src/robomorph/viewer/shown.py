"""What a viewer shows of one robot: where it is, what can be dragged, which forces act."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.model.model import WORLD
from robomorph.robot import Robot
from robomorph.viewer.configurations import finite_array, read_q, rest

Array = npt.NDArray[np.float64]
_SHARE = 0.1  # of a robot's extent: the size of what is drawn beside it
_LEAST_SIZE = 0.01  # m


@dataclass
class Shown:
    """A robot, or a ghost of one, which cannot be moved. q (nq,) now and `start` at first; frames: what a
    handle can hold, the likeliest first. f_ext: link -> (6,) force (N) and moment (N m) in the link's axes at
    its origin. move_base: a floating base follows a dragged frame, too."""

    robot: Robot
    q: Array
    frames: tuple[str, ...]
    ghost: bool = False
    f_ext: Mapping[str, Array] = field(default_factory=dict)
    move_base: bool = False
    name: str = ""
    start: Array = field(init=False)
    size: float = field(init=False)  # m, of points, axes and arrows

    def __post_init__(self) -> None:
        self.start, self.name = self.q.copy(), self.name or self.robot.name
        places = self.robot.link_poses(self.q)[:, :3, 3]
        extent = float(np.ptp(places, axis=0).max(initial=0.0))
        self.size = max(_SHARE * extent, _LEAST_SIZE)


def make_shown(
    robot: Any, q: Any = None, frames: Any = None, f_ext: Any = None, *, ghost: bool = False, **more: Any
) -> Shown:
    """What a caller asks to see, checked."""
    if not isinstance(robot, Robot):
        raise ArgumentError(
            f"robot: expected what robomorph.load gives, found {type(robot).__name__}: load it first"
        )
    at = rest(robot) if q is None else read_q(robot, "q", q)
    return Shown(robot, at, _read_frames(robot, frames), ghost, _read_wrenches(robot, f_ext), **more)


def movable_frames(robot: Robot) -> tuple[str, ...]:
    """Links and tool frames that some joint moves: tool frames first, then the ends, then the others."""
    model = robot.model
    parents = {body.parent for body in model.bodies}
    ends = {i for i in range(len(model.bodies)) if i not in parents}
    moving = [frame for frame in model.frames if frame.body != WORLD]
    last = {frame.body: frame.name for frame in moving if not frame.tool and frame.body in ends}
    tips = sorted(last.values(), key=lambda name: name != model.farthest_link)
    tools = [frame.name for frame in moving if frame.tool]
    return tuple(dict.fromkeys([*tools, *tips, *(frame.name for frame in moving)]))


def _read_frames(robot: Robot, frames: Any) -> tuple[str, ...]:
    if frames is None:
        return movable_frames(robot)
    names = (frames,) if isinstance(frames, str) else frames
    if not isinstance(names, Sequence):
        raise ArgumentError(f"frames: expected names of links or tool frames, found {frames!r}")
    for name in names:
        if robot.model.frames[robot.model.frame_index(name)].body == WORLD:
            raise ArgumentError(f"frames: expected what a joint moves, found {name!r}, which stands still")
    return tuple(names)


def _read_wrenches(robot: Robot, f_ext: Any) -> dict[str, Array]:
    if f_ext is None:
        return {}
    if not isinstance(f_ext, Mapping):
        raise ArgumentError(
            f"f_ext: expected a mapping from links to wrenches (6,), found {type(f_ext).__name__}"
        )
    out = {}
    for link, value in f_ext.items():
        robot.model.link_index(link)
        wrench = finite_array(f"f_ext[{link!r}]", value)
        if wrench.shape != (6,):
            raise ArgumentError(f"f_ext[{link!r}]: expected (6,), force and moment, found {wrench.shape}")
        out[link] = wrench
    return out
