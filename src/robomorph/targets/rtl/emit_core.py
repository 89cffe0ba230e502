"""The core of a design: sums and constant factors with hardware of their own, shared units, registers."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.ir.cordic import cordic
from robomorph.ir.ops import INPUT, NEG, SIN, SUB
from robomorph.targets.rtl.cell_table import ADD, ROUND, SCALE
from robomorph.targets.rtl.core import Core
from robomorph.targets.rtl.digits import signed_digits
from robomorph.targets.rtl.emit_memories import add_memories
from robomorph.targets.rtl.emit_units import add_units
from robomorph.targets.rtl.expressions import Expression, Literal, any_of
from robomorph.targets.rtl.netlist import Cell, Module
from robomorph.targets.rtl.operations import Kind, constant_factor
from robomorph.targets.rtl.registers import register_copies
from robomorph.targets.rtl.schedule import Schedule
from robomorph.targets.rtl.stream import input_slots


def core_module(schedule: Schedule, name: str, units: Sequence[Module] = ()) -> Module:
    """The module `name`: words in, words out, advanced by `phase_i` and `en_i`. `units` are the modules of
    the units that compute templates, one per template."""
    core = Core(schedule, name)
    _add_inputs(core)
    _add_own_hardware(core)
    add_units(core, units)
    _add_registers(core)
    add_memories(core)
    _add_outputs(core)
    _add_overflow(core)
    return core.module


def _add_inputs(core: Core) -> None:
    slots, data = input_slots(core.s), core.module["data_i"]
    for i, node in enumerate(core.nodes):
        if node.op is INPUT:
            low = slots.index(int(node.value)) * core.width
            core.module.assign(core.word(f"n{i}"), data.bits(low, core.width))


def _add_own_hardware(core: Core) -> None:
    """Nodes with hardware of their own: sums, constant factors, and the rounding of sines and cosines."""
    makers = {Kind.SUM: _add_sum, Kind.SCALE: _add_scale, Kind.ROTATE: _add_rotated}
    for i, operation in enumerate(core.s.operations):
        if operation.kind in makers:
            makers[operation.kind](core, i)


def _add_sum(core: Core, i: int) -> None:
    node, cycle = core.nodes[i], core.s.issue[i]
    fracs = [core.formats[a].frac for a in node.args]
    reads = [core.read(a, cycle) for a in node.args]
    if node.op is NEG:
        fracs, reads = fracs * 2, [Literal(0, core.width), *reads]
    exact = max(fracs)
    _add_cell(
        core,
        i,
        ADD,
        cycle,
        {"a_i": reads[0], "b_i": reads[1]},
        W=core.width,
        AShift=exact - fracs[0],
        BShift=exact - fracs[1],
        Subtract=Literal(int(node.op in (SUB, NEG)), 1),
        Drop=exact - core.formats[i].frac,
    )


def _add_scale(core: Core, i: int) -> None:
    found = constant_factor(core.s.fixed, i)
    assert found is not None
    constant, other = found
    # A factor too small for its format is x - x.
    digits = signed_digits(core.s.fixed.constant_word(constant)) or [(0, 1), (0, -1)]
    shifts = sum(shift << (8 * k) for k, (shift, _) in enumerate(digits))
    negative = sum((digit < 0) << k for k, (_, digit) in enumerate(digits))
    core.module.comment(f"n{i}: times {core.nodes[constant].value:.9g}")
    _add_cell(
        core,
        i,
        SCALE,
        core.s.issue[i],
        {"x_i": core.read(other, core.s.issue[i])},
        W=core.width,
        Digits=len(digits),
        Shifts=Literal(shifts, 8 * len(digits)),
        Negative=Literal(negative, len(digits)),
        Drop=core.formats[constant].frac + core.formats[other].frac - core.formats[i].frac,
    )


def _add_rotated(core: Core, i: int) -> None:
    angle = core.formats[core.nodes[i].args[0]]
    inner = cordic(angle.bits, angle.frac).inner
    which = "sin" if core.nodes[i].op is SIN else "cos"
    raw = core.rotated(core.s.unit[i], which, inner)
    shift = inner - core.formats[i].frac
    _add_cell(core, i, ROUND, core.s.birth[i], {"x_i": raw}, InW=inner + 2, Shift=shift, OutW=core.width)


def _add_cell(
    core: Core, i: int, cell: Cell, cycle: int, wires: dict[str, Expression], **parameters: int | Literal
) -> None:
    """An instance that makes node i and may saturate in `cycle`."""
    flag = core.module.signal(f"n{i}_v")
    core.saturated[cycle].append(flag)
    wires = {**wires, "y_o": core.word(f"n{i}"), "overflow_o": flag}
    core.module.instance(f"u_n{i}", cell, wires, **parameters)


def _add_registers(core: Core) -> None:
    m = core.module
    enables: dict[int, Expression] = {}
    for i, copies in enumerate(register_copies(core.s)):
        phase = core.s.birth[i] % core.interval
        if copies and phase not in enables:
            one_phase = core.interval == 1
            enables[phase] = m["en_i"] if one_phase else m["en_i"] & m["phase_i"].equals(phase)
        for k in range(copies):
            source = core.wire(i) if k == 0 else core.word(f"r{i}_{k - 1}")
            m.register(core.word(f"r{i}_{k}"), source, enables[phase])


def _add_outputs(core: Core) -> None:
    """Results, as they stand in the last cycle of a state; a unit's, each in its cycle of birth."""
    out = core.module["data_o"]
    for k, r in enumerate(core.s.fixed.program.results):
        cycle = core.s.birth[r] if core.s.early else core.s.length - 1
        core.module.assign(out.bits(k * core.width, core.width), core.read(r, cycle))


def _add_overflow(core: Core) -> None:
    """Per round, whether an operation of the current cycle saturated."""
    if core.s.early:
        _add_call_overflow(core)
        return
    m, out = core.module, core.module["overflow_o"]
    for rounds in range(core.s.rounds):
        terms = []
        for cycle in sorted(core.saturated):
            if cycle // core.interval == rounds:
                here = m.signal(f"v{cycle}")
                m.assign(here, any_of(core.flags(cycle)))
                terms.append(m["phase_i"].equals(cycle % core.interval) & here)
        m.assign(out.bits(rounds), any_of(terms))


def _add_call_overflow(core: Core) -> None:
    """In the last cycle of a call, whether any of its operations saturated: a flag that travels with
    it."""
    m, last = core.module, core.s.length - 1
    for cycle in range(last + 1):
        earlier = [m[f"flag{cycle - 1}_q"]] if cycle else []
        flags = [*core.flags(cycle), *earlier]
        if cycle == last:
            m.assign(m["overflow_o"], any_of(flags))
        else:
            m.register(m.signal(f"flag{cycle}_q"), any_of(flags), m["en_i"])
