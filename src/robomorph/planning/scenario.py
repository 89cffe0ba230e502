"""Scenarios as TOML files: a robot, a motion, and what must hold. docs/planning.md has the schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.given.named_robot import NamedRobot, robot_of_file
from robomorph.given.toml_files import TomlFile, known_keys, read_toml
from robomorph.naming import hint
from robomorph.paths import user_path
from robomorph.planning.motion import Motion
from robomorph.planning.scenario_keeps import read_keep

BUILT_IN = Path(__file__).parent / "scenarios"
_KEYS = {"title", "robot", "cost", "paper", "motion", "limits", "keep"}
_MOTION = {"seconds", "intervals", "start", "end", "periodic", "refine"}
_LIMITS = {"position", "velocity", "acceleration", "jerk", "torque"}
_KINDS = {"motion": dict, "robot": (dict, str), "limits": dict, "keep": list}


@dataclass(frozen=True)
class Scenario:
    """What a file says. paper: sizes of the paper's scenario of this kind, if it has one."""

    name: str
    title: str
    robot: NamedRobot
    cost: Any
    paper: Mapping[str, int]
    file: TomlFile

    @property
    def tables(self) -> Mapping[str, Any]:
        return self.file.tables

    def motion(self) -> Motion:
        """The motion that the file asks for, anew."""
        step = self.file.step
        motion: Motion = step("motion", lambda: _motion(self.robot, dict(self.tables["motion"])))
        if "limits" in self.tables:
            step("limits", lambda: _limits(motion, self.tables["limits"]))
        for k, table in enumerate(self.tables.get("keep", ())):
            step("keep", lambda table=table: read_keep(motion, self.robot, table), k)  # type: ignore[misc]
        return motion


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
    file = read_toml(path)
    file.check_keys(_KEYS, _KINDS, ("motion", "robot"))
    return Scenario(
        name=path.name,
        title=str(file.tables.get("title", path.stem)),
        robot=robot_of_file(file, robot, urdf),
        cost=file.tables.get("cost", "jerk"),
        paper=file.tables.get("paper", {}),
        file=file,
    )


def _motion(robot: NamedRobot, table: dict[str, Any]) -> Motion:
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
