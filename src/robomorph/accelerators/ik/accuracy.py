"""How far a position of the chip may be from the true one: a declared bound, from the widths alone."""

from __future__ import annotations

import math

import numpy as np

from robomorph.accelerators.ik.chain import Chain
from robomorph.ir.ops import MUL
from robomorph.targets.rtl.ik.plan import IkPlan
from robomorph.targets.rtl.ik.turning import make_turner

# Standard deviations of the roundings, which are taken for independent, that the declared bound covers.
SIGMAS = 6.0


def own_error(chain: Chain, plan: IkPlan, length: float) -> float:
    """m: SIGMAS standard deviations of what roundings of angles, sines and products add up to, and all of
    what rounded constants do, which is the same for every configuration of a joint and does not even out."""
    place = length * 2.0**-plan.unit_frac
    last = 1.0 / math.sqrt(12.0)  # the deviation of a rounding, in last places
    arms = _arms(chain)
    angle = 2.0 * math.pi * 2.0**-plan.widths.angle * last  # rad
    products = sum(node.op is MUL for node in plan.reach.program.nodes)
    turn, each, drift = _cordic_turn(plan) if plan.cordic else _multiplied_turn(plan)
    variance = sum((angle**2 + turn) * arm**2 for arm in arms)
    variance += len(arms) * (products * last**2 + each) * place**2
    offsets = np.array([x for joint in chain.joints for x in joint.offset] + list(chain.tip)) / place
    constant = float(np.abs(offsets - np.round(offsets)).sum()) * place
    return SIGMAS * math.sqrt(variance) + constant + drift * sum(arms)


def _multiplied_turn(plan: IkPlan) -> tuple[float, float, float]:
    """What a turn adds to the variance, apart from its products and its angle: in squares of the arm, in
    squares of a position's last place; and what it adds to every arm alike, in arms."""
    sine = 2.0 / math.sqrt(12.0) * 2.0**-plan.unit_frac  # a sine's own rounding, and CORDIC's last steps
    return 2.0 * sine**2, 0.0, 0.0


def _cordic_turn(plan: IkPlan) -> tuple[float, float, float]:
    """The same of a turn by CORDIC itself: the angle that is left after its last step, and rounded
    arctangents; words rounded down in every step, once more before the first and after the last; the gain."""
    turner = make_turner(plan.widths.unit, plan.widths.angle)
    phase = 2.0 * math.pi * 2.0**-turner.phase_bits
    left = (2.0 ** (1 - turner.steps)) ** 2 / 3.0 + turner.steps * phase**2 / 12.0
    inner = (turner.steps / 3.0 + 1.0 / 12.0) * 4.0**-turner.guard
    return left, 2.0 * (inner + 1.0 / 12.0), abs(turner.gain_error)


def _arms(chain: Chain) -> list[float]:
    """Per joint, the farthest the tip can be from it (m)."""
    arms, arm = [], float(np.linalg.norm(chain.tip))
    for joint in reversed(chain.joints):
        if joint.slides:
            arm += max(abs(x) for x in chain.travel(joint))
        arms.append(arm)
        arm += float(np.linalg.norm(joint.offset))
    return arms
