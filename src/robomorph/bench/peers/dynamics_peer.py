"""Libraries of dynamics: what they are asked, and their order of coordinates."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robomorph.bench.functions import Function
from robomorph.bench.measuring import Contestant
from robomorph.bench.peers.peer import Peer, PeerError
from robomorph.bench.subject import States, Subject

Array = npt.NDArray[np.float64]


class DynamicsPeer(Peer):
    """A library that has read one robot. Making one may raise anything: the run names it and goes on."""

    @abstractmethod
    def __init__(self, subject: Subject, *, quick: bool) -> None: ...

    @abstractmethod
    def contestants(self, function: Function, batch: int) -> list[Contestant]:
        """Its ways to compute a function, the way its users know best first; empty if it cannot."""


class Order:
    """Our order of coordinates and theirs, for robots whose joints have one degree of freedom each.

    positions, velocities: for each of our joints, where theirs has it.
    circles: joints (ours) that they hold as (cos, sin) at positions, positions + 1.
    """

    def __init__(
        self,
        subject: Subject,
        positions: Sequence[int],
        velocities: Sequence[int],
        circles: Sequence[int] = (),
    ) -> None:
        self.nq = subject.nv + len(circles)
        self.positions, self.velocities = np.array(positions), np.array(velocities)
        self.circles = np.array(circles, dtype=int)

    def arguments(self, function: Function, states: States) -> list[Array]:
        """Arguments of a function as they want them, each (batch, n), C-contiguous."""
        given = [states[name] for name in function.arguments]
        return [
            self._q(a) if n == "q" else self._v(a) for n, a in zip(function.arguments, given, strict=True)
        ]

    def _q(self, q: Array) -> Array:
        theirs = np.zeros((len(q), self.nq))
        theirs[:, self.positions] = q
        theirs[:, self.positions[self.circles]] = np.cos(q[:, self.circles])
        theirs[:, self.positions[self.circles] + 1] = np.sin(q[:, self.circles])
        return theirs

    def _v(self, v: Array) -> Array:
        theirs = np.zeros_like(v)
        theirs[:, self.velocities] = v
        return theirs

    def ours(self, output: str, array: Array) -> Array:
        """One output (batch, ...) of theirs in our order."""
        iv = self.velocities
        if output in ("tau", "qdd", "jacobian"):
            return array[..., iv]
        if output == "pose":
            return array
        return array[..., iv[:, None], iv]


def joints_of_one(subject: Subject) -> tuple[str, ...]:
    """The robot's joints, if each has one degree of freedom; else PeerError."""
    robot = subject.robot
    for joint in robot.joint_names:
        _, v = robot.coordinates(joint)
        if v.stop - v.start != 1:
            raise PeerError(f"joint {joint!r} has {v.stop - v.start} degrees of freedom; only 1 is compared")
    return robot.joint_names
