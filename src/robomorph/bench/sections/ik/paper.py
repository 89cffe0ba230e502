"""The Quick-IK paper's figures and its time table, redrawn with robomorph's figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robomorph.bench.chain_problems import (
    CHAINS,
    EXPECTED_ITERATIONS,
    PAPER_TIMES,
    SETS,
    TOLERANCE,
    ChainProblems,
    chain_problems,
)
from robomorph.bench.sections.section import TableData
from robomorph.bench.solution_check import IkOutcome, PinocchioCheck, least_seconds
from robomorph.ik import METHODS, IKResult
from robomorph.robot import Robot

NAMES = {
    "jacobian-transpose-fixed": "JT-Serial, fixed step",
    "jacobian-transpose": "JT-Serial, Buss's step",
    "quick-ik": "Quick-IK, 64 speculations",
    "pseudoinverse": "J-1-SVD (pseudoinverse)",
    "lm": "robomorph's LM",
}
SPECULATIONS = (1, 2, 4, 8, 16, 32, 64, 128)
ROUNDS = 2  # of each timing; the least counts
NO_NUMBERS = "The paper prints its curves without numbers."
_WITHIN = 0.15
_GOAL = "set B, iterations within 15% of the expected (largest difference)"


@dataclass
class PaperRun:
    """What the section found: mean iterations by set, method and chain; by chain and speculations; times (ms)
    by method and chain. `targets`: how many problems set B had, `few` the other sets and the sweep."""

    targets: int
    chains: tuple[int, ...]
    sets: tuple[str, ...]
    iterations: dict[str, dict[str, dict[int, float]]]
    speculations: dict[int, dict[int, float]]
    times: dict[str, dict[int, float]]

    @property
    def few(self) -> int:
        return self.targets // 5

    def count(self, which: str) -> int:
        return self.targets if which == "B" else self.few


def run_paper(outcome: IkOutcome, step: Any) -> None:
    """Iterations by method, chain and set; iterations by speculations; computation load; time per solve. The
    headline, set B, takes all targets; the other sets and the sweep over speculations a fifth of them."""
    sets = ("B",) if outcome.quick else SETS
    run = PaperRun(
        100 if outcome.quick else 1000,
        CHAINS[:2] if outcome.quick else CHAINS,
        sets,
        {which: {method: {} for method in NAMES} for which in sets},
        {},
        {method: {} for method in NAMES},
    )
    for joints in run.chains:
        step(f"paper: chain of {joints}")
        _one_chain(outcome, run, joints)
    outcome.figures["paper"] = {
        "targets": run.targets,
        "targets_of_other_sets_and_speculations": run.few,
        "targets_timed": {method: _timed(method) for method in NAMES},
        "iterations": run.iterations,
        "speculations": run.speculations,
        "milliseconds": run.times,
        "paper_milliseconds": PAPER_TIMES,
    }
    outcome.tables += [_iteration_table(run, which) for which in run.sets]
    outcome.tables += [_speculation_table(run), _load_table(run), _time_table(run)]
    _goals(outcome, run.iterations["B"], run.chains)


def _one_chain(outcome: IkOutcome, run: PaperRun, joints: int) -> None:
    from robomorph.loading import load

    source = f"chain:{joints}"
    robot = load(source)
    check = PinocchioCheck(robot, source)

    def mean_iterations(problems: ChainProblems, method: str, **options: Any) -> float:
        result = solve(robot, problems, method, **options)
        good = check.holds(result.q, "tool", problems.targets, TOLERANCE)
        check.confirm(outcome, f"{source}, {NAMES[method]}", result, good)
        return float(result.iterations.mean())

    for which in run.sets:
        problems = chain_problems(robot, which, run.count(which))
        for method in NAMES:
            run.iterations[which][method][joints] = mean_iterations(problems, method)
    problems = chain_problems(robot, "B", run.targets)
    few = problems.first(run.few)
    run.speculations[joints] = {k: mean_iterations(few, "quick-ik", speculations=k) for k in SPECULATIONS}
    for method in NAMES:
        run.times[method][joints] = _time_per_solve(robot, problems, method)


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


def _time_per_solve(robot: Robot, problems: ChainProblems, method: str) -> float:
    """Milliseconds per target: one thread, one solve at a time (the mean over some targets)."""
    count = _timed(method)
    few = [ChainProblems(problems.targets[i : i + 1], problems.starts[i : i + 1]) for i in range(count)]

    def all_of_them() -> None:
        for one in few:
            solve(robot, one, method, threads=1)

    return 1e3 * least_seconds(all_of_them, ROUNDS) / count


def _iteration_table(run: PaperRun, which: str) -> TableData:
    rows = []
    found, chains = run.iterations[which], run.chains
    for method, by_joints in found.items():
        expected = EXPECTED_ITERATIONS.get(method, {}) if which == "B" else {}
        cells = [f"{by_joints[n]:.4g}" + (f" ({expected[n]:g})" if n in expected else "") for n in chains]
        rows.append((NAMES[method], *cells))
    about = {"A": "positions of random angles", "B": "ball of 0.5 m", "C": "ball of 0.9 m"}[which]
    reduction = _reductions(found, max(chains))
    return TableData(
        f"mean iterations to 1e-2 m, set {which} ({about})",
        ("method", *(f"N = {n}" for n in chains)),
        rows,
        caption=f"The paper's Figure 5 (a). {run.count(which)} targets a chain. "
        + ("In brackets: reference values. " if which == "B" else "")
        + f"{NO_NUMBERS} {reduction}",
    )


def _reductions(found: dict[str, dict[int, float]], joints: int) -> str:
    """The paper's '97% fewer iterations', against both baselines."""
    quick = found["quick-ik"][joints]
    fixed, buss = (found[m][joints] for m in ("jacobian-transpose-fixed", "jacobian-transpose"))
    return (
        f"At N = {joints} Quick-IK takes {1 - quick / fixed:.0%} fewer iterations than the fixed step (with "
        f"the cap of 10,000) and {1 - quick / buss:.0%} fewer than Buss's: the paper's 97% is for the former."
    )


