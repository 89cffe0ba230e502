"""Control problems as TOML files: a robot, costs, limits, and where it starts. docs/mpc.md has the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.named_robot import NamedRobot, robot_of_file
from robomorph.given.references import value_at
from robomorph.given.task_tables import MAKERS, TASK_KEYS
from robomorph.given.toml_files import TomlFile, known_keys, needed_name, read_toml
from robomorph.mpc.controller import Controller
from robomorph.mpc.problem import Problem
from robomorph.mpc.quantities import QUANTITIES
from robomorph.mpc.terms import GRAVITY
from robomorph.naming import hint
from robomorph.paths import user_path
from robomorph.tasks import AnyTask
from robomorph.tasks.numbers import finite

Array = npt.NDArray[np.float64]
BUILT_IN = Path(__file__).parent / "problems"
_KINDS: dict[str, Any] = {
    "robot": (dict, str),
    "problem": dict,
    "cost": list,
    "bound": list,
    "limits": (dict, list),
    "controller": dict,
    "start": dict,
    "simulate": dict,
}
_TOP = {"title", *_KINDS}
_COST = {*TASK_KEYS, "weight", "terminal", "reference", "name", "rate"}
_BOUND = {*TASK_KEYS, "lower", "upper", "reference", "soft", "name", "rate"}
_LIMITS = {"torque", "velocity", "position", "acceleration", "soft"}
_CONTROLLER = {"iterations", "tolerance", "optimal", "period", "threads", "method", "cap"}


@dataclass(frozen=True, eq=False)
class ProblemFile:
    """What a file says. q, qd: (nv,) the state it starts from. options: of a controller. simulate: the table
    of that name as it is, for closed loops."""

    file: TomlFile
    title: str
    robot: NamedRobot
    problem: Problem
    q: Array
    qd: Array
    options: Mapping[str, Any]
    simulate: Mapping[str, Any]

    @property
    def name(self) -> str:
        return self.file.name

    def controller(self, **options: Any) -> Controller:
        """A controller as the file wants it, but for the options given here."""
        return self.file.step("controller", lambda: Controller(self.problem, **{**self.options, **options}))


def built_in_problems() -> list[str]:
    """Names of the problems that come with robomorph."""
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def load_problem(
    source: str | Path, robot: str | Path | None = None, urdf: str | Path | None = None
) -> ProblemFile:
    """A built-in problem by name, or a TOML file. robot: another robot for it, a built-in name or a TOML file
    with a [robot] table; urdf: where that robot's file is, if not where the table says."""
    path = BUILT_IN / f"{source}.toml" if str(source) in built_in_problems() else user_path(str(source))
    if not path.is_file():
        raise ArgumentError(f"problem: no file {str(source)!r}, and {hint(str(source), built_in_problems())}")
    file = read_toml(path)
    file.check_keys(_TOP, _KINDS, ("problem", "robot", "cost"))
    named = robot_of_file(file, robot, urdf)
    tables = file.tables
    q, qd = file.step("start", lambda: _start(named, tables.get("start", {})))
    reader = _Reader(file, named, q)
    options = dict(tables.get("controller", {}))
    file.step("controller", lambda: known_keys("controller", options, _CONTROLLER))
    return ProblemFile(
        file=file,
        title=str(tables.get("title", path.stem)),
        robot=named,
        problem=reader.problem(),
        q=q,
        qd=qd,
        options=options,
        simulate=tables.get("simulate", {}),
    )


def _start(robot: NamedRobot, table: Mapping[str, Any]) -> tuple[Array, Array]:
    known_keys("start", table, {"q", "qd"})
    nv = robot.robot.nv
    q = robot.posture("q", table["q"]) if "q" in table else robot.rest()
    qd = np.asarray(table.get("qd", np.zeros(nv)))
    q, qd = finite("q", q, (nv,)), finite("qd", qd, (nv,))
    if q.ndim != 1 or qd.ndim != 1:
        raise ArgumentError(f"expected one state, found a batch {q.shape}, {qd.shape}")
    return np.array(q), np.array(qd)


