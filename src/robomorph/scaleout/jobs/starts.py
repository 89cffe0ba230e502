"""One motion planned from many first guesses; the best plan that can be proven counts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.planning import Plan, Scenario, load_scenario
from robomorph.planning.motion import Motion
from robomorph.planning.search import start_noise
from robomorph.scaleout.job import Shard
from robomorph.scaleout.jobs.files import (
    canonical,
    check_count,
    check_seed,
    described,
    kept,
    read_lines,
    replaced,
    robot_facts,
    shards_of,
    write_document,
    write_lines,
)

Array = npt.NDArray[np.float64]

_TABLE = 20  # starts in the summary
_PROVEN_AT_MOST = 10  # plans that are tried to be proven
_METHODS = ("bernstein", "grid")


@dataclass(frozen=True, eq=False)
class Starts:
    """`scenario.motion().solve()` from the start that `robomorph plan` takes and from random ones around it.

    scenario: a built-in name, a TOML file or a `Scenario`; its content goes to the workers, so they need no
    file. starts: how many in all; with seed 0 they are those of `motion.solve(starts=...)`. robot, urdf: as
    in `load_scenario`. cost: as in `Motion.solve`; "scenario" for the file's. A shard is JSON lines, one a
    start: success, reason, cost, iterations, seconds, control (intervals + 3, nv).
    """

    scenario: str | Path | Scenario
    starts: int
    seed: int = 0
    robot: str | Path | None = None
    urdf: str | Path | None = None
    cost: Any = "scenario"
    method: str = "bernstein"
    shard_size: int = 4

    kind = "starts"
    suffix = ".jsonl"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "starts", check_count("starts", self.starts))
        set_(self, "shard_size", check_count("shard_size", self.shard_size))
        set_(self, "seed", check_seed(self.seed))
        if self.method not in _METHODS:
            raise ArgumentError(f"method: expected {' or '.join(map(repr, _METHODS))}, found {self.method!r}")
        set_(self, "scenario", loaded(self.scenario, self.robot, self.urdf))
        set_(self, "robot", None)
        set_(self, "urdf", None)
        if self.cost == "scenario":
            set_(self, "cost", self._scenario.cost)
        self._scenario.motion()  # what the file asks for is refused here, not by every worker

    @property
    def _scenario(self) -> Scenario:
        assert isinstance(self.scenario, Scenario)
        return self.scenario

    def describe(self) -> dict[str, Any]:
        return described(
            **{
                "scenario": scenario_facts(self._scenario),
                "cost": self.cost,
                "method": self.method,
                "seed": self.seed,
                "shard_size": self.shard_size,
            }
        )

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(self.starts, self.shard_size)

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        begin = time.perf_counter()
        motion: Motion = kept(f"starts {canonical(self.describe())}", self._scenario.motion)
        guesses = self.guesses(motion, shard.start, shard.rows)
        made = time.perf_counter()
        plans = [self._solved(motion, guess) for guess in guesses]
        write_lines(path, (plan_row(shard.start + k, plan) for k, plan in enumerate(plans)))
        return {"seconds": {"problem": made - begin, "solving": time.perf_counter() - made}}

    def guesses(self, motion: Motion, first: int, count: int) -> list[Array]:
        """Control points (intervals + 3, nv) of the starts with these numbers."""
        assembled = motion.problem(self.cost, self.method)
        evaluator, problem = assembled.evaluator, assembled.problem
        points = problem.blocks * problem.nv
        x = evaluator.variables(problem.control)
        noise = start_noise(points, first, count, self.seed)
        return [evaluator.control(np.concatenate([x[:points] + n, x[points:]])) for n in noise]

    def _solved(self, motion: Motion, guess: Array) -> Plan:
        return motion.solve(self.cost, method=self.method, threads=1, guess=guess)

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Writes `starts.json`, a table by cost, and `best.json`: the best plan that was proven for every
        instant, with its certificate; without one the best that was solved."""
        rows = [{k: v for k, v in row.items() if k != "control"} for row in read_lines(shards)]
        rows.sort(key=lambda row: (not row["success"], row["cost"], row["start"]))
        solved = [row for row in rows if row["success"]]
        facts: dict[str, Any] = {"starts": len(rows), "solved": len(solved), **self._saved(folder, solved)}
        write_document(folder / "starts.json", {**facts, "table": rows})
        return {**facts, "table": rows[:_TABLE]}

    def _saved(self, folder: Path, solved: list[dict[str, Any]]) -> dict[str, Any]:
        """The first row whose plan is proven, solved once more, as a file."""
        if not solved:
            return {"best": None, "proven": False, "plan": None}
        motion = self._scenario.motion()
        chosen: tuple[dict[str, Any], Plan] | None = None
        for row in solved[:_PROVEN_AT_MOST]:
            plan = self._solved(motion, self.guesses(motion, row["start"], 1)[0])
            proven = plan.success and plan.certify().proven
            if chosen is None or proven:
                chosen = row, plan
            if proven:
                break
        assert chosen is not None
        row, plan = chosen
        replaced(folder / "best.json", plan.save)
        return {
            "best": row["start"],
            "cost": row["cost"],
            "seconds": row["seconds"],
            "proven": plan.certificate is not None and plan.certificate.proven,
            # Solved anew here: another kind of processor may end in other digits.
            "repeated": plan.cost == row["cost"] and plan.seconds == row["seconds"],
            "plan": "best.json",
        }


def loaded(
    scenario: str | Path | Scenario, robot: str | Path | None = None, urdf: str | Path | None = None
) -> Scenario:
    """A scenario with its robot in it, so that it is whole when it is pickled."""
    found = scenario if isinstance(scenario, Scenario) else load_scenario(scenario, robot, urdf)
    _ = found.robot.robot
    return found


def scenario_facts(scenario: Scenario) -> dict[str, Any]:
    """What plans depend on: the file's tables, and what the robot's own table says."""
    named = scenario.robot
    tables = {key: value for key, value in scenario.tables.items() if key not in ("title", "paper", "robot")}
    return {
        "name": scenario.name,
        "tables": tables,
        "robot": robot_facts(named.robot),
        "words": {"frames": named.frames, "soles": named.soles, "postures": named.postures},
    }


def plan_row(start: int, plan: Plan) -> dict[str, Any]:
    """A plan as plain data, without what depends on the clock."""
    return {
        "start": start,
        "success": plan.success,
        "reason": plan.reason,
        "cost": plan.cost,
        "iterations": plan.iterations,
        "seconds": plan.seconds,
        "control": plan.control,
    }
