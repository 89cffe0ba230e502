"""Formats and the fixed-point interpreter, against exact rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomorph.errors import ArgumentError, ProgramError
from robomorph.ir.cordic import cos_sin_words
from robomorph.ir.fixed import FixedProgram, Format, check_fixed, interpret_fixed, output_reals
from robomorph.ir.lower import Numbers, lower
from robomorph.ir.ops import ADD, CONST, INPUT, MUL, NEG, RECIP, SIN, SUB, Op
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.trace import Tracer


def one_operation(op: Op, formats: list[Format], out: Format) -> FixedProgram:
    nodes = [Node(INPUT, (), float(k)) for k in range(op.arity)]
    nodes.append(Node(op, tuple(range(op.arity))))
    program = Program("one", (Port("x", (op.arity,)),), (Port("y", ()),), tuple(nodes), (op.arity,))
    return FixedProgram(program, (*formats, out))


def rounded(exact: Fraction, out: Format) -> tuple[int, bool]:
    """The definition in rational numbers: to the nearest word, halves upwards, saturated."""
    word = math.floor(exact * 2**out.frac + Fraction(1, 2))
    clipped = max(-out.top - 1, min(out.top, word))
    return clipped, clipped != word


EXACT: dict[Op, Callable[..., Fraction]] = {
    ADD: lambda a, b: a + b,
    SUB: lambda a, b: a - b,
    MUL: lambda a, b: a * b,
    NEG: lambda a: -a,
}


@settings(max_examples=300, deadline=None)
@given(data=st.data(), op=st.sampled_from([ADD, SUB, MUL, NEG]), bits=st.integers(8, 32))
def test_operations_round_once_and_saturate(data: st.DataObject, op: Op, bits: int) -> None:
    fracs = [data.draw(st.integers(0, bits - 2)) for _ in range(op.arity)]
    most = sum(fracs) if op is MUL else max(fracs)
    out = Format(bits, data.draw(st.integers(0, min(most, bits - 1))))
    words = [data.draw(st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)) for _ in fracs]
    fixed = one_operation(op, [Format(bits, f) for f in fracs], out)
    found = interpret_fixed(fixed, np.array([words]))
    exact = EXACT[op](*(Fraction(w, 2**f) for w, f in zip(words, fracs, strict=True)))
    assert (int(found.words[0, 0]), bool(found.overflow[0])) == rounded(exact, out)


@settings(max_examples=200, deadline=None)
@given(data=st.data(), bits=st.integers(8, 32))
def test_reciprocal_is_the_nearest_word(data: st.DataObject, bits: int) -> None:
    """To the last flag; halves go away from zero, as the divider works on magnitudes."""
    frac, out = data.draw(st.integers(0, bits - 2)), Format(bits, data.draw(st.integers(0, bits - 2)))
    word = data.draw(st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
    found = interpret_fixed(one_operation(RECIP, [Format(bits, frac)], out), np.array([[word]]))
    if word == 0:
        assert (found.words[0, 0], found.overflow[0]) == (out.top, True)
        return
    size = math.floor(abs(Fraction(2**frac, word)) * 2**out.frac + Fraction(1, 2))
    exact = size if word > 0 else -size
    fits = -out.top - 1 <= exact <= out.top
    clipped = exact if fits else out.top if word > 0 else -out.top - 1
    assert (int(found.words[0, 0]), bool(found.overflow[0])) == (clipped, not fits)


@pytest.mark.parametrize("bits", [12, 18, 24, 32])
def test_sine_and_cosine_are_close_and_wrap(bits: int) -> None:
    frac = bits - 4
    words = np.arange(-(2 ** (bits - 1)), 2 ** (bits - 1), max(1, 2**bits // 4001))
    (cos, sin), inner = cos_sin_words(words, bits, frac)
    angle = words / 2.0**frac  # up to 8 rad: more than a turn
    tolerance = 2 * 2.0**-frac  # two of the angle's last bits
    np.testing.assert_allclose(cos / 2.0**inner, np.cos(angle), atol=tolerance)
    np.testing.assert_allclose(sin / 2.0**inner, np.sin(angle), atol=tolerance)


def test_formats_have_names() -> None:
    assert Format.parse("Q16.16") == Format(32, 16)
    assert Format(18, 14).name == "Q4.14"
    for bad in ("16.16", "Q16", "Q40.8", "Q2.2"):
        with pytest.raises(ArgumentError, match="format"):
            Format.parse(bad)


def test_real_numbers_beyond_all_words_saturate() -> None:
    values = np.array([np.nan, -np.nan, np.inf, -np.inf, 1e308, 1.0])
    words, lost = Format(32, 30).to_words(values)
    assert words.tolist() == [2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 2**31 - 1, 2**30]
    assert lost.tolist() == [True] * 5 + [False]


def test_constants_that_do_not_fit_are_refused() -> None:
    """They are no operations, so no flag would tell."""
    nodes = (Node(INPUT, (), 0.0), Node(CONST, (), 9.81), Node(ADD, (0, 1)))
    program = Program("sum", (Port("x", ()),), (Port("y", ()),), nodes, (2,))
    check_fixed(FixedProgram(program, (Format(16, 11),) * 3))
    with pytest.raises(ArgumentError, match=r"Q4\.12: cannot hold the constant 9\.81"):
        check_fixed(FixedProgram(program, (Format(16, 12),) * 3))


def test_sines_have_no_more_bits_than_are_computed() -> None:
    check_fixed(one_operation(SIN, [Format(12, 10)], Format(12, 16)))
    with pytest.raises(ProgramError, match=r"%1 \(sin\): 17 fraction bits, expected 16 at most"):
        check_fixed(one_operation(SIN, [Format(12, 10)], Format(12, 17)))


def test_results_that_are_constant_fit_whatever_the_format() -> None:
    tracer = Tracer()
    ports = (Port("x", ()),)
    (x,) = tracer.inputs(ports)["x"]
    program = tracer.program("pair", ports, {"y": [x * x, 4.5]})
    fixed = lower(program, Numbers(16, Format.parse("Q2.14")), [1.0] * len(program.nodes))
    found = output_reals(fixed, interpret_fixed(fixed, np.array([[1 << 14]])).words)
    assert found["y"].tolist() == [[1.0, 4.5]]


def test_saturation_is_flagged_per_state() -> None:
    form = Format(8, 0)
    found = interpret_fixed(
        one_operation(ADD, [form, form], form), np.array([[100, 27], [100, 28], [-100, -28]])
    )
    assert found.words[:, 0].tolist() == [127, 127, -128]
    assert found.overflow.tolist() == [False, True, False]
