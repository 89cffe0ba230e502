"""The problems of the sections about planning: built-in scenarios, on robots that are here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from robomorph.errors import ModelWarning, RobomorphError
from robomorph.planning.scenario import Scenario, load_scenario

HUMANOIDS = ("atlas", "talos", "g1")
SCENARIOS = ("squat", "feet", "kick")  # the paper's 1, 2 and 3
TORQUES = "kick-torque"
JERK, NO_COST = "jerk", "none"


@dataclass(frozen=True)
class Case:
    """A scenario on a robot, both by name."""

    scenario: str
    robot: str

    @property
    def label(self) -> str:
        return f"{self.robot}, {self.scenario}"

    def load(self) -> Scenario:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            scenario = load_scenario(self.scenario, self.robot)
            scenario.robot.robot  # noqa: B018 (read its file while its warnings are not shown)
        return scenario


def installed(cases: Sequence[Case], note: Callable[[str], None]) -> list[Case]:
    """Those whose robot is here; `note` is told of the others."""
    found, absent = [], set()
    for case in cases:
        try:
            case.load()
            found.append(case)
        except RobomorphError as error:
            if case.robot not in absent:
                note(f"{case.robot} is left out: {error}")
            absent.add(case.robot)
    return found


def changed(scenario: Scenario, change: Callable[[dict[str, Any]], None]) -> Scenario:
    """The scenario with its tables changed; the check reads the same tables."""
    tables = deepcopy(dict(scenario.tables))
    change(tables)
    return replace(scenario, file=replace(scenario.file, tables=tables))


def cost_of(name: str) -> Any:
    """What `solve` takes for the name of a cost in a record."""
    return None if name == NO_COST else name
