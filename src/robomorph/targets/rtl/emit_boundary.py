"""Both sides of a top level: the stream buffers and, for float32 words, their converters.

The input side drives `words_in` (side by side), `full`, and `lost` (a word of the state at the input did not
fit its format), if that can be; the output side takes `words_out`, `done` and `flag`, and drives `busy`.
"""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.ir.floats import FLOAT_BITS
from robomorph.targets.rtl.cell_table import FIXED_TO_FLOAT, FLOAT_TO_FIXED, STREAM_IN, STREAM_OUT
from robomorph.targets.rtl.expressions import Expression, Literal, Signal, choose, join, sign_extend
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.stream import Stream

_FRAC_BITS = 7  # of the number of fraction bits, signed


def add_fixed_input(m: Module, stream: Stream, bits: int) -> None:
    """Words as they are, their copies of the sign dropped."""
    collected = _add_buffer_in(m, stream, m["s_axis_tdata"])
    for k in range(stream.words):
        m.assign(m["words_in"].bits(k * bits, bits), collected.bits(k * stream.container, bits))


def add_fixed_output(m: Module, stream: Stream, bits: int) -> None:
    """Words sign-extended to their containers."""
    words = [m["words_out"].bits(k * bits, bits) for k in range(stream.words)]
    _add_buffer_out(m, stream, [sign_extend(word, stream.container) for word in words], m["m_axis_tdata"])


def add_float_input(m: Module, stream: Stream, bits: int, fracs: Sequence[int]) -> None:
    """Float32 words become fixed point on their way into the buffer: a converter per lane, told by the beat's
    number how many fraction bits the word has."""
    lanes, held = stream.lanes, stream.held
    fixed, saturated = m.signal("fixed_in", bits * lanes), m.signal("saturated", lanes)
    # A beat is kept with its flag above its words. What lanes without a word carry in the last beat must not
    # raise it.
    collected = _add_buffer_in(m, stream, join((saturated & _used_lanes(m, stream)).any(), fixed))
    frac = _add_frac_table(m, "in", stream, fracs)
    for k in range(lanes):
        wires = {
            "float_i": m["s_axis_tdata"].bits(k * FLOAT_BITS, FLOAT_BITS),
            "frac_i": frac.bits(k * _FRAC_BITS, _FRAC_BITS),
            "word_o": fixed.bits(k * bits, bits),
            "overflow_o": saturated.bits(k),
        }
        m.instance(f"u_convert_in{k}", FLOAT_TO_FIXED, wires, Width=bits)
    for k in range(stream.words):
        beat, lane = divmod(k, lanes)
        m.assign(m["words_in"].bits(k * bits, bits), collected.bits(beat * held + lane * bits, bits))
    lost = join(*(collected.bits(k * held + bits * lanes) for k in range(stream.beats))).any()
    # The state at the input is in round 0 of phase 0, however long it waits there.
    m.assign(m.signal("lost"), m["full"] & m["phase"].equals(0) & lost)


def add_float_output(m: Module, stream: Stream, bits: int, fracs: Sequence[int]) -> None:
    """Words become float32 on their way out of the buffer: a converter per lane."""
    fixed = m.signal("fixed_out", bits * stream.lanes)
    words: list[Expression] = [m["words_out"].bits(k * bits, bits) for k in range(stream.words)]
    _add_buffer_out(m, stream, words, fixed)
    frac = _add_frac_table(m, "out", stream, fracs)
    for k in range(stream.lanes):
        wires = {
            "word_i": fixed.bits(k * bits, bits),
            "frac_i": frac.bits(k * _FRAC_BITS, _FRAC_BITS),
            "float_o": m["m_axis_tdata"].bits(k * FLOAT_BITS, FLOAT_BITS),
        }
        m.instance(f"u_convert_out{k}", FIXED_TO_FLOAT, wires, Width=bits)


def _add_buffer_in(m: Module, stream: Stream, beat: Expression) -> Signal:
    """The buffer of a state; its bits, beats side by side."""
    collected = m.signal("collected", stream.buffer_bits)
    beat_in = m.signals.get("beat_in") or m.signal("beat_in", stream.beat_bits)
    wires = {
        **m.named("clk_i", "rst_ni", "s_axis_tvalid", "s_axis_tready", "s_axis_tlast", "misaligned_o"),
        "s_axis_tdata": beat,
        "full_o": m["full"],
        "take_i": m["take"],
        "beat_o": beat_in,
        "data_o": collected,
    }
    m.instance("u_in", STREAM_IN, wires, DataW=stream.held, Beats=stream.beats)
    return collected


def _add_buffer_out(m: Module, stream: Stream, words: Sequence[Expression], beat: Signal) -> None:
    """The buffer of a result, which sends `beat` after beat; lanes without a word carry zeros."""
    padding = stream.buffer_bits - sum(word.width for word in words)
    zeros = [Literal(0, padding)] if padding else []
    wires = {
        **m.named("clk_i", "rst_ni", "m_axis_tvalid", "m_axis_tready", "m_axis_tlast", "m_axis_tuser"),
        "m_axis_tdata": beat,
        "load_i": m["done"],
        "data_i": join(*zeros, *reversed(words)),
        "flag_i": m["flag"],
        "busy_o": m["busy"],
        "beat_o": m.signal("beat_out", stream.beat_bits),
    }
    m.instance("u_out", STREAM_OUT, wires, DataW=stream.held, Beats=stream.beats)


def _add_frac_table(m: Module, side: str, stream: Stream, fracs: Sequence[int]) -> Signal:
    """The fraction bits of a beat's words by the beat's number, the first word lowest."""
    padded = [*fracs, *[0] * (stream.beats * stream.lanes - len(fracs))]
    table = m.signal(f"frac_{side}", _FRAC_BITS * stream.lanes)
    rows = {}
    for beat in range(stream.beats):
        row = padded[beat * stream.lanes : (beat + 1) * stream.lanes]
        rows[beat] = join(*(Literal(frac, _FRAC_BITS) for frac in reversed(row)))
    m.select(table, m[f"beat_{side}"], rows)
    return table


def _used_lanes(m: Module, stream: Stream) -> Expression:
    """The lanes that carry a word in this beat."""
    every = Literal(-1, stream.lanes)
    if stream.last_lanes == stream.lanes:
        return every
    last = m.signal("beat_in", stream.beat_bits).equals(stream.beats - 1)
    return choose(last, Literal((1 << stream.last_lanes) - 1, stream.lanes), every)
