"""Words and numbers that random ones do not meet: halves, quarters of a turn, nearly whole quotients."""

from __future__ import annotations

import numpy as np
import pytest

from robomorph.ir.cordic import cordic
from robomorph.ir.fixed import MIN_FRAC, FixedProgram, Format, interpret_fixed
from robomorph.ir.ops import COS, INPUT, RECIP, SIN, Op
from robomorph.ir.program import Node, Port, Program
from robomorph.targets.cpu.fixed.words_kernel import WordsKernel
from tests.targets.fixed.programs import exact_run


def side_by_side(pairs: list[tuple[Format, Format]], ops: tuple[Op, ...]) -> FixedProgram:
    """Every operation on an input of its own per pair of formats; without operations, the inputs."""
    nodes = [Node(INPUT, (), float(k)) for k in range(len(pairs))]
    formats = [form for form, _ in pairs]
    for k, (_, out) in enumerate(pairs):
        nodes += [Node(op, (k,)) for op in ops]
        formats += [out] * len(ops)
    results = tuple(range(len(pairs) if ops else 0, len(nodes)))
    ports = (Port("x", (len(pairs),)),), (Port("y", (len(results),)),)
    return FixedProgram(Program("corners", *ports, tuple(nodes), results), tuple(formats))


def check(fixed: FixedProgram, words: np.ndarray) -> None:
    found, expected = WordsKernel(fixed, key=None).run(words), interpret_fixed(fixed, words)
    np.testing.assert_array_equal(found.words, expected.words)
    np.testing.assert_array_equal(found.overflow, expected.overflow)


def test_every_angle_of_eight_bits() -> None:
    """In every format: all words, all turns."""
    forms = [Format(8, frac) for frac in range(MIN_FRAC, 61)]
    fixed = side_by_side([(form, Format(8, 6)) for form in forms], (SIN, COS))
    words = np.arange(-128, 128)
    check(fixed, np.repeat(words[:, None], len(forms), axis=1))


@pytest.mark.parametrize(("bits", "frac", "word"), [(11, 1, -355), (13, 11, -3217), (14, 12, -6434)])
def test_a_quarter_of_a_turn_to_the_last_bit(bits: int, frac: int, word: int) -> None:
    """Where an angle is folded or just not."""
    c = cordic(bits, frac)
    turn = (word * c.scale + (1 << c.shift >> 1)) >> c.shift
    assert (turn + (1 << c.phase_bits - 2)) % (1 << c.phase_bits) == 0
    fixed = side_by_side([(Format(bits, frac), Format(bits, c.inner))], (SIN, COS))  # every bit that there is
    words = np.array([[word - 1], [word], [word + 1], [-word - 1], [-word], [-word + 1]])
    check(fixed, words)
    assert exact_run(fixed, [word]) == (interpret_fixed(fixed, words[1]).words.tolist(), True)


@pytest.mark.parametrize("size", [573158251, 613316315, 631730226, 638667092])
def test_quotients_that_are_nearly_whole(size: int) -> None:
    """A double takes them for whole: 2**61 / size lacks less than its last place."""
    assert int(2.0**61 / size) == 2**61 // size + 1
    fixed = side_by_side([(Format(32, 30), Format(32, 30))], (RECIP,))
    words = np.array([[size], [-size], [size + 1], [size - 1], [0], [-1], [1], [-(2**31)], [2**31 - 1]])
    check(fixed, words)
    expected = ((2**61 // size + 1) // 2, -((2**61 // size + 1) // 2))
    assert tuple(interpret_fixed(fixed, words[:2]).words[:, 0]) == expected


@pytest.mark.parametrize(
    "form", [Format(32, 16), Format(16, 20), Format(12, -3), Format(8, 0), Format(32, 60)]
)
def test_numbers_between_words(form: Format) -> None:
    """Halves and their neighbours, the ends, what is beyond them, subnormals and what is no number."""
    inside = np.array([-form.top - 1.0, -17.0, -2.0, -1.0, 0.0, 1.0, 2.0, 16.0, form.top - 1.0, form.top])
    scaled = np.concatenate([inside + part for part in (-1.0, -0.5, 0.0, 0.25, 0.5, 1.0)]) * form.ulp
    near = np.concatenate([scaled, np.nextafter(scaled, np.inf), np.nextafter(scaled, -np.inf)])
    odd = [np.inf, -np.inf, np.nan, -np.nan, 1e308, -1e308, 5e-324, -5e-324, -0.0]
    values = np.concatenate([near, odd])
    kernel = WordsKernel(side_by_side([(form, form)], ()), key=None)
    found, flags = kernel(values[:, None])
    words, lost = form.to_words(values)
    np.testing.assert_array_equal(found[:, 0], form.to_reals(words))
    np.testing.assert_array_equal(flags != 0.0, lost)
    assert 0 < np.count_nonzero(lost) < len(values)
    for k in range(0, len(values), 7):  # and one by one
        one, flag = kernel(values[k : k + 1])
        assert (float(one[0]), bool(flag)) == (float(found[k, 0]), bool(lost[k]))
