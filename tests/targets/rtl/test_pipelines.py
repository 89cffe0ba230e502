"""Registers inside multipliers: shorter cycles, the same bits, and the cycles the model says."""

from __future__ import annotations

from typing import Any

import pytest

from robomorph.errors import RobomorphError
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.operations import Kind
from robomorph.targets.rtl.simulate import lint
from tests.targets.rtl.accelerators import accelerator
from tests.targets.rtl.toolchains import needs_verilator

STRUCTURES: dict[str, dict[str, Any]] = {
    "flat": {"interval": 6},
    "units": {"structure": "units", "interval": 24},
}


def made(structure: str, **options: Any) -> Accelerator:
    # A constant factor by adders is not cut, however many it has: here all are on the multipliers.
    chosen = {"trig": "host", "bits": 18, "scale_by_adders": False, **STRUCTURES[structure], **options}
    return accelerator("chain:3", "inverse_dynamics_gradient", **chosen)


@pytest.mark.parametrize("structure", STRUCTURES)
def test_shorter_cycles_for_more_of_them(structure: str) -> None:
    plain = made(structure, period=1.0).design.stats
    staged = made(structure, period=0.6, multiply_stages=2).design.stats
    assert staged.period <= 0.6 < plain.period
    assert staged.latency > plain.latency
    assert staged.interval * staged.period < plain.interval * plain.period


def test_products_are_read_when_they_are_there() -> None:
    s = made("flat", period=0.6, multiply_stages=2).design.schedule
    for i, node in enumerate(s.fixed.program.nodes):
        if s.operations[i].kind is Kind.MULTIPLY:
            assert s.birth[i] == s.issue[i] + 2
        assert all(s.birth[a] <= s.issue[i] for a in node.args if s.operations[a].kind is not Kind.CONSTANT)


@needs_verilator
@pytest.mark.parametrize("stages", [1, 2])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_simulated(structure: str, stages: int) -> None:
    a = made(structure, period=0.6, multiply_stages=stages)
    assert lint(a.design) == ""
    found = measure(a, a.sample(60, seed=2))
    assert found.exact
    assert (found.latency, found.last_word) == (a.design.stats.latency, a.design.stats.last_word)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"multiply_stages": 3}, "multiply_stages: expected 0, 1 or 2, found 3"),
        ({"multiply_stages": -1}, "multiply_stages"),
        ({"period": 0.9}, r"must hold one multiplication \(1.0\), found 0.9"),
        ({"multiply_stages": 1, "period": 0.4}, r"the longest part of a multiplication \(0.5\)"),
    ],
)
def test_impossible_wishes_are_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(RobomorphError, match=said):
        made("flat", **options).design  # noqa: B018
