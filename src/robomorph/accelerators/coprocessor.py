"""An accelerator behind a link to its host: the round trip of several states, as the papers' coprocessor.

A round trip begins when the host calls and ends when the last result is in its memory: the link's latency
there, words arriving at its bandwidth, the chip, words leaving alike, its latency back. Cycles are
simulated, beats waiting for the link on both streams; clock, bandwidth and latency are given, not measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, TargetError
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.simulate import Simulation

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class HostLink:
    """A link with `bandwidth` (byte/s, each way; infinity: all at once) and `latency` (s, one way)."""

    name: str
    bandwidth: float
    latency: float

    def __post_init__(self) -> None:
        if not self.bandwidth > 0.0:
            raise ArgumentError(
                f"host link {self.name!r}: expected a bandwidth above 0, found {self.bandwidth}"
            )
        if not 0.0 <= self.latency < float("inf"):
            raise ArgumentError(
                f"host link {self.name!r}: expected a latency of 0 or more, found {self.latency}"
            )

    def bits_per_cycle(self, clock: float) -> float:
        """What passes in a cycle of a clock (Hz); 0, as simulations have it, for all at once."""
        return 8.0 * self.bandwidth / clock if isfinite(self.bandwidth) else 0.0


# Eight lanes of PCI Express after 8b/10b and 128b/130b coding; a microsecond one way is an assumption.
LINKS = {
    link.name: link
    for link in (
        HostLink("pcie1x8", 2.0e9, 1e-6),
        HostLink("pcie3x8", 7.88e9, 1e-6),
        HostLink("none", float("inf"), 0.0),
    )
}


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """`seconds` for `states` states, of which the chip and its streams were busy for `cycles`; `link_seconds`
    is what the link alone would take for all words of the larger direction, and its latencies."""

    states: int
    cycles: float
    seconds: float
    link_seconds: float


def round_trips(
    accelerator: Accelerator,
    arguments: Mapping[str, Array],
    counts: Sequence[int],
    link: HostLink,
    clock: float,
    simulation: Simulation | None = None,
) -> list[RoundTrip]:
    """Round trips of the first `counts` states of `arguments` at `clock` (Hz), every word compared with the
    interpreter's."""
    if not 0.0 < clock < float("inf"):
        raise ArgumentError(f"clock: expected a frequency in Hz, found {clock}")
    words, _ = accelerator.words(arguments)
    if not counts or min(counts) < 1 or max(counts) > len(words):
        raise ArgumentError(f"counts: expected numbers from 1 to {len(words)}, found {list(counts)}")
    expected = accelerator.boundary.run(words).words
    simulation = simulation or Simulation(accelerator.design)
    bits = link.bits_per_cycle(clock)
    source, sink = accelerator.design.streams
    made = []
    for count in counts:
        run = simulation.run(words[:count], link=(bits, bits))
        wrong = int(np.count_nonzero(run.words != expected[:count]))
        if wrong:
            raise TargetError(f"round trip of {count} states: {wrong} words differ from the interpreter's")
        carried = count * max(source.beats * source.data_bits, sink.beats * sink.data_bits)
        alone = carried / bits / clock if bits else 0.0
        seconds = run.link_cycles / clock + 2.0 * link.latency
        made.append(RoundTrip(count, run.link_cycles, seconds, alone + 2.0 * link.latency))
    return made
