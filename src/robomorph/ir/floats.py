"""Float32 words at the boundary of fixed-point hardware, which define what its converters do to every bit.

A word is the IEEE 754 pattern of a float32, carried as a signed integer of 32 bits. Into fixed point:
rounded to the nearest word, halves upwards (as everywhere in `fixed`), saturated; a saturation raises the
flag, and so do infinities and NaNs, which saturate to the end that their sign bit names. Numbers below
2**-126 (subnormal) become zero, which is what rounding gives: no format resolves them. Out of fixed point:
rounded to the nearest float32, halves to even (as NumPy and IEEE 754 do); a zero is positive.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.ir.fixed import Format, round_shift, saturate

Array = npt.NDArray[Any]
FLOAT_BITS = 32
_MANTISSA = 23
_BIAS = 127
_SPECIAL = 255  # the exponent of infinities and NaNs


def float_words(values: Array) -> Array:
    """The patterns of real values, rounded to float32; beyond its range they are infinities."""
    with np.errstate(over="ignore"):
        singles = np.ascontiguousarray(values, np.float32)
    return singles.view(np.int32).astype(np.int64)


def float_values(words: Array) -> Array:
    """The numbers that patterns stand for, in float64."""
    singles = np.asarray(words, np.int64).astype(np.int32).view(np.float32)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return singles.astype(np.float64)


def float_to_fixed(words: Array, form: Format) -> tuple[Array, Array]:
    """Fixed-point words of float32 patterns, and where one saturated."""
    words = np.asarray(words, np.int64)
    negative = (words >> 31) & 1 == 1
    exponent = (words >> _MANTISSA) & 0xFF
    size = np.where(exponent == 0, 0, (words & ((1 << _MANTISSA) - 1)) | (1 << _MANTISSA))
    signed = np.where(negative, -size, size)
    shift = exponent - (_BIAS + _MANTISSA) + form.frac
    # More than 10 bits to the left leaves every format; more than 26 to the right leaves zero.
    wide = np.clip(shift, -26, 10) + 26
    word, lost = saturate(round_shift(signed << wide, 26), form)
    beyond = (size != 0) & (shift > 10) | (exponent == _SPECIAL)
    return np.where(beyond, np.where(negative, -form.top - 1, form.top), word), lost | beyond


def fixed_to_float(words: Array, form: Format) -> Array:
    """Float32 patterns of fixed-point words."""
    words = np.asarray(words, np.int64)
    size = np.abs(words)
    # The position of the highest bit: exact, as sizes are below 2**53.
    top = np.frexp(np.maximum(size, 1).astype(np.float64))[1].astype(np.int64) - 1
    drop = np.maximum(top - _MANTISSA, 0)
    kept = (size << np.maximum(_MANTISSA - top, 0)) >> drop
    rest = size & ((1 << drop) - 1)
    half = (1 << drop) >> 1
    up = (drop > 0) & ((rest > half) | ((rest == half) & (kept & 1 == 1)))
    # A carry out of the mantissa goes to the exponent, as it should.
    pattern = ((top - form.frac + _BIAS - 1) << _MANTISSA) + kept + up
    pattern = np.where(size == 0, 0, pattern)
    return np.where(words < 0, pattern - (1 << 31), pattern)
