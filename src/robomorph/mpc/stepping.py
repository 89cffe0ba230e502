"""What a loop asks of a controller: `mpc.Controller` answers it, and so may any other."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from robomorph.robot import Robot

Array = npt.NDArray[np.float64]


class Answer(Protocol):
    """One answer: what to do now, and what comes next if all goes to plan."""

    @property
    def success(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def tau(self) -> Array:
        """(nv,) the torque now."""
        ...

    @property
    def qdd(self) -> Array:
        """(N, nv) accelerations, of nodes `dt` apart."""
        ...

    @property
    def torques(self) -> Array:
        """(N, nv) torques."""
        ...


class SteppedProblem(Protocol):
    @property
    def robot(self) -> Robot: ...
    @property
    def dt(self) -> float:
        """s, between nodes of a plan."""
        ...


class Stepped(Protocol):
    """A controller that is asked once a tick."""

    @property
    def problem(self) -> SteppedProblem: ...
    @property
    def period(self) -> float:
        """s, between steps."""
        ...

    def reset(self) -> None: ...
    def step(
        self,
        q: Array,
        qd: Array,
        *,
        reference: Any = None,
        deadline: float | None = None,
        elapsed: float | None = None,
        offset: Array | None = None,
        out: Any = None,
    ) -> Answer:
        """offset: (nv,) torque that the drives must give beyond the model's; it is part of the answer's. out:
        an earlier answer, which may be filled again."""
        ...


def planned(values: Array, dt: float, age: float) -> Array:
    """(nv,) of values (N, nv) of nodes `dt` apart, `age` seconds after the plan's beginning: between nodes
    on the line between them, beyond the last one it."""
    place = min(max(age / dt, 0.0), len(values) - 1.0)
    k = min(int(place), len(values) - 2)
    if k < 0:
        return np.array(values[0])
    share = place - k
    return np.asarray((1.0 - share) * values[k] + share * values[k + 1])
