"""A batch of planning scenarios: several files, on several robots, with random goals."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number
from robomorph.planning import Scenario
from robomorph.planning.motion import Motion
from robomorph.scaleout.job import Shard
from robomorph.scaleout.jobs.files import (
    check_count,
    check_seed,
    described,
    read_lines,
    shards_of,
    write_document,
    write_lines,
)
from robomorph.scaleout.jobs.starts import loaded, plan_row, scenario_facts

_TABLE = 20


@dataclass(frozen=True, eq=False)
class Scenarios:
    """Every scenario on every robot, planned with every goal.

    scenarios: built-in names, TOML files or `Scenario`s. robots: for each of them, as in `load_scenario`;
    none for the file's own. goals: how many for each; the first is the file's own, others are its end moved
    by normal noise of `spread` (rad, m) and brought back into the limits, by the seed. prove: certify what
    was solved. A shard is JSON lines, one a plan.
    """

    scenarios: Sequence[str | Path | Scenario]
    robots: Sequence[str | Path] = ()
    goals: int = 1
    seed: int = 0
    spread: float = 0.2
    prove: bool = False
    shard_size: int = 1

    kind = "scenarios"
    suffix = ".jsonl"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "goals", check_count("goals", self.goals))
        set_(self, "shard_size", check_count("shard_size", self.shard_size))
        set_(self, "seed", check_seed(self.seed))
        set_(self, "spread", number("spread", self.spread))
        given = (
            [self.scenarios] if isinstance(self.scenarios, (str, Path, Scenario)) else list(self.scenarios)
        )
        robots: list[Any] = list(self.robots) or [None]
        made = tuple(loaded(one, robot) for one in given for robot in robots)
        if not made:
            raise ArgumentError("scenarios: expected at least one, found none")
        for one in made:
            if one.motion().end is None and self.goals > 1:
                raise ArgumentError(
                    f"goals: {one.name} has no `end` that could be moved: expected 1, found {self.goals}"
                )
        set_(self, "scenarios", made)
        set_(self, "robots", ())

    def describe(self) -> dict[str, Any]:
        made = [scenario_facts(one) for one in self.scenarios if isinstance(one, Scenario)]
        names = ("seed", "spread", "prove", "shard_size")
        return described(**{"scenarios": made, **{name: getattr(self, name) for name in names}})

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(len(self.scenarios) * self.goals, self.shard_size)

    def motion(self, row: int) -> tuple[Scenario, Motion, int]:
        """The scenario of a row, its motion, and the number of its goal. Goals come before scenarios: more of
        them add rows at the end."""
        goal, which = divmod(row, len(self.scenarios))
        scenario = self.scenarios[which]
        assert isinstance(scenario, Scenario)
        motion = scenario.motion()
        if goal:
            motion = motion.towards(self._end(motion, which, goal))
        return scenario, motion, goal

    def _end(self, motion: Motion, which: int, goal: int) -> npt.NDArray[np.float64]:
        assert motion.end is not None
        noise = np.random.default_rng([self.seed, which, goal]).normal(0.0, self.spread, motion.robot.nv)
        limits = motion.robot.limits
        return np.asarray(np.clip(motion.end[0] + noise, limits.lower, limits.upper))

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        begin = time.perf_counter()
        rows = range(shard.start, shard.start + shard.rows)
        write_lines(path, [self._solved(row) for row in rows])
        return {"seconds": {"planning": time.perf_counter() - begin}}

    def _solved(self, row: int) -> dict[str, Any]:
        scenario, motion, goal = self.motion(row)
        plan = motion.solve(scenario.cost, threads=1)
        proven = plan.certify().proven if self.prove and plan.success else None
        return {
            **plan_row(row, plan),
            "scenario": scenario.name,
            "robot": plan.robot.name,
            "goal": goal,
            "end": None if motion.end is None else motion.end[0],
            "proven": proven,
        }

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Writes `scenarios.json`: a table of all plans, without their control points."""
        rows = [{k: v for k, v in row.items() if k != "control"} for row in read_lines(shards)]
        facts = {
            "plans": len(rows),
            "solved": sum(row["success"] for row in rows),
            "proven": sum(bool(row["proven"]) for row in rows) if self.prove else None,
        }
        write_document(folder / "scenarios.json", {**facts, "table": rows})
        return {**facts, "table": rows[:_TABLE]}
