"""An accelerator between queues: beats wait in front of it and behind it."""

from __future__ import annotations

from robomorph.targets.rtl.cell_table import FIFO
from robomorph.targets.rtl.emit_ports import streaming_module
from robomorph.targets.rtl.expressions import Expression, Signal, join
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.stream import Stream


def queued_module(name: str, inner: Module, streams: tuple[Stream, Stream], depth: int) -> Module:
    """The module `name`, with the ports of the module `inner` and a queue of `depth` beats at each stream."""
    m = streaming_module(name, f"{inner.name} between queues of {depth} beats.", streams)
    made = m.new_outputs("inner", inner)
    before = _add_queue(
        m,
        "u_queue_in",
        depth,
        join(m["s_axis_tlast"], m["s_axis_tdata"]),
        valid=m["s_axis_tvalid"],
        ready=made["s_axis_tready"],
    )
    behind = _add_queue(
        m,
        "u_queue_out",
        depth,
        join(made["m_axis_tuser"], made["m_axis_tlast"], made["m_axis_tdata"]),
        valid=made["m_axis_tvalid"],
        ready=m["m_axis_tready"],
    )
    wires: dict[str, Expression] = {
        **m.named("clk_i", "rst_ni"),
        "s_axis_tdata": before["data_o"].bits(0, streams[0].data_bits),
        "s_axis_tlast": before["data_o"].bits(streams[0].data_bits),
        "s_axis_tvalid": before["valid_o"],
        "m_axis_tready": behind["ready_o"],
    }
    m.instance("u_inner", inner, {**wires, **made})
    m.assign(m["s_axis_tready"], before["ready_o"])
    m.assign(m["m_axis_tvalid"], behind["valid_o"])
    m.assign(m["m_axis_tdata"], behind["data_o"].bits(0, streams[1].data_bits))
    m.assign(m["m_axis_tlast"], behind["data_o"].bits(streams[1].data_bits))
    m.assign(m["m_axis_tuser"], behind["data_o"].bits(streams[1].data_bits + 1))
    for flag in ("overflow_o", "misaligned_o"):
        m.assign(m[flag], made[flag])
    return m


def _add_queue(
    m: Module, name: str, depth: int, data: Expression, *, valid: Expression, ready: Expression
) -> dict[str, Signal]:
    """A queue; its outputs by the names of its ports."""
    sizes = {"W": data.width, "Depth": depth}
    made = m.new_outputs(name.removeprefix("u_"), FIFO, **sizes)
    wires = {**m.named("clk_i", "rst_ni"), "data_i": data, "valid_i": valid, "ready_i": ready}
    m.instance(name, FIFO, {**wires, **made}, **sizes)
    return made
