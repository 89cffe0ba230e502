"""From a chain to the tables of its chip, and between a host's numbers and the chip's words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.ik.accuracy import own_error
from robomorph.accelerators.ik.chain import Chain, ChainJoint
from robomorph.accelerators.ik.templates import Template, columns_template, reach_template, turned_template
from robomorph.errors import ArgumentError
from robomorph.ir.fixed import Format
from robomorph.targets.rtl.ik.plan import (
    CORDIC,
    FACTOR_BITS,
    FACTOR_FRAC,
    RATIO_BITS,
    RATIO_FRAC,
    IkPlan,
    Knobs,
    Tables,
    Widths,
    table_of,
)

Array = npt.NDArray[Any]
_TURN = 2 * math.pi
_FULL = 1.98  # units: nothing of a chain is farther, roundings included
_SLIDE_LOG = 3
_QUARTERS = {(1.0, 0.0): 0, (0.0, 1.0): 1, (-1.0, 0.0): 2, (0.0, -1.0): 3}  # by cosine and sine


@dataclass(frozen=True)
class IkChip:
    """A chain, its plan in words, and the length (m) of the plan's unit."""

    chain: Chain
    plan: IkPlan
    length: float

    @property
    def place(self) -> float:
        """m of a position's last place."""
        return self.length * 2.0**-self.plan.unit_frac

    @cached_property
    def own_error(self) -> float:
        """m: the declared bound of how far a position of the search units is from the true one."""
        return own_error(self.chain, self.plan, self.length)

    def target_words(self, targets: Array) -> tuple[Array, Array]:
        """Words (n, 3) of targets (n, 3) in the world, and whether one did not fit (n,): such a target is out
        of reach."""
        words = np.floor(self.chain.carried(targets) / self.place + 0.5)
        most = float((1 << self.plan.target_bits - 1) - 1)
        clipped = np.clip(words, -most, most)
        return clipped.astype(np.int64), (clipped != words).any(axis=-1)

    def threshold_words(self, tolerance: float) -> int:
        """The squared threshold for a tolerance (m), lowered by the chip's own error."""
        lowered = max(0.0, tolerance - self.own_error - 0.5 * math.sqrt(3.0) * self.place)
        most = (1 << self.plan.square_bits) - 1
        return min(most, math.floor((lowered / self.place) ** 2))

    def theta_words(self, q: Array) -> tuple[Array, Array]:
        """Words (n, C) of configurations (n, nq), and the whole turns (n, C) that are left out of them."""
        own = q[:, list(self.chain.coordinates)] * self.per_coordinate + self.zero
        words = np.floor(own * 2.0**self.plan.widths.theta + 0.5)
        t = self.plan.tables
        held = np.clip(words, t.coordinate_lower, t.coordinate_upper)
        span = 2.0**self.plan.theta_bits
        whole = np.where(t.coordinate_clamped, 0.0, np.floor(words / span + 0.5))
        return np.where(t.coordinate_clamped, held, words - whole * span).astype(np.int64), whole

    def configurations(self, theta: Array, whole: Array, q: Array) -> Array:
        """Configurations (n, nq) of words (n, C); entries of q that the chain does not have stay."""
        out = np.array(q, np.float64)
        scale = 2.0**-self.plan.widths.theta
        turns = theta * scale + whole * 2.0**self.plan.turns
        out[:, list(self.chain.coordinates)] = (turns - self.zero) / self.per_coordinate
        lower, upper = np.array(self.chain.lower), np.array(self.chain.upper)
        places = list(self.chain.coordinates)
        # A limit is a word's nearest: back in numbers it must not be beyond.
        out[:, places] = np.clip(out[:, places], lower, upper)
        return out

    @cached_property
    def per_coordinate(self) -> Array:
        """Words' units (turns, or 2**slide_log lengths) of a radian or metre of each coordinate."""
        return np.array([_unit(joint, self.length) for joint in _drivers(self.chain)])

    @cached_property
    def zero(self) -> Array:
        """What the word of a coordinate at zero stands for; couplings have that on the chip."""
        drivers = _drivers(self.chain)
        shift = [0.0 if joint.slides or self.chain.coupled else joint.turn / _TURN for joint in drivers]
        return np.array(shift)


