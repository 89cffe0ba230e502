"""Every function of a Robot against Pinocchio: one check per name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio

from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS

from .calls import Sample, call, some_frames, some_wrenches
from .compare import EXACT, assert_close
from .oracles import compared, oracle_of
from .reference import Reference

Array = npt.NDArray[Any]
NAMES = compared()


@dataclass(frozen=True)
class Subject:
    """A robot, its reference, the states to compare at, and the target that answers."""

    robot: Robot
    reference: Reference
    states: Sample
    target: str
    tolerance: float = EXACT

    def close(self, ours: Any, theirs: Any, what: str, *, scale: float = 0.0) -> None:
        what = f"{self.robot.name} {what}"
        assert_close(ours, np.array(theirs), what, self.tolerance, scale=scale)

    def call(self, name: str, f_ext: Mapping[str, Array] | None = None, frame: str | None = None) -> Any:
        return call(self.robot, self.target, name, self.states.arguments(name), f_ext, frame)

    def expected(self, name: str, f_ext: Mapping[str, Array] | None, frame: str | None) -> list[Any]:
        """The oracle's results, each with a row for every state."""
        rows: list[tuple[Any, ...]] = []
        for i in range(self.states.size):
            more: list[Any] = [] if frame is None else [frame]
            more += [] if f_ext is None else [{link: w[i] for link, w in f_ext.items()}]
            answer = oracle_of(name).answer(self.reference, *self.states.row(i).arguments(name), *more)
            rows.append(_listed(answer))
        return list(zip(*rows, strict=True))


def _listed(results: Any) -> tuple[Any, ...]:
    return results if isinstance(results, tuple) else (results,)


def agrees(subject: Subject, name: str, wrenches: bool = False) -> None:
    """Every result of an algorithm, about some frames if it is about one."""
    entry = ALGORITHMS[name]
    f_ext = some_wrenches(subject.robot, 7, subject.states.size) if wrenches else None
    scale = oracle_of(name).scale(subject.reference, subject.states)
    for frame in some_frames(subject.robot) if entry.frame else [None]:
        ours, theirs = _listed(subject.call(name, f_ext, frame)), subject.expected(name, f_ext, frame)
        for output, a, b in zip(entry.outputs, ours, theirs, strict=True):
            subject.close(a, b, f"{name} {output}{f' of {frame}' if frame else ''}", scale=scale)


def _manifold(subject: Subject) -> None:
    """`integrate` and `difference`; q1 is less than half a turn away, so the shortest way is the only one."""
    robot, reference, q, step = subject.robot, subject.reference, subject.states.q, subject.states.qd
    q1 = robot.integrate(q, step)
    theirs = [reference.integrate(a, b) for a, b in zip(q, step, strict=True)]
    for ours, other in zip([reference.configuration(x) for x in q1], theirs, strict=True):
        # Two quaternions stand for one rotation: compare what lies between the configurations.
        assert_close(reference_distance(reference, ours, other), np.zeros(reference.model.nv), "integrate")
    subject.close(
        robot.difference(q, q1),
        [reference.difference(a, b) for a, b in zip(q, q1, strict=True)],
        "difference",
    )


def reference_distance(reference: Reference, a: Array, b: Array) -> Array:
    """The tangent step between two of Pinocchio's configurations."""
    return np.asarray(pinocchio.difference(reference.model, a, b))


CHECKS: dict[str, Callable[[Subject], None]] = {
    **{name: partial(agrees, name=name) for name in NAMES},
    **{f"{n}_f_ext": partial(agrees, name=n, wrenches=True) for n in NAMES if ALGORITHMS[n].wrenches},
    "integrate_difference": _manifold,
}
