"""The cells: the table says what their files say, and those that share streams keep every beat in order."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
import pytest

from robomorph.targets.rtl.cell_table import CELLS, COLLECT, DISPATCH, FIFO, cell_text
from robomorph.targets.rtl.chip import NetlistChip
from robomorph.targets.rtl.emit_ports import streaming_module
from robomorph.targets.rtl.expressions import Expression, Literal, Signal, join
from robomorph.targets.rtl.netlist import Cell, Module
from robomorph.targets.rtl.simulate import Simulation, lint
from robomorph.targets.rtl.stream import Stream
from tests.targets.rtl.toolchains import needs_slang, needs_verilator

# What parameters are set to, where a cell has them and they are not left as the file has them.
OTHERS = {"W": 9, "DataW": 24, "Beats": 1, "Depth": 4, "Ways": 3, "Inner": 20, "InW": 40, "Rounds": 5}
OTHERS |= {"MantissaW": 25, "ExponentW": 9, "OutW": 28, "ShiftW": 5, "Bits": 24}


def test_every_file_has_an_entry() -> None:
    folder = resources.files("robomorph.targets.rtl") / "cells"
    found = sorted(f.name.removesuffix(".sv") for f in folder.iterdir() if f.name.endswith(".sv"))
    assert sorted(cell.name for cell in CELLS) == found


def elaborated(cell: Cell, overrides: Mapping[str, int]) -> Any:
    """The body of a cell, as slang reads its file and those of the cells inside."""
    from pyslang import Bag
    from pyslang.ast import Compilation, CompilationOptions
    from pyslang.syntax import SyntaxTree

    options = CompilationOptions()
    options.topModules = {cell.name}
    options.paramOverrides = [f"{name}={value}" for name, value in overrides.items()]
    compilation = Compilation(Bag([options]))
    waiting, seen = [cell], set()
    while waiting:
        one = waiting.pop()
        if one.name not in seen:
            seen.add(one.name)
            waiting += one.uses
            compilation.addSyntaxTree(SyntaxTree.fromText(cell_text(one)))
    errors = [d for d in compilation.getAllDiagnostics() if d.isError()]
    assert not errors, [str(d.code) for d in errors]
    (top,) = compilation.getRoot().topInstances
    # The compilation owns what it found: keep it.
    return compilation, top


@needs_slang
@pytest.mark.parametrize("changed", [False, True], ids=["as written", "other parameters"])
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_the_table_says_what_the_file_says(cell: Cell, changed: bool) -> None:
    overrides = {name: OTHERS[name] for name in cell.parameters if name in OTHERS} if changed else {}
    keep, top = elaborated(cell, overrides)
    parameters = {p.name: int(p.value.value) for p in top.body.parameters if not p.isLocalParam}
    assert tuple(parameters) == cell.parameters
    ways = {"ArgumentDirection.In": "input", "ArgumentDirection.Out": "output"}
    ports = {p.name: (ways[str(p.direction)], p.type.bitWidth) for p in top.body.portList}
    assert ports == {name: tuple(port) for name, port in cell.ports(parameters).items()}
    inside: set[str] = set()

    def visit(symbol: Any) -> None:
        if type(symbol).__name__ == "InstanceSymbol" and symbol.name != top.name:
            inside.add(symbol.definition.name)

    top.body.visit(visit)
    # What is inside an instance is visited too: cells of cells.
    below, waiting = set(), list(cell.uses)
    while waiting:
        one = waiting.pop()
        below.add(one.name)
        waiting += one.uses
    assert inside <= below and {one.name for one in cell.uses} <= inside | below
    assert changed or inside == below
    del keep


# --- cells that share streams ------------------------------------------------------------------------------


def loop(ways: int, beats: int, *, swapped: bool = False) -> NetlistChip:
    """States go through queues in turn and come back as they are; with `swapped`, data of the first two the
    wrong way round."""
    stream = Stream(words=beats, container=16, lanes=1, held=16)
    m = streaming_module("loop", f"{ways} queues in turn.", (stream, stream))
    sizes = {"W": 17, "Depth": 2}
    queues = [m.new_outputs(f"q{k}", FIFO, **sizes) for k in range(ways)]
    valid, ready = m.signal("valid", ways), m.signal("ready", ways)
    for k, queue in enumerate(queues):
        beat = {"data_i": join(m["s_axis_tlast"], m["s_axis_tdata"]), "valid_i": valid.bits(k)}
        wires = {**m.named("clk_i", "rst_ni"), **beat, "ready_i": ready.bits(k), **queue}
        m.instance(f"u_q{k}", FIFO, wires, **sizes)
    _add_dispatch(m, queues, valid, beats)
    _add_collect(m, queues, [*queues[1::-1], *queues[2:]] if swapped else queues, ready)
    m.assign(m["m_axis_tuser"], Literal(0, 1))
    m.assign(m["overflow_o"], Literal(0, 1))
    m.assign(m["misaligned_o"], Literal(0, 1))
    return NetlistChip(m, (stream, stream))


def side_by_side(queues: list[dict[str, Signal]], port: str, low: int = 0, width: int = 1) -> Expression:
    return join(*(queue[port].bits(low, width) for queue in reversed(queues)))


def _add_dispatch(m: Module, queues: list[dict[str, Signal]], valid: Signal, beats: int) -> None:
    wires = {
        **m.named("clk_i", "rst_ni"),
        "valid_i": m["s_axis_tvalid"],
        "ready_o": m["s_axis_tready"],
        "valid_o": valid,
        "ready_i": side_by_side(queues, "ready_o"),
    }
    m.instance("u_dispatch", DISPATCH, wires, Ways=len(queues), Beats=beats)


def _add_collect(
    m: Module, queues: list[dict[str, Signal]], data: list[dict[str, Signal]], ready: Signal
) -> None:
    wires = {
        **m.named("clk_i", "rst_ni"),
        "data_i": side_by_side(data, "data_o", 0, 16),
        "valid_i": side_by_side(queues, "valid_o"),
        "last_i": side_by_side(queues, "data_o", 16),
        "ready_o": ready,
        "data_o": m["m_axis_tdata"],
        "valid_o": m["m_axis_tvalid"],
        "last_o": m["m_axis_tlast"],
        "ready_i": m["m_axis_tready"],
    }
    m.instance("u_collect", COLLECT, wires, Ways=len(queues), W=16)


@needs_verilator
@pytest.mark.parametrize(("ways", "beats"), [(1, 3), (2, 1), (2, 5), (3, 4), (5, 2)])
def test_states_come_back_in_order(ways: int, beats: int) -> None:
    """Dispatcher and collector around queues: every beat, in order, whatever rests on either side."""
    chip = loop(ways, beats)
    assert lint(chip) == ""
    simulation = Simulation(chip)
    words = np.random.default_rng(1).integers(-(2**15), 2**15, (200, beats))
    for pauses in ((0, 0), (50, 0), (0, 50), (40, 40), (10, 80)):
        run = simulation.run(words, pause_in=pauses[0], pause_out=pauses[1], seed=5)
        np.testing.assert_array_equal(run.words, words)
    burst = simulation.run(words)
    assert burst.cycles <= 200 * beats + 2  # no cycle is lost on the way, even between states
    assert np.all(simulation.run(words[:5], one_by_one=True).last_word <= 1)


@needs_verilator
def test_a_collector_out_of_turn_is_noticed() -> None:
    """The test above can fail: with queues the wrong way round, states come back out of order."""
    words = np.arange(60).reshape(30, 2)
    assert not np.array_equal(Simulation(loop(3, 2, swapped=True)).run(words).words, words)
