"""Several copies of an accelerator behind one pair of streams: states go to them in turn, results come back
in the same turn, so in order."""

from __future__ import annotations

from robomorph.targets.rtl.cell_table import COLLECT, DISPATCH
from robomorph.targets.rtl.emit_ports import streaming_module
from robomorph.targets.rtl.expressions import Expression, Signal, any_of, join
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.stream import Stream


def pipelines_module(name: str, pipeline: Module, streams: tuple[Stream, Stream], copies: int) -> Module:
    """The module `name`, with the ports of the module `pipeline` and so many copies of it inside."""
    m = streaming_module(name, f"{copies} pipelines, {pipeline.name}, in turn.", streams)
    valid, ready = m.signal("valid", copies), m.signal("ready", copies)
    made = []
    for k in range(copies):
        made.append(m.new_outputs(f"p{k}", pipeline))
        wires: dict[str, Expression] = {
            **m.named("clk_i", "rst_ni", "s_axis_tdata", "s_axis_tlast"),
            "s_axis_tvalid": valid.bits(k),
            "m_axis_tready": ready.bits(k),
        }
        m.instance(f"u_p{k}", pipeline, {**wires, **made[k]})
    _add_dispatch(m, made, valid, streams[0].beats)
    _add_collect(m, made, ready)
    for flag in ("overflow_o", "misaligned_o"):
        m.assign(m[flag], any_of([one[flag] for one in made]))
    return m


def _add_dispatch(m: Module, made: list[dict[str, Signal]], valid: Signal, beats: int) -> None:
    wires = {
        **m.named("clk_i", "rst_ni"),
        "valid_i": m["s_axis_tvalid"],
        "ready_o": m["s_axis_tready"],
        "valid_o": valid,
        "ready_i": join(*(one["s_axis_tready"] for one in reversed(made))),
    }
    m.instance("u_dispatch", DISPATCH, wires, Ways=len(made), Beats=beats)


def _add_collect(m: Module, made: list[dict[str, Signal]], ready: Signal) -> None:
    """A beat travels with its flag above it."""
    data = m["m_axis_tdata"]
    beat = m.signal("beat", data.width + 1)
    flagged = [join(one["m_axis_tuser"], one["m_axis_tdata"]) for one in made]
    wires = {
        **m.named("clk_i", "rst_ni"),
        "data_i": join(*reversed(flagged)),
        "valid_i": join(*(one["m_axis_tvalid"] for one in reversed(made))),
        "last_i": join(*(one["m_axis_tlast"] for one in reversed(made))),
        "ready_o": ready,
        "data_o": beat,
        "valid_o": m["m_axis_tvalid"],
        "last_o": m["m_axis_tlast"],
        "ready_i": m["m_axis_tready"],
    }
    m.instance("u_collect", COLLECT, wires, Ways=len(made), W=beat.width)
    m.assign(data, beat.bits(0, data.width))
    m.assign(m["m_axis_tuser"], beat.bits(data.width))
