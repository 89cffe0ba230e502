"""Round trips over a link: words as ever, cycles between what the chip and what the link alone would take."""

from __future__ import annotations

import pytest

from robomorph.accelerators.coprocessor import LINKS, HostLink, round_trips
from robomorph.errors import ArgumentError, TargetError
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.simulate import Simulation
from tests.targets.rtl.accelerators import accelerator
from tests.targets.rtl.toolchains import needs_verilator

CLOCK = 50e6
COUNTS = (1, 10, 64)


def made(**options: object) -> Accelerator:
    return accelerator("chain:2", "inverse_dynamics", interval=4, bits=18, trig="host", **options)


@needs_verilator
def test_a_link_that_carries_all_at_once_costs_nothing() -> None:
    a = made()
    free = Simulation(a.design).run(a.words(a.sample(64, 3))[0])
    (trip,) = round_trips(a, a.sample(64, 3), (64,), LINKS["none"], CLOCK)
    assert trip.cycles == free.cycles
    assert trip.seconds == free.cycles / CLOCK


@needs_verilator
@pytest.mark.parametrize("bandwidth", [1e6, 3e7, 1e8, 1e9, 1e12])
@pytest.mark.parametrize("pipelines", [1, 2])
def test_neither_chip_nor_link_is_outrun(bandwidth: float, pipelines: int) -> None:
    """A round trip takes at least as long as the chip alone and as the link alone, and no longer than one
    after the other: first all words in, then the chip, then all words out."""
    a = made(pipelines=pipelines)
    arguments, link = a.sample(64, 3), HostLink("test", bandwidth, 2e-6)
    chip = round_trips(a, arguments, COUNTS, LINKS["none"], CLOCK)
    source, sink = a.design.streams
    for trip, alone in zip(round_trips(a, arguments, COUNTS, link, CLOCK), chip, strict=True):
        both = sum(s.beats * s.data_bits for s in (source, sink)) * trip.states / (8 * bandwidth)
        assert trip.seconds >= max(alone.seconds, trip.link_seconds) - 1e-15
        # Each beat may wait for the end of a cycle.
        spare = (source.beats + sink.beats) * trip.states / CLOCK
        assert trip.seconds <= alone.seconds + both + 2 * link.latency + spare


@needs_verilator
def test_a_slow_link_decides_alone() -> None:
    """At a hundredth of what the chip needs, a thousand cycles more or less do not matter."""
    a = made()
    (trip,) = round_trips(a, a.sample(64, 3), (64,), HostLink("slow", 1e6, 0.0), CLOCK)
    assert trip.link_seconds <= trip.seconds <= 1.05 * trip.link_seconds


@needs_verilator
def test_what_makes_no_sense_is_refused() -> None:
    a = made()
    for link in ((-1.0, 0.0), (0.0, float("nan")), (1e-9, 0.0), (float("inf"), 0.0)):
        with pytest.raises(TargetError, match="link: expected 0 or at least"):
            Simulation(a.design).run(a.words(a.sample(2, 3))[0], link=link)
    with pytest.raises(ArgumentError, match="counts: expected numbers from 1 to 2"):
        round_trips(a, a.sample(2, 3), (3,), LINKS["none"], CLOCK)
    with pytest.raises(ArgumentError, match="clock"):
        round_trips(a, a.sample(2, 3), (1,), LINKS["none"], 0.0)


@pytest.mark.parametrize(("bandwidth", "latency"), [(0.0, 0.0), (float("nan"), 0.0), (1.0, -1.0)])
def test_links_have_a_bandwidth_and_a_latency(bandwidth: float, latency: float) -> None:
    with pytest.raises(ArgumentError, match="host link 'odd'"):
        HostLink("odd", bandwidth, latency)
