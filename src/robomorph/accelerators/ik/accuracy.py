"""How far the chip's distance from a target may be from the true one, from the widths alone: at worst, which
no configuration exceeds, and likely, which is less where many roundings even out."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np

from robomorph.accelerators.ik.chain import Chain, ChainJoint
from robomorph.accelerators.ik.coordinates import SLIDE_LOG, TURN, Coordinates
from robomorph.ir.ops import MUL
from robomorph.ir.program import Program
from robomorph.targets.rtl.ik.definition import trig
from robomorph.targets.rtl.ik.plan import RATIO_FRAC, IkPlan
from robomorph.targets.rtl.ik.turning import make_turner

# Standard deviations of independent roundings that the likely error covers.
SIGMAS = 6.0
_FACTOR = 2.0**-20  # of a constant that all joints share: its last place is no finer


def worst_error(own: Coordinates, plan: IkPlan) -> float:
    """m: the sum of all roundings at their largest, in the same direction: of angles, sines, constants and
    products, of the step that ended there, and of the target."""
    place, errors = 2.0**-plan.unit_frac, []
    turn = _turn(plan)
    products = 0.5 * place * math.hypot(*_products_of_results(plan.reach.program)) + turn.rounding
    for joint, arm in zip(own.chain.joints, _arms(own.chain), strict=True):
        moved = _word_error(own, plan, joint)
        angle = TURN * 2.0 ** -(plan.widths.angle + 1)
        turned = angle + turn.off + _twist_error(joint, place) + (0.0 if joint.slides else TURN * moved)
        slid = 0.5 * place + 2.0**SLIDE_LOG * moved if joint.slides else 0.0
        errors.append(turned * arm / own.length + slid + products)
    # A turn that makes things longer stretches errors as well.
    grown = (1.0 + turn.off + math.sqrt(2.0) * place) ** len(errors)
    target = 0.5 * math.sqrt(3.0) * place
    return own.length * (grown * sum(errors) + target) + grown * _constants(own, place)


def likely_error(own: Coordinates, plan: IkPlan) -> float:
    """m: SIGMAS standard deviations of what roundings of angles, sines and products add up to if they are
    independent, and all of what rounded constants and the target's do. Never more than `worst_error`."""
    place = 2.0**-plan.unit_frac
    last = 1.0 / math.sqrt(12.0)  # the deviation of a rounding, in last places
    angle = TURN * 2.0**-plan.widths.angle * last
    turn = _turn(plan)
    products = sum(node.op is MUL for node in plan.reach.program.nodes)
    arms = [arm / own.length for arm in _arms(own.chain)]
    variance = sum((angle**2 + turn.off_variance) * arm**2 for arm in arms)
    variance += len(arms) * (products * (place * last) ** 2 + turn.rounding_variance)
    constants = _constants(own, place) + own.length * 0.5 * math.sqrt(3.0) * place
    constants += own.length * turn.drift * sum(arms)
    for joint, arm in zip(own.chain.joints, arms, strict=True):
        constants += own.length * _twist_error(joint, place) * arm
        if own.chain.coupled:  # elsewhere far below an angle's last place
            word = _word_error(own, plan, joint)
            constants += own.length * word * (2.0**SLIDE_LOG if joint.slides else TURN * arm)
    return min(worst_error(own, plan), SIGMAS * math.sqrt(variance) * own.length + constants)


class _Turn(NamedTuple):
    """What a turn does wrong, apart from its angle's rounding and products of the template. In arms: at worst
    (`off`), as a variance, and what is the same in every joint (`drift`). In units of length, whatever the
    arm: at worst, and as a variance."""

    off: float
    off_variance: float
    drift: float
    rounding: float
    rounding_variance: float


def _turn(plan: IkPlan) -> _Turn:
    place = 2.0**-plan.unit_frac
    if not plan.cordic:
        sine = 2.0 / math.sqrt(12.0) * place  # its own rounding, and CORDIC's last steps
        return _Turn(_sine_error(plan.widths.angle, plan.widths.unit), 2.0 * sine**2, 0.0, 0.0, 0.0)
    # The angle that is left after CORDIC's last step, and rounded arctangents; words that every step rounds
    # down, and that are rounded before the first and after the last; the gain.
    turner = make_turner(plan.widths.unit, plan.widths.angle)
    steps, drift = turner.steps, abs(turner.gain_error)
    phase, last = TURN * 2.0**-turner.phase_bits, 2.0 ** (1 - steps)
    inner = math.sqrt(2.0) * (steps + 0.5) * 2.0**-turner.guard  # errors grow by the gain, below 2^0.75
    rounding = place * (math.sqrt(0.5) + 2.0**0.75 * inner)
    variance = 2.0 * place**2 * ((steps / 3.0 + 1.0 / 12.0) * 4.0**-turner.guard + 1.0 / 12.0)
    off = last + 0.5 * steps * phase + drift
    return _Turn(off, last**2 / 3.0 + steps * phase**2 / 12.0, drift, rounding, variance)


def _arms(chain: Chain) -> list[float]:
    """Per joint, the farthest the tip can be from it (m)."""
    arms, arm = [], float(np.linalg.norm(chain.tip))
    for joint in reversed(chain.joints):
        if joint.slides:
            arm += max(abs(x) for x in chain.travel(joint))
        arms.append(arm)
        arm += float(np.linalg.norm(joint.offset))
    return arms[::-1]


def _constants(own: Coordinates, place: float) -> float:
    """m: what rounded offsets add up to."""
    step = own.length * place
    offsets = np.array([*(joint.offset for joint in own.chain.joints), own.chain.tip]) / step
    return float(np.abs(offsets - np.round(offsets)).sum()) * step


def _twist_error(joint: ChainJoint, place: float) -> float:
    """Of the turn about x that a joint has: nothing if it is a right angle."""
    exact = all(x in (-1.0, 0.0, 1.0) for x in joint.twist)
    return 0.0 if exact else math.sqrt(0.5) * max(place, _FACTOR)


def _word_error(own: Coordinates, plan: IkPlan, joint: ChainJoint) -> float:
    """Of a joint's own word against its coordinate's, in the word's units: the step's end is rounded after
    the search, limits are a word's nearest, and so are the ratio, the shift and the step of a joint that
    follows another."""
    last = 2.0**-plan.widths.theta
    if not own.chain.coupled:
        return 1.5 * last
    reach = 2.0 ** (plan.turns - 1)
    steps = plan.knobs.speculations * 2.0**-plan.delta_frac * (1.0 + abs(own.ratio(joint))) / 2.0
    return last * (2.0 + 1.5 * abs(own.ratio(joint))) + reach * 2.0**-RATIO_FRAC + steps


@cache
def _sine_error(angle_bits: int, bits: int) -> float:
    """The largest distance of a word's (cosine, sine) from the true one's, over all angles."""
    table = trig(angle_bits, bits)
    true = np.arange(1 << angle_bits) * (TURN / (1 << angle_bits))
    c, s = table.cos * 2.0 ** (2 - bits) - np.cos(true), table.sin * 2.0 ** (2 - bits) - np.sin(true)
    return float(np.hypot(c, s).max())


def _products_of_results(program: Program) -> list[int]:
    """Per result, the products that it is made of: each is rounded once, and none grows on its way."""
    below: list[frozenset[int]] = []
    for i, node in enumerate(program.nodes):
        found = frozenset[int]().union(*(below[a] for a in node.args))
        below.append(found | {i} if node.op is MUL else found)
    return [len(below[r]) for r in program.results]
