"""The w unit: its definition against float64, and the hardware against its definition, bit by bit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from robomorph.errors import TargetError
from robomorph.targets.rtl.chip import NetlistChip, source_files
from robomorph.targets.rtl.ik.plan_weights import latency
from robomorph.targets.rtl.ik.weights import NEWTON, QUICK, Array, Weights, WeightSpec, weights
from robomorph.targets.rtl.simulate import Simulation, lint, write_files
from robomorph.targets.rtl.synthesis import check_by_yosys
from tests.targets.rtl.ik.weight_chips import answers, problems, weights_chip
from tests.targets.rtl.test_strict_reader import errors
from tests.targets.rtl.toolchains import needs_slang, needs_verilator, needs_yosys

SPEC = WeightSpec(m_bits=48, m_frac=36, e_bits=21, e_frac=16, j_frac=18, delta_frac=26)
SPECS = {
    "as proposed": SPEC,
    "one of each, short words": replace(
        SPEC, mantissa=18, damping=6, quotient=9, w_bits=16, multipliers=1, adders=1, converters=1
    ),
    "wide e and m": replace(
        SPEC,
        m_bits=30,
        m_frac=20,
        e_bits=32,
        e_frac=20,
        mantissa=25,
        damping=9,
        quotient=25,
        w_bits=28,
        multipliers=2,
    ),
}
PLACES = [0, 1, 2, 1, 3, 4, 2, 4, 5]  # of the entries of M in the six


# --- against float64 ---------------------------------------------------------------------------------------


def exact(spec: WeightSpec, m: Array, e: Array, mode: int, k_log: int) -> Array:
    """What m * 2^-shift should be (n, 3), in float64, by linear algebra."""
    matrix = (m * 2.0**-spec.m_frac)[:, PLACES].reshape(-1, 3, 3)
    error = e * 2.0**-spec.e_frac
    if mode == QUICK:
        g = np.einsum("nij,nj->ni", matrix, error)
        w = error * (np.sum(error * g, axis=-1) / np.sum(g * g, axis=-1))[:, None]
    else:
        trace = np.trace(matrix, axis1=1, axis2=2)
        damped = matrix + 2.0 ** (np.floor(np.log2(trace)) - spec.damping)[:, None, None] * np.eye(3)
        w = np.linalg.solve(damped, error[..., None])[..., 0]
    length = (2 if mode == NEWTON else 1) / (2 * np.pi * 2**k_log)
    return np.asarray(w * length * 2.0 ** (spec.delta_frac - spec.j_frac))


def columns(kind: str, n: int, joints: int, rng: np.random.Generator) -> Array:
    """Columns of J (n, joints, 3) in integers of 18 fraction bits."""
    made = rng.normal(size=(n, joints, 3))
    if kind == "planar":
        made[..., 2] = 0
    elif kind == "nearly planar":
        made[..., 2] *= 1e-4
    elif kind == "straight":  # all joints in line: every column has one direction
        made = rng.normal(size=(n, 1, 3)) * rng.normal(size=(n, joints, 1))
    elif kind == "short":
        made *= 1e-3
    elif kind == "long":
        made *= 4
    return np.asarray(np.rint(made * 2.0**18).astype(np.int64))


def squares(j: Array) -> Array:
    """M = J J^T as six exact integers (n, 6)."""
    full = np.einsum("nka,nkb->nab", j, j)
    return np.asarray(full.reshape(-1, 9)[:, [0, 1, 2, 4, 5, 8]])


# Of the length of w, beyond that of a reciprocal of 13 bits; its direction is close everywhere.
LENGTHS = {
    "random": (1e-5, 1e-5),
    "planar": (1e-5, 1e-3),
    "nearly planar": (1e-5, 1e-3),
    "straight": (1e-4, 0.05),
    "short": (1e-5, 1e-5),
    "long": (1e-5, 1e-5),
}


@pytest.mark.parametrize("mode", [QUICK, NEWTON])
@pytest.mark.parametrize("kind", LENGTHS)
@pytest.mark.parametrize("tiny", [False, True], ids=["", "tiny e"])
def test_close_to_float64(kind: str, mode: int, tiny: bool) -> None:
    rng, n = np.random.default_rng(5), 400
    j = columns(kind, n, 7, rng)
    m = squares(j)
    if kind == "straight":  # an error across the line is one that no joint can mend: M e is almost zero
        e = j[:, 0] // 8 + rng.integers(-(2**14), 2**14, (n, 3))
    else:
        e = rng.integers(-(2**19), 2**19, (n, 3)) >> (7 if kind == "short" else 0)
    e = rng.integers(-3, 4, (n, 3)) | 1 if tiny else np.clip(e, -(2**20), 2**20 - 1)
    made, want = weights(SPEC, m, e, np.array(mode), np.array(4)), exact(SPEC, m, e, mode, 4)
    got = made.m * 2.0 ** -made.shift[:, None]
    free = (made.shift > 0) & ~made.stalled
    assert np.mean(free) > 0.9
    sizes = np.linalg.norm(got, axis=-1), np.linalg.norm(want, axis=-1)
    assert np.max(np.abs(sizes[0] / sizes[1] - 1)[free]) < 2.0**-12 + LENGTHS[kind][mode]
    turned = got / sizes[0][:, None] - want / sizes[1][:, None]
    assert np.max(np.abs(turned)) < (5e-5 if kind == "straight" else 1e-6)  # those that were shortened too


def test_a_step_of_a_joint_is_what_the_spec_says() -> None:
    """Integers of J times m, shifted: the step in turns, as J . w gives it in metres and radians."""
    rng = np.random.default_rng(6)
    j, e = columns("random", 200, 7, rng), rng.integers(-(2**18), 2**18, (200, 3))
    real, error = j * 2.0**-SPEC.j_frac, e * 2.0**-SPEC.e_frac
    w = np.linalg.solve(np.einsum("nka,nkb->nab", real, real), error[..., None])[..., 0]
    radians = np.einsum("nka,na->nk", real, w) * 2 / 2**4
    made = weights(SPEC, squares(j), e, np.array(NEWTON), np.array(4))
    steps = np.einsum("nka,na->nk", j, made.m) * 2.0 ** -made.shift[:, None] * 2.0**-SPEC.delta_frac
    # Damping alone makes them differ: 2^-13 of the trace, against the lowest eigenvalue.
    damped = 2.0**-12 * np.linalg.cond(np.einsum("nka,nkb->nab", real, real))[:, None]
    size = np.linalg.norm(radians, axis=-1, keepdims=True)
    assert np.all(np.abs(steps * 2 * np.pi - radians) < damped * size) and np.median(damped) < 0.01


def one(m: list[int], e: list[int], mode: int, k_log: int = 0, spec: WeightSpec = SPEC) -> Weights:
    return weights(spec, np.array(m), np.array(e), np.array(mode), np.array(k_log))


IDENTITY = [2**36, 0, 0, 2**36, 0, 2**36]


@pytest.mark.parametrize(
    ("m", "e", "mode"),
    [
        (IDENTITY, [0, 0, 0], QUICK),
        (IDENTITY, [0, 0, 0], NEWTON),
        ([0] * 6, [5, 6, 7], QUICK),
        ([0] * 6, [5, 6, 7], NEWTON),
        ([2**36, 0, 0, 0, 0, 0], [0, 9, 9], QUICK),  # M e is zero
        ([-(2**36), 0, 0, -(2**36), 0, -(2**36)], [5, 6, 7], NEWTON),  # no sum of squares
    ],
)
def test_a_step_that_is_zero_is_said_to_be(m: list[int], e: list[int], mode: int) -> None:
    made = one(m, e, mode)
    assert made.m.tolist() == [0, 0, 0] and made.shift == 63 and made.stalled


def test_speculations_are_a_power_of_two() -> None:
    for mode in (QUICK, NEWTON):
        made = [one(IDENTITY, [300, -400, 500], mode, k) for k in range(11)]
        assert all(np.array_equal(other.m, made[0].m) for other in made)
        assert [int(other.shift - made[0].shift) for other in made] == list(range(11))


def test_steps_that_leave_the_shift() -> None:
    """Too long: shortened, in the same direction. Too short: zero."""
    long = one([1, 0, 0, 1, 0, 1], [2**19, -(2**18), 0], QUICK)
    assert long.shift == 0 and not long.stalled and long.m[0] > 0
    assert long.m[0] + 2 * long.m[1] in (0, 1, -1) and abs(long.m[0]) >= 2**22
    fine = replace(SPEC, delta_frac=0)
    m = [2**46, 0, 0, 2**46, 0, 2**46]
    for k_log in range(16):
        short = one(m, [1, 0, 0], QUICK, k_log, fine)
        exponent = -(k_log + 3) + (fine.e_frac * -1) + (36 - 46) + (0 - 18)  # of m 2^-shift
        wanted = 22 - exponent
        assert (
            (short.shift == wanted and not short.stalled)
            if wanted <= 63
            else (short.stalled and short.shift == 63)
        )
    assert short.stalled


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"mantissa": 20}, "damping must be from 1 to 7, found 13"),
        ({"mantissa": 40}, "mantissa must be from 12 to 32"),
        ({"m_bits": 64}, "m_bits"),
        ({"adders": 0}, "adders"),
        ({"m_frac": 2000}, "shift"),
    ],
)
def test_specs_that_cannot_be_built(change: Mapping[str, int], match: str) -> None:
    with pytest.raises(TargetError, match=match):
        replace(SPEC, **change)


def test_words_that_do_not_fit_are_refused() -> None:
    with pytest.raises(TargetError, match="e: expected words from -1048576 to 1048575"):
        one(IDENTITY, [2**20, 0, 0], QUICK)
    with pytest.raises(TargetError, match="mode"):
        one(IDENTITY, [1, 0, 0], 2)
    with pytest.raises(TargetError, match=r"M: expected integers of shape \(..., 6\)"):
        one(IDENTITY[:5], [1, 0, 0], QUICK)


# --- the hardware ------------------------------------------------------------------------------------------


def inputs(spec: WeightSpec, n: int = 4000, seed: int = 7) -> tuple[Array, Array, Array, Array]:
    """Squares of columns, of full rank and less, and integers of any size, the extreme ones among them."""
    rng = np.random.default_rng(seed)
    top_m, top_e = 2 ** (spec.m_bits - 1), 2 ** (spec.e_bits - 1)
    m = rng.integers(-top_m, top_m, (n, 6)) >> rng.integers(0, spec.m_bits, (n, 6))
    e = rng.integers(-top_e, top_e, (n, 3)) >> rng.integers(0, spec.e_bits, (n, 3))
    for k, kind in enumerate(LENGTHS):
        scale = np.sqrt(top_m / 2) / (1e5 * 2.0**18) * 2.0 ** rng.uniform(-9, 1, (n // 8, 1, 1))
        j = columns("random" if kind in ("short", "long") else kind, n // 8, 7, rng)
        m[k * (n // 8) : (k + 1) * (n // 8)] = squares(np.rint(j * scale * 1e4).astype(np.int64))
    ends_m, ends_e = np.array([-top_m, top_m - 1, 0, 1, -1]), np.array([-top_e, top_e - 1, 0, 1, -1])
    m[-n // 8 :], e[-n // 8 :] = rng.choice(ends_m, (n // 8, 6)), rng.choice(ends_e, (n // 8, 3))
    e[rng.random((n, 3)) < 0.05] = 0
    m = np.clip(m, -top_m, top_m - 1)
    order = rng.permutation(n)
    return m[order], e[order], rng.integers(0, 2, n), rng.integers(0, 16, n)


@cache
def simulated(name: str) -> Simulation:
    return Simulation(weights_chip(SPECS[name]))


def difference(spec: WeightSpec, words: Array, given: tuple[Array, Array, Array, Array]) -> int:
    """Problems whose weights, or cycles, are not those of the definition."""
    (got, cycles), want = answers(words), weights(spec, *given)
    wrong = np.any(got.m != want.m, axis=-1) | (got.shift != want.shift) | (got.stalled != want.stalled)
    takes = np.array([latency(spec, mode) for mode in (QUICK, NEWTON)])
    return int(np.sum(wrong | (cycles != takes[given[2]])))


@needs_verilator
@pytest.mark.parametrize("name", SPECS)
def test_the_hardware_computes_the_definition(name: str) -> None:
    spec, given = SPECS[name], inputs(SPECS[name])
    want = weights(spec, *given)
    assert 0.02 < np.mean(want.stalled) < 0.5 and np.mean(want.shift == 0) > 0.01  # all that can happen does
    run = simulated(name).run(problems(*given))
    assert difference(spec, run.words, given) == 0
    # Starts come with the results before: no cycle is lost.
    assert run.cycles <= sum(latency(spec, mode) for mode in given[2].tolist()) + 10
    few = [one[:300] for one in given]
    paused = simulated(name).run(problems(*few), pause_in=60, pause_out=30, seed=3)
    assert difference(spec, paused.words, (few[0], few[1], few[2], few[3])) == 0


@needs_verilator
def test_a_start_under_way_is_not_disturbed() -> None:
    given = inputs(SPEC, 400)
    run = Simulation(weights_chip(SPEC, insists=True)).run(problems(*given))
    assert difference(SPEC, run.words, given) == 0


@dataclass(frozen=True)
class Mutant(NetlistChip):
    """A chip with a mistake in one of its files."""

    mistake: tuple[str, str, str] = ("", "", "")

    @property
    def files(self) -> dict[str, str]:
        name, right, wrong = self.mistake
        made = source_files(self.netlist)
        assert right in made[name]
        return {**made, name: made[name].replace(right, wrong)}


MISTAKES = {
    "bits lost in an adder": ("rm_float_add.sv", "moved[0] || lost", "moved[0]"),
    "a sum truncated": ("rm_float_add.sv", "{{P{1'b0}}, high[3]}", "'0"),
    "a sum's carry": ("rm_float_add.sv", "ExponentW'(zeros) + ExponentW'(rounded[P])", "ExponentW'(zeros)"),
    "a product truncated": ("rm_float_mul.sv", "(P'(1) << (P - 2 - LowW))", "'0"),
    "an integer truncated": ("rm_float_from_int.sv", "{{P{1'b0}}, high[Wide-1-P]}", "'0"),
    "a power of two divided": ("rm_float_recip.sv", "power_q     <= ~|x_i[P-2:0]", "power_q     <= 1'b0"),
    "a halved distance": (
        "rm_float_align.sv",
        "top_q[k] >> distance_q[k]",
        "top_q[k] >> (distance_q[k] >> 1)",
    ),
}


@needs_verilator
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_a_cell_is_noticed(mistake: str) -> None:
    """In words that show every bit of a mantissa."""
    spec = SPECS["wide e and m"]
    chip, given = weights_chip(spec), inputs(spec)
    run = Simulation(Mutant(chip.netlist, chip.streams, MISTAKES[mistake])).run(problems(*given))
    assert difference(spec, run.words, given) > 0


@needs_verilator
@pytest.mark.parametrize("name", SPECS)
def test_no_warnings(name: str) -> None:
    assert lint(weights_chip(SPECS[name])) == ""


@needs_slang
@pytest.mark.parametrize("name", SPECS)
def test_a_strict_reader_finds_no_errors(name: str, tmp_path: Path) -> None:
    chip = weights_chip(SPECS[name])
    write_files(chip, tmp_path)
    assert errors(tmp_path, chip.top) == []


@needs_yosys
def test_yosys_reads_it() -> None:
    assert check_by_yosys(weights_chip(SPEC)) > 500


def test_cycles() -> None:
    """Those that the documents say."""
    assert [latency(SPEC, mode) for mode in (QUICK, NEWTON)] == [31, 35]
    single = replace(SPEC, multipliers=1, adders=1, converters=1)
    assert [latency(single, mode) for mode in (QUICK, NEWTON)] == [38, 41]