class _Reader:
    """Makes the problem of a file."""

    def __init__(self, file: TomlFile, robot: NamedRobot, start: Array) -> None:
        self.file, self.robot, self.start = file, robot, start

    def problem(self) -> Problem:
        tables, step = self.file.tables, self.file.step
        made: Problem = step("problem", lambda: self._begin(tables["problem"]))
        for k, table in enumerate(tables["cost"]):
            step("cost", lambda table=table: self._cost(made, table), k)  # type: ignore[misc]
        limits = tables.get("limits", [])
        for k, table in enumerate(limits if isinstance(limits, list) else [limits]):
            step("limits", lambda table=table: self._limits(made, table), k)  # type: ignore[misc]
        for k, table in enumerate(tables.get("bound", ())):
            step("bound", lambda table=table: self._bound(made, table), k)  # type: ignore[misc]
        return made

    def _begin(self, table: Mapping[str, Any]) -> Problem:
        known_keys("problem", table, {"horizon", "dt"})
        for key in ("horizon", "dt"):
            if key not in table:
                raise ArgumentError(f"expected {key!r}, found none")
        return Problem(self.robot.robot, table["horizon"], table["dt"])

    def _cost(self, problem: Problem, table: Any) -> None:
        task = self._task("cost", table, _COST)
        given = {"name": table.get("name"), "rate": table.get("rate", 0)}
        if "weight" not in table and "terminal" not in table:
            raise ArgumentError(
                "expected 'weight', 'terminal' (the weight at the last node) or both, found none"
            )
        reference = self._reference(task, table)
        if "weight" in table:
            problem.cost(task, table["weight"], reference, **given)
            reference = None
        if "terminal" in table:
            problem.terminal(task, table["terminal"], reference, **given)

    def _limits(self, problem: Problem, table: Any) -> None:
        if not isinstance(table, Mapping):
            raise ArgumentError(f"expected a table, found {table!r}: write [limits] and its keys below")
        known_keys("limits", table, _LIMITS)
        problem.limits(**{key: _pair(key, value) for key, value in table.items()})

    def _bound(self, problem: Problem, table: Any) -> None:
        task = self._task("bound", table, _BOUND)
        given = {key: table[key] for key in ("lower", "upper", "soft", "name", "rate") if key in table}
        problem.bound(task, reference=self._reference(task, table), **given)

    def _task(self, where: str, table: Any, keys: set[str]) -> Any:
        if not isinstance(table, Mapping):
            raise ArgumentError(f"expected a table, found {table!r}: write [[{where}]] and its keys below")
        known_keys(where, table, keys)
        name = needed_name(table, "task")
        if name in QUANTITIES:
            joints = table.get("joints")
            return QUANTITIES[name](joints if joints is None or isinstance(joints, str) else tuple(joints))
        if name not in MAKERS:
            raise ArgumentError(f"task: unknown name {name!r}: {hint(name, [*MAKERS, *QUANTITIES])}")
        return MAKERS[name](self.robot, self.start, table)

    def _reference(self, task: Any, table: Mapping[str, Any]) -> Any:
        """Numbers; or where the task is at the start or in a posture."""
        given = table.get("reference")
        if not isinstance(given, str) or (given == GRAVITY and not isinstance(task, AnyTask)):
            return given
        if not isinstance(task, AnyTask) or table.get("rate"):
            raise ArgumentError(f"reference: expected numbers, found {given!r}")
        task.check(self.robot.robot.model)
        q = self.start if given == "start" else self.robot.posture("reference", given)
        return value_at(self.robot.robot, task, q)


def _pair(name: str, value: Any) -> Any:
    """A table with lower and upper as a pair."""
    if not isinstance(value, Mapping):
        return value
    known_keys(f"limits.{name}", value, {"lower", "upper"})
    return value.get("lower", -np.inf), value.get("upper", np.inf)