def make_chip(chain: Chain, widths: Widths, knobs: Knobs, *, damping: int = 13) -> IkChip:
    """The chip of a chain."""
    for joint in chain.joints:
        if joint.slides and not all(map(math.isfinite, chain.travel(joint))):
            raise ArgumentError(
                f"joint {joint.name!r} slides without limits: a word cannot hold any length. Give it limits, "
                "or use on='cpu'"
            )
    length = _length(chain, widths)
    quarters = _quarters(chain, knobs)
    if knobs.turning == CORDIC:
        reach = turned_template(chain, length, widths.unit, twisted=any(quarters))
    else:
        reach = reach_template(chain, length, widths.unit)
    columns = columns_template(chain, length, widths.serial)
    turns = _whole_bits(chain)
    tables = _tables(chain, widths, length, turns, reach, columns, quarters)
    name = f"{chain.name}_{chain.frame}_ik"
    plan = IkPlan(
        name, widths, knobs, tables, reach.fixed, columns.fixed, turns, _SLIDE_LOG, chain.coupled, damping
    )
    return IkChip(chain, plan, length)


def _quarters(chain: Chain, knobs: Knobs) -> list[int]:
    """Per joint, the quarters of its twist, where CORDIC turns positions and all twists are right angles that
    differ: words that change places take no multiplier. Else zero: the template has the twist, by additions
    if all joints have the same, by products if each has one of its own."""
    twists = [joint.twist for joint in chain.joints]
    if knobs.turning != CORDIC or len(set(twists)) == 1 or not set(twists) <= set(_QUARTERS):
        return [0] * len(twists)
    return [_QUARTERS[twist] for twist in twists]


def _length(chain: Chain, widths: Widths) -> float:
    """m of a unit: the smallest that holds the chain, or one a little larger whose offsets round well.
    Rounded offsets are an error that every position has alike, where other roundings even out."""
    reach = chain.reach
    if not 1e-6 <= reach <= 1e6:
        raise ArgumentError(f"{chain.name}: a chip needs a chain of 1e-6 to 1e6 m, found {reach:g} m")
    offsets = np.array([x for joint in chain.joints for x in joint.offset] + list(chain.tip))
    best = (math.inf, 0.0)
    for length in reach / _FULL * np.linspace(1.0, 1.12, 1201):
        words = offsets / length * 2.0 ** (widths.unit - 2)
        best = min(best, (float(np.abs(words - np.round(words)).sum()) * length, float(length)))
    return best[1]


def _whole_bits(chain: Chain) -> int:
    """Bits of an angle before its point: one if all limits are within half a turn, which then wraps."""
    most = 0.5
    for joint in chain.joints:
        if joint.slides:
            continue
        ends = [*chain.travel(joint), *(x[joint.coordinate] for x in (chain.lower, chain.upper))]
        finite = [abs(x) for x in ends if math.isfinite(x)]
        shift = 0.0 if chain.coupled else abs(joint.turn)
        most = max([most, *((x + shift) / _TURN + 1e-6 for x in finite)])
    bits = 1 + max(0, math.ceil(math.log2(most / 0.5)))
    if bits > 5:
        raise ArgumentError(f"{chain.name}: limits of {most:g} turns: a chip counts up to 8 turns either way")
    return max(bits, 3) if chain.coupled else bits


