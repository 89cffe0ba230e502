"""Gradients in fixed point: machine code against the interpreter that defines every bit, and float64."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from robomorph.bench.goals import Goal
from robomorph.bench.measuring import Contestant, measure
from robomorph.bench.records import OURS, REFUSED, Record, first, speedup
from robomorph.bench.sections.section import Job, Records, Section, TableData, robots_of, show_ns, show_ratio
from robomorph.bench.session import Session
from robomorph.bench.subject import Subject
from robomorph.compiler.program import compile_program
from robomorph.compiler.states import sample_arguments
from robomorph.errors import OverflowWarning

NAME = "fixed"
FUNCTION = "forward_dynamics_gradient"
INTERPRETER, MACHINE, FLOAT = "interpreter", "machine code", "float64, the same program"
BATCH = 4096  # the interpreter is at its best with about so many states
# Formats are chosen for, and states taken from, speeds and accelerations up to one.
_GIVEN: dict[str, Any] = {"minv": "given", "speed": 1.0, "acceleration": 1.0}
DESIGNS: dict[str, dict[str, Any]] = {
    "complete, 32-bit words": {"speed": 1.0, "acceleration": 1.0},
    "complete, Q16.16": {"speed": 1.0, "acceleration": 1.0, "format": "Q16.16"},
    "M^-1 given, Q16.16": {**_GIVEN, "format": "Q16.16"},
    "M^-1 given, Q14.6": {**_GIVEN, "format": "Q14.6"},
    "M^-1 given, 16-bit words": {**_GIVEN, "bits": 16},
}


def _jobs(session: Session) -> list[Job]:
    return [Job(f"{s.name}, {d}", partial(_run, session, s, d)) for s in session.some for d in DESIGNS]


def _run(session: Session, subject: Subject, design: str) -> list[Record]:
    one, all_threads = (_kernel(subject, design, threads) for threads in (1, session.cpus))
    rng = np.random.default_rng(1)
    sampled = sample_arguments(subject.robot.specialiser, one.inputs, BATCH, rng, speed=1.0, acceleration=1.0)
    arguments = [np.ascontiguousarray(x) for x in sampled.values()]
    same = compile_program(one.program, threads=1)  # in real numbers, with the same sums
    ways = [
        (INTERPRETER, 1, partial(one.plan.interpret, sampled)),
        (MACHINE, 1, partial(one, *arguments)),
        (MACHINE, session.cpus, partial(all_threads, *arguments)),
        (FLOAT, 1, partial(same, *arguments)),
    ]
    if session.cpus == 1:
        del ways[2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OverflowWarning)
        contestants = [Contestant(OURS, how, _loop(call), BATCH, threads=n) for how, n, call in ways]
        timings = measure(contestants, session.effort)
    known: dict[str, Any] = {
        "batch": BATCH,
        "case": design,
        "figures": _differences(one, sampled, arguments),
    }
    return [
        Record(NAME, subject.name, FUNCTION, OURS, how, threads=n, timing=timing, **known)
        for (how, n, _), timing in zip(ways, timings, strict=True)
    ]


def _kernel(subject: Subject, design: str, threads: int) -> Any:
    return subject.robot.compile(FUNCTION, target="fixed", threads=threads, **DESIGNS[design])


def _loop(call: Callable[[], object]) -> Callable[[int], None]:
    def loop(count: int) -> None:
        for _ in range(count):
            call()

    return loop


def _differences(kernel: Any, sampled: Any, arguments: list[Any]) -> dict[str, float]:
    """Words and flags that differ, and states that saturate."""
    expected, found = kernel.plan.interpret(sampled)[1], kernel.words(*arguments)
    wrong = np.count_nonzero(found.words != expected.words)
    wrong += np.count_nonzero(found.overflow != expected.overflow)
    return {REFUSED: float(wrong), "saturated": float(np.count_nonzero(expected.overflow))}


def _tables(records: Records) -> list[TableData]:
    rows = []
    for robot in robots_of(records):
        for design in DESIGNS:
            found = [r for r in records if (r.robot, r.case) == (robot, design)]
            if not found:
                continue
            one, many = _ours(found)
            slow, real = first(found, how=INTERPRETER), first(found, how=FLOAT)
            times = (show_ns(None if r is None else r.best_ns) for r in (one, many, slow, real))
            ratios = (show_ratio(speedup(ours, slow)) for ours in (one, many))
            differ = f"{found[0].figures[REFUSED]:.0f}"
            rows.append((robot, design, *times, *ratios, show_ratio(speedup(real, one)), differ))
    columns = (
        *("robot", "numbers", "one thread", "all threads", "interpreter", "float64"),
        *("over the interpreter", "all threads", "float64 over fixed", "bits that differ"),
    )
    caption = (
        f"forward-dynamics gradients, time of one in a batch of {BATCH}: calls of kernels with"
        ' target="fixed"; the interpreter from the same real numbers to the same results; the same program in'
        " float64"
    )
    return [TableData("fixed point", columns, rows, 2, caption)]


def _ours(records: Records) -> tuple[Record | None, Record | None]:
    """Machine code on one thread, and on several."""
    several = [r for r in records if r.how == MACHINE and r.threads > 1]
    return first(records, how=MACHINE, threads=1), first(several)


def _least_gain(records: Records, robot: str) -> float | None:
    """On one thread, over all designs."""
    gains = []
    for design in DESIGNS:
        found = [r for r in records if (r.robot, r.case) == (robot, design)]
        gains.append(speedup(_ours(found)[0], first(found, how=INTERPRETER)))
    known = [gain for gain in gains if gain is not None]
    return min(known, default=None)


GOALS = tuple(
    Goal(f"{robot}, over the interpreter", 100.0, "x", partial(_least_gain, robot=robot), robot=robot)
    for robot in ("iiwa14", "hyq")
)
SECTION = Section(NAME, _jobs, _tables, GOALS)
