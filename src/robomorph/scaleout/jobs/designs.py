"""The design space of an accelerator: every design of a grid scheduled, and which of them none beats."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from robomorph.accelerators.space import figures, marked, points_of
from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.scaleout.job import Shard
from robomorph.scaleout.jobs.chips import accelerator_of, checked_options, options_facts
from robomorph.scaleout.jobs.files import (
    check_count,
    described,
    read_lines,
    robot_facts,
    shards_of,
    write_document,
    write_lines,
)
from robomorph.targets.rtl.options import Options


@dataclass(frozen=True, eq=False)
class Designs:
    """What `robomorph rtl --space` schedules, one row a design.

    algorithm, frame: the function. options: of the design (`robot.compile(target="rtl")`), a mapping. points:
    structure ("flat" or "units"), interval (cycles) and period (multiplications) of every design; None for
    the grid of `robomorph rtl --space`. A shard is JSON lines, one a design.
    """

    robot: Robot
    algorithm: str = "forward_dynamics_gradient"
    frame: str | None = None
    options: Mapping[str, Any] | Options = field(default_factory=dict)
    points: Sequence[tuple[str, int, float]] | None = None
    shard_size: int = 1

    kind = "designs"
    suffix = ".jsonl"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "shard_size", check_count("shard_size", self.shard_size))
        set_(self, "options", checked_options(self.robot, self.algorithm, self.frame, self.options))
        set_(self, "points", tuple(points_of() if self.points is None else map(_point, self.points)))
        if not self._points:
            raise ArgumentError("points: expected at least one design, found none")

    @property
    def _points(self) -> Sequence[tuple[str, int, float]]:
        assert self.points is not None
        return self.points

    def describe(self) -> dict[str, Any]:
        assert isinstance(self.options, Options)
        return described(
            **{
                "robot": robot_facts(self.robot),
                "algorithm": self.algorithm,
                "frame": self.frame,
                "options": options_facts(self.options),
                "points": [list(point) for point in self._points],
                "shard_size": self.shard_size,
            }
        )

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(len(self._points), self.shard_size)

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        assert isinstance(self.options, Options)
        begin = time.perf_counter()
        accelerator = accelerator_of(self.robot, self.algorithm, self.frame, self.options)
        points = self._points[shard.start : shard.start + shard.rows]
        write_lines(path, [figures(accelerator, *point) for point in points])
        return {"seconds": {"scheduling": time.perf_counter() - begin}}

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Writes `designs.json`: every design, each told whether it is on the Pareto front."""
        designs = marked(list(read_lines(shards)))
        front = [one for one in designs if one["pareto"]]
        write_document(folder / "designs.json", {"designs": designs})
        return {"designs": len(designs), "pareto": front}


def _point(given: Any) -> tuple[str, int, float]:
    try:
        structure, interval, period = given
    except (TypeError, ValueError):
        raise ArgumentError(f"points: expected structure, interval and period, found {given!r}") from None
    if structure not in ("flat", "units"):
        raise ArgumentError(f"points: expected the structure 'flat' or 'units', found {structure!r}")
    return structure, int(interval), float(period)
