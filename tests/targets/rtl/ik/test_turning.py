"""Search units in which CORDIC turns positions itself: its definition against sines and cosines of float64,
and the hardware against the definition, flags of words too long included."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.accelerators.ik.chain import make_chain
from robomorph.accelerators.ik.make import make_chip
from robomorph.errors import ModelWarning
from robomorph.targets.rtl.cell_table import QUARTER, TURN
from robomorph.targets.rtl.chip import NetlistChip
from robomorph.targets.rtl.digits import signed_digits
from robomorph.targets.rtl.emit_ports import streaming_module
from robomorph.targets.rtl.expressions import Literal, join, sign_extend, zero_extend
from robomorph.targets.rtl.hierarchy import cells
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.emit_search import unit_module
from robomorph.targets.rtl.ik.parts import Delays
from robomorph.targets.rtl.ik.plan import CORDIC, Knobs, Widths
from robomorph.targets.rtl.ik.turning import Turner, make_turner
from robomorph.targets.rtl.simulate import Simulation, lint, write_files
from robomorph.targets.rtl.stream import Stream
from robomorph.targets.rtl.synthesis import check_by_yosys
from tests.targets.rtl.ik.solves import MODES, Case, case, check_cycles, check_run, simulated
from tests.targets.rtl.ik.test_chip import Mutant
from tests.targets.rtl.test_strict_reader import errors
from tests.targets.rtl.toolchains import needs_slang, needs_verilator, needs_yosys

Array = npt.NDArray[Any]
SKEW = """<robot name="skew"><link name="base"/>{}</robot>"""
LINK = """<link name="{1}"/><joint name="j{1}" type="continuous"><parent link="{0}"/><child link="{1}"/>
<origin xyz="0.3 0.1 0.05" rpy="0.7 0 0"/><axis xyz="0 0 1"/></joint>"""


@cache
def skew() -> Case:
    """A chain of four joints, each twisted against the one before by the same angle, which is not a right
    one."""
    links = ["base", "a", "b", "c", "tool"]
    text = SKEW.format("".join(map(LINK.format, links, links[1:])))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # links without mass
        robot = robomorph.load(text)
    free = np.full(robot.nq, np.inf)
    chip = make_chip(make_chain(robot.model, "tool", -free, free), Widths(), Knobs(turning=CORDIC))
    return Case(robot, "tool", chip, IkDesign(chip.plan))


# --- the definition -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "angle"), [(18, 18), (12, 10), (12, 22), (24, 10), (24, 22), (20, 18)])
def test_a_turn_is_near_the_true_one(bits: int, angle: int) -> None:
    """Never farther than what the last angle, rounded arctangents, the gain and every rounding allow."""
    turner, rng = make_turner(bits, angle), np.random.default_rng(1)
    x, y = rng.integers(-(1 << bits - 2), 1 << bits - 2, (2, 20_000))
    turn = rng.integers(-(1 << angle - 1), 1 << angle - 1, 20_000)
    turn[:4] = 0, -(1 << angle - 1), 1 << angle - 2, -(1 << angle - 2)
    a, b, lost = turner(x, y, turn)
    true = (x + 1j * y) * np.exp(2j * np.pi * turn / 2.0**angle)
    inner, phase = 2.0**-turner.guard, np.pi * 2.0**-turner.phase_bits
    wrong = 2.0 ** (1 - turner.steps) + turner.steps * phase + abs(turner.gain_error)
    rounded = np.sqrt(2.0) * (1.65 * (turner.steps + 0.5) * inner + 0.5)
    assert not lost.any()
    assert (np.abs(a + 1j * b - true) <= np.abs(true) * wrong + rounded).all()
    assert abs(turner.gain_error) <= 2.0 ** -(bits + 2)


def test_a_vector_too_long_saturates() -> None:
    turner = make_turner(18, 18)
    top, eighth = np.array([131071]), np.array([1 << 15])
    x, y, lost = turner(top, -top, eighth)
    assert (x[0], lost[0]) == (131071, True) and abs(y[0]) < 10


def test_which_units_have_multipliers() -> None:
    """None where all twists are right angles, or the same; four products where every joint has its own."""
    for one in (skew(), *(case(name, turning=CORDIC) for name in ("chain:12", "iiwa14", "hyq", "mixed:0"))):
        assert "rm_mul" not in _unit_cells(one), one.chip.plan.name
    assert "rm_scale" in _unit_cells(skew())
    assert "rm_mul" in _unit_cells(case("mixed:1", turning=CORDIC))
    assert "rm_mul" in _unit_cells(case("chain:12"))


def _unit_cells(one: Case) -> set[str]:
    return {cell.name for cell in cells(unit_module("unit", one.design.timing))}


def test_twists_of_any_angle_that_all_joints_have() -> None:
    one = skew()
    starts, ends = (one.robot.random_state(rng=k, batch=(2000,)).q for k in (1, 2))
    targets = one.robot.forward_kinematics(ends, "tool")[:, :3, 3]
    true, own = one.errors(one.solve(one.words(targets, starts, cap=0)), targets, starts)
    assert np.abs(true - own).max() <= one.chip.own_error


# --- the cells ----------------------------------------------------------------------------------------------


def turning_chip(turner: Turner, stages: int) -> NetlistChip:
    """Words x, y, angle and quarters in; turned x and y, turned by quarters y and z, and flags of both out.
    It does not wait for who takes them."""
    given, taken = (Stream(words=n, container=32, lanes=n, held=32) for n in (4, 6))
    m = streaming_module("turning", "A vector turned in two ways.", (given, taken))
    later, word, bits = Delays(m), m["s_axis_tdata"], turner.bits
    x, y = word.bits(0, bits), word.bits(32, bits)
    outs = {name: m.signal(name, bits) for name in ("x", "y", "first", "second")}
    flags = [m.signal("turn_lost"), m.signal("quarter_lost")]
    wires = {"clk_i": m["clk_i"], "angle_i": word.bits(64, turner.angle_bits), "x_i": x, "y_i": y}
    digits = signed_digits(turner.scale)
    width = turner.phase_bits
    m.instance(
        "u_turn",
        TURN,
        {**wires, "x_o": outs["x"], "y_o": outs["y"], "overflow_o": flags[0]},
        **{"W": bits, "Guard": turner.guard, "AngleW": turner.angle_bits, "PhaseW": width},
        **{"Steps": turner.steps, "Digits": len(digits), "Drop": turner.shift, "Stages": stages},
        Angles=Literal(sum(a << k * width for k, a in enumerate(turner.angles)), turner.steps * width),
        Shifts=Literal(sum(s << 8 * k for k, (s, _) in enumerate(digits)), 8 * len(digits)),
        Negative=Literal(sum((d < 0) << k for k, (_, d) in enumerate(digits)), len(digits)),
    )
    wires = {"quarter_i": word.bits(96, 2), "y_i": x, "z_i": y, "y_o": outs["first"], "z_o": outs["second"]}
    m.instance("u_quarter", QUARTER, {**wires, "overflow_o": flags[1]}, W=bits)
    flat = [outs["x"], outs["y"], *(later(outs[name], stages) for name in ("first", "second"))]
    words = [sign_extend(one, 32) for one in flat]
    words += [zero_extend(one, 32) for one in (flags[0], later(flags[1], stages))]
    m.assign(m["m_axis_tdata"], join(*reversed(words)))
    m.assign(m["m_axis_tvalid"], later(m["s_axis_tvalid"], stages, reset=True))
    for name, value in (("s_axis_tready", 1), ("m_axis_tlast", 1), ("m_axis_tuser", 0), ("overflow_o", 0)):
        m.assign(m[name], Literal(value, 1))
    m.assign(m["misaligned_o"], Literal(0, 1))
    return NetlistChip(m, (given, taken))


def _any_words(turner: Turner, count: int) -> Array:
    """All bits at random, with many vectors too long to turn, and the most negative word."""
    rng = np.random.default_rng(3)
    half = 1 << turner.bits - 1
    vectors = rng.integers(-half, half, (count, 2))
    vectors[rng.random((count, 2)) < 0.1] = -half
    turn = rng.integers(-(1 << turner.angle_bits - 1), 1 << turner.angle_bits - 1, count)
    return np.column_stack([vectors, turn, rng.integers(0, 4, count)])


def _expected(turner: Turner, words: Array) -> Array:
    x, y, lost = turner(words[:, 0], words[:, 1], words[:, 2])
    turned = (words[:, 0] + 1j * words[:, 1]) * 1j ** words[:, 3]
    exact = np.round(np.stack([turned.real, turned.imag], axis=-1)).astype(np.int64)
    most = (1 << turner.bits - 1) - 1
    quarters = np.minimum(exact, most)
    over = (quarters != exact).any(axis=1)
    return np.column_stack([x, y, quarters, lost, over])


@needs_verilator
@pytest.mark.parametrize(
    ("bits", "angle", "stages"),
    [(18, 18, 7), *(pytest.param(*s, marks=pytest.mark.slow) for s in ((12, 22, 2), (24, 10, 16)))],
)
def test_cells_equal_the_definition(bits: int, angle: int, stages: int) -> None:
    turner = make_turner(bits, angle)
    chip, words = turning_chip(turner, stages), _any_words(turner, 3000)
    expected = _expected(turner, words)
    assert 100 < expected[:, 4].sum() < 2000 and 100 < expected[:, 5].sum() < 2000
    np.testing.assert_array_equal(Simulation(chip).run(words, pause_in=20).words, expected)


# --- the chip -----------------------------------------------------------------------------------------------


@needs_verilator
def test_solves_equal_the_definition_in_the_cycles_of_the_formula() -> None:
    one = case("chain:12", turning=CORDIC)
    assert one.design.timing.loop == one.chip.plan.knobs.rotate_stages + 1
    for mode in (MODES["relaxed"], MODES["newton"]):
        words = one.random(8, 5, mode=mode, cap=30, patience=15, k_log=4 if mode & 2 else 6)
        check_run(one, one.solve(words), simulated(one, words, pause_in=30, pause_out=40, seed=9))
        for k_log in (0, 4, 6):
            _check_alone(one, one.random(3, 8 + k_log, mode=mode, cap=8, k_log=k_log))


def _check_alone(one: Case, words: Array) -> None:
    answers, run = one.solve(words), simulated(one, words, one_by_one=True)
    check_run(one, answers, run)
    check_cycles(one, words, answers, run)


@needs_verilator
def test_positions_too_far_raise_the_flags_of_the_definition() -> None:
    """A chain with sliding joints, limits and right angles that differ, whose tip stands where words end."""
    one = case("mixed:3", units=2, speculations=16, turning=CORDIC)
    assert one.chip.plan.quartered and one.chip.plan.sliding and one.chip.plan.limited
    tables = replace(one.chip.plan.tables, tip=np.array([40_000, 70_000, -90_000]))
    plan = replace(one.chip.plan, tables=tables)
    far = replace(one, chip=replace(one.chip, plan=plan), design=IkDesign(plan))
    words = np.concatenate([far.random(20, 3, mode=mode, cap=6) for mode in range(3)])
    answers = far.solve(words)
    assert 0 < answers.overflow.sum() < len(words)
    check_run(far, answers, simulated(far, words, pause_in=20, pause_out=20, seed=4))


OTHERS: dict[str, tuple[str, Widths, dict[str, Any]]] = {
    "one unit, any twist": ("mixed:1", Widths(), {"units": 1, "speculations": 8, "problems": 1}),
    "as many units as speculations": ("iiwa14", Widths(), {"units": 8, "speculations": 8, "evaluators": 1}),
    "few stages": ("hyq", Widths(), {"rotate_stages": 2, "speculations": 16, "period": 1.3}),
    "many stages": ("mixed:0", Widths(), {"rotate_stages": 16, "units": 2, "multiply_stages": 1}),
    "narrow words": ("iiwa14", Widths(unit=14, angle=10, theta=18, serial=15, serial_angle=14), {}),
    "wide words": ("mixed:9", Widths(unit=24, angle=22, serial=24), {"units": 2}),
    "one joint": ("chain:1", Widths(), {"units": 4, "speculations": 16}),
}


@needs_verilator
@pytest.mark.slow
@pytest.mark.parametrize("what", list(OTHERS))
def test_other_chips(what: str) -> None:
    name, widths, knobs = OTHERS[what]
    one = case(name, widths, turning=CORDIC, **knobs)
    assert lint(one.design) == ""
    words = np.concatenate([one.random(5, mode, mode=mode, cap=20, tolerance=5e-2) for mode in range(4)])
    check_run(one, one.solve(words), simulated(one, words, pause_in=30, pause_out=30, seed=2))
    _check_alone(one, words)


@needs_verilator
@pytest.mark.slow
@pytest.mark.parametrize("name", ["skew", "chain:50", "atlas", *(f"mixed:{k}" for k in range(10))])
def test_hundreds_of_solves(name: str) -> None:
    one = skew() if name == "skew" else case(name, turning=CORDIC)
    options: dict[str, Any] = {"cap": 500, "patience": 60}
    words = np.concatenate([one.random(100, mode, mode=mode, **options) for mode in range(3)])
    answers = one.solve(words)
    run = Simulation(one.design, optimise=True).run(words, pause_in=20, pause_out=30, seed=3, quiet=10**9)
    check_run(one, answers, run)


MUTANTS = {
    "a position that is rounded down": ("rm_turn.sv", ".Shift(Guard),\n    .OutW (W)", ".Rounded(1'b1)"),
    "a half turn that is forgotten": ("rm_turn.sv", "behind[0]      <= far_side", "behind[0] <= 1'b0"),
    "a step of the wrong size": ("rm_rotate_stage.sv", "dy = x >>> j", "dy = x >>> (j + j / 15)"),
    "a quarter the wrong way round": (
        "rm_quarter.sv",
        "quarter_i[1] ? -(WideW'(z))",
        "quarter_i[0] ? -(WideW'(z))",
    ),
}


@needs_verilator
@pytest.mark.parametrize(
    "what", [name if k == 0 else pytest.param(name, marks=pytest.mark.slow) for k, name in enumerate(MUTANTS)]
)
def test_a_mutant_is_found(what: str) -> None:
    name, line, other = MUTANTS[what]
    one = case("hyq", units=2, speculations=8, turning=CORDIC)
    text = one.design.files[name]
    assert line in text
    added = f"{line},\n    {other}" if other.startswith(".") else other
    files = {**one.design.files, name: text.replace(line, added)}
    words = one.random(10, 5, cap=10)
    run = Simulation(Mutant(one.design, files)).run(words, quiet=10**6)
    assert (run.words != one.solve(words).words).any()


NAMES: Sequence[str] = ("chain:12", "hyq", "mixed:0", "mixed:1")


@needs_verilator
@pytest.mark.parametrize("name", NAMES)
def test_lint_is_clean(name: str) -> None:
    assert lint(case(name, turning=CORDIC).design) == ""


@needs_slang
@pytest.mark.parametrize("name", NAMES)
def test_slang_reads_it(name: str, tmp_path: Path) -> None:
    design = case(name, turning=CORDIC).design
    write_files(design, tmp_path)
    assert errors(tmp_path, design.top) == []


@needs_yosys
@pytest.mark.parametrize("name", ["chain:12", "mixed:0"])
def test_yosys_reads_it(name: str) -> None:
    assert check_by_yosys(case(name, units=2, speculations=8, turning=CORDIC).design) > 0


@needs_verilator
@pytest.mark.slow
def test_a_robot_asks_for_it() -> None:
    """From the outside: `chip={"turning": "cordic"}`."""
    robot = robomorph.load("chain:12")
    rng = np.random.default_rng(2)
    q0, q = rng.uniform(-3.0, 3.0, (2, 5, 12))
    target = robot.forward_kinematics(q, "tool")[:, :3, 3]
    options: dict[str, Any] = {"method": "quick-ik", "starts": 1, "nearest": False, "tolerance": 1e-2}
    chip = {"turning": "cordic"}
    found = robot.inverse_kinematics(target, "tool", q0, on="rtl", chip=chip, **options)
    places = robot.forward_kinematics(found.q, "tool")[:, :3, 3]
    assert found.success.all() and (np.linalg.norm(places - target, axis=1) <= 1e-2).all()
