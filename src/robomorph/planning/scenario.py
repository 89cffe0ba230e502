"""Scenarios as TOML files: a robot, a motion, and what must hold. docs/planning.md has the schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from robomorph.errors import ArgumentError, RobomorphError, TargetError
from robomorph.naming import hint
from robomorph.paths import user_path
from robomorph.planning.motion import Motion
from robomorph.planning.scenario_robot import ScenarioRobot, read_robot
from robomorph.planning.scenario_tasks import known_keys, read_keep

BUILT_IN = Path(__file__).parent / "scenarios"
_KEYS = {"title", "robot", "cost", "paper", "motion", "limits", "keep"}
_MOTION = {"seconds", "intervals", "start", "end", "periodic", "refine"}
_LIMITS = {"position", "velocity", "acceleration", "jerk", "torque"}


@dataclass(frozen=True)
class Scenario:
    """What a file says. paper: sizes of the paper's scenario of this kind, if it has one."""

    name: str
    title: str
    robot: ScenarioRobot
    cost: Any
    paper: Mapping[str, int]
    tables: Mapping[str, Any]
    text: str

    def motion(self) -> Motion:
        """The motion that the file asks for, anew."""
        motion: Motion = self._step("motion", lambda: _motion(self.robot, dict(self.tables["motion"])))
        if "limits" in self.tables:
            self._step("limits", lambda: _limits(motion, self.tables["limits"]))
        for k, table in enumerate(self.tables.get("keep", ())):
            self._step("keep", lambda table=table: read_keep(motion, self.robot, table), k)
        return motion

    def _step(self, table: str, action: Any, index: int = 0) -> Any:
        try:
            return action()
        except RobomorphError as error:
            raise ArgumentError(f"{self.name}{_line(self.text, table, index)}, [{table}]: {error}") from None


def built_in() -> list[str]:
    """Names of the scenarios that come with robomorph."""
    return sorted(path.stem for path in BUILT_IN.glob("*.toml"))


def load_scenario(
    source: str | Path, robot: str | Path | None = None, urdf: str | Path | None = None
) -> Scenario:
    """A built-in scenario by name, or a TOML file. robot: another robot for it, a built-in name or a TOML
    file with a [robot] table; urdf: where that robot's file is, if not where the table says."""
    path = BUILT_IN / f"{source}.toml" if str(source) in built_in() else user_path(str(source))
    if not path.is_file():
        raise ArgumentError(f"scenario: no file {str(source)!r}, and {hint(str(source), built_in())}")
    text = _text(path)
    tables = parse(text, path.name)
    _check_keys(path.name, text, tables)
    chosen = tables["robot"] if robot is None else str(robot)
    if isinstance(chosen, str):
        chosen_path = _robot_path(chosen, path)
        inner = parse(_text(chosen_path), chosen_path.name)
        chosen, where = inner.get("robot"), chosen_path
    else:
        where = path
    if not isinstance(chosen, dict):
        raise ArgumentError(f"{where.name}: expected a table [robot], found none")
    return Scenario(
        name=path.name,
        title=str(tables.get("title", path.stem)),
        robot=read_robot(where, chosen, urdf),
        cost=tables.get("cost", "jerk"),
        paper=tables.get("paper", {}),
        tables=tables,
        text=text,
    )


def parse(text: str, name: str) -> dict[str, Any]:
    """TOML, errors with the file's name."""
    try:
        reader = import_module("tomllib")
    except ImportError:  # Python 3.10
        try:
            reader = import_module("tomli")
        except ImportError:
            raise TargetError(
                "scenarios: Python 3.10 reads TOML with tomli: pip install 'robomorph[plan]'"
            ) from None
    try:
        tables: dict[str, Any] = reader.loads(text)
    except reader.TOMLDecodeError as error:
        raise ArgumentError(f"{name}: not TOML: {error}") from None
    return tables


def _robot_path(name: str, scenario: Path) -> Path:
    known = sorted(path.stem for path in (BUILT_IN / "robots").glob("*.toml"))
    path = BUILT_IN / "robots" / f"{name}.toml" if name in known else scenario.parent / user_path(name)
    if not path.is_file():
        raise ArgumentError(f"{scenario.name}: robot: no file {name!r}, and {hint(name, known)}")
    return path


def _check_keys(name: str, text: str, tables: dict[str, Any]) -> None:
    for key in tables:
        if key not in _KEYS:
            raise ArgumentError(
                f"{name}{_line(text, key, 0)}: unknown key {key!r}: {hint(key, sorted(_KEYS))}"
            )
    for key, kind in (("motion", dict), ("robot", (dict, str)), ("limits", dict), ("keep", list)):
        if key not in tables and key in ("motion", "robot"):
            raise ArgumentError(f"{name}: expected {key!r}, found none")
        if key in tables and not isinstance(tables[key], kind):
            raise ArgumentError(
                f"{name}{_line(text, key, 0)}: {key}: expected a table, found {tables[key]!r}"
            )


def _motion(robot: ScenarioRobot, table: dict[str, Any]) -> Motion:
    known_keys("motion", table, _MOTION)
    if "seconds" not in table:
        raise ArgumentError("expected 'seconds', found none")
    for end in ("start", "end"):
        if end in table:
            table[end] = robot.posture(end, table[end])
    return Motion(robot.robot, **table)


def _limits(motion: Motion, table: Mapping[str, Any]) -> None:
    known_keys("limits", table, _LIMITS)
    motion.limits(**{"position": None, "velocity": None, **table})


def _line(text: str, table: str, index: int) -> str:
    """':line' of a table or key, the index-th of that name."""
    pattern = re.compile(rf"^[ \t]*(\[+\s*{re.escape(table)}\s*\]+|{re.escape(table)}\s*=)", re.MULTILINE)
    places = [match.start() for match in pattern.finditer(text)]
    return f":{text.count(chr(10), 0, places[index]) + 1}" if index < len(places) else ""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(f"{path.name}: expected a file with text in UTF-8, found {error}") from None
