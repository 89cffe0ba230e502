"""Float words against exact fractions: every operation is the exact result, rounded once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from robomorph.errors import TargetError
from robomorph.targets.rtl.ik.floats import LOWEST, Array, Floats, from_fraction, from_integers

BITS = [12, 18, 25, 32]


def rounded(value: Fraction, bits: int, *, truncated: bool = False) -> Fraction:
    """The nearest number with a mantissa of some bits, halves away from zero: by rationals alone."""
    if value == 0:
        return value
    size, unit = abs(value), Fraction(1)
    while size >= unit * 2**bits:
        unit *= 2
    while size < unit * 2 ** (bits - 1):
        unit /= 2
    whole = size / unit if truncated else size / unit + Fraction(1, 2)
    made = Fraction(whole.numerator // whole.denominator) * unit
    return made if value > 0 else -made


def samples(bits: int, seed: int = 1) -> tuple[Floats, Floats]:
    """Pairs of words: random, close to each other, far apart, at the ends of mantissas, and zeros."""
    rng, n = np.random.default_rng(seed), 3000
    ends = [1 << bits - 1, (1 << bits - 1) + 1, (1 << bits) - 1, (1 << bits) - 2, 3 << bits - 2]
    mantissas = np.where(
        rng.random((2, n)) < 0.3, rng.choice(ends, (2, n)), rng.integers(1 << bits - 1, 1 << bits, (2, n))
    )
    exponents = rng.integers(-80, 80, (2, n))
    near = rng.random(n) < 0.7
    exponents[1, near] = exponents[0, near] + rng.integers(-bits - 5, bits + 6, n)[near]
    same = rng.random(n) < 0.2
    mantissas[1, same] = np.clip(mantissas[0, same] + rng.integers(-2, 3, n)[same], ends[0], ends[2])
    exponents[1, same] = exponents[0, same] + rng.integers(-1, 2, n)[same]
    zero = rng.random((2, n)) < 0.05
    mantissas[zero], exponents[zero] = 0, LOWEST
    signs = np.where(zero, 0, rng.integers(0, 2, (2, n)))
    a, b = (Floats(bits, signs[k], exponents[k], mantissas[k]) for k in (0, 1))
    return a, b


def is_legal(words: Floats) -> Array:
    """Highest bit set, or the one form of zero."""
    zero = (words.mantissa == 0) & (words.sign == 0) & (words.exponent == LOWEST)
    full = (words.mantissa >> words.bits - 1 == 1) & (words.exponent > LOWEST)
    return np.asarray(zero | full)


def product(x: Fraction, y: Fraction, bits: int) -> Fraction:
    """The product, plus half a unit of the lower place where its highest bit may be, truncated."""
    if x * y == 0:
        return Fraction(0)
    places = [math.floor(math.log2(abs(one.numerator)) - math.log2(one.denominator)) for one in (x, y)]
    half = Fraction(2) ** (sum(places) - bits)
    made = rounded(abs(x * y) + half, bits, truncated=True)
    return made if x * y > 0 else -made


OPERATIONS: dict[str, Callable[[Floats | Fraction, Floats | Fraction], Floats | Fraction]] = {
    "add": lambda a, b: a + b,  # type: ignore[operator]
    "subtract": lambda a, b: a - b,  # type: ignore[operator]
    "multiply": lambda a, b: a * b,  # type: ignore[operator]
}


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_are_exact_and_rounded_once(name: str, bits: int) -> None:
    a, b = samples(bits)
    made = OPERATIONS[name](a, b)
    assert isinstance(made, Floats) and np.all(is_legal(made))
    for x, y, z in zip(a.fractions(), b.fractions(), made.fractions(), strict=True):
        exact = OPERATIONS[name](x, y)
        assert isinstance(exact, Fraction)
        assert z == (product(x, y, bits) if name == "multiply" else rounded(exact, bits))
        assert abs(z - exact) <= Fraction(3, 4) * abs(exact) / 2 ** (bits - 1)


@pytest.mark.parametrize(("bits", "kept"), [(12, 12), (18, 11), (32, 20), (32, 32), (25, 24)])
def test_reciprocals_are_exact_and_truncated(bits: int, kept: int) -> None:
    words, _ = samples(bits)
    made = words.reciprocal(kept)
    assert np.all(is_legal(made))
    for x, y in zip(words.fractions(), made.fractions(), strict=True):
        assert y == (rounded(1 / x, kept, truncated=True) if x > 0 else 0)


@pytest.mark.parametrize("bits", BITS)
def test_integers(bits: int) -> None:
    rng = np.random.default_rng(3)
    values = rng.integers(-(2**62), 2**62, 3000) >> rng.integers(0, 63, 3000)
    powers = 1 << np.arange(62)
    extreme = [0, 1, -1, 2**63 - 1, 1 - 2**63, *powers, *(powers - 1), *-powers, *(powers + 1)]
    values = np.concatenate([values, np.array(extreme, np.int64)])
    made = from_integers(values, bits)
    assert np.all(is_legal(made))
    for given, word in zip(values.tolist(), made.fractions(), strict=True):
        assert word == rounded(Fraction(given), bits)


def test_powers_below() -> None:
    words, _ = samples(32)
    made = words.power_below(13)
    assert np.all(is_legal(made))
    for x, y in zip(words.fractions(), made.fractions(), strict=True):
        assert y == 0 if x == 0 else y * 2**13 <= abs(x) < y * 2**14


@pytest.mark.parametrize(
    "value", [Fraction(1), Fraction(1, 3), Fraction(22, 7), Fraction(2**40 - 1), Fraction(3, 8)]
)
def test_constants(value: Fraction) -> None:
    made = from_fraction(value, 24)[None]
    assert np.all(is_legal(made)) and made.fractions() == [rounded(value, 24)]


def test_an_exponent_that_does_not_fit_is_refused() -> None:
    large = Floats(32, *(np.array([n]) for n in (0, 300, 1 << 31)))
    with pytest.raises(TargetError, match="exponent"):
        _ = large * large


def test_words_of_the_hardware() -> None:
    words = from_integers(np.array([0, 1, -6]), 12).words()
    assert [f"{word:023b}" for word in words] == [
        "0" + "1000000000" + "000000000000",
        "0" + "0000000000" + "100000000000",
        "1" + "0000000010" + "110000000000",
    ]
