"""Positions turned by CORDIC itself, without a multiplier: its constants, and a joint's step, defined.

A vector is made shorter by 1 / gain (a constant, given by its signed digits), turned by ever smaller angles,
which makes it longer by the gain, and rounded to a position's word. Shifted words of the steps round down;
guard bits below a word's last make up for it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.fixed import Format, interpret_columns, round_shift, saturate
from robomorph.targets.rtl.ik.plan import IkPlan

Array = npt.NDArray[Any]
_GUARD = 3  # bits of a vector below a position's last: roundings of the steps then are like those of products
_PHASE_GUARD = 3  # and of an angle's


@dataclass(frozen=True)
class Turner:
    """Turns vectors of words of `bits` bits by angles of `angle_bits` bits, fractions of a turn. Inside,
    words have `guard` bits more below; `angles` are arctangents of 2**-i in `phase_bits` bits of a turn;
    `scale` is 1 / gain with `shift` fraction bits."""

    bits: int
    angle_bits: int
    guard: int
    phase_bits: int
    angles: tuple[int, ...]
    scale: int
    shift: int

    @property
    def steps(self) -> int:
        return len(self.angles)

    @property
    def gain_error(self) -> float:
        """By how much, relative to its length, every vector is turned too long (or short)."""
        return self.scale * 2.0**-self.shift * _gain(self.steps) - 1.0

    def __call__(self, x: Array, y: Array, angle: Array) -> tuple[Array, Array, Array]:
        """Words of (x, y) turned, and what saturated."""
        at = angle & (1 << self.angle_bits) - 1
        turns = _directions(self)[at]
        x, y = (round_shift((v << self.guard) * self.scale, self.shift) for v in (x, y))
        for i in range(self.steps):
            up = (turns & 1 << i) != 0
            dx, dy = y >> i, x >> i
            x, y = np.where(up, x - dx, x + dx), np.where(up, y + dy, y - dy)
        behind = (turns & 1 << self.steps) != 0
        form = Format(self.bits, self.bits - 2)
        (x, lost_x), (y, lost_y) = (
            saturate(round_shift(np.where(behind, -v, v), self.guard), form) for v in (x, y)
        )
        return x, y, lost_x | lost_y


@cache
def make_turner(bits: int, angle_bits: int) -> Turner:
    """As many steps as an angle has bits, or fewer if a vector has no more."""
    steps, phase_bits = min(angle_bits, bits + _GUARD - 1), angle_bits + _PHASE_GUARD
    angles = [round(math.atan(2.0**-i) / (2 * math.pi) * 2.0**phase_bits) for i in range(steps)]
    # An error of the gain is the same in every joint and does not even out: an eighth of a word's last place.
    shift = next(s for s in range(1, 62) if abs(_scale(steps, s)[1]) <= 2.0 ** -(bits + 2))
    return Turner(bits, angle_bits, _GUARD, phase_bits, tuple(angles), _scale(steps, shift)[0], shift)


def _gain(steps: int) -> float:
    return math.prod(math.sqrt(1.0 + 4.0**-i) for i in range(steps))


def _scale(steps: int, shift: int) -> tuple[int, float]:
    """1 / gain as a word with `shift` fraction bits, and how far its product with the gain is from one."""
    word = round(2.0**shift / _gain(steps))
    return word, word * 2.0**-shift * _gain(steps) - 1.0


@cache
def _directions(turner: Turner) -> Array:
    """Of every angle, as words without a sign: bit i says that step i turns up, the bit above the last that
    the angle is in the half turn behind, so that both words change sign."""
    half, span = 1 << turner.angle_bits - 1, 1 << turner.phase_bits
    turn = np.roll(np.arange(-half, half, dtype=np.int64), half) << turner.phase_bits - turner.angle_bits
    behind = (turn >= span // 4) | (turn < -span // 4)
    z = np.where(behind, np.where(turn < 0, turn + span // 2, turn - span // 2), turn)
    found = behind.astype(np.int64) << turner.steps
    for i, step in enumerate(turner.angles):
        up = z >= 0
        found |= up.astype(np.int64) << i
        z = np.where(up, z - step, z + step)
    return found


def turned_tip(
    plan: IkPlan, joint: int, tip: list[Array], angle: Array, slide: tuple[Array, ...]
) -> tuple[list[Array], Array]:
    """A position (x, y, z words) given in a joint's link, carried into its parent: slid along z, turned about
    z, twisted by quarters, and through the rest, which is a program. Second: what saturated."""
    form = Format(plan.widths.unit, plan.unit_frac)
    x, y, lost = make_turner(plan.widths.unit, plan.widths.angle)(tip[0], tip[1], angle)
    z = tip[2]
    if slide:
        z, over = saturate(z + slide[0], form)
        lost = lost | over
    if plan.quartered:
        turned = ((y, z), (-z, y), (-y, -z), (z, -y))[plan.tables.quarters[joint]]
        (y, over_y), (z, over_z) = (saturate(v, form) for v in turned)
        lost = lost | over_y | over_z
    results, over = interpret_columns(plan.reach, [x, y, z, *plan.tables.reach[joint]])
    return [np.broadcast_to(v, x.shape) for v in results], lost | over
