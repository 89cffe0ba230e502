"""Two solvers on the same problems: iterations that each needs, then exactly those, timed in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from robomorph.bench.mpc.problem import ProblemSet
from robomorph.bench.mpc.referee import Judgement, Referee, Trajectory
from robomorph.bench.records import Timing

Array = npt.NDArray[np.float64]


class Side(Protocol):
    """A solver that has a set of problems before it."""

    def solve(self, problem: int, iterations: int) -> tuple[Trajectory, float, int]:
        """The plan after at most so many iterations, the cost that it claims, and iterations done."""

    def time(self, runs: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
        """Wall and CPU seconds of (problem, iterations), each from the problem's beginning."""


@dataclass(frozen=True)
class Rules:
    """When a plan counts as solved: its cost within `tolerance` (relative) of the best that any side
    converged to, torque limits kept to `newtons` (N m) and all limits to `violation` (share of their range).
    Without limits a lower cost is only better; with them it may be bought by breaking them. `most` iterations
    are what converging may take."""

    tolerance: float = 1e-6
    newtons: float = np.inf
    violation: float = np.inf
    most: int = 100
    both_ways: bool = False

    def good(self, found: Judgement, best: float) -> bool:
        over = (found.cost / best - 1.0, found.driven / best - 1.0)
        # What torques drive the robot to must be what the plan claims: gaps in it would be a cheaper way.
        close = all(x <= self.tolerance for x in (*over, abs(over[0] - over[1])))
        if self.both_ways:
            close = close and min(over) >= -self.tolerance
        return close and found.newtons <= self.newtons and found.violation <= self.violation


@dataclass(eq=False)
class Entry:
    """One side of a contest: what it converged to and needs, by problem."""

    name: str
    side: Side
    converged: list[Judgement] = field(default_factory=list)
    claimed: list[float] = field(default_factory=list)
    iterations: list[int | None] = field(default_factory=list)
    solved: list[Judgement | None] = field(default_factory=list)
    wall: list[list[float]] = field(default_factory=list)
    cpu: list[list[float]] = field(default_factory=list)

    def converge(self, problems: ProblemSet, rules: Rules) -> None:
        for k, problem in enumerate(problems.problems):
            plan, cost, _ = self.side.solve(k, rules.most)
            self.converged.append(Referee(problem).judge(plan))
            self.claimed.append(cost)

    def search(self, problems: ProblemSet, rules: Rules, best: Sequence[float]) -> None:
        """The least number of iterations that solves each problem; None for none."""
        for k, problem in enumerate(problems.problems):
            found = self._least(k, Referee(problem), rules, best[k])
            self.iterations.append(found[0])
            self.solved.append(found[1])

    def _least(
        self, k: int, referee: Referee, rules: Rules, best: float
    ) -> tuple[int | None, Judgement | None]:
        if not rules.good(self.converged[k], best):
            return None, None
        for iterations in range(1, rules.most + 1):
            plan, _, _ = self.side.solve(k, iterations)
            judgement = referee.judge(plan)
            if rules.good(judgement, best):
                return iterations, judgement
        return None, None

    def round(self, runs: list[tuple[int, int]]) -> None:
        wall, cpu = self.side.time(runs)
        self.wall.append(wall)
        self.cpu.append(cpu)

    def misreported(self) -> float:
        """The largest relative difference of the cost it claims from the referee's."""
        pairs = zip(self.claimed, self.converged, strict=True)
        return float(np.max([abs(claimed / found.cost - 1.0) for claimed, found in pairs]))


@dataclass(frozen=True, eq=False)
class Score:
    """How one side did on the problems that both solved: times are means per problem, ns."""

    problems: int
    agreed: int  # both sides converged to the same cost, and the plan holds
    lower: int  # this side converged to a lower cost than the other
    iterations: float
    cost: float
    excess: float  # relative to the best of all, the largest
    gap: float
    newtons: float
    violation: float
    wall: Timing | None
    cpu: Timing | None


def compete(
    problems: ProblemSet, sides: Sequence[tuple[str, Side]], rules: Rules, rounds: int
) -> list[Entry]:
    """All sides on all problems. Rounds are interleaved problem by problem, so that what slows the machine
    for a while slows everybody."""
    entries = [Entry(name, side) for name, side in sides]
    for entry in entries:
        entry.converge(problems, rules)
    best = best_costs(entries, rules)
    for entry in entries:
        entry.search(problems, rules, best)
    chosen = common(entries)
    for _ in range(rounds if chosen else 0):
        for entry in entries:
            entry.round([(k, _known(entry.iterations[k])) for k in chosen])
    return entries


def best_costs(entries: Sequence[Entry], rules: Rules) -> list[float]:
    """By problem the least cost that a side converged to within the limits; NaN where none did."""
    out = []
    for found in zip(*(entry.converged for entry in entries), strict=True):
        held = [f.cost for f in found if f.newtons <= rules.newtons and f.violation <= rules.violation]
        out.append(min(held, default=float("nan")))
    return out


def common(entries: Sequence[Entry]) -> list[int]:
    """The problems that every side solved: only there times are compared."""
    count = len(entries[0].iterations)
    return [k for k in range(count) if all(entry.iterations[k] is not None for entry in entries)]


def _known(iterations: int | None) -> int:
    assert iterations is not None
    return iterations


def score(entries: Sequence[Entry], rules: Rules) -> list[Score]:
    """One for each side."""
    best, chosen = np.array(best_costs(entries, rules)), common(entries)
    out = []
    for entry in entries:
        solved = [found for k in chosen if (found := entry.solved[k]) is not None]
        costs = np.array([found.cost for found in solved])
        others = [e.converged for e in entries if e is not entry]
        lower = sum(
            all(mine.cost < (1.0 - rules.tolerance) * o[k].cost for o in others)
            for k, mine in enumerate(entry.converged)
        )
        out.append(
            Score(
                problems=len(entry.converged),
                agreed=len(chosen),
                lower=lower if others else 0,
                iterations=float(np.mean([_known(entry.iterations[k]) for k in chosen])) if chosen else np.nan,
                cost=float(costs.mean()) if chosen else np.nan,
                excess=float(np.max(costs / best[chosen] - 1.0)) if chosen else np.nan,
                gap=_largest([found.gap for found in solved]),
                newtons=_largest([found.newtons for found in solved]),
                violation=_largest([found.violation for found in solved]),
                wall=_timing(entry.wall),
                cpu=_timing(entry.cpu),
            )
        )
    return out


def _largest(values: Sequence[float]) -> float:
    return float(np.max(values)) if values else float("nan")


def _timing(seconds: list[list[float]]) -> Timing | None:
    """Means over problems of the least and the median of the rounds."""
    if not seconds:
        return None
    least, median = (float(f(np.array(seconds), axis=0).mean()) * 1e9 for f in (np.min, np.median))
    return Timing(least, median, len(seconds), 0.0)
