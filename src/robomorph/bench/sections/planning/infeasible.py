"""Tasks that no motion can hold: how soon that is explained, and in which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from robomorph.bench.goals import Goal
from robomorph.bench.planning.problems import Case, changed
from robomorph.bench.planning.solving import figures_of, median_ns, record, show_ms, threads_of, timed
from robomorph.bench.records import REFUSED, Record
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session

NAME = "infeasible"
_ROUNDS = 5
_MILLISECONDS = 300.0
_SHOWN = 170  # characters of a reason in the table


@dataclass(frozen=True)
class Impossible:
    """A scenario made impossible. `named`: words that its reason must have, beside a time."""

    label: str
    case: Case
    change: Callable[[dict[str, Any]], None]
    named: tuple[str, ...]


def _limits(**given: Any) -> Callable[[dict[str, Any]], None]:
    def change(tables: dict[str, Any]) -> None:
        tables["limits"] = {**tables["limits"], **given}

    return change


def _motion(**given: Any) -> Callable[[dict[str, Any]], None]:
    def change(tables: dict[str, Any]) -> None:
        tables["motion"] = {**tables["motion"], **given}

    return change


def _drop(metres: float) -> Callable[[dict[str, Any]], None]:
    def change(tables: dict[str, Any]) -> None:
        for table in tables["keep"]:
            if table["task"] == "center of mass" and "upper" in table:
                table["upper"] = [float("inf"), float("inf"), -metres]

    return change


def _keep(**given: Any) -> Callable[[dict[str, Any]], None]:
    def change(tables: dict[str, Any]) -> None:
        tables["keep"] = [*tables.get("keep", []), given]

    return change


_ARM, _SQUAT, _FEET = Case("arm", "iiwa14"), Case("squat", "atlas"), Case("feet", "atlas")
_INF = float("inf")
PROBLEMS = (
    Impossible(
        "the start takes more torque than there is",
        Case("kick-torque", "atlas"),
        _limits(torque=0.05),
        ("torque limits", "_leg_"),
    ),
    Impossible("a squat deeper than legs are long", _SQUAT, _drop(2.5), ("center of mass",)),
    Impossible(
        "a squat deeper than both feet allow", _FEET, _drop(0.55), ("center of mass", "l_foot", "_leg_")
    ),
    Impossible(
        "down and up at the same time",
        _SQUAT,
        _keep(task="center of mass", reference="start", lower=[-_INF, -_INF, -0.1], during=[1.5, 2.5]),
        ("center of mass",),
    ),
    Impossible(
        "a tool beyond the arm's reach",
        _ARM,
        _keep(task="position", frame="tool", lower=[2.0, -_INF, -_INF], during=[0.4, 0.6]),
        ("lbr_iiwa_link_7",),
    ),
    Impossible("faster than joints can", _ARM, _motion(seconds=0.4), ("limits", "lbr_iiwa_joint_1")),
)


def _jobs(session: Session) -> list[Job]:
    return [Job(problem.label, partial(_run, session, problem)) for problem in PROBLEMS]


def _run(session: Session, problem: Impossible) -> list[Record]:
    scenario = changed(problem.case.load(), problem.change)
    motion, threads = scenario.motion(), threads_of(session)
    cost = scenario.cost if motion.duration.free else "jerk"
    plan, timing = timed(motion, cost, _ROUNDS, solver="native", threads=threads)
    named = any(word in plan.reason for word in problem.named) and "t = " in plan.reason
    figures = figures_of(plan) | {"named": float(named), REFUSED: float(plan.success)}
    return [record(NAME, problem.case.robot, problem.label, plan.reason, figures, timing, threads=threads)]


def _tables(records: Records) -> list[TableData]:
    rows = [
        (r.robot, r.case, _short(r.how), "yes" if r.figures["named"] else "no", show_ms(median_ns(r)))
        for r in records
    ]
    columns = ("robot", "what cannot be", "its reason", "names what and when", "ms")
    caption = f"Wall time of solve(), median of {_ROUNDS}. The JSON has the whole reasons."
    return [TableData("tasks that no motion can hold", columns, rows, left=4, caption=caption)]


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _slowest(records: Records) -> float | None:
    return max((median / 1e6 for r in records if (median := median_ns(r)) is not None), default=None)


def _named(records: Records) -> float | None:
    return 100.0 * sum(r.figures["named"] for r in records) / len(records) if records else None


_GOALS = (
    Goal("explained, the slowest", _MILLISECONDS, " ms", _slowest, False),
    Goal("names a joint or frame, and a time", 100.0, "%", _named),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
