"""The turn of a position in a search unit without multipliers: netlist of what `turning` defines."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.targets.rtl.cell_table import ADD, QUARTER, TURN
from robomorph.targets.rtl.digits import signed_digits
from robomorph.targets.rtl.expressions import Expression, Literal, Signal
from robomorph.targets.rtl.ik.parts import Delays
from robomorph.targets.rtl.ik.timing import Timing
from robomorph.targets.rtl.ik.turning import make_turner
from robomorph.targets.rtl.netlist import Module


def add_turn(
    m: Module, later: Delays, t: Timing, tip: Sequence[Expression], angle: Expression, slide: list[Expression]
) -> tuple[list[Expression], list[Expression]]:
    """A position slid and turned about z, `rotate_stages` cycles later, twisted by quarters in that cycle;
    and flags of what saturated, in the cycle that writes the position."""
    bits, stages = t.plan.widths.unit, t.plan.knobs.rotate_stages
    x, y, lost = _add_turner(m, t, tip, angle)
    flags: list[Expression] = [later(lost, t.loop - 1 - stages)]
    z = m.signal("slid_z", bits)
    if slide:
        over = m.signal("slide_lost")
        wires = {"a_i": tip[2], "b_i": slide[0], "y_o": z, "overflow_o": over}
        m.instance("u_slide", ADD, wires, W=bits, AShift=0, BShift=0, Subtract=Literal(0, 1), Drop=0)
        flags.append(later(over, t.loop - 1))
    else:
        m.assign(z, tip[2])
    z = later(z, stages)
    if t.plan.quartered:
        moved, over = (m.signal("quarter_y", bits), m.signal("quarter_z", bits)), m.signal("quarter_lost")
        wires = {"quarter_i": m["quarter_i"], "y_i": y, "z_i": z, "y_o": moved[0], "z_o": moved[1]}
        m.instance("u_quarter", QUARTER, {**wires, "overflow_o": over}, W=bits)
        flags.append(later(over, t.loop - 1 - stages))
        y, z = moved
    return [x, y, z], flags


def _add_turner(
    m: Module, t: Timing, tip: Sequence[Expression], angle: Expression
) -> tuple[Signal, Signal, Signal]:
    """x and y turned, and whether one saturated."""
    turner = make_turner(t.plan.widths.unit, t.plan.widths.angle)
    digits = signed_digits(turner.scale)
    x, y = (m.signal(f"turned_{axis}", turner.bits) for axis in "xy")
    lost = m.signal("turned_lost")
    wires = {"clk_i": m["clk_i"], "angle_i": angle, "x_i": tip[0], "y_i": tip[1], "x_o": x, "y_o": y}
    m.instance(
        "u_turn",
        TURN,
        {**wires, "overflow_o": lost},
        W=turner.bits,
        Guard=turner.guard,
        AngleW=turner.angle_bits,
        PhaseW=turner.phase_bits,
        Steps=turner.steps,
        Angles=Literal(
            sum(a << k * turner.phase_bits for k, a in enumerate(turner.angles)),
            turner.steps * turner.phase_bits,
        ),
        Digits=len(digits),
        Shifts=Literal(sum(shift << 8 * k for k, (shift, _) in enumerate(digits)), 8 * len(digits)),
        Negative=Literal(sum((digit < 0) << k for k, (_, digit) in enumerate(digits)), len(digits)),
        Drop=turner.shift,
        Stages=t.plan.knobs.rotate_stages,
    )
    return x, y, lost
