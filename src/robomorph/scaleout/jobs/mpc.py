"""A Monte Carlo of closed loops: random goals, payloads, delays and pushes, and the worst of what happens."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import number, whole_number
from robomorph.mpc import Controller, Delay, Push, RobotPlant, Simulation, simulate
from robomorph.mpc.studies.loops import LoopCase, draw_reach, reach_case
from robomorph.robot import Robot
from robomorph.scaleout.job import Shard
from robomorph.scaleout.jobs.files import (
    canonical,
    check_count,
    check_seed,
    described,
    kept,
    read_lines,
    robot_facts,
    shards_of,
    write_document,
    write_lines,
)

Array = npt.NDArray[np.float64]

_QUANTILES = (0.0, 0.5, 0.9, 0.99, 1.0)
_JUDGED = ("error_left", "peak_after_push", "limit_broken_share", "largest_violation", "unsolved_ticks")
_WORST = 10
_PUSH_SECONDS = 0.05
_PUSHED = (0.2, 0.6)  # of the time a loop lasts: when a push begins


@dataclass(frozen=True, eq=False)
class Run:
    """What goes wrong in one loop. seed: of its goals. payload kg, delay s, push (3,) N from `pushed` s
    on."""

    seed: int
    payload: float
    delay: float
    push: tuple[float, float, float]
    pushed: float


@dataclass(frozen=True, eq=False)
class MonteCarlo:
    """Reaches of a robot under predictive control (`robomorph.mpc`), each with troubles of its own.

    runs: how many. payload: kg at the tool that the controller does not know of, from 0 to this, in `levels`
    steps (each weight has kernels of its own, so that few are shared by all runs). delay: s at most. push: N
    at most, in any direction, for 50 ms. horizon, dt (s), rate (ticks a second), iterations: the
    controller's. seconds: that a loop lasts. A shard is JSON lines, one a run.
    """

    robot: Robot
    runs: int
    seed: int = 0
    payload: float = 3.0
    delay: float = 0.01
    push: float = 50.0
    horizon: int = 30
    dt: float = 0.02
    rate: float = 500.0
    iterations: int = 1
    seconds: float = 2.0
    levels: int = 4
    shard_size: int = 8

    kind = "mpc"
    suffix = ".jsonl"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "runs", check_count("runs", self.runs))
        set_(self, "shard_size", check_count("shard_size", self.shard_size))
        set_(self, "seed", check_seed(self.seed))
        set_(self, "levels", whole_number("levels", self.levels, 1, 1000))
        for name in ("payload", "delay", "push"):
            set_(self, name, _at_least_zero(name, getattr(self, name)))
        for name in ("dt", "rate", "seconds"):
            value = number(name, getattr(self, name))
            if value <= 0.0:
                raise ArgumentError(f"{name}: expected a number above 0, found {value!r}")
            set_(self, name, value)
        reach_case(self.robot, self.horizon, self.dt)  # a robot that it cannot be done with is refused here

    def describe(self) -> dict[str, Any]:
        rest = (
            "seed",
            "payload",
            "delay",
            "push",
            "horizon",
            "dt",
            "rate",
            "iterations",
            "seconds",
            "levels",
        )
        facts = {name: getattr(self, name) for name in (*rest, "shard_size")}
        return described(**{"robot": robot_facts(self.robot), **facts})

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(self.runs, self.shard_size)

    def drawn(self, run: int) -> Run:
        """The troubles of a run, by its number alone."""
        rng = np.random.default_rng([self.seed, run])
        level = rng.integers(self.levels + 1)
        direction = rng.normal(size=3)
        force = self.push * rng.random() * direction / np.linalg.norm(direction)
        delay, pushed = self.delay * rng.random(), self.seconds * rng.uniform(*_PUSHED)
        return Run(
            seed=int(rng.integers(2**31)),
            payload=float(self.payload * level / self.levels),
            delay=float(delay),
            push=(float(force[0]), float(force[1]), float(force[2])),
            pushed=float(pushed),
        )

    def loop(self, run: int) -> Simulation:
        """The loop of a run, simulated: all that happened in it."""
        case, controller = kept(f"mpc {canonical(self.describe())}", self._made)
        drawn = self.drawn(run)
        start, goal = draw_reach(self.robot, drawn.seed)
        pushes = (Push(drawn.push, drawn.pushed, _PUSH_SECONDS),) if any(drawn.push) else ()
        return simulate(
            controller,
            RobotPlant(case.problem.robot, payload=drawn.payload or None),
            seconds=self.seconds,
            start=start,
            reference=goal,
            pushes=pushes,
            delay=Delay(drawn.delay),
        )

    def _made(self) -> tuple[LoopCase, Controller]:
        case = reach_case(self.robot, self.horizon, self.dt)
        period = 1.0 / self.rate
        return case, Controller(case.problem, iterations=self.iterations, period=period, threads=1)

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        begin = time.perf_counter()
        runs = range(shard.start, shard.start + shard.rows)
        write_lines(path, [{**asdict(self.drawn(k)), **loop_row(k, self.loop(k))} for k in runs])
        return {"seconds": {"loops": time.perf_counter() - begin}}

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Writes `mpc.json`: quantiles of what is judged, and the worst runs with all that repeats them."""
        rows = list(read_lines(shards))
        held = [row for row in rows if row["success"]]
        facts = {
            "runs": len(rows),
            "diverged": [row["run"] for row in rows if not row["success"]][:_WORST],
            "diverged_count": len(rows) - len(held),
            "all_plans_solved": sum(row["unsolved_ticks"] == 0 for row in rows),
            "limits_held": sum(row["limit_broken_share"] <= 0.0 for row in rows),
            "quantiles": {name: _quantiles(held, name) for name in _JUDGED},
            "worst": sorted(rows, key=_badness, reverse=True)[:_WORST],
        }
        write_document(folder / "mpc.json", facts)
        return facts


def loop_row(run: int, loop: Simulation) -> dict[str, Any]:
    """What is worth knowing of a loop as plain data, without what depends on the clock."""
    data = loop.as_data()
    same = ("error_left", "settled_s", "peak_after_push", "unsolved_ticks", "ticks", "largest_violation")
    nearest = min((margin.share for margin in loop.margins), default=0.0)
    return {
        "run": run,
        "success": loop.success,
        "reason": loop.reason,
        **{name: data[name] for name in (*same, "clipped_Nm")},
        # By how much of a limit the plant was beyond it at worst; below zero if it never was.
        "limit_broken_share": -nearest,
        "margins": data["margins"],
        "payload_found_kg": data.get("payload_kg"),
        "last_q": loop.q[-1],
    }


def _badness(row: dict[str, Any]) -> tuple[bool, float, int]:
    """A loop that diverged is worse than any that did not; of equals the first."""
    left = row["error_left"]
    return not row["success"], np.inf if left is None else left, -row["run"]


def _quantiles(rows: list[dict[str, Any]], name: str) -> dict[str, float]:
    """By share of the runs that did not diverge; values that there are not (no push) do not count."""
    values = [row[name] for row in rows if row[name] is not None]
    if not values:
        return {}
    return {f"{share:.0%}": float(np.quantile(values, share)) for share in _QUANTILES}


def _at_least_zero(name: str, value: Any) -> float:
    found = number(name, value)
    if found < 0.0:
        raise ArgumentError(f"{name}: expected a number of 0 or more, found {value!r}")
    return found
