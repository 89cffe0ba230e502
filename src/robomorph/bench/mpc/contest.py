"""Solvers on the same problems: iterations that each needs, then exactly those, timed in turns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from robomorph.bench.mpc.problem import ProblemSet
from robomorph.bench.mpc.referee import Judgement, Referee, Trajectory
from robomorph.bench.records import Timing


class Side(Protocol):
    """A solver that has a set of problems before it."""

    def solve(self, problem: int, iterations: int) -> tuple[Trajectory, float, int]:
        """The plan after at most so many iterations, the cost that it claims, and iterations done."""

    def time(self, runs: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
        """Wall and CPU seconds of (problem, iterations), each from the problem's beginning."""


@dataclass(frozen=True)
class Rules:
    """When a plan counts as solved: its cost is within `tolerance` (relative) of the best that any side
    converged to, torque limits are kept to `newtons` (N m) and all limits to `violation` (share of their
    range). Without limits a lower cost is only better; with them it may be bought by breaking them, so that
    it counts `both_ways`. Converging may take `most` iterations."""

    tolerance: float = 1e-6
    newtons: float = np.inf
    violation: float = np.inf
    most: int = 100
    both_ways: bool = False

    def holds(self, found: Judgement) -> bool:
        return found.newtons <= self.newtons and found.violation <= self.violation

    def good(self, found: Judgement, best: float) -> bool:
        over = (found.cost / best - 1.0, found.driven / best - 1.0)
        # What torques drive the robot to must be what the plan claims: gaps in it would be a cheaper way.
        close = all(x <= self.tolerance for x in (*over, abs(over[0] - over[1])))
        if self.both_ways:
            close = close and min(over) >= -self.tolerance
        return close and self.holds(found)


@dataclass(eq=False)
class Entry:
    """One side of a contest: what it converged to and needs, by problem."""

    name: str
    side: Side
    converged: list[Judgement] = field(default_factory=list)
    claimed: list[float] = field(default_factory=list)
    iterations: dict[int, int] = field(default_factory=dict)
    solved: dict[int, Judgement] = field(default_factory=dict)
    wall: list[list[float]] = field(default_factory=list)
    cpu: list[list[float]] = field(default_factory=list)

    def converge(self, problems: ProblemSet, rules: Rules) -> None:
        for k, problem in enumerate(problems.problems):
            plan, cost, _ = self.side.solve(k, rules.most)
            self.converged.append(Referee(problem).judge(plan))
            self.claimed.append(cost)

    def search(self, k: int, referee: Referee, rules: Rules, best: float) -> None:
        """The least number of iterations that solves a problem."""
        for iterations in range(1, rules.most + 1):
            plan, _, _ = self.side.solve(k, iterations)
            found = referee.judge(plan)
            if rules.good(found, best):
                self.iterations[k], self.solved[k] = iterations, found
                return

    def round(self, chosen: Sequence[int]) -> None:
        wall, cpu = self.side.time([(k, self.iterations[k]) for k in chosen])
        self.wall.append(wall)
        self.cpu.append(cpu)


@dataclass(frozen=True, eq=False)
class Contest:
    """What came of it. `chosen` are the problems that all sides converged to the same cost on and solved:
    times are about those alone."""

    entries: Sequence[Entry]
    rules: Rules
    best: list[float]
    chosen: list[int]

    def lower(self, entry: Entry) -> int:
        """Problems where a side converged to a lower cost than all others, beyond the tolerance."""
        others = [e.converged for e in self.entries if e is not entry]
        share = 1.0 - self.rules.tolerance
        return sum(
            bool(others)
            and self.rules.holds(mine)
            and all(not o[k].cost * share <= mine.cost or not self.rules.holds(o[k]) for o in others)
            for k, mine in enumerate(entry.converged)
        )

    def misreported(self, entry: Entry) -> float:
        """The largest relative difference of the cost it claims from the referee's, where all agree."""
        found = [abs(entry.claimed[k] / entry.converged[k].cost - 1.0) for k in self.chosen]
        return float(np.max(found)) if found else 0.0

    def figures(self, entry: Entry) -> dict[str, float]:
        """Means and worst cases over the problems chosen; times in ns, mean per problem."""
        solved = [entry.solved[k] for k in self.chosen]
        out = {
            "problems": float(len(entry.converged)),
            "agreed": float(len(self.chosen)),
            "lower": float(self.lower(entry)),
            "misreported": self.misreported(entry),
        }
        if not self.chosen:
            return out
        cpu = timing_of(entry.cpu)
        worst = {name: [getattr(s, name) for s in solved] for name in ("gap", "newtons", "violation")}
        return {
            **out,
            "iterations": float(np.mean([entry.iterations[k] for k in self.chosen])),
            "cost": float(np.mean([s.cost for s in solved])),
            "excess": float(
                np.max([s.cost / self.best[k] - 1.0 for k, s in zip(self.chosen, solved, strict=True)])
            ),
            **{name: float(np.max(values)) for name, values in worst.items()},
            **{f"active_{i}": float(np.median([s.active[i] for s in solved])) for i in range(3)},
            **({} if cpu is None else {"cpu_best_ns": cpu.best_ns, "cpu_median_ns": cpu.median_ns}),
        }


def compete(problems: ProblemSet, sides: Sequence[tuple[str, Side]], rules: Rules, rounds: int) -> Contest:
    """All sides on all problems; rounds take turns, so that what slows the machine for a while slows all."""
    entries = [Entry(name, side) for name, side in sides]
    for entry in entries:
        entry.converge(problems, rules)
    best = _best_costs(entries, rules)
    for k, problem in enumerate(problems.problems):
        if all(rules.good(entry.converged[k], best[k]) for entry in entries):
            for entry in entries:
                entry.search(k, Referee(problem), rules, best[k])
    chosen = [k for k in range(len(problems.problems)) if all(k in entry.iterations for entry in entries)]
    for _ in range(rounds if chosen else 0):
        for entry in entries:
            entry.round(chosen)
    return Contest(entries, rules, best, chosen)


def _best_costs(entries: Sequence[Entry], rules: Rules) -> list[float]:
    """By problem the least cost that a side converged to within the limits; NaN where none did."""
    out = []
    for found in zip(*(entry.converged for entry in entries), strict=True):
        held = [f.cost for f in found if rules.holds(f) and np.isfinite(f.cost)]
        out.append(min(held, default=float("nan")))
    return out


def timing_of(seconds: list[list[float]]) -> Timing | None:
    """Means over problems of the least and the median of the rounds."""
    if not seconds:
        return None
    least, median = (float(f(np.array(seconds), axis=0).mean()) * 1e9 for f in (np.min, np.median))
    return Timing(least, median, len(seconds), 0.0)
