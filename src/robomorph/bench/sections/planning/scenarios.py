"""The paper's three scenarios on three humanoids: times, IPOPT on the same, violations, certificates."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from robomorph.bench.goals import Goal
from robomorph.bench.peers.ipopt import Ipopt
from robomorph.bench.planning.motion_check import ALLOWED, MotionCheck
from robomorph.bench.planning.problems import (
    HUMANOIDS,
    JERK,
    NO_COST,
    SCENARIOS,
    TORQUES,
    Case,
    cost_of,
    installed,
)
from robomorph.bench.planning.solving import (
    ROUNDS,
    figures_of,
    measured,
    median_ns,
    record,
    show_ms,
    show_violation,
    threads_of,
    timed,
)
from robomorph.bench.records import OURS, Record, first, select
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session
from robomorph.planning.motion import Motion
from robomorph.planning.plan import Plan

NAME = "scenarios"
_NATIVE = "native"
_IPOPT_ROUNDS = 3
_MILLISECONDS = {  # Atlas, median of `solve`
    ("squat", JERK): 30.0,
    ("feet", JERK): 45.0,
    ("kick", JERK): 75.0,
    ("squat", NO_COST): 12.0,
    ("feet", NO_COST): 20.0,
    ("kick", NO_COST): 20.0,
}
_ITERATION = 4.0  # ms, with torque rows
_SAME = 0.1  # % that our objective may be above IPOPT's


def _jobs(session: Session) -> list[Job]:
    robots = HUMANOIDS[:1] if session.quick else HUMANOIDS
    cases = [Case(scenario, robot) for robot in robots for scenario in SCENARIOS]
    cases.insert(len(SCENARIOS), Case(TORQUES, robots[0]))
    if Ipopt not in session.present:
        session.note(f"scenarios: ours alone. IPOPT is absent: {session.absent.get(Ipopt.name)}")
    return [Job(case.label, partial(_run, session, case)) for case in installed(cases, session.note)]


def _run(session: Session, case: Case) -> list[Record]:
    scenario = case.load()
    motion, check = scenario.motion(), MotionCheck(scenario)
    costs = (JERK,) if case.scenario == TORQUES else (JERK, NO_COST)
    out: list[Record] = []
    for cost in costs:
        out += _both(session, case, motion, check, cost)
    return out


def _both(session: Session, case: Case, motion: Motion, check: MotionCheck, cost: str) -> list[Record]:
    """Ours, then IPOPT with our functions and exact Hessians on the same problem."""
    threads = threads_of(session)
    plan, timing = timed(motion, cost_of(cost), ROUNDS, solver=_NATIVE, threads=threads)
    if not plan.success:
        session.note(f"{case.label}, cost {cost}: {plan.reason}")
    where = f"{case.label}, cost {cost}"
    figures = figures_of(plan) | measured(session, where, check, plan) | _certificate(session, where, plan)
    name = f"{case.scenario}, {cost}"
    out = [record(NAME, case.robot, name, _NATIVE, figures, timing, threads=threads)]
    if Ipopt in session.present and not (session.quick and case.scenario == TORQUES):
        rounds = 0 if session.quick or case.scenario == TORQUES else _IPOPT_ROUNDS
        theirs, timing = timed(motion, cost_of(cost), rounds, solver="ipopt", threads=threads)
        figures = figures_of(theirs) | measured(session, where, check, theirs, claims=False)
        out.append(record(NAME, case.robot, name, "exact Hessian", figures, timing, Ipopt.name, threads))
    return out


def _certificate(session: Session, where: str, plan: Plan) -> dict[str, float]:
    if not plan.success:
        return {}
    begin = time.perf_counter()
    certificate = plan.certify()
    spent = time.perf_counter() - begin
    for proof in certificate.failed[:3]:
        session.note(f"{where}: {proof}")
    return {
        "certified": float(certificate.proven),
        "certificate_s": spent,
        "unproven": float(len(certificate.failed)),
        "proofs": float(len(certificate.proofs)),
    }


def _tables(records: Records) -> list[TableData]:
    rows = []
    for ours in select(records, who=OURS):
        theirs = first(records, robot=ours.robot, case=ours.case, who=Ipopt.name)
        rows.append((*_sizes(ours), *_times(ours), *_against(ours, theirs), *_kept(ours, theirs)))
    columns = (
        "robot", "scenario, cost", "n", "constraints", "iterations", "ms", "an iteration", "IPOPT's ms",
        "its iterations", "objective over its", "violation", "its", "certificate",
    )  # fmt: skip
    return [
        TableData(
            "the paper's scenarios, and the kick with torque limits",
            columns,
            rows,
            left=2,
            caption=f"Wall time of solve(), median of {ROUNDS}, kernels cached; IPOPT evaluates our kernels "
            "from Python. Violations: the largest at 10 kHz by Pinocchio, scaled (rad, share of the limit, "
            f"or cm); none: below {ALLOWED:g}. Certificate: ms it took, and proofs that are missing.",
        )
    ]


def _sizes(ours: Record) -> tuple[str, ...]:
    figures = ours.figures
    return ours.robot, ours.case, f"{figures['variables']:.0f}", f"{figures['constraints']:,.0f}"


def _times(ours: Record) -> tuple[str, ...]:
    iterations = f"{ours.figures['iterations']:.0f}" if ours.figures["solved"] else "failed"
    return iterations, show_ms(median_ns(ours)), show_ms(_iteration_ns(ours))


def _iteration_ns(ours: Record | None) -> float | None:
    """Without what is done once, making the problem."""
    total = median_ns(ours)
    if ours is None or total is None or not ours.figures["iterations"]:
        return None
    return (total - 1e9 * ours.figures["problem_s"]) / ours.figures["iterations"]


def _against(ours: Record, theirs: Record | None) -> tuple[str, ...]:
    if theirs is None:
        return "-", "-", "-"
    over = _objective(ours, theirs)
    iterations = f"{theirs.figures['iterations']:.0f}" if theirs.figures["solved"] else "failed"
    return show_ms(median_ns(theirs)), iterations, "-" if over is None else f"{over:+.4f}%"


def _objective(ours: Record, theirs: Record | None) -> float | None:
    """% that our cost is above IPOPT's; None without a cost, or where one failed."""
    if theirs is None or not (ours.figures["solved"] and theirs.figures["solved"]):
        return None
    least = theirs.figures["cost"]
    return None if least == 0.0 else 100.0 * (ours.figures["cost"] / least - 1.0)


