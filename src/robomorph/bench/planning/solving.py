"""Solving a motion again and again, and what a record says of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robomorph.bench.functions import MOTION_PLANNING
from robomorph.bench.measuring import seconds_of_calls, summarise
from robomorph.bench.planning.motion_check import ALLOWED, RATE, MotionCheck
from robomorph.bench.records import OURS, REFUSED, Record, Timing
from robomorph.bench.session import Session
from robomorph.planning.motion import Motion
from robomorph.planning.plan import Plan

ROUNDS = 20  # of every solve; the median counts


def timed(motion: Motion, cost: Any, rounds: int, **options: Any) -> tuple[Plan, Timing]:
    """The plan, and wall times of whole `solve` calls after one that warms up and finds kernels cached."""
    found: list[Plan] = []
    first, *rest = seconds_of_calls(lambda: found.append(motion.solve(cost, **options)), rounds)
    return found[-1], summarise(rest or [first], first)


def threads_of(session: Session) -> int:
    """Two, as the goals say, where there are two."""
    return min(2, session.cpus)


def figures_of(plan: Plan) -> dict[str, float]:
    """What every record about a plan holds."""
    sizes = plan.sizes
    return {
        "solved": float(plan.success),
        "iterations": float(plan.iterations),
        "cost": float(plan.cost),
        "seconds": float(plan.seconds),
        "variables": float(sizes.variables) if sizes else 0.0,
        "constraints": float(sizes.constraints) if sizes else 0.0,
        "problem_s": float(plan.times.get("problem", 0.0)),
        "nonzeros": float(sizes.nonzeros) if sizes else 0.0,
    }


def measured(
    session: Session, where: str, check: MotionCheck, plan: Plan, rate: float = RATE, claims: bool = True
) -> dict[str, float]:
    """`violation`, the largest scaled one that Pinocchio finds. What claims to hold at every instant and does
    not is refused."""
    worst = check.worst(plan.control, plan.seconds, rate)[0]
    refused = claims and plan.success and not worst.scaled <= ALLOWED
    if refused:
        session.note(
            f"{where}: {worst.name}, {worst.row} is broken by {worst.amount:.3g} (scaled {worst.scaled:.2e}) "
            f"at {worst.time:.4f} s: a plan that claimed to hold it was refused"
        )
    return {"violation": max(0.0, worst.scaled), REFUSED: float(refused)}


def record(
    section: str,
    robot: str,
    case: str,
    how: str,
    figures: Mapping[str, float],
    timing: Timing | None = None,
    who: str = OURS,
    threads: int = 1,
) -> Record:
    return Record(
        section, robot, MOTION_PLANNING, who, how,
        threads=threads, timing=timing, figures=dict(figures), case=case,
    )  # fmt: skip


def show_ms(nanoseconds: float | None) -> str:
    """Milliseconds with one digit behind the point."""
    return "-" if nanoseconds is None or nanoseconds != nanoseconds else f"{nanoseconds / 1e6:.1f}"


def median_ns(record: Record | None) -> float | None:
    return None if record is None or record.timing is None else record.timing.median_ns


def show_violation(record: Record) -> str:
    """Scaled; what is below the smallest that counts is none."""
    found = record.figures.get("violation")
    return "-" if found is None else "none" if found <= ALLOWED else f"{found:.1e}"
