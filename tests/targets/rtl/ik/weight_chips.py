"""A w unit as a chip of its own: problems in, weights out, with the cycles that they took."""

from __future__ import annotations

import numpy as np

from robomorph.targets.rtl.cell_table import STREAM_IN, STREAM_OUT
from robomorph.targets.rtl.chip import NetlistChip
from robomorph.targets.rtl.emit_ports import streaming_module
from robomorph.targets.rtl.expressions import (
    Expression,
    Literal,
    Signal,
    choose,
    join,
    sign_extend,
    zero_extend,
)
from robomorph.targets.rtl.ik.emit_weights import weights_module
from robomorph.targets.rtl.ik.weights import Array, Weights, WeightSpec
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.stream import Stream

# Two words each of M, one each of e, the mode and log2 K; m, the shift with the flag, and the cycles.
WORDS_IN, WORDS_OUT = 17, 5
_COUNT = 8


def problems(m: Array, e: Array, mode: Array, k_log: Array) -> Array:
    """M (n, 6), e (n, 3), mode (n,) and log2 K (n,) as words (n, 17) of 32 bits."""
    halves = np.stack([m & 0xFFFFFFFF, m >> 32], axis=-1).reshape(len(m), 12)
    return (
        np.concatenate([halves, e, mode[:, None], k_log[:, None]], axis=1).astype(np.int64).astype(np.int32)
    )


def answers(words: Array) -> tuple[Weights, Array]:
    """Weights, and the cycles from each start to its results (n,)."""
    return Weights(words[:, :3], words[:, 3] >> 1, (words[:, 3] & 1) == 1), words[:, 4]


def weights_chip(spec: WeightSpec, *, insists: bool = False) -> NetlistChip:
    """A chip that starts the unit when a problem is there, if need be in the cycle of the last one's done; if
    it `insists`, it says so until the results come."""
    source = Stream(words=WORDS_IN, container=32, lanes=WORDS_IN, held=32 * WORDS_IN)
    sink = Stream(words=WORDS_OUT, container=32, lanes=WORDS_OUT, held=32 * WORDS_OUT)
    m = streaming_module("weights_chip", "a w unit alone.", (source, sink))
    done, start, busy = m.signal("done"), m.signal("start"), m.signal("busy")
    full, cycles, one = m.signal("full"), m.signal("cycles", _COUNT), Literal(1, _COUNT)
    m.assign(start, full & (~busy | done))
    m.register(busy, start | (busy & ~done), reset=0)
    m.register(cycles, choose(start, one, cycles + one), reset=0)
    said = m.signal("said")
    m.assign(said, start | (busy & ~done) if insists else start)
    made = _add_unit(m, spec, weights_module("weights", spec), _add_input(m, source))
    _add_output(m, sink, [*made, zero_extend(cycles, 32)])
    m.assign(m["overflow_o"], Literal(0, 1))
    return NetlistChip(m, (source, sink))


def _add_input(m: Module, source: Stream) -> Signal:
    """The problem at work: in the cycle of its start that of the stream's buffer, then a copy."""
    buffer, copy = m.signal("buffer", source.held), m.signal("copy", source.held)
    given = m.signal("given", source.held)
    wires = {
        **m.named("clk_i", "rst_ni", "s_axis_tdata", "s_axis_tvalid", "s_axis_tready", "s_axis_tlast"),
        **m.named("misaligned_o"),
        **{"full_o": m["full"], "take_i": m["start"], "beat_o": m.signal("beat_in"), "data_o": buffer},
    }
    m.instance("u_in", STREAM_IN, wires, DataW=source.held, Beats=1)
    m.assign(given, choose(m["start"], buffer, copy))
    m.register(copy, buffer, enable=m["start"])
    return given


def _add_unit(m: Module, spec: WeightSpec, unit: Module, given: Signal) -> list[Expression]:
    """The unit, and its results as words of 32 bits."""
    entries = [given.bits(64 * k, spec.m_bits) for k in range(6)]
    errors = [given.bits(32 * (12 + k), spec.e_bits) for k in range(3)]
    made, shift = m.signal("made", 3 * spec.w_bits), m.signal("shift", 6)
    stalled = m.signal("stalled")
    wires: dict[str, Expression] = {
        **m.named("clk_i", "rst_ni"),
        **{"start_i": m["said"], "mode_i": given.bits(32 * 15), "k_log_i": given.bits(32 * 16, 4)},
        **{"m_i": join(*reversed(entries)), "e_i": join(*reversed(errors))},
        **{"done_o": m["done"], "m_o": made, "shift_o": shift, "stalled_o": stalled},
    }
    m.instance("u_weights", unit, wires)
    words = [sign_extend(made.bits(spec.w_bits * k, spec.w_bits), 32) for k in range(3)]
    return [*words, zero_extend(join(shift, stalled), 32)]


def _add_output(m: Module, sink: Stream, words: list[Expression]) -> None:
    wires: dict[str, Expression] = {
        **m.named("clk_i", "rst_ni", "m_axis_tdata", "m_axis_tvalid", "m_axis_tready", "m_axis_tlast"),
        **m.named("m_axis_tuser"),
        **{"load_i": m["done"], "data_i": join(*reversed(words)), "flag_i": Literal(0, 1)},
        **{"busy_o": m.signal("sending"), "beat_o": m.signal("beat_out")},
    }
    m.instance("u_out", STREAM_OUT, wires, DataW=sink.held, Beats=1)
