"""The w unit: from M = J J^T and the error e of a position, the vector w of which each joint's step is a
product J . w. Quick-IK takes w = e (e . M e) / (M e . M e), Newton's method w = (M + lambda I)^-1 e.

The two programs are written once, over any scalar with + - * and two functions: on float words in NumPy they
define the results, on names the generator of the hardware records them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from robomorph.errors import TargetError
from robomorph.targets.rtl.ik.floats import LOWEST, Floats, from_fraction, from_integers

Array = npt.NDArray[Any]
QUICK, NEWTON = 0, 1  # modes
SHIFT_BITS = 6
SPECULATION_BITS = 4  # of log2 of the number of speculations
LARGEST_SHIFT = (1 << SHIFT_BITS) - 1
# 1 / (2 pi), to more digits than any word has.
TURNS = Fraction(159154943091895335768883763372514362, 10**36)


S = TypeVar("S")


class Scalar(Protocol):
    """What the programs compute with."""

    def __add__(self: S, other: S, /) -> S: ...
    def __sub__(self: S, other: S, /) -> S: ...
    def __mul__(self: S, other: S, /) -> S: ...
    def reciprocal(self: S, bits: int) -> S: ...
    def power_below(self: S, places: int) -> S: ...


T = TypeVar("T", bound=Scalar)


@dataclass(frozen=True)
class WeightSpec:
    """What a w unit is built for. M and e are integers of `m_bits` and `e_bits` bits with `m_frac` and
    `e_frac` fraction bits, columns of J have `j_frac`, steps of joints (in turns) `delta_frac`.

    mantissa: of the float words; damping: lambda is 2^-damping of the power of two below the trace of M;
    quotient: bits of the reciprocal, which scales the length of w, not its direction; then how many units
    there are of each kind.
    """

    m_bits: int
    m_frac: int
    e_bits: int
    e_frac: int
    j_frac: int
    delta_frac: int
    w_bits: int = 24
    mantissa: int = 32
    damping: int = 13
    quotient: int = 13
    multipliers: int = 3
    adders: int = 3
    converters: int = 3

    def __post_init__(self) -> None:
        _check("m_bits", self.m_bits, 2, 63)
        _check("e_bits", self.e_bits, 2, 63)
        _check("w_bits", self.w_bits, 4, 32)
        _check("mantissa", self.mantissa, 12, 32)
        _check("quotient", self.quotient, 5, self.mantissa)
        for name in ("multipliers", "adders", "converters"):
            _check(name, getattr(self, name), 1, 8)
        # The determinant of a matrix of rank one is 2^(-2 damping) of its terms: some bits must remain.
        _check("damping", self.damping, 1, (self.mantissa - 6) // 2)
        _check("the shift of a step, without exponents,", self.offset, -1000, 1000)

    @property
    def offset(self) -> int:
        """The shift of w = 1 (exponent 0) in Quick-IK's mode with one speculation."""
        return self.w_bits - 2 - (self.m_frac - self.e_frac + self.delta_frac - self.j_frac)


@dataclass(frozen=True)
class Weights:
    """m (..., 3), the common shift (...,) and whether the step is zero (...,): a joint's step, in units of
    2^-delta_frac turns, is J . m * 2^-shift (J in integers), rounded."""

    m: Array
    shift: Array
    stalled: Array


def quick_ik(m: Sequence[T], e: Sequence[T], turns: T, bits: int) -> list[T]:
    """w = e (e . g) / (g . g) / 2 pi with g = M e, M as (xx, xy, xz, yy, yz, zz)."""
    xx, xy, xz, yy, yz, zz = m
    g = [_dot(row, e) for row in ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))]
    above, below = _dot(e, g), _dot(g, g)
    inverse = below.reciprocal(bits)
    return [(above * (turns * one)) * inverse for one in e]


def newton(m: Sequence[T], e: Sequence[T], turns: T, bits: int, damping: int) -> list[T]:
    """w = (M + lambda I)^-1 e / 2 pi, by cofactors, with lambda a power of two far below the trace of M."""
    xx, xy, xz, yy, yz, zz = m
    more = (xx + yy + zz).power_below(damping)
    xx, yy, zz = xx + more, yy + more, zz + more
    c_xx, c_xy, c_xz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    c_yy, c_yz, c_zz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    inverse = _dot((xx, xy, xz), (c_xx, c_xy, c_xz)).reciprocal(bits)
    scaled = [turns * one for one in e]
    rows = ((c_xx, c_xy, c_xz), (c_xy, c_yy, c_yz), (c_xz, c_yz, c_zz))
    return [_dot(row, scaled) * inverse for row in rows]


