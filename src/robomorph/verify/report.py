"""Every kernel of a robot, compiled and checked: what `robomorph compile` shows, as data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from robomorph.algorithms.derived import DERIVATIVES
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.errors import ArgumentError, ModelError
from robomorph.robot import Robot
from robomorph.verify.reference import Reference
from robomorph.verify.states import checkable, moderate, random_states, usual
from robomorph.verify.subject import Subject
from robomorph.verify.verdict import Verdict
from robomorph.verify.yardstick import Yardstick, check_kernel

STATES = 16  # random states that every kernel is checked at, single and batched
USUAL = ("vjp", "jvp", "hvp")  # derivatives, where none are named: all second ones are long programs
_KINDS = ", ".join(DERIVATIVES)


@dataclass(frozen=True)
class Checked:
    """One algorithm, or a derivative of one: its kernel, compiled for single states and batches, and the
    yardsticks' verdict."""

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
    derivatives: bool | str | Sequence[str] = False,
    dtype: str = "float64",
    frame: str | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] = lambda name: None,
) -> Verification:
    """Compile algorithms (None: all), and check each against the interpreter, and against textbook formulas
    or finite differences in plain NumPy. Algorithms may be derivatives, as in `inverse_dynamics.vjp`.
    derivatives: kinds (docs/derivatives.md) that are added for every algorithm, True for vjp, jvp and hvp;
    where no algorithms are named, for all but those that are derivatives themselves.
    frame: of kinematics (None: the link farthest from the base). progress hears the name of each.
    What is asked for by name and the robot cannot have raises ModelError."""
    subjects = chosen_subjects(robot, algorithms, derivatives)
    frame = frame or farthest_link(robot)
    yardstick = Yardstick(robot, moderate(Reference(robot), random_states(robot, STATES)), frame)
    rows: list[Checked] = []
    refused: dict[str, str] = {}
    for subject in subjects:
        progress(subject.name)
        try:
            rows.append(_check(robot, subject, yardstick, dtype, threads))
        except ModelError as error:
            if algorithms is not None:
                raise
            refused[subject.name] = str(error)
    return Verification(robot.name, dtype, frame, tuple(rows), refused)


def chosen_subjects(
    robot: Robot, algorithms: Sequence[str] | None = None, derivatives: bool | str | Sequence[str] = False
) -> list[Subject]:
    """What `verify` checks, every algorithm before its derivatives; ArgumentError names what is unknown."""
    kinds = _kinds(derivatives)
    named = [
        Subject.parse(name) for name in ([algorithms] if isinstance(algorithms, str) else algorithms or ())
    ]
    for subject in named:
        _require_checkable(subject)
    found: list[Subject] = []
    for subject in named if algorithms is not None else map(Subject, usual(robot.model)):
        own = subject.derivative is None and (algorithms is not None or not subject.entry.derivatives)
        found += [subject, *(Subject(subject.algorithm, kind) for kind in (kinds if own else ()))]
    return list(dict.fromkeys(found))


def _kinds(derivatives: Any) -> tuple[str, ...]:
    if isinstance(derivatives, bool):
        return USUAL if derivatives else ()
    kinds = (derivatives,) if isinstance(derivatives, str) else derivatives
    if not isinstance(kinds, Iterable):
        raise ArgumentError(
            f"derivatives: expected True, False or names among {_KINDS}, found {derivatives!r}"
        )
    kinds = tuple(kinds)
    for kind in kinds:
        _require_kind("derivatives", kind)
    return kinds


def _require_checkable(subject: Subject) -> None:
    name = subject.algorithm
    if name in ALGORITHMS and name not in checkable():
        known = ", ".join(checkable())
        raise ArgumentError(
            f"algorithms: {name} takes more than a state and a time, so expected one of {known}"
        )
    if subject.derivative is not None and name in ALGORITHMS:
        _require_kind(f"algorithms: {subject.name}", subject.derivative)


def _require_kind(what: str, kind: str) -> None:
    if kind not in DERIVATIVES:
        raise ArgumentError(f"{what}: unknown derivative {kind!r}: expected one of {_KINDS}")


def _check(robot: Robot, subject: Subject, yardstick: Yardstick, dtype: str, threads: int | None) -> Checked:
    kernel = subject.compile(robot, yardstick.frame, dtype=dtype, threads=threads)
    about = subject.about(yardstick.frame)
    verdict = check_kernel(robot, subject.name, kernel, yardstick, dtype=dtype, frame=about)
    return Checked(subject.name, kernel, verdict)


def farthest_link(robot: Robot) -> str:
    """The last link of those that most joints lie between the world and."""
    return robot.model.farthest_link
