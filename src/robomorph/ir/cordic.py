"""Sine and cosine of a fixed-point angle by CORDIC: the integer definition that the hardware cell repeats.

The angle becomes a fraction of a turn (so any angle wraps exactly), is folded into a half turn about zero,
and a unit vector is turned towards it by ever smaller angles, with shifts and additions alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Cordic:
    """The constants for angles of `bits` bits, `frac` of them fraction.

    `scale` and `shift` turn an angle into `phase_bits` bits of a turn; vectors have `inner` fraction bits;
    the arctangents are in units of the phase.
    """

    phase_bits: int
    inner: int
    scale: int
    shift: int
    start: int
    angles: tuple[int, ...]


@cache
def cordic(bits: int, frac: int) -> Cordic:
    phase_bits = bits + 5
    # The scale takes a few bits more than a word, and their product stays below 62 bits.
    shift = max(0, min(60 - bits, bits + 6) + 2 - (phase_bits - frac))
    return _constants(bits, round(2.0 ** (phase_bits - frac + shift) / (2 * math.pi)), shift)


@cache
def cordic_turns(bits: int) -> Cordic:
    """For angles of `bits` bits that are fractions of a turn: nothing to scale by."""
    return _constants(bits, 1 << 5, 0)


def _constants(bits: int, scale: int, shift: int) -> Cordic:
    inner, phase_bits = bits + 4, bits + 5
    gain = math.prod(math.sqrt(1.0 + 4.0**-i) for i in range(inner))
    angles = tuple(round(math.atan(2.0**-i) / (2 * math.pi) * 2.0**phase_bits) for i in range(inner))
    return Cordic(phase_bits, inner, scale, shift, round(2.0**inner / gain), angles)


def cos_sin_words(angle: Any, bits: int, frac: int) -> tuple[tuple[Any, Any], int]:
    """(cos, sin) of angle words, as words with the returned number of fraction bits."""
    c = cordic(bits, frac)
    return rotated(c, angle), c.inner


def rotated(c: Cordic, angle: Any) -> tuple[Any, Any]:
    """(cos, sin) of angle words, as words with `inner` fraction bits."""
    turn = np.asarray(angle, np.int64) * c.scale
    turn = turn if c.shift == 0 else (turn + (1 << (c.shift - 1))) >> c.shift
    span, half, quarter = 1 << c.phase_bits, 1 << (c.phase_bits - 1), 1 << (c.phase_bits - 2)
    turn = ((turn + half) & (span - 1)) - half  # in [-1/2, 1/2) of a turn
    far = (turn >= quarter) | (turn < -quarter)
    z = np.where(far, np.where(turn < 0, turn + half, turn - half), turn)
    x, y = np.full_like(z, c.start), np.zeros_like(z)
    for i, step in enumerate(c.angles):
        up = z >= 0
        dx, dy = y >> i, x >> i
        x, y = np.where(up, x - dx, x + dx), np.where(up, y + dy, y - dy)
        z = np.where(up, z - step, z + step)
    return np.where(far, -x, x), np.where(far, -y, y)
