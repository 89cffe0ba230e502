"""Memories between link units: every call reads what was written for it, whatever else is in flight."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.memories import _layout
from robomorph.targets.rtl.schedule import Memory
from robomorph.targets.rtl.simulate import lint
from tests.targets.rtl.accelerators import PAPERS, accelerator
from tests.targets.rtl.toolchains import needs_verilator

STATES = 9


def small(**options: object) -> Accelerator:
    chosen = {**PAPERS, "structure": "units", "interval": 108, "bits": 18, **options}
    return accelerator("iiwa14", "forward_dynamics_gradient", **chosen)


def replay(memory: Memory, interval: int, writes: dict[int, int], reads: list[tuple[int, int]]) -> None:
    """Runs states through a memory, cycle by cycle, as the cell does. `writes`: value by cycle of birth,
    `reads`: (cycle, value). Addresses come from the tables, as in the hardware."""
    words: dict[int, tuple[int, int]] = {}
    write_at, read_at = dict(memory.writes), dict(memory.reads)
    last = max(cycle for cycle, _ in reads)
    wanted: dict[int, list[tuple[int, int]]] = {}
    for cycle, value in reads:
        wanted.setdefault(cycle, []).append((cycle, value))
    for now in range(STATES * interval + last + 1):
        turn, phase = divmod(now, interval)
        for state in range(STATES):
            for _, value in wanted.get(now - state * interval, []):
                assert words[(turn + read_at[phase]) % memory.depth] == (state, value)
        for state in range(STATES):
            born = writes.get(now - state * interval)
            if born is not None:
                words[(turn + write_at[phase]) % memory.depth] = (state, born)


def test_every_call_reads_what_was_written_for_it() -> None:
    s = small().design.schedule
    assert s.memories
    made = {node: (c, k) for node, c, k in s.call_results()}
    for (writer, reader), memory in s.memories.items():
        reads = [
            (placed.issue, node)
            for placed in s.calls
            if placed.unit == reader[0]
            for operand, node in enumerate(placed.call.args)
            if operand == reader[1] and node in made
            if (s.calls[made[node][0]].unit, made[node][1]) == writer
        ]
        replay(memory, s.knobs.interval, {s.birth[node]: node for _, node in reads}, reads)


@settings(max_examples=200, deadline=None)
@given(
    lives=st.lists(st.tuples(st.integers(0, 60), st.integers(1, 70)), min_size=1, max_size=12),
    interval=st.integers(1, 24),
)
def test_no_value_is_overwritten_before_its_last_reading(lives: list[tuple[int, int]], interval: int) -> None:
    """Values of many states, word by word. A word may be written in the cycle of its last reading."""
    spans = {k: (birth, birth + life) for k, (birth, life) in enumerate(lives)}
    depth, offsets = _layout(spans, interval)
    assert depth & (depth - 1) == 0
    held: dict[tuple[int, int], tuple[int, int]] = {}  # (word, cycle) -> (state, value)
    for state in range(2 * depth + 8):
        for value, (birth, last) in spans.items():
            for cycle in range(birth + 1, last + 1):
                place = (state + offsets[value]) % depth, state * interval + cycle
                assert held.setdefault(place, (state, value)) == (state, value)
    # No fewer words than values that live at once.
    alive = [
        sum((last - p) // interval - (birth - p) // interval for birth, last in spans.values())
        for p in range(interval)
    ]
    assert depth >= max(alive)


def test_memories_take_the_place_of_registers() -> None:
    with_them, without = small().design, small(memories=False).design
    assert without.stats.memory_bits == 0 and not without.schedule.memories
    assert with_them.stats.memory_bits > 0
    assert with_them.stats.flip_flops < 0.6 * without.stats.flip_flops
    assert with_them.stats.latency == without.stats.latency
    bits = with_them.stats.word_bits
    assert with_them.stats.memory_bits == bits * sum(m.depth for m in with_them.schedule.memories.values())
    assert "rm_memory.sv" in with_them.files and "rm_memory.sv" not in without.files


@needs_verilator
@pytest.mark.parametrize("memories", [True, False])
def test_simulated_with_and_without(memories: bool) -> None:
    """States that overlap (the interval is shorter than a life) and pauses on both streams."""
    a = accelerator(
        "chain:4", "inverse_dynamics_gradient",
        structure="units", trig="host", interval=20, bits=18, memories=memories,
    )  # fmt: skip
    assert bool(a.design.schedule.memories) == memories
    assert a.design.schedule.rounds > 2
    assert lint(a.design) == ""
    assert measure(a, a.sample(60, seed=3)).exact
