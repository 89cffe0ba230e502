"""Control with an accelerator for the gradient: what a plan would take, from simulated round trips.

The papers' split: the host has qdd and M^-1 in floating point and does everything else of an iteration; the
chip, behind a link, gives the gradients of all steps. The time is an estimate: what the host's part takes is
measured, the chip's cycles are simulated, its clock and the link are given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robomorph.accelerators.coprocessor import HostLink, RoundTrip, round_trips
from robomorph.mpc.studies.horizons import ESTIMATE, RatePoint
from robomorph.robot import Robot

PAPERS_CLOCK = 55.6e6  # Hz, of the papers' FPGA; designs here are not placed on it
STEPS = (10, 16, 32, 64, 128)


@dataclass(frozen=True)
class ChipTrips:
    """Round trips of the gradients of several steps through one design."""

    robot: str
    pipelines: int
    multipliers: int
    interval: float
    link: HostLink
    clock: float
    trips: tuple[RoundTrip, ...]

    @property
    def who(self) -> str:
        copies = "one pipeline" if self.pipelines == 1 else f"{self.pipelines} pipelines"
        return f"our chip, {copies}, {self.link.name}, {self.clock / 1e6:.4g} MHz"


def chip_trips(
    robot: Robot,
    link: HostLink,
    clock: float = PAPERS_CLOCK,
    pipelines: int = 1,
    steps: Sequence[int] = STEPS,
) -> ChipTrips:
    """Simulated round trips of the papers' kind of chip (M^-1 and sines from the host) for this robot."""
    kernel = robot.compile("forward_dynamics_gradient", target="rtl", preset="papers", pipelines=pipelines)
    accelerator = kernel.accelerator
    arguments = accelerator.sample(max(steps), seed=5)
    stats = accelerator.design.stats
    trips = tuple(round_trips(accelerator, arguments, steps, link, clock))
    return ChipTrips(robot.name, pipelines, stats.multipliers, stats.interval, link, clock, trips)


def chip_points(trips: ChipTrips, host_seconds: Mapping[int, float], iterations: int) -> list[RatePoint]:
    """Estimates from round trips and what the host's part of one iteration takes, by horizon (s)."""
    each = {t.states: host_seconds[t.states] + t.seconds for t in trips.trips if t.states in host_seconds}
    return [
        RatePoint(trips.robot, trips.who, n, iterations * seconds, iterations, ESTIMATE)
        for n, seconds in sorted(each.items())
    ]
