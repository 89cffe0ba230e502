"""The Quick-IK paper's figures and its time table, redrawn with robomorph's figures: its methods, two of ours
that speculate as it does, and the solver's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from robomorph.bench.chain_problems import (
    CHAINS,
    EXPECTED_ITERATIONS,
    PAPER_REDUCTION,
    PAPER_TIMES,
    SETS,
    TOLERANCE,
    ChainProblems,
    chain_problems,
)
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.goals import Goal
from robomorph.bench.measuring import time_calls
from robomorph.bench.records import OURS, REFUSED, Record, Timing, select
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.ik import METHODS, IKResult
from robomorph.loading import load
from robomorph.report.figures import Curve, Figure, Panel
from robomorph.robot import Robot

NAME = "paper"
NAMES = {
    "jacobian-transpose-fixed": "JT-Serial, fixed step",
    "jacobian-transpose": "JT-Serial, Buss's step",
    "quick-ik": "Quick-IK, 64 speculations",
    "relaxed-quick-ik": "relaxed Quick-IK (ours), 64 speculations",
    "speculative-newton": "speculative Newton (ours), 16 speculations",
    "pseudoinverse": "J-1-SVD (pseudoinverse)",
    "lm": "robomorph's LM",
}
SPECULATIONS = (1, 2, 4, 8, 16, 32, 64, 128)
ROUNDS = 2  # of each timing; the least counts
NO_NUMBERS = "The paper prints its curves without numbers."
TARGETS, _QUICK_TARGETS = 1000, 100  # of set B; the other sets and the sweep take a fifth of them
# Cases of records, beside the three sets.
SWEEP = "set B, by speculations"
TIMED = "set B, one solve at a time"
_GOAL = "set B, iterations within 15% of the expected (largest difference)"
_NO_CURVE = "(the paper's curves are not available as numbers)"

Found = dict[str, dict[int, float]]  # by method and chain


def _jobs(session: Session) -> list[Job]:
    chains = CHAINS[:2] if session.quick else CHAINS
    return [Job(f"chain of {joints}", partial(_run, session, joints)) for joints in chains]


def _run(session: Session, joints: int) -> list[Record]:
    """Iterations by method and set; iterations by speculations; time per solve."""
    robot = load(_source(joints))
    check = PinocchioCheck(robot, _source(joints))
    targets = _QUICK_TARGETS if session.quick else TARGETS
    records = []
    for which in ("B",) if session.quick else SETS:
        problems = chain_problems(robot, which, targets if which == "B" else targets // 5)
        records += [_iterated(session, check, _case(which), problems, method) for method in NAMES]
    problems = chain_problems(robot, "B", targets)
    few = problems.first(targets // 5)
    records += [_iterated(session, check, SWEEP, few, "quick-ik", speculations=k) for k in SPECULATIONS]
    for method in NAMES:
        timing = _time_per_solve(robot, problems, method)
        records.append(_record(robot, TIMED, method, {"problems": _timed(method)}, timing))
    return records


def _iterated(
    session: Session, check: PinocchioCheck, case: str, problems: ChainProblems, method: str, **options: int
) -> Record:
    """Mean iterations of some problems, and how many of the claimed solutions are refused."""
    result = solve(check.robot, problems, method, **options)
    good = check.holds(result.q, "tool", problems.targets, TOLERANCE)
    where = f"{_source(check.robot.nq)}, {NAMES[method]}"
    figures = {
        "problems": len(problems.targets),
        "iterations": float(result.iterations.mean()),
        "solved": float(result.success.mean()),
        REFUSED: check.refused(session, where, result, good),
        **options,
    }
    return _record(check.robot, case, method, figures)


def _record(
    robot: Robot, case: str, method: str, figures: Mapping[str, float], timing: Timing | None = None
) -> Record:
    numbers = {name: float(value) for name, value in (("joints", robot.nq), *figures.items())}
    return Record(
        NAME, _source(robot.nq), INVERSE_KINEMATICS, OURS, method, timing=timing, figures=numbers, case=case
    )


def _source(joints: int) -> str:
    return f"chain:{joints}"


def _case(which: str) -> str:
    return f"set {which}"


def solve(robot: Robot, problems: ChainProblems, method: str, **options: Any) -> IKResult:
    """All problems, each from its given start alone."""
    return robot.inverse_kinematics(
        problems.targets,
        "tool",
        problems.starts,
        tolerance=TOLERANCE,
        method=method,
        nearest=False,
        starts=1,
        max_iterations=10_000,
        **options,
    )


def _timed(method: str) -> int:
    """How many problems are timed: the fixed step runs into its cap on each."""
    return 5 if method == "jacobian-transpose-fixed" else 50


def _time_per_solve(robot: Robot, problems: ChainProblems, method: str) -> Timing:
    """One thread, one solve at a time: the mean over some targets."""
    count = _timed(method)
    few = [ChainProblems(problems.targets[i : i + 1], problems.starts[i : i + 1]) for i in range(count)]

    def all_of_them() -> None:
        for one in few:
            solve(robot, one, method, threads=1)

    return time_calls(all_of_them, ROUNDS, count)


def _joints(record: Record) -> int:
    return int(record.figures["joints"])


def _chains(records: Records) -> list[int]:
    return list(dict.fromkeys(_joints(r) for r in records))


def _found(records: Records, case: str, value: Callable[[Record], float]) -> Found:
    """A value by method and chain."""
    return {m: {_joints(r): value(r) for r in select(records, case=case, how=m)} for m in NAMES}


def _iterations(record: Record) -> float:
    return record.figures["iterations"]


def _load(record: Record) -> float:
    """Iterations x speculations."""
    method = METHODS[record.how]
    return _iterations(record) * (method.speculations if method.speculative else 1)


def _milliseconds(record: Record) -> float:
    return record.best_ns / 1e6


def _sweep(records: Records) -> dict[int, dict[int, float]]:
    """Iterations by chain and speculations."""
    found: dict[int, dict[int, float]] = {}
    for record in select(records, case=SWEEP):
        found.setdefault(_joints(record), {})[int(record.figures["speculations"])] = _iterations(record)
    return found


def _problems(records: Records, case: str) -> int:
    """How many targets of a chain such records come from."""
    return int(select(records, case=case)[0].figures["problems"])


def _tables(records: Records) -> list[TableData]:
    sets = [which for which in SETS if select(records, case=_case(which))]
    return [
        *(_iteration_table(records, which) for which in sets),
        _speculation_table(records),
        _load_table(records),
        _time_table(records),
    ]


def _iteration_table(records: Records, which: str) -> TableData:
    rows = []
    found, chains = _found(records, _case(which), _iterations), _chains(records)
    for method, by_joints in found.items():
        expected = EXPECTED_ITERATIONS.get(method, {}) if which == "B" else {}
        cells = [f"{by_joints[n]:.4g}" + (f" ({expected[n]:g})" if n in expected else "") for n in chains]
        rows.append((NAMES[method], *cells))
    about = {"A": "positions of random angles", "B": "ball of 0.5 m", "C": "ball of 0.9 m"}[which]
    return TableData(
        f"mean iterations to 1e-2 m, set {which} ({about})",
        ("method", *(f"N = {n}" for n in chains)),
        rows,
        caption=f"The paper's Figure 5 (a). {_problems(records, _case(which))} targets a chain. "
        + ("In brackets: reference values. " if which == "B" else "")
        + f"{NO_NUMBERS} {_reductions(found, max(chains))} {_unsolved(records, which)}",
    )


def _unsolved(records: Records, which: str) -> str:
    """Which methods did not reach every target within the cap, on which chains."""
    solved = _found(records, _case(which), lambda record: record.figures["solved"])
    few = {NAMES[m]: {n: share for n, share in by.items() if share < 1.0} for m, by in solved.items()}
    told = [
        f"{name} ({', '.join(f'{share:.1%} at N = {n}' for n, share in by.items())})"
        for name, by in few.items()
        if by
    ]
    return f"Every target was reached by all methods{' but ' + '; '.join(told) if told else ''}."


def _reductions(found: Found, joints: int) -> str:
    """The paper's '97% fewer iterations', against both baselines."""
    quick = found["quick-ik"][joints]
    fixed, buss = (found[m][joints] for m in ("jacobian-transpose-fixed", "jacobian-transpose"))
    return (
        f"At N = {joints} Quick-IK takes {1 - quick / fixed:.0%} fewer iterations than the fixed step (with "
        f"the cap of 10,000) and {1 - quick / buss:.0%} fewer than Buss's: the paper's 97% is for the former."
    )