def _kept(ours: Record, theirs: Record | None) -> tuple[str, ...]:
    both = show_violation(ours), "-" if theirs is None else show_violation(theirs)
    spent = ours.figures.get("certificate_s")
    if spent is None:
        return *both, "-"
    missing = ours.figures["unproven"]
    return *both, f"{spent * 1e3:.0f}" + (f", {missing:.0f} missing" if missing else "")


def _median_ms(case: str) -> Callable[[Records], float | None]:
    def find(records: Records) -> float | None:
        found = first(records, robot=HUMANOIDS[0], case=case, who=OURS)
        total = median_ns(found)
        return None if found is None or total is None or not found.figures["solved"] else total / 1e6

    return find


def _share(name: str) -> Callable[[Records], float | None]:
    def find(records: Records) -> float | None:
        ours = select(records, who=OURS)
        return 100.0 * sum(r.figures.get(name, 0.0) for r in ours) / len(ours) if ours else None

    return find


def _largest_violation(records: Records) -> float | None:
    return max((r.figures["violation"] for r in select(records, who=OURS)), default=None)


def _largest_objective(records: Records) -> float | None:
    ours = select(records, who=OURS)
    found = [_objective(r, first(records, robot=r.robot, case=r.case, who=Ipopt.name)) for r in ours]
    return max((x for x in found if x is not None), default=None)


def _iteration_ms(records: Records) -> float | None:
    each = _iteration_ns(first(records, robot=HUMANOIDS[0], case=f"{TORQUES}, {JERK}", who=OURS))
    return None if each is None else each / 1e6


_GOALS = (
    *(
        Goal(
            f"atlas, {scenario}, cost {cost}: median", value, " ms", _median_ms(f"{scenario}, {cost}"), False
        )
        for (scenario, cost), value in _MILLISECONDS.items()
    ),
    Goal("atlas, kick with torque rows: an iteration", _ITERATION, " ms", _iteration_ms, False),
    Goal("solved", 100.0, "%", _share("solved")),
    Goal("largest violation at 10 kHz, scaled", ALLOWED, "", _largest_violation, False),
    Goal("certified", 100.0, "%", _share("certified")),
    Goal("objective above IPOPT's, at most", _SAME, "%", _largest_objective, False),
)
SECTION = Section(NAME, _jobs, _tables, _GOALS)