def run(spec: WeightSpec, mode: int, m: Sequence[T], e: Sequence[T], turns: T) -> list[T]:
    """The program of a mode."""
    if mode == QUICK:
        return quick_ik(m, e, turns, spec.quotient)
    return newton(m, e, turns, spec.quotient, spec.damping)


def weights(spec: WeightSpec, m: Array, e: Array, mode: Array, k_log: Array) -> Weights:
    """The definition: what the chip gives for M (..., 6), e (..., 3), mode (...,) and log2 K (...,), all
    integers. The step is zero, and said to be, if M e is zero (Quick-IK), e is zero, the matrix of Newton's
    method is not positive, or the shift would be larger than a word of it. A shift below zero becomes zero:
    the step is shorter, its direction the same."""
    m, e = _words("M", m, spec.m_bits, 6), _words("e", e, spec.e_bits, 3)
    shape = np.broadcast_shapes(m.shape[:-1], e.shape[:-1], np.shape(mode), np.shape(k_log))
    m, e = np.broadcast_to(m, (*shape, 6)), np.broadcast_to(e, (*shape, 3))
    modes, k_log = np.broadcast_to(mode, shape), np.broadcast_to(k_log, shape)
    _check_range("mode", modes, 0, 1)
    _check_range("k_log", k_log, 0, (1 << SPECULATION_BITS) - 1)
    made, shift = np.zeros((*shape, 3), np.int64), np.zeros(shape, np.int64)
    for one in (QUICK, NEWTON):
        lanes = modes == one
        if np.any(lanes):
            w = _float_weights(spec, one, m[lanes], e[lanes])
            made[lanes], shift[lanes] = aligned(spec, w, spec.offset - one + k_log[lanes])
    return Weights(made, shift, ~np.any(made != 0, axis=-1))


def aligned(spec: WeightSpec, w: Sequence[Floats], offset: Array) -> tuple[Array, Array]:
    """Three words (n,) as integers (n, 3), truncated, with a common shift (n,)."""
    highest = np.maximum.reduce([one.exponent for one in w])
    wanted = offset - highest
    keep = (wanted <= LARGEST_SHIFT) & (highest > LOWEST)
    made = [_integer(one, np.minimum(highest - one.exponent, spec.w_bits), spec.w_bits) for one in w]
    shift = np.where(keep, np.maximum(wanted, 0), LARGEST_SHIFT)
    return np.where(keep[..., None], np.stack(made, axis=-1), 0), shift


def _integer(word: Floats, places: Array, bits: int) -> Array:
    """The highest bits of a mantissa, moved down by some places, with its sign: an integer of `bits` bits."""
    spare = word.bits - (bits - 1)
    top = word.mantissa >> spare if spare >= 0 else word.mantissa << -spare
    return np.asarray(np.where(word.sign == 1, -(top >> places), top >> places))


def _float_weights(spec: WeightSpec, mode: int, m: Array, e: Array) -> list[Floats]:
    """The words w of lanes (n,) in a mode."""
    bits = spec.mantissa
    turns = from_fraction(TURNS, bits)
    words_m = [from_integers(m[..., k], bits) for k in range(6)]
    words_e = [from_integers(e[..., k], bits) for k in range(3)]
    return run(spec, mode, words_m, words_e, turns)


def _dot(a: Sequence[T], b: Sequence[T]) -> T:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _words(name: str, values: Array, bits: int, count: int) -> Array:
    made = np.asarray(values)
    if made.dtype.kind not in "iu" or made.ndim < 1 or made.shape[-1] != count:
        raise TargetError(
            f"{name}: expected integers of shape (..., {count}), found {made.dtype} {made.shape}"
        )
    _check_range(name, made, -(1 << bits - 1), (1 << bits - 1) - 1)
    return made.astype(np.int64)


def _check_range(name: str, values: Array, low: int, high: int) -> None:
    if np.any((values < low) | (values > high)):
        raise TargetError(
            f"{name}: expected words from {low} to {high}, found {np.min(values)} to {np.max(values)}"
        )


def _check(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise TargetError(f"w unit: {name} must be from {low} to {high}, found {value}")
