"""From a chain to the tables of its chip, and between a host's numbers and the chip's words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.accelerators.ik.accuracy import likely_error, worst_error
from robomorph.accelerators.ik.chain import Chain, ChainJoint
from robomorph.accelerators.ik.coordinates import SLIDE_LOG, TURN, Coordinates
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
from robomorph.targets.rtl.ik.stream_words import squared_error

Array = npt.NDArray[Any]
_FULL = 1.98  # units: nothing of a chain is farther, roundings included
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
    def worst_error(self) -> float:
        """m: a distance that the search units find is never farther from the true one."""
        return worst_error(self.coordinates, self.plan)

    @cached_property
    def own_error(self) -> float:
        """m: the declared bound of the same, by which thresholds are lowered: six standard deviations, if
        roundings are independent. Joints that all stand at one angle round alike, and long chains of them
        may be off by more, up to `worst_error`: what the chip holds for solved, the host judges again."""
        return likely_error(self.coordinates, self.plan)

    def target_words(self, targets: Array) -> tuple[Array, Array]:
        """Words (n, 3) of targets (n, 3) in the world, and whether one did not fit (n,): such a target is out
        of reach."""
        words = np.floor(self.chain.carried(targets) / self.place + 0.5)
        most = float((1 << self.plan.target_bits - 1) - 1)
        clipped = np.clip(words, -most, most)
        return clipped.astype(np.int64), (clipped != words).any(axis=-1)

    def threshold_words(self, tolerance: float) -> int:
        """The squared threshold for a tolerance (m), lowered by the chip's own error."""
        lowered = max(0.0, tolerance - self.own_error)
        most = (1 << self.plan.square_bits) - 1
        return min(most, math.floor((lowered / self.place) ** 2))

    def theta_words(self, q: Array) -> tuple[Array, Array]:
        """Words (n, C) of configurations (n, nq), and the whole turns (n, C) that are left out of them."""
        return self.coordinates.to_words(q[:, list(self.chain.coordinates)], self.plan.widths.theta)

    def configurations(self, theta: Array, whole: Array, q: Array) -> Array:
        """Configurations (n, nq) of words (n, C); entries of q that the chain does not have stay."""
        out = np.array(q, np.float64)
        numbers = self.coordinates.to_numbers(theta, whole, self.plan.widths.theta)
        out[:, list(self.chain.coordinates)] = numbers
        return out

    def distance(self, words: Array) -> Array:
        """m: from the target (n,), as the chip says in result words (n, output_words)."""
        return np.asarray(np.sqrt(squared_error(words)) * self.place)

    @cached_property
    def coordinates(self) -> Coordinates:
        return Coordinates(self.chain, self.length)


def make_chip(chain: Chain, widths: Widths, knobs: Knobs, *, damping: int = 13) -> IkChip:
    """The chip of a chain."""
    for joint in chain.joints:
        if joint.slides and not all(map(math.isfinite, chain.travel(joint))):
            raise ArgumentError(
                f"joint {joint.name!r} slides without limits: a word cannot hold any length. Give it limits, "
                "or use on='cpu'"
            )
    length = _length(chain, widths)
    own = Coordinates(chain, length)
    _check_widths(chain, widths, own.whole_bits)
    quarters = _quarters(chain, knobs)
    if knobs.turning == CORDIC:
        reach = turned_template(chain, length, widths.unit, twisted=any(quarters))
    else:
        reach = reach_template(chain, length, widths.unit)
    columns = columns_template(chain, length, widths.serial)
    tables = _tables(chain, widths, own, reach, columns, quarters)
    name = f"{chain.name}_{chain.frame}_ik"
    programs = (reach.fixed, columns.fixed)
    turns, coupled = own.whole_bits, chain.coupled
    plan = IkPlan(name, widths, knobs, tables, *programs, turns, SLIDE_LOG, coupled, damping)
    return IkChip(chain, plan, length)


