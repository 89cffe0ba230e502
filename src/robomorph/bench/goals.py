"""What the benchmark is meant to reach, and whether a run did. The goals themselves stand in the sections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robomorph.bench.records import OURS, REFUSED, Record

Records = Sequence[Record]

# A time counts only if the results were right: largest error, relative to the largest entry of the output.
_LARGEST_ERROR = {"float64": 1e-8, "float32": 1e-2}


@dataclass(frozen=True)
class Goal:
    """A figure to reach. `measure` finds it in the records of its section, None if it is not there; `unit` is
    shown after numbers; `at_least` says which side is good. A goal about a robot is judged where that takes
    part."""

    what: str
    value: float
    unit: str
    measure: Callable[[Records], float | None]
    at_least: bool = True
    robot: str | None = None


@dataclass(frozen=True)
class Verdict:
    """A goal and what this run found; `found` is None where it was not measured. `wrong`: some result of ours
    in that section was, so that no time of it counts."""

    what: str
    goal: float
    unit: str
    at_least: bool
    found: float | None
    wrong: bool = False

    @property
    def reached(self) -> bool | None:
        if self.found is None:
            return None
        if self.wrong:
            return False
        return self.found >= self.goal if self.at_least else self.found <= self.goal

    @property
    def text(self) -> str:
        """Such as "goal 26x: 31x reached"."""
        limit = "" if self.at_least else "at most "
        goal = f"goal {limit}{self.goal:g}{self.unit}"
        if self.found is None:
            return f"{goal}: not measured"
        verdict = "with wrong results" if self.wrong else "reached" if self.reached else "missed"
        return f"{goal}: {self.found:.3g}{self.unit} {verdict}"


def judge(section: str, goals: Sequence[Goal], records: Records, robots: Sequence[str]) -> list[Verdict]:
    """Verdicts on a section's goals for the robots that take part; without any, on all."""
    mine = [r for r in records if r.section == section]
    wrong = any(_wrong(r) for r in mine if r.who == OURS)
    return [
        Verdict(goal.what, goal.value, goal.unit, goal.at_least, goal.measure(mine), wrong)
        for goal in goals
        if goal.robot is None or not robots or goal.robot in robots
    ]


def _wrong(record: Record) -> bool:
    if record.figures.get(REFUSED, 0.0) > 0.0:
        return True
    # Written so that NaN is wrong.
    return record.error is not None and not record.error <= _LARGEST_ERROR[record.dtype]
