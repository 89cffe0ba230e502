"""Seven squats in a row: n about 2,000 with 30,000 constraints, at ten settings of its parameters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from robomorph.bench.goals import Goal
from robomorph.bench.peers.ipopt import Ipopt
from robomorph.bench.planning.motion_check import MotionCheck
from robomorph.bench.planning.problems import Case, changed
from robomorph.bench.planning.solving import (
    figures_of,
    measured,
    median_ns,
    record,
    show_ms,
    show_violation,
    threads_of,
    timed,
)
from robomorph.bench.records import OURS, Record, select
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session

NAME = "big"
_SECONDS = 5.0
_ENOUGH = 9  # of ten
_RATE = 1000.0  # Hz: the motion is long, and the scenarios are measured at 10 kHz


@dataclass(frozen=True)
class Setting:
    """How far the centre of mass goes down (m), how level the hand is kept (rad), how still the foot (mm and
    twice as many mrad), and how long it all takes (s)."""

    drop: float
    level: float
    foot: float
    seconds: float

    @property
    def label(self) -> str:
        return f"{self.drop * 100:g} cm, {self.level * 1e3:g} mrad, {self.foot:g} mm, {self.seconds:g} s"

    def change(self, tables: dict[str, Any]) -> None:
        stretch = self.seconds / tables["motion"]["seconds"]
        tables["motion"]["seconds"] = self.seconds
        for table in tables["keep"]:
            if "during" in table:
                table["during"] = [t * stretch for t in table["during"]]
            if table["task"] == "tilt":
                table["lower"], table["upper"] = -self.level, self.level
            elif table["task"] == "axis":
                table["upper"] = self.level
            elif table["task"] == "pose":
                bound = [1e-3 * self.foot] * 3 + [2e-3 * self.foot] * 3
                table["lower"], table["upper"] = [-x for x in bound], bound
            elif "sole" not in table:
                table["upper"] = [float("inf"), float("inf"), -self.drop]


SETTINGS = (
    Setting(0.15, 0.010, 1.0, 28.0),
    Setting(0.12, 0.010, 1.0, 28.0),
    Setting(0.18, 0.010, 1.0, 28.0),
    Setting(0.15, 0.020, 1.0, 28.0),
    Setting(0.15, 0.005, 1.0, 28.0),
    Setting(0.15, 0.010, 2.0, 28.0),
    Setting(0.15, 0.010, 0.5, 28.0),
    Setting(0.15, 0.010, 1.0, 35.0),
    Setting(0.15, 0.010, 1.0, 21.0),
    Setting(0.10, 0.020, 2.0, 24.5),
)


def _jobs(session: Session) -> list[Job]:
    settings = SETTINGS[:1] if session.quick else SETTINGS
    return [Job(s.label, partial(_run, session, k)) for k, s in enumerate(settings)]


def _run(session: Session, index: int) -> list[Record]:
    setting, case = SETTINGS[index], Case("squats", "atlas")
    scenario = changed(case.load(), setting.change)
    motion, threads = scenario.motion(), threads_of(session)
    check = MotionCheck(scenario)
    plan, timing = timed(motion, "jerk", 1, solver="native", threads=threads)
    if not plan.success:
        session.note(f"big, {setting.label}: {plan.reason}")
    figures = figures_of(plan) | measured(session, f"big, {setting.label}", check, plan, _RATE)
    out = [record(NAME, case.robot, setting.label, "native", figures, timing, threads=threads)]
    if index == 0 and not session.quick and Ipopt in session.present:
        theirs, timing = timed(motion, "jerk", 0, solver="ipopt", threads=threads)
        figures = figures_of(theirs) | measured(session, "big, IPOPT", check, theirs, _RATE, claims=False)
        out.append(record(NAME, case.robot, setting.label, "ipopt", figures, timing, Ipopt.name, threads))
    return out


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.robot,
            r.case,
            r.how,
            f"{r.figures['variables']:,.0f}",
            f"{r.figures['constraints']:,.0f}",
            f"{r.figures['iterations']:.0f}" if r.figures["solved"] else "failed",
            show_ms(median_ns(r)),
            f"{r.figures['cost']:.5g}",
            show_violation(r),
        )
        for r in records
    ]
    columns = ("robot", "setting", "solver", "n", "constraints", "iterations", "ms", "jerk", "violation")
    caption = (
        f"Violations at {_RATE:g} Hz by Pinocchio, scaled. The paper says hours for a problem of this size."
    )
    return [TableData("seven squats", columns, rows, left=3, caption=caption)]


def _soon(records: Records) -> float | None:
    ours = select(records, who=OURS)
    good = [r for r in ours if r.figures["solved"] and r.timing and r.timing.median_ns <= 1e9 * _SECONDS]
    return float(len(good)) if len(ours) == len(SETTINGS) else None


_GOALS = (Goal(f"settings solved in under {_SECONDS:g} s", _ENOUGH, f" of {len(SETTINGS)}", _soon),)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