def _speculation_table(records: Records) -> TableData:
    found = _sweep(records)
    rows = [(f"N = {n}", *(f"{by[k]:.4g}" for k in SPECULATIONS)) for n, by in found.items()]
    best = ", ".join(f"{min(by, key=by.__getitem__)} at N = {n}" for n, by in found.items())
    return TableData(
        "the paper's Figure 4: iterations against speculations",
        ("Quick-IK, set B", *(f"{k} spec." for k in SPECULATIONS)),
        rows,
        caption=f"{_problems(records, SWEEP)} targets a chain. Fewest iterations with: {best}. The paper's "
        f"curves only fall. {NO_NUMBERS}",
    )


def _load_table(records: Records) -> TableData:
    found, chains = _found(records, _case("B"), _load), _chains(records)
    quick, fixed = found["quick-ik"], found["jacobian-transpose-fixed"]
    ratios = ", ".join(f"{quick[n] / fixed[n]:.1f}" for n in chains)
    return TableData(
        "the paper's Figure 5 (b): computation load, iterations x speculations, set B",
        ("method", *(f"N = {n}" for n in chains)),
        [(NAMES[method], *(f"{by[n]:.4g}" for n in chains)) for method, by in found.items()],
        caption=f"{_problems(records, _case('B'))} targets a chain. {NO_NUMBERS} It calls Quick-IK's load "
        f"similar to JT-Serial's; here it is {ratios} times that of the fixed step, whose runs end at "
        "10,000.",
    )


