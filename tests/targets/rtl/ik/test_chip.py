"""The inverse-kinematics chip in simulation: every word, count, status and flag of its definition, in the
cycles of its formula."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.plan import Widths
from robomorph.targets.rtl.ik.stream_words import CAP, CONVERGED, STALLED, squared_error
from robomorph.targets.rtl.simulate import Simulation, lint, write_files
from robomorph.targets.rtl.stream import Stream
from robomorph.targets.rtl.synthesis import check_by_yosys
from tests.targets.rtl.ik.solves import MODES, QUIET, Case, case, check_cycles, check_run, simulated
from tests.targets.rtl.test_strict_reader import errors
from tests.targets.rtl.toolchains import needs_slang, needs_verilator, needs_yosys

SMALL: dict[str, dict[str, Any]] = {
    "chain:12": {"units": 4, "problems": 2},
    "iiwa14": {"units": 16, "speculations": 64, "problems": 1},
}


@needs_verilator
@pytest.mark.parametrize("mode", list(MODES.values()), ids=list(MODES))
@pytest.mark.parametrize("name", list(SMALL))
def test_solves_equal_the_definition(name: str, mode: int) -> None:
    """With pauses on both streams, and several problems in flight."""
    one = case(name, **SMALL[name])
    words = one.random(20, 5, mode=mode, cap=150, patience=30, k_log=4 if mode & 2 else 6)
    answers = one.solve(words)
    check_run(one, answers, simulated(one, words, pause_in=30, pause_out=40, seed=9))


@needs_verilator
@pytest.mark.parametrize("mode", list(MODES.values()), ids=list(MODES))
@pytest.mark.parametrize("name", list(SMALL))
def test_cycles_equal_the_formula(name: str, mode: int) -> None:
    one = case(name, **SMALL[name])
    for k_log in (0, 2, 4, 6):
        words = one.random(6, 8 + k_log, mode=mode, cap=12, k_log=k_log)
        answers = one.solve(words)
        run = simulated(one, words, one_by_one=True)
        check_run(one, answers, run)
        check_cycles(one, words, answers, run)


@pytest.mark.parametrize(
    ("name", "units", "most"),
    [("chain:100", 16, 1000), ("chain:100", 4, 2300), ("chain:12", 16, 190), ("chain:12", 4, 350)],
)
def test_cycles_of_an_iteration(name: str, units: int, most: int) -> None:
    timing = case(name, units=units, speculations=64).design.timing
    assert timing.iteration(64) <= most
    if units == 4:
        assert timing.iteration(16, newton=True) <= 1050


@needs_verilator
@pytest.mark.parametrize("seed", range(4))
def test_joints_of_all_kinds(seed: int) -> None:
    """Sliding and coupled joints, limits, any angle."""
    one = case(f"mixed:{seed}", units=2, speculations=16)
    words = one.random(12, seed, mode=seed, cap=40, patience=10)
    run = simulated(one, words, pause_in=20, pause_out=20, seed=seed + 1)
    check_run(one, one.solve(words), run)


@needs_verilator
@pytest.mark.parametrize(
    "knobs",
    [
        {"units": 1, "speculations": 1},
        {"units": 1, "speculations": 8, "problems": 3},
        {"units": 32, "speculations": 64, "evaluators": 4},
        {
            "units": 8,
            "speculations": 8,
            "evaluators": 1,
            "multiply_stages": 1,
            "period": 1.0,
            "rotate_stages": 5,
        },
        {"units": 2, "speculations": 32, "fold": 9, "multiply_stages": 0, "period": 1.3},
    ],
    ids=str,
)
def test_knobs(knobs: dict[str, Any]) -> None:
    one = case("iiwa14", **knobs)
    words = one.random(6, 3, mode=1, cap=20)
    answers = one.solve(words)
    run = simulated(one, words, one_by_one=True)
    check_run(one, answers, run)
    check_cycles(one, words, answers, run)
    check_run(one, answers, simulated(one, words, pause_in=50, pause_out=10, seed=2))


@needs_verilator
def test_widths() -> None:
    widths = Widths(unit=14, angle=12, theta=18, guard=3, serial=15, serial_angle=14, weight=16, mantissa=20)
    one = case("iiwa14", widths, speculations=16)
    words = one.random(10, 6, mode=2, cap=30, tolerance=5e-2)
    check_run(one, one.solve(words), simulated(one, words, pause_in=10, pause_out=10))


def _edges(one: Case) -> np.ndarray:
    """Start at the target; out of reach, far and very far; a straight, singular chain and a target on its
    line; caps of 0 and 1; threshold 0; angles at the wrap."""
    n = one.robot.nq
    rng = np.random.default_rng(3)
    bent = rng.uniform(-3.0, 3.0, (8, n))
    here = one.robot.forward_kinematics(bent, one.frame)[:, :3, 3]
    straight, wrapped = np.zeros((8, n)), np.full((8, n), np.pi) - rng.choice([0.0, 1e-9, -1e-9], (8, n))
    line = np.linspace(-1.2, 1.2, 8)[:, None] * np.array([[1.0, 0.0, 0.0]])
    far = 40.0 * here
    parts = [
        one.words(here, bent, cap=60),
        one.words(here, bent, tolerance=None, cap=5),
        one.words(2.5 * here, bent, cap=20),
        one.words(far, bent, cap=20),
        one.words(line, straight, cap=20),
        one.words(line, straight, cap=20, mode=2),
        one.words(line, straight, cap=30, patience=3, mode=1),
        one.words(here, wrapped, cap=30),
        one.words(here, wrapped, cap=0),
        one.words(here, wrapped, cap=1, mode=2),
        one.words(here, wrapped, cap=6, k_log=0),
        one.words(here, wrapped, cap=6, k_log=15),
    ]
    return np.concatenate(parts)


@needs_verilator
@pytest.mark.parametrize("name", ["chain:12", "iiwa14"])
def test_edges(name: str) -> None:
    one = case(name, problems=2)
    words = _edges(one)
    answers = one.solve(words)
    check_run(one, answers, simulated(one, words, pause_in=20, pause_out=20))
    start = answers.words[:8]
    if name == "chain:12":  # without limits, the starts are where they were
        assert (answers.status[:8] == CONVERGED).all() and (answers.iterations[:8] == 0).all()
        assert (squared_error(start) <= 64).all()
    assert {CAP, STALLED} <= set(answers.status.tolist())


@needs_verilator
def test_words_of_any_bits() -> None:
    """Problems that no host would send: every field at random. They end, and as defined."""
    one = case("iiwa14", units=2, speculations=8)
    rng = np.random.default_rng(8)
    words = rng.integers(-(2**31), 2**31, (30, one.chip.plan.input_words))
    words[:, 5] = rng.integers(0, 12, 30)
    check_run(one, one.solve(words), simulated(one, words, pause_in=20, pause_out=20))


@needs_verilator
def test_ties_go_to_the_lowest() -> None:
    """A chain of one joint along its own axis: all speculations end in the same place."""
    one = case("chain:1", units=4, speculations=16)
    words = one.random(6, 1, cap=3, tolerance=None)
    check_run(one, one.solve(words), simulated(one, words))


MUTANTS = {
    "an adder that rounds otherwise": ("rm_round.sv", "x_i[Shift-1]})", "1'b0})"),
    "a selector that takes the last of equals": (
        "rm_ik_judge.sv",
        "if (tree[d-1][2*l+1] < tree[d-1][2*l])",
        "if (tree[d-1][2*l+1] <= tree[d-1][2*l])",
    ),
    "a selector that forgets the first group": ("rm_ik_judge.sv", "fresh ||", "!fresh &&"),
    "a limit that is not kept": ("rm_ik_angle.sv", "tried_q > OutW'(upper_i)", "1'b0"),
    "a step that is rounded down": ("rm_ik_step.sv", ".Shift(1)", ".Shift(1),\n    .Rounded(1'b1)"),
    "a count that starts too late": ("rm_ik_control.sv", "count_q[k] >= cap[k]", "count_q[k] > cap[k]"),
}


@dataclass(frozen=True)
class Mutant:
    """A chip with a line changed in one of its files."""

    design: IkDesign
    files: dict[str, str]

    @property
    def top(self) -> str:
        return self.design.top

    @property
    def streams(self) -> tuple[Stream, Stream]:
        return self.design.streams

    @property
    def input_slots(self) -> tuple[int, ...]:
        return self.design.input_slots

    @property
    def clock_ns(self) -> float | None:
        return self.design.clock_ns


@needs_verilator
@pytest.mark.parametrize("what", list(MUTANTS))
def test_a_mutant_is_found(what: str) -> None:
    name, line, other = MUTANTS[what]
    one = case("iiwa14", units=4, speculations=16)
    assert line in one.design.files[name]
    files = {**one.design.files, name: one.design.files[name].replace(line, other)}
    # Several starts at the target's mirror image: equal errors are likely there.
    words = np.concatenate([one.random(20, 5, cap=20, k_log=4), _edges(one)])
    answers = one.solve(words)
    run = Simulation(Mutant(one.design, files)).run(words, quiet=QUIET)
    assert (run.words != answers.words).any() or (run.overflow != answers.overflow).any()


@needs_verilator
@pytest.mark.parametrize("name", ["chain:12", "iiwa14", "hyq", "mixed:0", "mixed:1", "mixed:3"])
def test_lint_is_clean(name: str) -> None:
    assert lint(case(name).design) == ""


@needs_verilator
@pytest.mark.parametrize(
    "knobs",
    [{"units": 16, "problems": 1}, {"units": 1, "speculations": 1}, {"units": 32, "problems": 3}],
    ids=str,
)
def test_lint_is_clean_with_other_knobs(knobs: dict[str, Any]) -> None:
    assert lint(case("chain:12", **knobs).design) == ""


@needs_slang
@pytest.mark.parametrize("name", ["chain:12", "iiwa14", "mixed:0", "mixed:1"])
def test_slang_reads_it(name: str, tmp_path: Path) -> None:
    design = case(name).design
    write_files(design, tmp_path)
    assert errors(tmp_path, design.top) == []


@needs_yosys
@pytest.mark.parametrize("name", ["chain:12", "iiwa14", "mixed:0", "mixed:1"])
def test_yosys_reads_it(name: str) -> None:
    assert check_by_yosys(case(name, units=2, speculations=8).design) > 0


LONG = ["chain:12", "chain:25", "chain:50", "iiwa14", "hyq", "atlas", *(f"mixed:{k}" for k in range(10))]


@needs_verilator
@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_a_thousand_solves(name: str) -> None:
    _long(name, 1000)


@needs_verilator
@pytest.mark.slow
def test_fifty_solves_of_a_hundred_joints() -> None:
    _long("chain:100", 50)


def _long(name: str, count: int) -> None:
    """In all modes in turn, with pauses, on chips of 4 units and 64 speculations."""
    one = case(name, problems=2)
    parts = []
    for mode in range(3):
        size = count // 3 + (mode < count % 3)
        options = {"mode": mode, "k_log": 4 if mode == 2 else 6, "cap": 2000, "patience": 100}
        made = (
            one.set_b(size, **options)[0] if name.startswith("chain") else one.random(size, mode, **options)
        )
        parts.append(made)
    words = np.concatenate(parts)[np.random.default_rng(0).permutation(count)]
    answers = one.solve(words)
    run = Simulation(one.design, optimise=True).run(words, pause_in=20, pause_out=30, seed=3, quiet=QUIET)
    check_run(one, answers, run)
    alone = Simulation(one.design, optimise=True).run(words[:20], one_by_one=True, quiet=QUIET)
    check_cycles(one, words[:20], replace(answers, iterations=answers.iterations[:20]), alone)
    print(
        f"{name}: {count} solves, {int(answers.iterations.sum())} iterations, {run.cycles} cycles, "
        f"{np.bincount(answers.status, minlength=3)} (converged, cap, stalled), {answers.overflow.sum()} "
        "saturated; 0 words, 0 flags differ"
    )
