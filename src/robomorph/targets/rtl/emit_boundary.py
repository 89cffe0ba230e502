"""Both sides of a top level as SystemVerilog: the stream buffers and, for float32 words, their converters.

The input side drives `words_in` (side by side), `full`, and `lost` (a word of the state at the input did not
fit its format); the output side takes `words_out`, `done` and `flag`, and drives `busy`.
"""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.targets.rtl.stream import Stream

_PORTS_IN = ".clk_i, .rst_ni, .s_axis_tvalid, .s_axis_tready, .s_axis_tlast, .misaligned_o,"
_PORTS_OUT = ".clk_i, .rst_ni, .m_axis_tvalid, .m_axis_tready, .m_axis_tlast, .m_axis_tuser,"


def fixed_input(stream: Stream, bits: int) -> str:
    """Words as they are, their copies of the sign dropped."""
    return f"""\
  logic [{stream.buffer_bits - 1}:0] collected;
  logic [{stream.beat_bits - 1}:0] unused_beat_in;
  assign lost = 1'b0;

  rm_stream_in #(.DataW({stream.held}), .Beats({stream.beats})) u_in (
    {_PORTS_IN}
    .s_axis_tdata, .full_o(full), .take_i(take), .beat_o(unused_beat_in), .data_o(collected)
  );

  for (genvar k = 0; k < WordsIn; k++) begin : gen_word_in
    assign words_in[k*{bits} +: {bits}] = collected[k*{stream.container} +: {bits}];
{_unused_sign(stream, bits)}  end
{_unused_padding(stream, stream.container)}"""


def fixed_output(stream: Stream, bits: int) -> str:
    """Words sign-extended to their containers."""
    c = stream.container
    return f"""\
  logic [{stream.buffer_bits - 1}:0] padded;
  logic [{stream.beat_bits - 1}:0] unused_beat_out;

  for (genvar k = 0; k < WordsOut; k++) begin : gen_word_out
    assign padded[k*{c} +: {c}] = {c}'($signed(words_out[k*{bits} +: {bits}]));
  end
{_zero_padding(stream, c)}
  rm_stream_out #(.DataW({stream.held}), .Beats({stream.beats})) u_out (
    {_PORTS_OUT}
    .m_axis_tdata, .load_i(done), .data_i(padded), .flag_i(flag), .busy_o(busy), .beat_o(unused_beat_out)
  );
"""


def float_input(stream: Stream, bits: int, fracs: Sequence[int]) -> str:
    """Float32 words become fixed point on their way into the buffer: a converter per lane, told by the beat's
    number how many fraction bits the word has."""
    lanes, beats, held = stream.lanes, stream.beats, stream.held
    return f"""\
  logic [{stream.buffer_bits - 1}:0] collected;
  logic [{stream.beat_bits - 1}:0] beat_in;
  logic [{7 * lanes - 1}:0] frac_in;
  logic [{bits * lanes - 1}:0] fixed_in;
  logic [{lanes - 1}:0] saturated, used;
  logic [{beats - 1}:0] lost_beat;

{_frac_table("in", stream, fracs)}
  for (genvar k = 0; k < {lanes}; k++) begin : gen_lane_in
    rm_float_to_fixed #(.Width({bits})) u_convert (
      .float_i(s_axis_tdata[k*32 +: 32]), .frac_i(frac_in[k*7 +: 7]),
      .word_o(fixed_in[k*{bits} +: {bits}]), .overflow_o(saturated[k])
    );
  end
{_used_lanes(stream)}
  // A beat is kept with its flag above its words.
  rm_stream_in #(.DataW({held}), .Beats({beats})) u_in (
    {_PORTS_IN}
    .s_axis_tdata({{|(saturated & used), fixed_in}}), .full_o(full), .take_i(take), .beat_o(beat_in),
    .data_o(collected)
  );

  for (genvar k = 0; k < WordsIn; k++) begin : gen_word_in
    assign words_in[k*{bits} +: {bits}] = collected[(k/{lanes})*{held} + (k%{lanes})*{bits} +: {bits}];
  end
  for (genvar k = 0; k < {beats}; k++) begin : gen_lost
    assign lost_beat[k] = collected[k*{held} + {bits * lanes}];
  end
  // The state at the input is in round 0 of phase 0, however long it waits there.
  assign lost = full && phase == '0 && |lost_beat;
{_unused_padding(stream, bits)}"""


def float_output(stream: Stream, bits: int, fracs: Sequence[int]) -> str:
    """Words become float32 on their way out of the buffer: a converter per lane."""
    lanes = stream.lanes
    return f"""\
  logic [{stream.buffer_bits - 1}:0] padded;
  logic [{stream.beat_bits - 1}:0] beat_out;
  logic [{7 * lanes - 1}:0] frac_out;
  logic [{bits * lanes - 1}:0] fixed_out;

  assign padded[0 +: {stream.words * bits}] = words_out;
{_zero_padding(stream, bits)}
  rm_stream_out #(.DataW({stream.held}), .Beats({stream.beats})) u_out (
    {_PORTS_OUT}
    .m_axis_tdata(fixed_out), .load_i(done), .data_i(padded), .flag_i(flag), .busy_o(busy), .beat_o(beat_out)
  );

{_frac_table("out", stream, fracs)}
  for (genvar k = 0; k < {lanes}; k++) begin : gen_lane_out
    rm_fixed_to_float #(.Width({bits})) u_convert (
      .word_i(fixed_out[k*{bits} +: {bits}]), .frac_i(frac_out[k*7 +: 7]),
      .float_o(m_axis_tdata[k*32 +: 32])
    );
  end
"""


def _frac_table(side: str, stream: Stream, fracs: Sequence[int]) -> str:
    """The fraction bits of a beat's words by the beat's number, the first word last."""
    padded = [*fracs, *[0] * (stream.beats * stream.lanes - len(fracs))]
    lines = ["  always_comb begin", f"    unique case (beat_{side})"]
    for beat in range(stream.beats):
        row = padded[beat * stream.lanes : (beat + 1) * stream.lanes]
        entries = ", ".join(f"7'h{frac & 0x7F:02x}" for frac in reversed(row))
        lines.append(f"      {stream.beat_bits}'d{beat}: frac_{side} = {{{entries}}};")
    return "\n".join([*lines, f"      default: frac_{side} = '0;", "    endcase", "  end"])


def _used_lanes(stream: Stream) -> str:
    """What lanes without a word carry in the last beat must not raise a flag."""
    if stream.last_lanes == stream.lanes:
        return "  assign used = '1;\n"
    last = f"{stream.beat_bits}'d{stream.beats - 1}"
    mask = f"{stream.lanes}'h{(1 << stream.last_lanes) - 1:x}"
    return f"  assign used = beat_in == {last} ? {mask} : '1;\n"


def _unused_sign(stream: Stream, bits: int) -> str:
    spare = stream.container - bits
    if spare == 0:
        return ""
    start = f"k*{stream.container}+{bits}"
    return f"    logic unused_sign;\n    assign unused_sign = ^collected[{start} +: {spare}];\n"


def _unused_padding(stream: Stream, bits: int) -> str:
    padding = (stream.lanes - stream.last_lanes) * bits
    if padding == 0:
        return ""
    start = (stream.beats - 1) * stream.held + stream.last_lanes * bits
    return f"  logic unused_padding;\n  assign unused_padding = ^collected[{start} +: {padding}];\n"


def _zero_padding(stream: Stream, bits: int) -> str:
    padding = (stream.lanes - stream.last_lanes) * bits
    return f"  assign padded[{stream.words * bits} +: {padding}] = '0;\n" if padding else ""
