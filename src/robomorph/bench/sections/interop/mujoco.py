"""Derivatives of a step in time beside MuJoCo's own, which are by differences: models without contact, with a
motor at each degree of freedom, so that both give A and B by all generalised forces."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from robomorph.bench.goals import Goal
from robomorph.bench.interop.contact_free import MODELS, Pair, States, by_differences, pair, transmission
from robomorph.bench.measuring import Contestant, measure
from robomorph.bench.ours import INTO_OUT
from robomorph.bench.peers.mujoco import MuJoCo
from robomorph.bench.records import OURS, Record, first, speedup
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_error, show_ns, show_ratio
from robomorph.bench.session import Session, in_short
from robomorph.mujoco import Transition, transition_to_mujoco

NAME = "mujoco"
FUNCTION = "step_gradient"
BATCH = 128
IN_THEIRS = "step and step_gradient, in MuJoCo's coordinates"
CENTRED, FORWARD = "mjd_transitionFD, centred", "mjd_transitionFD, forward"
ALONE = "mjd_transitionFD, centred, without B"
_GOAL_ROBOT = "gymnasium humanoid"
_QUICK = ("gymnasium hopper",)

Call = Callable[[], Any]


def _jobs(session: Session) -> list[Job]:
    if MuJoCo not in session.present:
        session.note(f"{NAME} was not measured: {session.absent.get(MuJoCo.name)}")
        return []
    names = [(package, stem) for package, stems in MODELS.items() for stem in stems]
    return [
        Job(f"{' '.join(name)}, batch {BATCH}", partial(_run, session, *name))
        for name in names
        if not session.quick or " ".join(name) in _QUICK
    ]


def _run(session: Session, package: str, stem: str) -> list[Record]:
    try:
        twins = pair(package, stem)
    except Exception as error:  # a package that is not here must not end the run
        session.note(f"{NAME}, {package} {stem}: {in_short(error)}")
        return []
    states = twins.states(BATCH)
    ours, theirs = _ours(twins, states), _theirs(twins, states)
    contestants = [
        *(Contestant(OURS, how, _loop(call), BATCH) for how, call in ours.items()),
        *(Contestant(MuJoCo.name, how, _loop(call), BATCH) for how, call in theirs.items()),
    ]
    timings = measure(contestants, session.effort)
    found, (a, b) = ours[IN_THEIRS](), theirs[CENTRED]()
    b_found = found.B @ transmission(twins.model)
    figures = {"dofs": float(twins.robot.nv), "error_of_b": _relative(b_found, b)}
    errors = {IN_THEIRS: _relative(found.A, a), FORWARD: _relative(theirs[FORWARD]()[0], a)}
    return [
        Record(
            NAME, twins.name, FUNCTION, c.who, c.how, batch=BATCH, timing=timing, figures=figures,
            error=errors.get(c.how), reference=CENTRED,
        )
        for c, timing in zip(contestants, timings, strict=True)
    ]  # fmt: skip


def _ours(twins: Pair, states: States) -> dict[str, Call]:
    """The kernel alone, and A and B as users of MuJoCo want them; both on one thread."""
    robot, dt = twins.robot, float(twins.model.opt.timestep)
    step, slopes = (robot.compile(name, threads=1) for name in ("step", FUNCTION))
    out = tuple(np.zeros((BATCH, *port.shape)) for port in slopes.outputs)

    def converted() -> Transition:
        return transition_to_mujoco(robot, slopes(*states, dt), states, step(*states, dt))

    return {INTO_OUT: lambda: slopes(*states, dt, out=out), IN_THEIRS: converted}


def _theirs(twins: Pair, states: States) -> dict[str, Call]:
    """A and B, and what users pay who leave B out."""
    put = twins.put(states)
    ways = {CENTRED: (True, True), FORWARD: (False, True), ALONE: (True, False)}
    return {
        how: partial(by_differences, twins.model, put, centred=centred, controls=controls)
        for how, (centred, controls) in ways.items()
    }


def _relative(found: Any, expected: Any) -> float:
    """The largest difference, relative to each state's largest entry."""
    scale = np.maximum(1.0, np.abs(expected).max(axis=(-2, -1), keepdims=True))
    return float((np.abs(found - expected) / scale).max())


def _loop(call: Call) -> Callable[[int], None]:
    def loop(count: int) -> None:
        for _ in range(count):
            call()

    return loop


def _tables(records: Records) -> list[TableData]:
    rows = []
    for robot in dict.fromkeys(record.robot for record in records):
        found = {r.how: r for r in records if r.robot == robot}
        whole = found[IN_THEIRS]
        rows.append(
            (
                robot,
                f"{whole.figures['dofs']:.0f}",
                *(show_ns(found[how].best_ns) for how in (INTO_OUT, IN_THEIRS, CENTRED, ALONE, FORWARD)),
                *(show_ratio(speedup(found[how], found[CENTRED])) for how in (INTO_OUT, IN_THEIRS)),
                *(show_ratio(speedup(whole, found[how])) for how in (ALONE, FORWARD)),
                *(show_error(error) for error in (whole.error, whole.figures["error_of_b"])),
                show_error(found[FORWARD].error),
            )
        )
    columns = (
        "model", "degrees of freedom", "ours", "with step, converted", "centred", "centred, A alone",
        "forward", "centred / ours", "centred / converted", "A alone / converted", "forward / converted",
        "error of A", "of B", "of forward",
    )  # fmt: skip
    caption = (
        f"A and B, batch of {BATCH}, one thread, float64, time a state; converted: to MuJoCo's coordinates "
        "by transition_to_mujoco; MuJoCo's are mjd_transitionFD's, B by a motor at each degree of freedom. "
        "Errors against its centred differences"
    )
    return [TableData("derivatives of a step, beside MuJoCo's", columns, rows, caption=caption)]


def _gain(how: str) -> Callable[[Records], float | None]:
    def ratio(records: Records) -> float | None:
        mine = [r for r in records if r.robot == _GOAL_ROBOT]
        return speedup(first(mine, how=how), first(mine, how=CENTRED))

    return ratio


def _worst(records: Records) -> float | None:
    errors = [
        max(r.error, r.figures["error_of_b"]) for r in records if r.how == IN_THEIRS and r.error is not None
    ]
    return max(errors, default=None)


_GOALS = (
    Goal(f"{_GOAL_ROBOT}, mjd_transitionFD's time over ours", 50.0, "x", _gain(INTO_OUT)),
    Goal(f"{_GOAL_ROBOT}, the same with all conversions", 50.0, "x", _gain(IN_THEIRS)),
    Goal("largest difference of A and B from MuJoCo's differences", 1e-6, "", _worst, at_least=False),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
