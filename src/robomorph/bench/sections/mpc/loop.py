"""Closed loops at 1 kHz with N = 50: delays, pushes and payloads, on our plant and on MuJoCo."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from robomorph.bench.goals import Goal
from robomorph.bench.records import OURS, Record, Timing, first
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_ns
from robomorph.bench.session import Session
from robomorph.errors import TargetError
from robomorph.loading import load
from robomorph.mpc import (
    Controller,
    Delay,
    Friction,
    Gains,
    MujocoPlant,
    Noise,
    Observer,
    Plant,
    RobotPlant,
    Simulation,
    simulate,
)
from robomorph.mpc.studies.loops import reach_case
from robomorph.robot import Robot

NAME = "loop"
ROBOT, HORIZON, DT, PERIOD = "iiwa14", 50, 0.01, 1e-3
FORCE = 100.0  # N for 50 ms at the tool
_QUICK = 1.6  # s of a loop in a quick run, which is too short for goals about errors
_STEP_US = 250.0
_LEFT = 1e-3  # rad, 2 s after the push
_FUNCTION = "closed_loop"
_PLANTS: dict[str, Callable[..., Plant]] = {"robot": RobotPlant, "mujoco": MujocoPlant}


@dataclass(frozen=True)
class Case:
    """delay (s) in the loop and told, what the observer takes it for (None: the truth); payload (kg), which
    the controller does not know, at the tool's origin or at `centre` (m) in its frame; friction (N m) and
    noise (rad/s) of every joint; gain, of the observer's disturbance, unless it is the rule's. goal: whether
    something is to be reached; the others show where the loop ends."""

    name: str
    delay: float = 0.0
    payload: float = 0.0
    observer: bool = True
    told: float | None = None
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    friction: float = 0.0
    noise: float = 0.0
    gain: float | None = None
    goal: bool = False


CASES = (
    Case("push"),
    Case("push, no observer", observer=False),
    Case("push, 10 ms delay", delay=0.01, goal=True),
    Case("push, 3 kg, 2 ms delay", delay=0.002, payload=3.0, goal=True),
    Case("push, 3 kg, 10 ms delay", delay=0.01, payload=3.0, goal=True),
)
# On our plant only.
LIMITS = (
    Case("push, 18 ms delay", delay=0.018),
    Case("push, 18 ms delay, no observer", delay=0.018, observer=False),
    Case("push, 10 ms delay, 12 ms told", delay=0.01, told=0.012),
    Case("push, 10 ms delay, 12 ms told, gain 0.2", delay=0.01, told=0.012, gain=0.2),
    Case("push, speeds with 0.01 rad/s of noise", noise=0.01),
    Case("push, 3 N m of friction", friction=3.0),
    Case("push, 3 kg at (0.05, 0, 0.1) m", payload=3.0, centre=(0.05, 0.0, 0.1)),
    Case("the same, 10 ms delay", delay=0.01, payload=3.0, centre=(0.05, 0.0, 0.1)),
)


def _jobs(session: Session) -> list[Job]:
    both = [(case, plant) for plant in _PLANTS for case in CASES]
    alone = [] if session.quick else [(case, "robot") for case in LIMITS]
    return [Job(f"{c.name}, plant {p}", partial(_run, session, c, p)) for c, p in (*both, *alone)]


def _run(session: Session, case: Case, plant: str) -> list[Record]:
    robot = load(ROBOT)
    payload = {robot.model.farthest_link: (case.payload, case.centre)} if case.payload else None
    friction = Friction(case.friction) if case.friction else None
    try:
        moved = _PLANTS[plant](robot, payload=payload, friction=friction)
    except TargetError as error:
        session.note(f"{NAME}: plant {plant} left out: {error}")
        return []
    reach = reach_case(robot, HORIZON, DT, force=FORCE)
    found = simulate(
        Controller(reach.problem, iterations=1, period=PERIOD),
        moved,
        seconds=_QUICK if session.quick else reach.seconds,
        start=reach.start,
        reference=reach.reference,
        pushes=reach.pushes,
        noise=Noise(velocity=case.noise) if case.noise else None,
        delay=Delay(case.delay),
        observer=_observer(robot, case) if case.observer else False,
    )
    if not found.success:
        session.note(f"{NAME}: {case.name}, plant {plant}: {found.reason}")
    return [record_of(found, case.name, plant, judged=not session.quick)]


def _observer(robot: Robot, case: Case) -> Observer:
    gains = None if case.gain is None else Gains(disturbance=case.gain)
    delay = Delay(case.delay if case.told is None else case.told)
    return Observer(robot, PERIOD, delay=delay, gains=gains)


def record_of(found: Simulation, case: str, plant: str, *, judged: bool = True) -> Record:
    """A loop as a record; errors count only if it was long enough."""
    nan = math.nan
    figures = {
        "diverged": float(not found.success),
        "step_99_ns": 1e9 * found.percentile(99.0),
        "cpu_99_ns": 1e9 * found.percentile(99.0, cpu=True),
        "controller_99_ns": 1e9 * found.percentile(99.0, observer=False),
        "before": found.before_push,
        "peak": found.peak,
        "left": found.left if judged else nan,
        "settled_s": nan if found.settled is None or not judged else found.settled,
        "payload_kg": nan if found.payload is None else float(found.payload[-1]),
        "unsolved": float((~found.solved).sum()),
    }
    spent = found.spent()
    median = 1e9 * found.percentile(50.0)
    timing = Timing(1e9 * float(spent.min(initial=nan)), median, rounds=len(spent), warmup_s=0.0)
    return Record(NAME, ROBOT, _FUNCTION, OURS, plant, timing=timing, figures=figures, case=case)


def _tables(records: Records) -> list[TableData]:
    rows = []
    for r in records:
        f = r.figures
        median = None if r.timing is None else r.timing.median_ns
        times = (median, f["step_99_ns"], f["cpu_99_ns"], f["controller_99_ns"])
        errors = tuple(_shown(f[name]) for name in ("before", "peak", "left"))
        settled = "diverged" if f["diverged"] else _seconds(f["settled_s"])
        weighed = "-" if math.isnan(f["payload_kg"]) else f"{f['payload_kg']:.2f} kg"
        rows.append((r.case, r.how, *map(show_ns, times), *errors, settled, weighed))
    columns = ("loop", "plant", "step", "99%", "99% CPU", "99%, controller", "before push", "peak", "left")
    caption = (
        f"{ROBOT}, N = {HORIZON}, nodes of {DT:g} s, {1 / PERIOD:g} Hz, one iteration a tick, all limits of "
        f"the robot; {FORCE:g} N at the tool for 50 ms. Errors: the largest of any joint (rad); left: in the "
        "last 0.1 s, 2 s after the push. A step is observer and controller, called from Python."
    )
    title = "closed loops at a kilohertz"
    return [TableData(title, (*columns, "settled", "weighed"), rows, 2, caption)]


def _shown(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.1e}"


def _seconds(value: float) -> str:
    return "no" if math.isnan(value) else f"{value:.2f} s"


def _figure(case: str, plant: str, name: str, scale: float = 1.0) -> Callable[[Records], float | None]:
    def find(records: Records) -> float | None:
        found = first(records, case=case, how=plant)
        value = math.nan if found is None else scale * found.figures[name]
        return None if math.isnan(value) else value

    return find


_GOALS = (
    Goal("99% of steps, our plant", _STEP_US, " us", _figure("push", "robot", "step_99_ns", 1e-3), False),
    *(
        Goal(f"left after {case.name}, {plant}", _LEFT, " rad", _figure(case.name, plant, "left"), False)
        for plant in _PLANTS
        for case in CASES
        if case.goal
    ),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