def _tables(
    chain: Chain,
    widths: Widths,
    length: float,
    turns: int,
    reach: Template,
    columns: Template,
    quarters: list[int],
) -> Tables:
    joints, theta = chain.joints, widths.theta
    most = (1 << theta + turns - 1) - 1
    units = [_unit(joint, length) for joint in joints]
    drivers = _drivers(chain)
    ratio = [j.scale * u / _unit(drivers[j.coordinate], length) for j, u in zip(joints, units, strict=True)]
    shift = [j.shift * u + (0.0 if j.slides else j.turn / _TURN) for j, u in zip(joints, units, strict=True)]
    if chain.coupled and max(map(abs, ratio)) >= 1 << RATIO_BITS - 1 - RATIO_FRAC:
        raise ArgumentError(
            f"{chain.name}: a mimic joint moves {max(map(abs, ratio)):g} times as far: expected < 8"
        )
    places = dict(enumerate(drivers))
    zero = [0.0 if d.slides or chain.coupled else d.turn / _TURN for d in drivers]
    ends = [_end_words(chain, k, _unit(d, length), zero[k], theta, most) for k, d in places.items()]
    own = [_joint_ends(chain, j, ratio[i], shift[i], ends[j.coordinate], theta) for i, j in enumerate(joints)]
    last = {joint.coordinate: i for i, joint in enumerate(joints)}
    unit_form, serial_form = (Format(bits, bits - 2) for bits in (widths.unit, widths.serial))
    tip = np.array(chain.tip) / length
    return Tables(
        reach=unit_form.to_words(np.array(reach.constants))[0],
        columns=serial_form.to_words(np.array(columns.constants))[0],
        tip=unit_form.to_words(tip)[0],
        slides=np.array([joint.slides for joint in joints]),
        stand=table_of([round(j.turn / _TURN * 2.0**theta) if j.slides else 0 for j in joints]),
        coordinate=table_of([joint.coordinate for joint in joints]),
        closes=np.array([last[joint.coordinate] == i for i, joint in enumerate(joints)]),
        ratio=table_of([round(r * 2.0**RATIO_FRAC) for r in ratio]),
        shift=table_of([round(s * 2.0**theta) for s in shift]),
        clamped=np.array([bounded for bounded, _, _ in own]),
        lower=table_of([low for _, low, _ in own]),
        upper=table_of([high for _, _, high in own]),
        coordinate_clamped=np.array([bounded for bounded, _, _ in ends]),
        coordinate_lower=table_of([low for _, low, _ in ends]),
        coordinate_upper=table_of([high for _, _, high in ends]),
        factor=table_of([_factor(drivers[joint.coordinate]) for joint in joints]),
        quarters=table_of(quarters),
    )


def _drivers(chain: Chain) -> list[ChainJoint]:
    """Per coordinate, the joint in whose units its word is: the first that it moves."""
    return [next(j for j in chain.joints if j.coordinate == k) for k in range(len(chain.coordinates))]


def _unit(joint: ChainJoint, length: float) -> float:
    return 1.0 / (length * 2.0**_SLIDE_LOG) if joint.slides else 1.0 / _TURN


def _factor(driver: ChainJoint) -> int:
    value = _TURN * 2.0**-_SLIDE_LOG if driver.slides else 1.0
    assert value < 1 << FACTOR_BITS - 1 - FACTOR_FRAC
    return round(value * 2.0**FACTOR_FRAC)


def _end_words(
    chain: Chain, k: int, unit: float, zero: float, theta: int, most: int
) -> tuple[bool, int, int]:
    """(is it limited, lowest word, highest word) of a coordinate: words inside its limits. One that drives
    others must not wrap."""
    bounded = math.isfinite(chain.lower[k]) or math.isfinite(chain.upper[k]) or chain.coupled
    low = (
        -most - 1
        if math.isinf(chain.lower[k])
        else math.ceil((chain.lower[k] * unit + zero) * 2.0**theta - 1e-6)
    )
    high = (
        most if math.isinf(chain.upper[k]) else math.floor((chain.upper[k] * unit + zero) * 2.0**theta + 1e-6)
    )
    return bounded, max(low, -most - 1), min(high, most)


def _joint_ends(
    chain: Chain, joint: ChainJoint, ratio: float, shift: float, ends: tuple[bool, int, int], theta: int
) -> tuple[bool, int, int]:
    if not chain.coupled:
        return ends
    bounded, low, high = ends
    own = sorted(round(ratio * x + shift * 2.0**theta) for x in (low, high))
    return bounded, own[0], own[1]