def _speculation_table(run: PaperRun) -> TableData:
    found = run.speculations
    rows = [(f"N = {n}", *(f"{by[k]:.4g}" for k in SPECULATIONS)) for n, by in found.items()]
    columns = ("Quick-IK, set B", *(f"{k} spec." for k in SPECULATIONS))
    best = ", ".join(f"{min(by, key=by.__getitem__)} at N = {n}" for n, by in found.items())
    return TableData(
        "the paper's Figure 4: iterations against speculations",
        columns,
        rows,
        caption=f"{run.few} targets a chain. Fewest iterations with: {best}. The paper's curves only fall. "
        f"{NO_NUMBERS}",
    )


def _load_table(run: PaperRun) -> TableData:
    found, chains = run.iterations["B"], run.chains
    rows = []
    for method, by in found.items():
        speculations = 64 if METHODS[method].speculative else 1
        rows.append((NAMES[method], *(f"{by[n] * speculations:.4g}" for n in chains)))
    quick, fixed = found["quick-ik"], found["jacobian-transpose-fixed"]
    ratios = ", ".join(f"{64 * quick[n] / fixed[n]:.1f}" for n in chains)
    return TableData(
        "the paper's Figure 5 (b): computation load, iterations x speculations, set B",
        ("method", *(f"N = {n}" for n in chains)),
        rows,
        caption=f"{run.targets} targets a chain. {NO_NUMBERS} It calls Quick-IK's load similar to "
        f"JT-Serial's; here it is {ratios} times that of "
        "the fixed step, whose runs end at 10,000.",
    )


def _time_table(run: PaperRun) -> TableData:
    times, chains = run.times, run.chains
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


def _goals(outcome: IkOutcome, found: dict[str, dict[int, float]], chains: tuple[int, ...]) -> None:
    if outcome.quick:  # too few targets for a mean of this spread
        return outcome.goal(_GOAL, 100 * _WITHIN, "%", None, at_least=False)
    off = [abs(found[m][n] / EXPECTED_ITERATIONS[m][n] - 1.0) for m in EXPECTED_ITERATIONS for n in chains]
    outcome.goal(_GOAL, 100 * _WITHIN, "%", 100 * float(np.max(off)), at_least=False)
