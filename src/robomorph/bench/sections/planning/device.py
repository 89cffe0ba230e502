"""Functions on a device: precision, target and threads on the paper's scenarios; parts, bytes moved."""

from __future__ import annotations

from functools import partial

from robomorph.bench.planning.motion_check import ALLOWED, MotionCheck
from robomorph.bench.planning.problems import NO_COST, SCENARIOS, Case, cost_of
from robomorph.bench.planning.solving import (
    ROUNDS,
    figures_of,
    measured,
    median_ns,
    record,
    show_ms,
    show_violation,
    timed,
)
from robomorph.bench.records import Record, select
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session
from robomorph.errors import TargetError
from robomorph.planning.plan import Plan

NAME = "device"
_ROBOT = "atlas"
_QUICK_ROUNDS = 3
_WAYS = (
    ("cpu", "float64"),
    ("opencl", "float64"),
    ("opencl", "float32"),
    ("cuda", "float64"),
    ("cuda", "float32"),
)
_PARTS = ("values", "gradients", "hessians", "filling", "solver")
_ONE = f"cpu, {_WAYS[0][1]}"


def _jobs(session: Session) -> list[Job]:
    return [Job(scenario, partial(_run, session, scenario)) for scenario in SCENARIOS]


def _run(session: Session, name: str) -> list[Record]:
    case = Case(name, _ROBOT)
    scenario = case.load()
    motion, check = scenario.motion(), MotionCheck(scenario)
    rounds = _QUICK_ROUNDS if session.quick else ROUNDS
    out: list[Record] = []
    for target, dtype in _WAYS:
        for threads in dict.fromkeys((1, min(2, session.cpus), session.cpus)):
            try:
                plan, timing = timed(
                    motion, cost_of(NO_COST), rounds, target=target, dtype=dtype, threads=threads
                )
            except TargetError as error:
                session.note(f"device: {target} was not measured: {error}")
                break
            where = f"{case.label}, {target}, {dtype}"
            figures = figures_of(plan) | measured(session, where, check, plan) | _by_part(plan)
            out.append(record(NAME, case.robot, name, f"{target}, {dtype}", figures, timing, threads=threads))
    return out


def _by_part(plan: Plan) -> dict[str, float]:
    figures = {f"{part}_s": seconds for part, seconds in plan.split.items()}
    if plan.device is None:
        return figures
    total = plan.device.total
    moved = {"bytes_in": total.bytes_in, "bytes_out": total.bytes_out, "calls": total.calls}
    return figures | {name: float(number) for name, number in moved.items()}


def _tables(records: Records) -> list[TableData]:
    return [_table_3(records), _table_4(records)]


def _table_3(records: Records) -> TableData:
    rows = []
    for r in records:
        whole = sum(r.figures.get(f"{part}_s", 0.0) for part in _PARTS)
        shares = [r.figures.get(f"{part}_s") for part in _PARTS]
        rows.append(
            (
                r.case,
                r.how,
                str(r.threads),
                f"{r.figures['iterations']:.0f}" + ("" if r.figures["solved"] else ", failed"),
                show_ms(median_ns(r)),
                *("-" if x is None or not whole else f"{x / whole:.0%}" for x in shares),
                *(_kilobytes(r, name) for name in ("bytes_in", "bytes_out")),
                show_violation(r),
            )
        )
    columns = (
        "scenario", "functions", "threads", "iterations", "ms", *_PARTS, "kB in", "kB out", "violation",
    )  # fmt: skip
    caption = (
        "Atlas, without cost, as the paper's table 3; ms of the whole solve (median), shares of the search's "
        "parts in one of them. On the CPU filling has the second derivatives in it. Threads: of the host; a "
        "device has its own. kB: of one solve. Violation: at 10 kHz by Pinocchio, scaled (none: below "
        f"{ALLOWED:g})."
    )
    return TableData("precision, target and threads", columns, rows, left=2, caption=caption)


def _kilobytes(r: Record, name: str) -> str:
    return "-" if name not in r.figures else f"{r.figures[name] / 1e3:,.0f}"


def _table_4(records: Records) -> TableData:
    rows = []
    for case in dict.fromkeys(r.case for r in records):
        (one,) = select(records, case=case, how=_ONE, threads=1)
        for r in select(records, case=case):
            own, base = _iteration(r), _iteration(one)
            speed = "-" if own is None or base is None else f"{base / own:.2f}x"
            rows.append((case, r.how, str(r.threads), show_ms(own), speed))
    columns = ("scenario", "functions", "threads", "ms an iteration", "over one thread")
    caption = (
        "As the paper's table 4, which has 2,178 to 2,715 ms on one thread, 48 and 36 on its best GPU in "
        "double and single precision. PoCL runs on the same cores as the CPU's own kernels: it shows that "
        "the device works, not what a GPU would take."
    )
    return TableData("an iteration", columns, rows, left=2, caption=caption)


def _iteration(r: Record) -> float | None:
    total, count = median_ns(r), r.figures["iterations"]
    return None if total is None or not count else total / count


SECTION = Section(NAME, _jobs, _tables)
