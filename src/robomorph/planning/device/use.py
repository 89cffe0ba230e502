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


def split_times(times: Mapping[str, float], device: DeviceUse | None) -> dict[str, float]:
    """s by part, of what a solver reports. On a device values (with those for margins), gradients and
    hessians are its calls, copies included, and filling is what else evaluation took. On the CPU kernels are
    called while the matrix is filled, so that filling has the second derivatives in it."""
    values, gradients = times.get("values", 0.0), times.get("derivatives", 0.0)
    filling = times.get("condensing", 0.0)
    solver = sum(times.get(name, 0.0) for name in ("factor", "rest", "solver"))
    if device is None:
        bent = {"hessians": times["hessian"]} if "hessian" in times else {}
        return {"values": values, "gradients": gradients, **bent, "filling": filling, "solver": solver}
    jobs = {name: traffic.seconds for name, traffic in device.jobs.items()}
    return {
        "values": jobs["values"] + jobs["margins"],
        "gradients": jobs["derivatives"],
        "hessians": jobs["hessians"],
        "filling": max(0.0, values + gradients + filling - sum(jobs.values())),
        "solver": solver,
    }
