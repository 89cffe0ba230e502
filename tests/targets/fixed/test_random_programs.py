"""Random programs in fixed point: machine code, the interpreter and Python's integers agree on every bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from robomorph.ir.fixed import FixedProgram, interpret_fixed
from robomorph.ir.word_ranges import word_ranges
from robomorph.targets.cpu.fixed.emit import word_bits
from robomorph.targets.cpu.fixed.words_kernel import WordsKernel
from tests.targets.fixed.programs import exact_run, exact_values, fixed_programs, some_words

RANDOM = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
ROWS = 37


def check(fixed: FixedProgram, seed: int) -> None:
    words = some_words(fixed, ROWS, seed)
    expected = interpret_fixed(fixed, words)
    kernel = WordsKernel(fixed, key=None, threads=1)
    found = kernel.run(words)
    np.testing.assert_array_equal(found.words, expected.words)
    np.testing.assert_array_equal(found.overflow, expected.overflow)
    for row in range(3):
        one = kernel.run(words[row])
        assert (one.words.tolist(), bool(one.overflow)) == exact_run(fixed, words[row].tolist())


@RANDOM
@given(fixed=fixed_programs(), seed=st.integers(0, 2**32))
def test_words_of_all_widths(fixed: FixedProgram, seed: int) -> None:
    check(fixed, seed)


@RANDOM
@given(fixed=fixed_programs(bits=(8, 16)), seed=st.integers(0, 2**32))
def test_narrow_words(fixed: FixedProgram, seed: int) -> None:
    """In lanes of 32 bits; what does not fit there is computed in 64."""
    assert word_bits(fixed) == 32
    check(fixed, seed)


@pytest.mark.fuzz
@settings(max_examples=3000, deadline=None, suppress_health_check=list(HealthCheck))
@given(fixed=fixed_programs(most=40), seed=st.integers(0, 2**32))
def test_many_programs(fixed: FixedProgram, seed: int) -> None:
    check(fixed, seed)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(fixed=fixed_programs(), seed=st.integers(0, 2**32))
def test_ranges_hold(fixed: FixedProgram, seed: int) -> None:
    """No node leaves its range, before or after it saturates, and none saturates that is said not to."""
    ranges = word_ranges(fixed)
    for row in some_words(fixed, 10, seed):
        for value, exact, within in zip(*exact_values(fixed, row.tolist()), ranges, strict=True):
            assert within.word[0] <= value <= within.word[1]
            assert value == exact or within.too_low or within.too_high
            if exact is not None and within.bits < 64:  # but for reciprocals, of which only the sign is known
                assert within.low <= exact <= within.high


@RANDOM
@given(fixed=fixed_programs(), seed=st.integers(0, 2**32))
def test_the_interpreter_is_right_itself(fixed: FixedProgram, seed: int) -> None:
    words = some_words(fixed, 20, seed)
    found = interpret_fixed(fixed, words)
    for row, result, lost in zip(words, found.words, found.overflow, strict=True):
        assert (result.tolist(), bool(lost)) == exact_run(fixed, row.tolist())
