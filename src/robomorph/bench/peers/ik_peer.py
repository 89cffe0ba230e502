"""Solvers of inverse kinematics: what they are asked, and what they answer."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from robomorph.bench.arms import PoseProblems
from robomorph.bench.measuring import timing_of_each
from robomorph.bench.peers.peer import Peer
from robomorph.bench.records import Timing

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Answers:
    """q (n, nq), NaN where there is none; seconds (rounds, n), the solver's own calls and nothing else."""

    q: Array
    seconds: Array

    @property
    def timing(self) -> Timing:
        return timing_of_each(np.atleast_2d(self.seconds))


class IkPeer(Peer):
    """A solver. `slack`: its tolerance is per axis, so its answers may be this many times farther off."""

    title: ClassVar[str]
    slack: ClassVar[float] = 1.0

    @classmethod
    @abstractmethod
    def solve(cls, problems: PoseProblems) -> Answers:
        """One problem after the other, each timed. It may raise anything: the run names it and goes on."""
