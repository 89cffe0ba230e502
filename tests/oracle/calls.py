"""Calling every function of a Robot in one way, by any target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS

Array = npt.NDArray[Any]


class Sample(NamedTuple):
    """A batch of states: q (n, nq), and qd, qdd, tau (n, nv); dt (n,) s for steps in time."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array
    dt: Array

    @property
    def size(self) -> int:
        return len(self.q)

    def arguments(self, name: str) -> list[Array]:
        """What the algorithm `name` takes, in order, without external forces."""
        entry = ALGORITHMS[name]
        return [getattr(self, argument) for argument in (*entry.inputs, *entry.parameters)]

    def row(self, i: int) -> Sample:
        return Sample(*(x[i] for x in self))

    def astype(self, dtype: str) -> Sample:
        return Sample(*(x.astype(dtype) for x in self))


def sample(robot: Robot, seed: int, size: int) -> Sample:
    rng = np.random.default_rng(seed)
    state = robot.random_state(rng, size)
    qdd, tau = rng.normal(size=(2, size, robot.nv))
    return Sample(state.q, state.qd, qdd, tau, rng.uniform(0.001, 0.01, size))


def some_frames(robot: Robot, count: int = 4) -> list[str]:
    """Links spread over the tree, the last among them, and every tool frame."""
    names = robot.link_names
    spread = {names[i] for i in np.linspace(0, len(names) - 1, min(count, len(names))).astype(int)}
    return sorted(spread) + [name for name in robot.frame_names if name not in names]


def some_wrenches(robot: Robot, seed: int, size: int, count: int = 3) -> dict[str, Array]:
    """Wrenches (size, 6) on links spread over the tree."""
    rng = np.random.default_rng(seed)
    names = [name for name in some_frames(robot, count) if name in robot.link_names]
    return {name: rng.normal(size=(size, 6)) for name in names}


def call(
    robot: Robot,
    target: str,
    name: str,
    args: list[Array],
    f_ext: Mapping[str, Array] | None = None,
    frame: str | None = None,
) -> Any:
    """The robot's own method on the CPU, or a kernel of another target."""
    if target == "cpu":
        method = getattr(robot, name)
        if frame is not None:
            return method(*args, frame)
        return method(*args) if f_ext is None else method(*args, f_ext=f_ext)
    if f_ext is not None:
        count = len(ALGORITHMS[name].inputs)  # what comes after them are parameters
        args = [*args[:count], np.stack(list(f_ext.values()), axis=-2), *args[count:]]
    links = False if f_ext is None else list(f_ext)
    return robot.compile(name, target=target, frame=frame, f_ext=links)(*args)
