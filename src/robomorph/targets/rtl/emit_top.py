"""An accelerator: AXI4-Stream in, the core under its control, AXI4-Stream out."""

from __future__ import annotations

from robomorph.targets.rtl import emit_boundary as side
from robomorph.targets.rtl.cell_table import CONTROL
from robomorph.targets.rtl.emit_ports import streaming_module
from robomorph.targets.rtl.expressions import Expression, Literal, zero_extend
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.schedule import Schedule
from robomorph.targets.rtl.stream import Stream, input_slots


def accelerator_module(
    schedule: Schedule, name: str, core: Module, boundary: str, streams: tuple[Stream, Stream]
) -> Module:
    """The module `name` around the module `core`, with fixed-point or float32 words on its streams."""
    bits, floats = schedule.fixed.formats[0].bits, boundary == "float32"
    words = "float32" if floats else f"sign-extended to {streams[0].container}"
    about = f"{schedule.fixed.program.name}. Words of {bits} bits, {words} on the streams."
    m = streaming_module(name, about, streams)
    _add_signals(m, schedule, streams, bits)
    if floats:
        formats = schedule.fixed.input_formats
        side.add_float_input(m, streams[0], bits, [formats[k].frac for k in input_slots(schedule)])
    else:
        side.add_fixed_input(m, streams[0], bits)
    _add_control_and_core(m, schedule, core)
    if floats:
        side.add_float_output(m, streams[1], bits, [form.frac for form in schedule.fixed.output_formats])
    else:
        side.add_fixed_output(m, streams[1], bits)
    m.register(m["overflow_o"], Literal(1, 1), enable=m["done"] & m["flag"], reset=0)
    return m


def _add_signals(m: Module, schedule: Schedule, streams: tuple[Stream, Stream], bits: int) -> None:
    source, sink = streams
    for name in ("full", "take", "busy", "done", "en", "flag"):
        m.signal(name)
    m.signal("words_in", source.words * bits)
    m.signal("words_out", sink.words * bits)
    m.signal("phase", schedule.phase_bits)
    m.signal("next_phase", schedule.phase_bits)
    m.signal("next_turn", schedule.turn_bits)
    m.signal("overflow", schedule.rounds)


def _add_control_and_core(m: Module, schedule: Schedule, core: Module) -> None:
    saturated: Expression = m["overflow"]
    if "lost" in m.signals:
        saturated = saturated | zero_extend(m["lost"], schedule.rounds)
    inward = {"full_i": m["full"], "busy_i": m["busy"], "overflow_i": saturated}
    outward = ("take", "done", "en", "flag", "phase", "next_phase", "next_turn")
    m.instance(
        "u_control",
        CONTROL,
        {**m.named("clk_i", "rst_ni"), **inward, **{f"{name}_o": m[name] for name in outward}},
        Interval=schedule.knobs.interval,
        Length=schedule.length,
        Rounds=schedule.rounds,
        PhaseW=schedule.phase_bits,
        TurnW=schedule.turn_bits,
    )
    ahead = {f"{name}_i": m[name] for name in ("next_phase", "next_turn")} if schedule.calls else {}
    wires = {
        **{"clk_i": m["clk_i"], "en_i": m["en"], "phase_i": m["phase"], **ahead},
        **{"data_i": m["words_in"], "data_o": m["words_out"], "overflow_o": m["overflow"]},
    }
    m.instance("u_core", core, wires)
