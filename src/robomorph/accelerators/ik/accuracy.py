"""How far a position of the chip may be from the true one: a declared bound, from the widths alone."""

from __future__ import annotations

import math

import numpy as np

from robomorph.accelerators.ik.chain import Chain
from robomorph.ir.ops import MUL
from robomorph.targets.rtl.ik.plan import IkPlan

# Standard deviations of the roundings, which are taken for independent, that the declared bound covers.
SIGMAS = 6.0


def own_error(chain: Chain, plan: IkPlan, length: float) -> float:
    """m: SIGMAS standard deviations of what roundings of angles, sines and products add up to, and all of
    what rounded constants do, which is the same for every configuration of a joint and does not even out."""
    place = length * 2.0**-plan.unit_frac
    last = 1.0 / math.sqrt(12.0)  # the deviation of a rounding, in last places
    arms = _arms(chain)
    angle = 2.0 * math.pi * 2.0**-plan.widths.angle * last  # rad
    sine = 2.0 * last * 2.0**-plan.unit_frac  # a sine's own rounding, and CORDIC's last steps
    products = sum(node.op is MUL for node in plan.reach.program.nodes)
    variance = sum((angle * arm) ** 2 + 2.0 * (sine * arm) ** 2 for arm in arms)
    variance += len(arms) * products * (place * last) ** 2
    offsets = np.array([x for joint in chain.joints for x in joint.offset] + list(chain.tip)) / place
    constant = float(np.abs(offsets - np.round(offsets)).sum()) * place
    return SIGMAS * math.sqrt(variance) + constant


def _arms(chain: Chain) -> list[float]:
    """Per joint, the farthest the tip can be from it (m)."""
    arms, arm = [], float(np.linalg.norm(chain.tip))
    for joint in reversed(chain.joints):
        if joint.slides:
            arm += max(abs(x) for x in chain.travel(joint))
        arms.append(arm)
        arm += float(np.linalg.norm(joint.offset))
    return arms
