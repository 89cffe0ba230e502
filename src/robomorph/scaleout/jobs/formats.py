"""Number formats of an accelerator: the errors of every word width."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from robomorph.accelerators.accuracy import format_sweep
from robomorph.errors import ArgumentError
from robomorph.given.numbers import whole_number
from robomorph.ir.fixed import MAX_BITS, MIN_BITS
from robomorph.robot import Robot
from robomorph.scaleout.job import Shard
from robomorph.scaleout.jobs.chips import accelerator_of, checked_options, options_facts
from robomorph.scaleout.jobs.files import (
    check_count,
    check_seed,
    described,
    read_lines,
    robot_facts,
    shards_of,
    write_document,
    write_lines,
)
from robomorph.targets.rtl.options import Options

_BITS = (12, 16, 20, 24, 28, 32)
_KINDS = ("per_signal", "single_format")


@dataclass(frozen=True, eq=False)
class Formats:
    """What `robomorph rtl --sweep` finds, one row a word width.

    bits: the widths. states, seed: sampled states over which errors are taken; the defaults are the
    command's. algorithm, frame, options: as in `Designs`. A shard is JSON lines: for each width the errors
    with a format per signal and with the best single one, if there is one.
    """

    robot: Robot
    bits: Sequence[int] = _BITS
    algorithm: str = "forward_dynamics_gradient"
    frame: str | None = None
    options: Mapping[str, Any] | Options = field(default_factory=dict)
    states: int = 2000
    seed: int = 11
    shard_size: int = 1

    kind = "formats"
    suffix = ".jsonl"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "bits", tuple(whole_number("bits", b, MIN_BITS, MAX_BITS) for b in self.bits))
        set_(self, "states", check_count("states", self.states))
        set_(self, "seed", check_seed(self.seed))
        set_(self, "shard_size", check_count("shard_size", self.shard_size))
        set_(self, "options", checked_options(self.robot, self.algorithm, self.frame, self.options))
        if not self.bits:
            raise ArgumentError("bits: expected at least one width, found none")

    def describe(self) -> dict[str, Any]:
        assert isinstance(self.options, Options)
        names = ("algorithm", "frame", "states", "seed", "shard_size")
        return described(
            **{
                "robot": robot_facts(self.robot),
                "options": options_facts(self.options),
                "bits": list(self.bits),
                **{name: getattr(self, name) for name in names},
            }
        )

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(len(self.bits), self.shard_size)

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        assert isinstance(self.options, Options)
        begin = time.perf_counter()
        accelerator = accelerator_of(self.robot, self.algorithm, self.frame, self.options)
        arguments = accelerator.sample(self.states, seed=self.seed)
        rows = []
        for bits in self.bits[shard.start : shard.start + shard.rows]:
            row: dict[str, Any] = {"bits": bits}
            for kind in _KINDS:
                found = format_sweep(accelerator, arguments, [bits], uniform=kind == "single_format")
                row[kind] = _report(found[0]) if found else None
            rows.append(row)
        write_lines(path, rows)
        return {"seconds": {"formats": time.perf_counter() - begin}}

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Writes `formats.json`, as `robomorph rtl --sweep --json` has it."""
        rows = list(read_lines(shards))
        table = {kind: [row[kind] for row in rows if row[kind] is not None] for kind in _KINDS}
        write_document(folder / "formats.json", table)
        return {"widths": len(rows), **table}


def _report(found: Any) -> dict[str, Any]:
    report = asdict(found)
    return {**report, "outputs": list(report["outputs"])}
