"""The shared units of a core: operands, which the phase selects, and the cells or modules that compute."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.ir.cordic import cordic
from robomorph.targets.rtl.cell_table import MULTIPLY, RECIPROCAL, ROTATE
from robomorph.targets.rtl.core import Core
from robomorph.targets.rtl.expressions import Expression, Literal, join
from robomorph.targets.rtl.netlist import Module
from robomorph.targets.rtl.operations import Kind
from robomorph.targets.rtl.schedule import Unit


def add_units(core: Core, templates: Sequence[Module]) -> None:
    """All units of a core; `templates` are the modules of those that compute one."""
    for j, unit in enumerate(core.s.units):
        if unit.kind is Kind.CALL:
            _add_template_unit(core, j, unit, templates[unit.key[1][0]])
        elif unit.kind is Kind.ROTATE:
            _add_rotate_unit(core, j, unit)
        else:
            _add_word_unit(core, j, unit)


def _add_operands(core: Core, j: int, unit: Unit, names: str) -> dict[str, Expression]:
    """Clock, enable, and the operands of a unit by phase, as wires of its cell."""
    m, wires = core.module, core.module.named("clk_i", "en_i")
    for k, name in enumerate(names):
        operand = core.word(f"u{j}_{name}")
        turns = {p: core.read(core.nodes[n].args[k], core.s.issue[n]) for p, n in sorted(unit.turns.items())}
        m.select(operand, m["phase_i"], turns)
        wires[f"{name}_i"] = operand
    return wires


def _add_word_unit(core: Core, j: int, unit: Unit) -> None:
    """A multiplier or a unit for reciprocals: a word out, and whether it saturated."""
    m, stages = core.module, core.s.knobs.stages(unit.kind)
    wires = _add_operands(core, j, unit, "ab" if unit.kind is Kind.MULTIPLY else "a")
    flag = m.signal(f"u{j}_v")
    for node in unit.turns.values():
        core.saturated[core.s.birth[node]].append(flag)
    wires |= {"y_o": core.word(f"u{j}_y"), "overflow_o": flag}
    if unit.kind is Kind.MULTIPLY:
        m.instance(f"u_u{j}", MULTIPLY, wires, W=core.width, Drop=unit.key[1][0], Stages=stages)
    else:
        m.instance(f"u_u{j}", RECIPROCAL, wires, W=core.width, Exponent=sum(unit.key[1]), Stages=stages)


def _add_rotate_unit(core: Core, j: int, unit: Unit) -> None:
    c = cordic(core.width, unit.key[1][0])
    angles = sum(angle << (k * c.phase_bits) for k, angle in enumerate(c.angles))
    wires = _add_operands(core, j, unit, "a")
    wires["angle_i"] = wires.pop("a_i")
    wires |= {f"{which}_o": core.rotated(j, which, c.inner) for which in ("cos", "sin")}
    core.module.instance(
        f"u_u{j}",
        ROTATE,
        wires,
        W=core.width,
        PhaseW=c.phase_bits,
        Inner=c.inner,
        ScaleW=c.scale.bit_length(),
        Scale=Literal(c.scale, c.scale.bit_length()),
        Shift=c.shift,
        Start=Literal(c.start, c.inner),
        Angles=Literal(angles, c.inner * c.phase_bits),
        Stages=core.s.knobs.stages(Kind.ROTATE),
        Drop=0,
    )


def _add_template_unit(core: Core, j: int, unit: Unit, template: Module) -> None:
    """A unit that computes a template: operands by phase, a phase of its own, results side by side."""
    m, plan = core.module, core.s.plan(unit)
    m.comment(f"u{j}: {plan.template.name}, {len(unit.turns)} calls")
    placed = {p: core.s.calls[c] for p, c in sorted(unit.turns.items())}
    operands = []
    for k in range(plan.template.operands):
        operands.append(core.word(f"u{j}_a{k}"))
        turns = {p: core.operand(one.call.args[k], one.issue, (j, k)) for p, one in placed.items()}
        m.select(operands[k], m["phase_i"], turns)
    flag, out = m.signal(f"u{j}_v"), m.signal(f"u{j}_o", template["data_o"].width)
    for one in placed.values():
        core.saturated[one.issue + plan.inner.length - 1].append(flag)
    _add_unit_phase(core, j, unit)
    wires = {
        **m.named("clk_i", "en_i"),
        "phase_i": m[f"u{j}_phase"],
        "data_i": join(*reversed(operands)),
        "data_o": out,
        "overflow_o": flag,
    }
    m.instance(f"u_u{j}", template, wires)
    # Some results may be of no use to the calls that are on this unit.
    for k in range(out.width // core.width):
        m.assign(core.word(f"u{j}_y{k}"), out.bits(k * core.width, core.width))


def _add_unit_phase(core: Core, j: int, unit: Unit) -> None:
    """A unit's own phase, decoded a cycle ahead."""
    m, inner = core.module, core.s.plan(unit).inner
    bits, fold = inner.phase_bits, inner.knobs.interval
    ahead, phase = m.signal(f"u{j}_next", bits), m.signal(f"u{j}_phase", bits)
    phases = {p: Literal((p - unit.offset) % fold, bits) for p in range(core.interval)}
    m.select(ahead, m["next_phase_i"], dict(phases))
    m.register(phase, ahead)
