"""Reaches whose limits bind: torques against crocoddyl's BoxFDDP, all limits against CasADi's fatrop."""

from __future__ import annotations

from functools import partial

from robomorph.bench.goals import Goal
from robomorph.bench.mpc.contest import Rules
from robomorph.bench.mpc.problem import ProblemSet
from robomorph.bench.mpc.problems import HORIZON, limited
from robomorph.bench.mpc.rows import ALLOWED, contest, contest_table, faster
from robomorph.bench.peers.control_peer import ControlPeer
from robomorph.bench.peers.crocoddyl import CrocoddylBox
from robomorph.bench.peers.fatrop import Fatrop
from robomorph.bench.records import OURS, Record, select
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session

NAME = "bounded"
ROBOT = "iiwa14"
TORQUE, ALL = f"torque limits, N = {HORIZON}", f"all limits, N = {HORIZON}"
# Problem, peer, how many, rounds, rules.
CONTESTS: tuple[tuple[str, type[ControlPeer], int, int, Rules], ...] = (
    (TORQUE, CrocoddylBox, 25, 7, Rules(1e-4, newtons=1e-3, both_ways=True)),
    (ALL, Fatrop, 20, 5, Rules(1e-4, violation=ALLOWED, most=200, both_ways=True)),
)


def _jobs(session: Session) -> list[Job]:
    chosen = CONTESTS[:1] if session.quick else CONTESTS  # fatrop's code takes minutes to compile once
    if session.quick:
        session.note("bounded: fatrop takes part in a run that is not quick")
    return [
        Job(f"{case}, {peer.title}", partial(_run, session, case, peer, count, rounds, rules))
        for case, peer, count, rounds, rules in chosen
    ]


def _run(
    session: Session, case: str, peer: type[ControlPeer], count: int, rounds: int, rules: Rules
) -> list[Record]:
    if session.quick:
        count, rounds = 4, 2
    problems = tuple(limited(ROBOT, seed, states=case == ALL) for seed in range(count))
    return contest(session, NAME, ProblemSet(case, problems), peer, rules, rounds)


def _tables(records: Records) -> list[TableData]:
    caption = (
        "As without limits, with costs within 1e-4; torque limits kept to 1e-3 N m, and where all limits are "
        "asked for each to 1e-6 of its range at the nodes, by Pinocchio. fatrop has its best case: our "
        "inverse dynamics as expressions, accelerations as controls, one stage mapped over the horizon, "
        "exact Hessians, all of it compiled by gcc -O3 -march=native (once, minutes, not counted)."
    )
    bound = TableData(
        "how much was bound, and how well it was kept",
        (
            "problem",
            "solver",
            "torque bounds met",
            "velocity",
            "position",
            "N m over",
            "worst of all, scaled",
        ),
        [_kept(record) for record in records if record.figures["agreed"]],
        left=2,
        caption="Bounds that the plan meets to a thousandth of their range, median over problems; the worst "
        "violation of all.",
    )
    return [contest_table("with limits that bind", caption, records), bound]


def _kept(record: Record) -> tuple[str, ...]:
    f = record.figures
    name = "robomorph" if record.who == OURS else record.how
    met = (f"{f[f'active_{i}']:.0f}" for i in range(3))
    return record.case, name, *met, f"{f['newtons']:.0e}", f"{f['violation']:.0e}"


def _worst(records: Records) -> float | None:
    found = [r.figures["violation"] for r in select(records, who=OURS, case=ALL) if "violation" in r.figures]
    return max(found, default=None)


_GOALS = (
    Goal("torque limits: faster than BoxFDDP", 20.0, "x", faster(ROBOT, TORQUE, CrocoddylBox)),
    Goal("all limits: faster than fatrop, compiled", 50.0, "x", faster(ROBOT, ALL, Fatrop)),
    Goal("all limits: worst violation, scaled", ALLOWED, "", _worst, at_least=False),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
