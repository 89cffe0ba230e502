"""An optimal control problem solved by IPOPT in CasADi: our functions beside expressions of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robomorph.bench.goals import Goal
from robomorph.bench.interop.reach import EFFORT, NODES, Reach, Solved, defect
from robomorph.bench.measuring import summarise
from robomorph.bench.peers.adam import Adam
from robomorph.bench.peers.ipopt import Ipopt
from robomorph.bench.peers.peer import module
from robomorph.bench.peers.pinocchio import Pinocchio
from robomorph.bench.records import OURS, REFUSED, Record, first, speedup
from robomorph.bench.sections.section import (
    Job,
    Records,
    Section,
    TableData,
    show_error,
    show_ns,
    show_ratio,
)
from robomorph.bench.session import Session, in_short
from robomorph.bench.subject import Subject

NAME = "casadi"
ROBOT, FUNCTION = "iiwa14", "forward_dynamics"
MACHINE, EXPRESSIONS, ADAM = "machine code", "our expressions", "adam's expressions"
EXACT, APPROXIMATE = "exact Hessian", "limited-memory"
_ROUNDS = 5
_DEFECT = 1e-6  # rad/s: a motion that Pinocchio does not follow so closely is refused


def _jobs(session: Session) -> list[Job]:
    if Ipopt not in session.present:
        session.note(f"{NAME} was not measured: {session.absent.get(Ipopt.name)}")
        return []
    return [Job(f"{ROBOT}, {NODES} nodes", lambda: _run(session))]


def _run(session: Session) -> list[Record]:
    casadi, subject = module("casadi"), Subject(ROBOT)
    ways: dict[tuple[str, str], Reach] = {}
    for name, make in _dynamics(session, subject).items():
        try:
            dynamics = make()
            for exact in (True, False):
                how = EXACT if exact else APPROXIMATE
                ways[name, how] = Reach(casadi, subject.robot, dynamics, exact=exact)
        except Exception as error:  # a peer's trouble must not end the run
            session.note(f"{NAME}: {name} left out: {in_short(error)}")
    rounds = 1 if session.quick else _ROUNDS
    found: dict[tuple[str, str], list[Solved]] = {key: [] for key in ways}
    for _ in range(rounds):
        for key, reach in ways.items():
            found[key].append(reach.solve())
    best = {how: _reference(found, how) for how in (EXACT, APPROXIMATE)}
    return [_record(session, subject, *key, runs, best[key[1]]) for key, runs in found.items()]


def _dynamics(session: Session, subject: Subject) -> dict[str, Callable[[], Any]]:
    """By name, what gives a casadi.Function (q, qd, tau) -> qdd."""
    from robomorph.casadi import Functions

    ways: dict[str, Callable[[], Any]] = {
        MACHINE: lambda: Functions(subject.robot, kind="machine code").forward_dynamics,
        EXPRESSIONS: lambda: Functions(subject.robot, kind="expressions").forward_dynamics,
    }
    if Adam in session.present:
        ways[ADAM] = lambda: Adam(subject, quick=True).acceleration()
    else:
        session.note(f"{NAME}: adam was not measured: {session.absent.get(Adam.name)}")
    return ways


def _reference(found: dict[tuple[str, str], list[Solved]], how: str) -> tuple[str, Solved] | None:
    """The other library's answer, or that of our expressions."""
    for name in (ADAM, EXPRESSIONS):
        if found.get((name, how)):
            return name, found[name, how][0]
    return None


def _record(
    session: Session,
    subject: Subject,
    name: str,
    how: str,
    runs: list[Solved],
    reference: tuple[str, Solved] | None,
) -> Record:
    solved = runs[0]
    ours = name != ADAM
    figures = {
        "cost": solved.cost,
        "iterations": float(solved.iterations),
        "derivatives_ns": min(run.derivatives for run in runs) * 1e9,
    }
    if ours:
        figures[REFUSED] = float(not _followed(session, subject, name, how, solved))
    other = None if reference is None or reference[0] == name else reference
    return Record(
        NAME, ROBOT, FUNCTION, OURS if ours else Adam.name, name, case=how, figures=figures,
        timing=summarise([run.seconds for run in runs], 0.0),
        error=None if other is None else abs(solved.cost - other[1].cost) / abs(other[1].cost),
        reference=None if other is None else other[0],
    )  # fmt: skip


def _followed(session: Session, subject: Subject, name: str, how: str, solved: Solved) -> bool:
    """Is it an optimum, and a motion of this robot by Pinocchio?"""
    if not solved.success:
        session.note(f"{NAME}, {name}, {how}: IPOPT ended with {solved.status}")
        return False
    if Pinocchio not in session.present:
        session.note(f"{NAME}: motions were not checked: {session.absent.get(Pinocchio.name)}")
        return True
    gap = defect(subject.urdf, subject.robot.gravity, solved)
    if not gap <= _DEFECT:
        session.note(f"{NAME}, {name}, {how}: Pinocchio's velocities differ by {gap:.1e} rad/s")
    return gap <= _DEFECT


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            r.how,
            r.case,
            f"{r.figures['iterations']:.0f}",
            f"{r.figures['cost']:.12g}",
            show_error(r.error),
            show_ns(r.best_ns),
            show_ns(r.figures["derivatives_ns"]),
            show_ratio(speedup(r, first(records, how=ADAM, case=r.case))),
        )
        for r in records
    ]
    reference = next((r.reference for r in records if r.reference), ADAM)  # ours, where adam is not installed
    caption = (
        f"From rest to rest, {NODES} steps of multiple shooting, torques within {EFFORT:.0%} of the motors', "
        "where they bind. Time of the whole call of IPOPT, and (slopes) of Jacobians and Hessians in it. "
        f"Errors are those of the optimum with {reference}. Our motions are checked by Pinocchio."
    )
    columns = (
        "dynamics",
        "second order",
        "iterations",
        "optimum",
        "error",
        "solve",
        "slopes",
        "vs adam",
    )
    return [TableData(f"optimal control of {ROBOT} in CasADi", columns, rows, left=2, caption=caption)]


def _difference(records: Records) -> float | None:
    found = first(records, how=MACHINE, case=EXACT)
    return None if found is None or found.reference != ADAM else found.error


def _gain(records: Records) -> float | None:
    theirs, ours = (first(records, how=how, case=EXACT) for how in (ADAM, MACHINE))
    return speedup(ours, theirs)


_GOALS = (
    Goal("the optimum differs from adam's", 1e-9, "", _difference, at_least=False),
    Goal("adam's time over ours, exact Hessian", 4.0, "x", _gain),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