def _time_table(records: Records) -> TableData:
    times, chains = _found(records, TIMED, _milliseconds), _chains(records)
    rows = [(f"{NAMES[m]} (this machine)", *(f"{by[n]:.4g}" for n in chains)) for m, by in times.items()]
    rows += [(name, *(f"{by[n]:.4g}" for n in chains)) for name, by in PAPER_TIMES.items()]
    return TableData(
        "the paper's Table 2: milliseconds per solve, set B, 1e-2 m",
        ("method", *(f"N = {n}" for n in chains)),
        rows,
        caption=f"This machine: one thread, one solve at a time, called from Python, the mean over the first "
        f"{_timed('lm')} targets of set B ({_timed('jacobian-transpose-fixed')} for the fixed step), the "
        f"least of {ROUNDS} rounds. The last five rows are "
        "the paper's own, on other machines: an Atom D2500, a Jetson TX1 and the accelerator IKAcc.",
    )


def _largest_difference(records: Records) -> float | None:
    """In percent; None for too few targets, whose mean spreads too much."""
    found = select(records, case=_case("B"))
    if not found or found[0].figures["problems"] < TARGETS:
        return None
    expected = [
        (_iterations(r), EXPECTED_ITERATIONS[r.how][_joints(r)])
        for r in found
        if r.how in EXPECTED_ITERATIONS
    ]
    return 100.0 * max(abs(iterations / value - 1.0) for iterations, value in expected)


def _figures(records: Records) -> list[Figure]:
    """Figures 4, 5 (a) and 5 (b), and the time table as curves."""
    count = _problems(records, _case("B"))
    iterations, load = (_found(records, _case("B"), value) for value in (_iterations, _load))
    return [
        _sweep_figure(records),
        _figure(
            "iterations",
            [*_curves(iterations), _claimed(iterations)],
            "mean iterations",
            f"Figure 5 (a), set B, {count} targets a chain\n{_NO_CURVE}",
        ),
        _figure(
            "load",
            _curves(load),
            "iterations x speculations",
            f"Figure 5 (b), set B, {count} targets a chain\n{_NO_CURVE}",
        ),
        _time_figure(records),
    ]


def _figure(name: str, curves: list[Curve], y_label: str, title: str, **more: Any) -> Figure:
    given = {"x_label": "joints", "log": "y", **more}
    return Figure(
        f"ik_{name}", [Panel(curves, title, y_label=y_label, legend="beside", grid=True, **given)], (5.2, 3.6)
    )


def _curves(found: Found, after: str = "") -> list[Curve]:
    return [Curve(list(by), list(by.values()), NAMES[method] + after) for method, by in found.items()]


def _claimed(iterations: Found) -> Curve:
    """The one number that the paper prints for its figure, 97% fewer, dashed."""
    serial = iterations["jacobian-transpose-fixed"]
    label = f"the paper's Quick-IK: {PAPER_REDUCTION:.0%} fewer than JT-Serial"
    return Curve(list(serial), [(1.0 - PAPER_REDUCTION) * x for x in serial.values()], label, "black", "--")


def _sweep_figure(records: Records) -> Figure:
    curves = [Curve(list(by), list(by.values()), f"N = {n}") for n, by in _sweep(records).items()]
    title = f"Figure 4, set B, {_problems(records, SWEEP)} targets a chain\n{_NO_CURVE}"
    return _figure("speculations", curves, "mean iterations", title, x_label="speculations", log="xy")


def _time_figure(records: Records) -> Figure:
    chains = _chains(records)
    curves = _curves(_found(records, TIMED, _milliseconds), " (this machine)")
    for name, by in PAPER_TIMES.items():
        curves.append(Curve(chains, [by[n] for n in chains], f"{name}, the paper's", form="--"))
    counts = " to ".join(str(n) for n in sorted({_timed(method) for method in NAMES}))
    title = f"Table 2, set B, {counts} targets a chain\n(dashed: the paper's, other machines)"
    return _figure("times", curves, "ms per solve", title)


SECTION = Section(
    NAME, _jobs, _tables, (Goal(_GOAL, 15.0, "%", _largest_difference, at_least=False),), _figures
)
