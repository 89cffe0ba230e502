"""What is checked: an algorithm, or a derivative of one, under the names that `export` has for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from robomorph.algorithms.algorithm import Algorithm
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.robot import Robot
from robomorph.verify.states import Port, Values

# Rows that the interpreter takes at a time: it keeps every number of a program.
_ROWS = 512


class Subject(NamedTuple):
    """`inverse_dynamics`, or `inverse_dynamics.vjp`."""

    algorithm: str
    derivative: str | None = None

    @staticmethod
    def parse(name: str) -> Subject:
        algorithm, dot, derivative = name.partition(".")
        return Subject(algorithm, derivative if dot else None)

    @property
    def name(self) -> str:
        return self.algorithm if self.derivative is None else f"{self.algorithm}.{self.derivative}"

    @property
    def entry(self) -> Algorithm:
        return ALGORITHMS[self.algorithm]

    def about(self, frame: str) -> str | None:
        """The frame to ask for: that one, if the algorithm is about one."""
        entry = ALGORITHMS.get(self.algorithm)
        return frame if entry is not None and entry.frame else None

    def compile(self, robot: Robot, frame: str, **wishes: Any) -> Any:
        return robot.compile(self.algorithm, derivative=self.derivative, frame=self.about(frame), **wishes)


class Interpreted:
    """The float64 program of a subject, interpreted: results by name for arguments by name, one batch."""

    def __init__(self, subject: Subject, robot: Robot, frame: str) -> None:
        self._kernel = subject.compile(robot, frame, target="interpreter")

    @property
    def inputs(self) -> Sequence[Port]:
        return tuple(self._kernel.inputs)

    def __call__(self, given: Values) -> Values:
        arguments = [given[port.name] for port in self.inputs]
        parts = [
            results_of(self._kernel, self._kernel(*(a[i : i + _ROWS] for a in arguments)))
            for i in range(0, len(arguments[0]), _ROWS)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


Function = Callable[[Values], Values]


def results_of(kernel: Any, value: Any) -> Values:
    """What a kernel gave, by name."""
    values = value if isinstance(value, tuple) else (value,)
    return {port.name: np.asarray(v) for port, v in zip(kernel.outputs, values, strict=True)}
