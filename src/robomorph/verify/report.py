"""Every kernel of a robot, compiled and checked: what `robomorph compile` shows, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.errors import ArgumentError, ModelError
from robomorph.robot import Robot
from robomorph.verify.yardstick import Verdict, Yardstick, check_kernel, random_states

STATES = 16  # random states that every kernel is checked at, single and batched


@dataclass(frozen=True)
class Checked:
    """One algorithm: its kernel, compiled for single states and batches, and the yardsticks' verdict."""

    algorithm: str
    kernel: Any
    verdict: Verdict

    @property
    def passed(self) -> bool:
        return self.verdict.passed


@dataclass(frozen=True)
class Verification:
    """What was checked, in the order of the algorithms, and what this robot cannot have, with the reason."""

    robot: str
    dtype: str
    frame: str
    checked: tuple[Checked, ...]
    refused: dict[str, str]

    @property
    def passed(self) -> bool:
        """Do all kernels that exist agree with everything that they were compared with?"""
        return all(row.passed for row in self.checked)

    def as_data(self) -> dict[str, Any]:
        """Plain numbers and words, by algorithm."""
        return {
            row.algorithm: {
                "formulation": row.kernel.stats.formulation,
                "operations": row.kernel.stats.flops,
                "error_vs_interpreter": row.verdict.interpreter,
                "error_vs_textbook": row.verdict.textbook,
                "error_vs_finite_differences": row.verdict.differences,
                "checked_against": row.verdict.checked_against,
                "passed": row.passed,
            }
            for row in self.checked
        }


def verify(
    robot: Robot,
    algorithms: Sequence[str] | None = None,
    *,
    dtype: str = "float64",
    frame: str | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> Verification:
    """Compile algorithms (None: all), and check each against the interpreter, and against textbook formulas
    or finite differences in plain NumPy. frame: of kinematics (None: the link farthest from the base).
    progress hears the name of each. What is asked for by name and the robot cannot have raises ModelError."""
    frame = frame or farthest_link(robot)
    yardstick = Yardstick(robot, random_states(robot, STATES), frame)
    rows: list[Checked] = []
    refused: dict[str, str] = {}
    for name in state_algorithms() if algorithms is None else algorithms:
        progress(name)
        try:
            rows.append(_check(robot, name, yardstick, dtype, threads))
        except ModelError as error:
            if algorithms is not None:
                raise
            refused[name] = str(error)
    return Verification(robot.name, dtype, frame, tuple(rows), refused)


def _check(robot: Robot, name: str, yardstick: Yardstick, dtype: str, threads: int | None) -> Checked:
    if name in ALGORITHMS and not ALGORITHMS[name].takes_states_alone:
        known = ", ".join(state_algorithms())
        raise ArgumentError(f"algorithms: {name} takes more than a state, so expected one of {known}")
    about = yardstick.frame if name in ALGORITHMS and ALGORITHMS[name].frame else None
    kernel: Any = robot.compile(name, dtype=dtype, threads=threads, frame=about)
    return Checked(name, kernel, check_kernel(robot, name, kernel, yardstick, dtype=dtype, frame=about))


def farthest_link(robot: Robot) -> str:
    """The last link of those that most joints lie between the world and."""
    return robot.model.farthest_link
