"""What a search asked of a device: calls, time, bytes moved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Traffic:
    """Of one kind of job: calls, wall seconds in them (copies included), bytes to the device and back."""

    calls: int = 0
    seconds: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0

    def plus(self, seconds: float, bytes_in: int, bytes_out: int) -> Traffic:
        return Traffic(
            self.calls + 1, self.seconds + seconds, self.bytes_in + bytes_in, self.bytes_out + bytes_out
        )


@dataclass(frozen=True)
class DeviceUse:
    """Where functions were evaluated. jobs: "values", "margins", "derivatives", "hessians"; every call is one
    copy to the device, launches, and one copy back. resident: bytes sent once. noise: by how much scaled
    rows differed from float64 at the first guess, what bounds were drawn in by and tolerances widened to; 0
    in float64. violation: the largest of a scaled row when float64 evaluated the answer; None in float64."""

    target: str
    name: str
    dtype: str
    resident: int
    jobs: Mapping[str, Traffic]
    noise: float = 0.0
    violation: float | None = None

    @property
    def total(self) -> Traffic:
        """Of all jobs."""
        parts = self.jobs.values()
        return Traffic(
            sum(t.calls for t in parts),
            sum(t.seconds for t in parts),
            sum(t.bytes_in for t in parts),
            sum(t.bytes_out for t in parts),
        )
