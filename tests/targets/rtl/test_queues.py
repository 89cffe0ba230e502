"""Queues at the streams: the same results, two cycles later, and a core that need not wait for pauses."""

from __future__ import annotations

from typing import Any

import pytest

from robomorph.errors import ArgumentError
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.options import Options
from robomorph.targets.rtl.simulate import Simulation, lint
from robomorph.targets.rtl.synthesis import check_by_yosys
from tests.targets.rtl.accelerators import accelerator
from tests.targets.rtl.toolchains import needs_verilator, needs_yosys


def made(**options: Any) -> Accelerator:
    return accelerator("chain:3", "inverse_dynamics", trig="host", interval=8, bits=20, **options)


@needs_verilator
@needs_yosys
@pytest.mark.parametrize("boundary", ["fixed", "float32"])
def test_results_and_cycles(boundary: str) -> None:
    a = made(queue=16, boundary=boundary)
    assert lint(a.design) == ""
    assert check_by_yosys(a.design) > 0
    found = measure(a, a.sample(200, seed=3), pause_in=60, pause_out=60)
    plain, queued = made(boundary=boundary).design.stats, a.design.stats
    assert found.exact
    assert (found.latency, found.last_word) == (queued.latency, queued.last_word)
    assert (queued.latency, queued.last_word) == (plain.latency + 2, plain.last_word + 2)
    assert found.interval == pytest.approx(queued.interval, abs=0.51)
    assert queued.memory_bits > plain.memory_bits


@needs_verilator
def test_pauses_cost_less() -> None:
    """Both streams rest in a random third of the cycles: with queues more states pass in the same time."""

    def cycles(queue: int) -> int:
        a = made(queue=queue)
        words, _ = a.words(a.sample(300, seed=1))
        return Simulation(a.design).run(words, pause_in=33, pause_out=33, seed=4).cycles

    assert cycles(32) < 0.95 * cycles(0)


@pytest.mark.parametrize("queue", [1, 3, 24, -2])
def test_odd_sizes_are_refused(queue: int) -> None:
    with pytest.raises(ArgumentError, match="queue: expected"):
        Options(queue=queue)
