"""What a run did: counts, times and what to do next."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Summary:
    """`rows` and `shards` are the whole result's; the other counts and all times are this run's.

    new, kept, remade: shards made, found finished and whole, and found damaged or missing and made again
    (those
    count as new too). failures: shards given up, in words. retries, deaths: attempts that raised and were
    repeated,
    and workers that died. seconds: of the driver; worker_seconds: of all workers together, in shards. parts:
    the sums
    of the facts that the job tells of each shard. finish: what the job tells of the whole. next: what the
    user has to do now, where the engine leaves that to them.
    """

    kind: str
    folder: str
    engine: str
    workers: int
    rows: int = 0
    shards: int = 0
    new: int = 0
    new_rows: int = 0
    kept: int = 0
    remade: int = 0
    failures: list[str] = field(default_factory=list)
    retries: int = 0
    deaths: int = 0
    seconds: float = 0.0
    worker_seconds: float = 0.0
    parts: dict[str, Any] = field(default_factory=dict)
    finish: dict[str, Any] = field(default_factory=dict)
    next: tuple[str, ...] = ()

    @property
    def rows_per_second(self) -> float:
        """Of this run."""
        return self.new_rows / self.seconds if self.seconds > 0 else 0.0

    @property
    def worker_hours(self) -> float:
        return self.worker_seconds / 3600

    def as_data(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {**asdict(self), "rows_per_second": self.rows_per_second, "worker_hours": self.worker_hours}

    def text(self) -> str:
        """A few lines for a terminal."""
        plural = "s" if self.workers != 1 else ""
        lines = [
            f"{self.kind}: {self.rows:,} rows in {self.shards:,} shards in {self.folder}",
            f"  {self.new:,} made, {self.kept:,} kept, {self.remade:,} of the made were damaged or missing",
            f"  {self.seconds:.1f} s on {self.engine} with {self.workers} worker{plural}, "
            f"{self.rows_per_second:,.0f} rows/s, {self.worker_hours:.3g} worker hours",
            f"  {len(self.failures)} failures, {self.retries} retries, {self.deaths} deaths of workers",
        ]
        lines += self._parts()
        lines += [f"  {name}: {value}" for name, value in self.finish.items()]
        lines += [f"  failed: {failure}" for failure in self.failures]
        return "\n".join([*lines, *self.next])

    def _parts(self) -> list[str]:
        """Seconds by kind of work with their shares, where the job tells them."""
        seconds = self.parts.get("seconds", self.parts)
        if not isinstance(seconds, dict):
            return []
        flat = {name: value for name, value in seconds.items() if isinstance(value, (int, float))}
        whole = self.worker_seconds or math.inf
        return [f"  {name}: {value:.3f} s, {100 * value / whole:.1f}%" for name, value in flat.items()]


def numbers(facts: Mapping[str, Any] | None) -> dict[str, Any]:
    """The finite numbers among facts, nested tables too: what can be summed over shards."""
    found: dict[str, Any] = {}
    for name, value in (facts or {}).items():
        if isinstance(value, Mapping):
            found[str(name)] = numbers(value)
        elif hasattr(value, "__float__") and not isinstance(value, bool) and math.isfinite(float(value)):
            found[str(name)] = int(value) if hasattr(value, "__index__") else float(value)
    return found


def add(total: dict[str, Any], facts: Mapping[str, Any]) -> None:
    """Adds a shard's numbers to the sums."""
    for name, value in facts.items():
        if isinstance(value, Mapping):
            inner = total.setdefault(name, {})
            if isinstance(inner, dict):
                add(inner, value)
        elif not isinstance(total.get(name), dict):
            total[name] = total.get(name, 0) + value
