"""Float words of the chip, many at once in NumPy integers: what the cells `rm_float_...` compute, bit by bit.

A word is a sign, an exponent and a mantissa of P bits whose highest bit is set: its value is
(-1)^sign * mantissa * 2^(exponent - (P - 1)). Zero has mantissa 0, sign 0 and the lowest exponent; the others
never have that exponent.

Every operation is exact, then rounded once. Integers, sums and differences: the magnitude to the nearest,
halves up. Products of mantissas have 2P - 1 or 2P bits: 2^(P - 2) is added, which rounds those of 2P - 1 bits
to the nearest, and all but P bits are dropped, so that the others lose up to three quarters of a unit.
Reciprocals are truncated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import TargetError

Array = npt.NDArray[Any]
EXPONENT_BITS = 10
LOWEST = -(1 << EXPONENT_BITS - 1)  # the exponent of zero
_GUARDS = 3  # bits below a mantissa in a sum: two that were shifted out, and whether any other was


@dataclass(frozen=True)
class Floats:
    """Words of `bits` bits of mantissa: sign (0 or 1), exponent and mantissa, int64 arrays of one shape."""

    bits: int
    sign: Array
    exponent: Array
    mantissa: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.mantissa.shape)

    def __getitem__(self, index: Any) -> Floats:
        return Floats(self.bits, self.sign[index], self.exponent[index], self.mantissa[index])

    def __mul__(self, other: Floats) -> Floats:
        product = self.mantissa.astype(np.uint64) * other.mantissa.astype(np.uint64)
        product = np.where(product > 0, product + np.uint64(1 << self.bits - 2), product)
        twice = (product >> np.uint64(2 * self.bits - 1)).astype(np.int64)
        kept = product >> (self.bits - 1 + twice).astype(np.uint64)
        return _checked(self.bits, self.sign ^ other.sign, self.exponent + other.exponent + twice, kept)

    def __add__(self, other: Floats) -> Floats:
        """The larger magnitude stays; the smaller one moves down to it, and what it loses leaves one bit."""
        swap = (other.exponent > self.exponent) | (
            (other.exponent == self.exponent) & (other.mantissa > self.mantissa)
        )
        large, small = _where(swap, other, self), _where(swap, self, other)
        distance = np.minimum(large.exponent - small.exponent, self.bits + _GUARDS)
        moved = small.mantissa << _GUARDS
        aligned = (moved >> distance) | ((moved & ((1 << distance) - 1)) != 0)
        base = large.mantissa << _GUARDS
        total = np.where(large.sign == small.sign, base + aligned, base - aligned).astype(np.uint64)
        return _rounded(self.bits, large.sign, large.exponent - (self.bits - 1) - _GUARDS, total)

    def __neg__(self) -> Floats:
        return Floats(self.bits, np.where(self.mantissa == 0, 0, 1 - self.sign), self.exponent, self.mantissa)

    def __sub__(self, other: Floats) -> Floats:
        return self + -other

    def reciprocal(self, bits: int) -> Floats:
        """1 / x, truncated to `bits` bits; zero if x is not positive."""
        good = (self.mantissa != 0) & (self.sign == 0)
        one = np.uint64(1 << self.bits - 1)
        divisor = np.where(good, self.mantissa, int(one)).astype(np.uint64)
        power = divisor == one
        quotient = np.uint64(1 << 2 * self.bits - 1) // np.where(power, one + np.uint64(1), divisor)
        kept = (quotient >> np.uint64(self.bits - bits)) << np.uint64(self.bits - bits)
        mantissa = np.where(power, one, kept).astype(np.int64)
        exponent = np.where(power, -self.exponent, -self.exponent - 1)
        return _checked(self.bits, np.zeros_like(self.sign), exponent, np.where(good, mantissa, 0))

    def power_below(self, places: int) -> Floats:
        """2^(exponent - places): the power of two below the magnitude, divided by 2^places; zero stays."""
        mantissa = np.where(self.mantissa == 0, 0, 1 << self.bits - 1)
        return _checked(self.bits, np.zeros_like(self.sign), self.exponent - places, mantissa)

    def words(self) -> Array:
        """As the hardware has them: sign, exponent, mantissa, from the top; int64."""
        exponent = self.exponent & ((1 << EXPONENT_BITS) - 1)
        return np.asarray((((self.sign << EXPONENT_BITS) | exponent) << self.bits) | self.mantissa)

    def fractions(self) -> list[Fraction]:
        """The exact values, of words in one dimension."""
        made = zip(self.sign.tolist(), self.exponent.tolist(), self.mantissa.tolist(), strict=True)
        return [(-1) ** s * m * Fraction(2) ** (x - self.bits + 1) for s, x, m in made]


def word_bits(bits: int) -> int:
    """Bits of a word with a mantissa of so many."""
    return 1 + EXPONENT_BITS + bits


def from_integers(values: Array, bits: int) -> Floats:
    """Integers (int64, above -2^63) as words."""
    wide = np.asarray(values, np.int64)
    return _rounded(bits, (wide < 0).astype(np.int64), np.zeros_like(wide), np.abs(wide).astype(np.uint64))


def from_fraction(value: Fraction, bits: int) -> Floats:
    """A positive number that is known when the chip is built, rounded as all words are."""
    if value <= 0:
        raise TargetError(f"float word: expected a positive constant, found {value}")
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    exponent -= value < Fraction(2) ** exponent
    mantissa = int(value * Fraction(2) ** (bits - 1 - exponent) + Fraction(1, 2))
    lowest = np.asarray(exponent - bits + 1)
    return _rounded(bits, np.asarray(0), lowest, np.asarray(mantissa, np.uint64))


def _where(test: Array, then: Floats, other: Floats) -> Floats:
    pairs = ((then.sign, other.sign), (then.exponent, other.exponent), (then.mantissa, other.mantissa))
    return Floats(then.bits, *(np.where(test, a, b) for a, b in pairs))


def _rounded(bits: int, sign: Array, lowest: Array, magnitude: Array) -> Floats:
    """A magnitude (uint64) whose lowest bit has the exponent `lowest`, to the nearest word, halves up."""
    length = _bit_length(magnitude)
    drop = length - bits
    down, up = np.maximum(drop, 0).astype(np.uint64), np.maximum(-drop, 0).astype(np.uint64)
    half = np.where(drop > 0, (magnitude >> np.maximum(drop - 1, 0).astype(np.uint64)) & np.uint64(1), 0)
    kept = ((magnitude >> down) << up).astype(np.int64) + half.astype(np.int64)
    carry = kept >> bits  # all ones, rounded up
    return _checked(bits, sign, lowest + length - 1 + carry, kept >> carry)


def _bit_length(numbers: Array) -> Array:
    """Bits of each number (uint64) up to its highest set one; 0 for zero."""
    rest, length = np.asarray(numbers, np.uint64), np.zeros(np.shape(numbers), np.int64)
    for step in (32, 16, 8, 4, 2, 1):
        upper = rest >> np.uint64(step)
        length = length + np.where(upper > 0, step, 0)
        rest = np.where(upper > 0, upper, rest)
    return np.asarray(length + (rest > 0))


def _checked(bits: int, sign: Array, exponent: Array, mantissa: Array) -> Floats:
    """Zeros in their one form; TargetError if an exponent does not fit."""
    zero = np.asarray(mantissa == 0)
    low, high = LOWEST + 1, -LOWEST - 1
    if np.any(~zero & ((exponent < low) | (exponent > high))):
        raise TargetError(f"float word: an exponent left {low} to {high}: scale the input words")
    return Floats(
        bits, np.where(zero, 0, sign), np.where(zero, LOWEST, exponent), np.asarray(mantissa, np.int64)
    )