def _quarters(chain: Chain, knobs: Knobs) -> list[int]:
    """Per joint, the quarters of its twist, where CORDIC turns positions and all twists are right angles that
    differ: words that change places take no multiplier. Else zero: the template has the twist, by additions
    if all joints have the same, by products if each has one of its own."""
    twists = [joint.twist for joint in chain.joints]
    if knobs.turning != CORDIC or len(set(twists)) == 1 or not set(twists) <= set(_QUARTERS):
        return [0] * len(twists)
    return [_QUARTERS[twist] for twist in twists]


def _check_widths(chain: Chain, widths: Widths, turns: int) -> None:
    """What only some chains ask of them: a slide has as many places as a position, a product with a ratio
    stays within 64 bits."""
    most = widths.theta - SLIDE_LOG + 2
    if any(joint.slides for joint in chain.joints) and widths.serial > most:
        raise ArgumentError(
            f"serial: with sliding joints, expected at most {most} bits for a theta of {widths.theta}, found "
            f"{widths.serial}"
        )
    spare = 37 - widths.theta - turns
    if chain.coupled and widths.guard > spare:
        raise ArgumentError(
            f"guard: with joints that follow others, expected at most {spare} bits for a theta of "
            f"{widths.theta}, found {widths.guard}"
        )


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


def _tables(
    chain: Chain,
    widths: Widths,
    own: Coordinates,
    reach: Template,
    columns: Template,
    quarters: list[int],
) -> Tables:
    joints, theta = chain.joints, widths.theta
    low, high = own.end_words(theta)
    ends = [_joint_ends(own, joint, (low, high), theta) for joint in joints]
    last = {joint.coordinate: i for i, joint in enumerate(joints)}
    unit_form, serial_form = (Format(bits, bits - 2) for bits in (widths.unit, widths.serial))
    return Tables(
        reach=unit_form.to_words(np.array(reach.constants))[0],
        columns=serial_form.to_words(np.array(columns.constants))[0],
        tip=unit_form.to_words(np.array(chain.tip) / own.length)[0],
        slides=np.array([joint.slides for joint in joints]),
        stand=table_of([round(own.stand(j) * 2.0**theta) for j in joints]),
        coordinate=table_of([joint.coordinate for joint in joints]),
        closes=np.array([last[joint.coordinate] == i for i, joint in enumerate(joints)]),
        ratio=table_of([_ratio_word(own, joint) for joint in joints]),
        shift=table_of([round(own.shift(j) * 2.0**theta) for j in joints]),
        clamped=np.array([own.bounded[joint.coordinate] for joint in joints]),
        lower=table_of([least for least, _ in ends]),
        upper=table_of([most for _, most in ends]),
        coordinate_clamped=own.bounded,
        coordinate_lower=low,
        coordinate_upper=high,
        factor=table_of([_factor(own.drivers[joint.coordinate]) for joint in joints]),
        quarters=table_of(quarters),
    )


def _ratio_word(own: Coordinates, joint: ChainJoint) -> int:
    ratio, most = own.ratio(joint), 1 << RATIO_BITS - 1 - RATIO_FRAC
    word = round(ratio * 2.0**RATIO_FRAC)
    if abs(word) >= most << RATIO_FRAC:
        raise ArgumentError(
            f"joint {joint.name!r} follows another and moves {abs(ratio):.3g} times as far, in turns (or "
            f"{2**SLIDE_LOG} lengths of the chip's unit): expected less than {most}: use on='cpu'"
        )
    return word


def _factor(driver: ChainJoint) -> int:
    value = TURN * 2.0**-SLIDE_LOG if driver.slides else 1.0
    assert value < 1 << FACTOR_BITS - 1 - FACTOR_FRAC
    return round(value * 2.0**FACTOR_FRAC)


def _joint_ends(
    own: Coordinates, joint: ChainJoint, ends: tuple[Array, Array], theta: int
) -> tuple[int, int]:
    """The lowest and the highest word of a joint's own coordinate."""
    low, high = (int(words[joint.coordinate]) for words in ends)
    if not own.chain.coupled:
        return low, high
    ratio, shift = own.ratio(joint), own.shift(joint) * 2.0**theta
    least, most = sorted(round(ratio * x + shift) for x in (low, high))
    return least, most
