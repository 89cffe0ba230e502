"""Functions of robots in fixed point: machine code and interpreter agree on every word and every flag."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.compiler.chip import RobotChip
from robomorph.compiler.program import compile_fixed
from robomorph.compiler.specialise import make_request
from robomorph.errors import ModelWarning, TargetError
from robomorph.ir.fixed import FixedProgram, FixedResult, interpret_fixed
from robomorph.targets.cpu.fixed.kernel import FixedKernel
from robomorph.targets.rtl.accelerator import Accelerator
from tests.targets.fixed.programs import some_words
from tests.targets.rtl.accelerators import PAPERS, accelerator

Array = npt.NDArray[Any]
GRADIENT = "forward_dynamics_gradient"
BLOCK = 4096
# Robot, function, options: one format for all or one for each signal; sines, reciprocals and M^-1 inside or
# given; words that fit lanes of 32 bits; link units.
SMALL: dict[str, tuple[str, str, dict[str, Any]]] = {
    "chain, complete": ("chain:2", GRADIENT, {}),
    "chain, 18 bits": ("chain:2", GRADIENT, {"bits": 18, "speed": 0.5, "acceleration": 0.5}),
    "chain, Q8.8": ("chain:2", GRADIENT, {"format": "Q8.8"}),
    "chain, 12 bits": ("chain:2", "mass_matrix_inverse", {"bits": 12}),
    "chain, link units": ("chain:3", "inverse_dynamics_gradient", {"structure": "units", "bits": 20}),
    "chain, float32 outside": ("chain:2", GRADIENT, {"boundary": "float32"}),
    "iiwa, Q16.16": ("iiwa14", "inverse_dynamics", {"format": "Q16.16"}),
    "iiwa, Q14.6": ("iiwa14", "inverse_dynamics", {"format": "Q14.6"}),
    "iiwa, 8 bits": ("iiwa14", "inverse_dynamics", {"bits": 8, "trig": "host"}),
    "iiwa, M^-1 given": ("iiwa14", GRADIENT, {**PAPERS, "format": "Q16.16"}),
    "hyq, Q12.5": ("hyq", "inverse_dynamics", {"format": "Q12.5"}),
    "hyq, 32 bits": ("hyq", "inverse_dynamics_gradient", {}),
}
LARGE: dict[str, tuple[str, str, dict[str, Any]]] = {
    f"{robot}, {name}": (robot, GRADIENT, options)
    for robot in ("iiwa14", "hyq")
    for name, options in {
        "complete, 32 bits": {},
        "complete, Q16.16": {"format": "Q16.16"},
        "M^-1 given, 32 bits": PAPERS,
        "M^-1 given, Q16.16": {**PAPERS, "format": "Q16.16"},
        "M^-1 given, Q14.6": {**PAPERS, "format": "Q14.6"},
        "M^-1 given, Q12.5": {**PAPERS, "format": "Q12.5"},
        "M^-1 given, 16 bits": {**PAPERS, "bits": 16},
    }.items()
}


@cache
def made(name: str) -> FixedKernel:
    source, algorithm, options = SMALL[name]
    kernel: FixedKernel = robomorph.load(source).compile(algorithm, target="fixed", **options)
    return kernel


def differing(found: FixedResult, expected: FixedResult) -> tuple[int, int]:
    """Words and flags that differ."""
    words = np.count_nonzero(found.words != expected.words)
    return int(words), int(np.count_nonzero(found.overflow != expected.overflow))


def states(a: Accelerator, count: int, seed: int) -> Iterator[dict[str, Array]]:
    """Within the ranges that formats are for; far faster; and at large everywhere."""
    yield a.sample(count, seed)
    wild = a.sample(count, seed + 1)
    yield {name: x * (8.0 if name in ("qd", "tau", "qdd") else 1.0) for name, x in wild.items()}
    rng = np.random.default_rng(seed)
    yield {name: x * 2.0 ** rng.integers(-40, 41, x.shape) for name, x in a.sample(count, seed + 2).items()}


@pytest.mark.parametrize("name", SMALL)
def test_words_and_flags_of_a_kernel(name: str) -> None:
    """From the same real numbers: what an accelerator with these options gives, by the interpreter."""
    source, algorithm, options = SMALL[name]
    a = accelerator(source, algorithm, **options)
    kernel = made(name)
    assert kernel.fixed == a.fixed
    flags = []
    for arguments in states(a, 203, seed=5):
        expected = a.interpret(arguments)[1]
        assert differing(kernel.words(*arguments.values()), expected) == (0, 0)
        flags.append(np.count_nonzero(expected.overflow))
    assert flags[-1] > 0


def floating() -> robomorph.Robot:
    payloads = {"link_0": (3.0, [0.1, 0.0, 0.2], 0.1 * np.eye(3))}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load("chain:2", floating_base=True, payloads=payloads)


def test_steps_of_a_floating_base_are_refused() -> None:
    """Turns need roots, which a chip has not."""
    with pytest.raises(TargetError, match=r"step: fixed point, and so hardware, has no .*sqrt"):
        floating().compile("step", target="fixed", bits=20)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_function(algorithm: str) -> None:
    """On a floating base that has a mass (steps in time: a fixed one), in words that some states leave."""
    robot = floating() if "dt" not in ALGORITHMS[algorithm].parameters else robomorph.load("chain:2")
    frame = robot.link_names[-1] if ALGORITHMS[algorithm].frame else None
    kernel = robot.compile(algorithm, target="fixed", bits=20, frame=frame)
    ports = kernel.inputs
    chip = RobotChip(robot.specialiser, make_request(robot.model, algorithm, frame=frame))
    arguments = chip.sample(ports, 40, np.random.default_rng(1), 2.0, 10.0)
    faster = chip.sample(ports, 40, np.random.default_rng(2), 40.0, 200.0)
    both = {name: np.concatenate([x, faster[name]]) for name, x in arguments.items()}
    assert differing(kernel.words(*both.values()), kernel.plan.interpret(both)[1]) == (0, 0)


def test_wrenches_are_arguments_too() -> None:
    robot = robomorph.load("chain:2")
    kernel = robot.compile("inverse_dynamics", target="fixed", f_ext=True)
    q, qd = robot.random_state(1, 9)
    wrenches = np.random.default_rng(1).uniform(-50.0, 50.0, (9, *kernel.inputs[-1].shape))
    found = kernel(q, 0.1 * qd, qd, wrenches)
    exact = robot.compile("inverse_dynamics", f_ext=True)(q, 0.1 * qd, qd, wrenches)
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-4)
    named = dict(zip(("q", "qd", "qdd", "f_ext"), (q, 0.1 * qd, qd, wrenches), strict=True))
    assert differing(kernel.words(*named.values()), kernel.plan.interpret(named)[1]) == (0, 0)


@pytest.mark.parametrize("name", SMALL)
def test_any_words(name: str) -> None:
    """The ends of every format, zeros, ones and everything between, on the inputs."""
    source, algorithm, options = SMALL[name]
    fixed = accelerator(source, algorithm, **options).fixed
    kernel, words = made(name).compiled, some_words(fixed, 203, seed=6)
    expected = interpret_fixed(fixed, words)
    assert differing(kernel.run(words), expected) == (0, 0)
    for row in range(3):
        one = FixedResult(expected.words[row], expected.overflow[row])
        assert differing(kernel.run(words[row]), one) == (0, 0)


def compare(fixed: FixedProgram, words: Array) -> tuple[int, int, int, float, float]:
    """Words and flags that differ, states that saturate, and the seconds of either."""
    kernel = compile_fixed(fixed)
    kernel.prepare(BLOCK)
    wrong_words = wrong_flags = saturated = 0
    seconds = [0.0, 0.0]
    for start in range(0, len(words), BLOCK):  # the interpreter is at its best with blocks of this size
        times = [time.perf_counter()]
        found = kernel.run(words[start : start + BLOCK])
        times.append(time.perf_counter())
        expected = interpret_fixed(fixed, words[start : start + BLOCK])
        times.append(time.perf_counter())
        lost = differing(found, expected)
        wrong_words, wrong_flags = wrong_words + lost[0], wrong_flags + lost[1]
        saturated += int(np.count_nonzero(expected.overflow))
        seconds = [s + b - a for s, a, b in zip(seconds, times, times[1:], strict=False)]
    return wrong_words, wrong_flags, saturated, seconds[0], seconds[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_100_000_states(name: str) -> None:
    """Half of them inside the sampled ranges, a quarter far outside, a quarter any words."""
    source, algorithm, options = LARGE[name]
    a = accelerator(source, algorithm, **options)
    inside, outside, _ = (a.words(s)[0] for s in states(a, 50_000, seed=7))
    words = np.concatenate([inside, outside[:25_000], some_words(a.fixed, 25_000, seed=8)])
    wrong_words, wrong_flags, saturated, ours, theirs = compare(a.fixed, words)
    print(
        f"\n{name}: {len(words)} states, {words.shape[1]} words in, {a.fixed.program.output_size} out:"
        f" {wrong_words} words and {wrong_flags} flags differ, {saturated} states saturate;"
        f" {ours:.2f} s with conversions, interpreter {theirs:.2f} s"
    )
    assert (wrong_words, wrong_flags) == (0, 0)
    assert len(words) == 100_000 and saturated > 0
