"""Searches on a simulated chip: the ordinary call and its result, against the CPU's and Pinocchio."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.ik import IKResult
from robomorph.ik.devices import rtl
from robomorph.targets.rtl.ik.definition import solve
from robomorph.targets.rtl.ik.stream_words import CAP, CONVERGED
from robomorph.targets.rtl.simulate import Run
from tests.ik.arms import arm
from tests.ik.devices.problems import FRAMES, Array, Problems, assert_holds, chain, problems
from tests.oracle.mixed_chains import mixed_chain
from tests.targets.rtl.ik.solves import case
from tests.targets.rtl.toolchains import needs_verilator

TOOL = FRAMES["iiwa14"]
# One design a robot: simulations of it are built once, whatever the method.
SMALL: dict[str, Any] = {"speculations": 4, "chip": {"units": 1}, "max_iterations": 300}
BRIEF = {**SMALL, "method": "speculative-newton", "max_iterations": 40}
METHODS = ("quick-ik", "relaxed-quick-ik", "speculative-newton")


def by_definition(search: rtl.RtlSearch, words: Array) -> Run:
    """In the place of a simulation: what the chip is defined to answer. Simulations are held against that
    word by word in tests/targets/rtl/ik."""
    found, none = solve(search.chip.plan, words), np.zeros(len(words), np.int64)
    return Run(found.words, found.overflow, none, none, none, 0, False)


@pytest.fixture
def defined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtl.RtlSearch, "_simulate", by_definition)


def given(name: str, count: int) -> Problems:
    return problems(name, count)._replace(tolerance=1e-2 if name.startswith("chain") else 1e-3)


def assert_alike(cpu: IKResult, chip: IKResult) -> None:
    """The same fields, of the same shapes and kinds."""
    for field in (
        "q",
        "success",
        "position_error",
        "rotation_error",
        "iterations",
        "starts",
        "active_limits",
    ):
        ours, theirs = (np.asarray(getattr(result, field)) for result in (chip, cpu))
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype, field
    assert np.all(chip.starts == 1) and np.all(chip.rotation_error == 0.0)


# --- answers ----------------------------------------------------------------------------------------------


@needs_verilator
@pytest.mark.parametrize("name", ["iiwa14", "hyq", "atlas", "chain:12"])
def test_positions_are_reached(name: str) -> None:
    """By all methods, in about as many problems as on the CPU, which confirms each; so does Pinocchio."""
    ask = given(name, 12)
    for method in METHODS:
        cpu, chip = (
            ask.solve(method=method, **{**SMALL, "chip": knobs}, on=on)
            for on, knobs in (("cpu", None), ("rtl", SMALL["chip"]))
        )
        assert_alike(cpu, chip)
        assert_holds(name, ask, chip)
        assert chip.success.sum() >= 0.75 * cpu.success.sum() > 0
        assert np.array_equal(chip.success, chip.position_error <= ask.tolerance)
        assert chip.iterations.max() <= 300 and (chip.iterations > 0).any()
        reasons = np.where(chip.success, "converged", "misses by")
        assert all(want in found for want, found in zip(reasons, chip.reason, strict=True))


@cache
def mixed(seed: int) -> tuple[robomorph.Robot, PinocchioCheck]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", robomorph.ModelWarning)
        robot = robomorph.load(mixed_chain(seed))
    return robot, PinocchioCheck(robot, mixed_chain(seed))


def solved_mixed(seed: int) -> None:
    robot, oracle = mixed(seed)
    starts, ends = (robot.random_state(rng=k, batch=(30,)).q for k in (1, 2))
    targets = robot.forward_kinematics(ends, "tool")[:, :3, 3]
    ask: dict[str, Any] = {"method": "speculative-newton", "speculations": 4, "max_iterations": 60}
    cpu, found = (
        robot.inverse_kinematics(targets, "tool", starts, tolerance=5e-3, **ask, **where)
        for where in ({}, {"on": "rtl", "chip": {"units": 1}})
    )
    limits = robot.limits
    assert np.all(found.q >= limits.lower) and np.all(found.q <= limits.upper)
    places = oracle.poses(found.q, "tool")[:, :3, 3]
    np.testing.assert_allclose(found.position_error, np.linalg.norm(places - targets, axis=1), atol=1e-9)
    assert found.success.sum() >= 0.75 * cpu.success.sum() > 0


@needs_verilator
def test_sliding_and_mimic_joints_at_any_angle() -> None:
    solved_mixed(4)


@pytest.mark.usefixtures("defined")
@pytest.mark.parametrize("seed", [1, 7, 13])
def test_more_joints_of_all_kinds(seed: int) -> None:
    solved_mixed(seed)


@pytest.mark.usefixtures("defined")
def test_batches() -> None:
    ask = given("iiwa14", 6)
    whole = ask.solve(on="rtl", **BRIEF)
    assert whole == ask.solve(on="rtl", **BRIEF)
    shaped = ask._replace(targets=ask.targets.reshape(2, 3, 3), starts=ask.starts.reshape(2, 3, 7))
    assert np.array_equal(shaped.solve(on="rtl", **BRIEF).q.reshape(6, 7), whole.q)
    one = ask._replace(targets=ask.targets[4], starts=ask.starts[4]).solve(on="rtl", **BRIEF)
    assert one.q.shape == (7,) and np.array_equal(one.q, whole.q[4]) and one.iterations == whole.iterations[4]
    assert isinstance(one.reason, str)
    back = ask._replace(targets=ask.targets[::-1], starts=ask.starts[::-1]).solve(on="rtl", **BRIEF)
    assert np.array_equal(back.q[::-1], whole.q)
    every = ask._replace(targets=ask.targets[:, None], starts=ask.starts[:2]).solve(on="rtl", **BRIEF)
    assert every.q.shape == (6, 2, 7) and np.array_equal(every.q[1, 1], whole.q[1])


def test_an_empty_batch_needs_no_simulation() -> None:
    for lead in ((0,), (3, 0)):
        ask = given("iiwa14", 1)
        none = ask._replace(targets=np.empty((*lead, 3)), starts=ask.starts[0]).solve(on="rtl", **BRIEF)
        assert none.q.shape == (*lead, 7) and none.success.shape == lead and none.reason.shape == lead


@pytest.mark.usefixtures("defined")
def test_starts() -> None:
    """The middle of the ranges if none is given; one beyond its limits is taken inside."""
    robot = arm("iiwa14")[0]
    limits = robot.limits
    middle = 0.5 * (limits.lower + limits.upper)
    ask = {**BRIEF, "tolerance": 1e-3, "on": "rtl"}
    place = [0.4, 0.2, 0.6]
    found = robot.inverse_kinematics(place, TOOL, **ask)
    assert found.success and found == robot.inverse_kinematics(place, TOOL, middle, **ask)
    outside = robot.inverse_kinematics(place, TOOL, np.full(7, 9.0), **ask)
    assert np.all(outside.q >= limits.lower) and np.all(outside.q <= limits.upper)
    here = robot.forward_kinematics(found.q, TOOL)[:3, 3]
    still = robot.inverse_kinematics(here, TOOL, found.q, **ask)
    assert still.success and still.iterations == 0 and np.allclose(still.q, found.q, atol=1e-6)


@pytest.mark.usefixtures("defined")
def test_whole_turns_are_kept() -> None:
    ask = given("chain:12", 8)
    plain = ask.solve(on="rtl", **BRIEF)
    turns = 2 * np.pi * 4 * np.random.default_rng(0).integers(-9, 9, ask.starts.shape)
    turned = ask._replace(starts=ask.starts + turns).solve(on="rtl", **BRIEF)
    assert plain.success.all() and turned.success.all()
    np.testing.assert_allclose(turned.q - turns, plain.q, atol=1e-6)
    assert np.abs(turned.q - ask.starts - turns).max() < 2 * np.pi


@pytest.mark.usefixtures("defined")
def test_paths() -> None:
    robot = arm("iiwa14")[0]
    q = np.array([0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0])
    line = robot.forward_kinematics(q, TOOL)[:3, 3] + np.linspace(0, 1, 6)[:, None] * [0.0, -0.1, 0.05]
    ask = {**BRIEF, "tolerance": 1e-3}
    found = robot.inverse_kinematics(line, TOOL, q, path=True, on="rtl", **ask)
    assert found.success.all() and np.abs(np.diff(found.q, axis=0)).max() < 0.5


# --- failures are said ------------------------------------------------------------------------------------


@pytest.mark.usefixtures("defined")
@pytest.mark.parametrize("place", [[3.0, 0.0, 0.0], [1e11, -1e11, 1e11], [0.0, 0.0, -40.0]])
def test_out_of_reach(place: list[float]) -> None:
    robot = arm("iiwa14")[0]
    for most in (1, 7):
        options = {**SMALL, "max_iterations": most, "method": "quick-ik", "tolerance": 1e-3}
        found = robot.inverse_kinematics(place, TOOL, on="rtl", **options)
        assert not found.success and found.iterations <= most and "out of reach" in found.reason
        assert np.all(found.q >= robot.limits.lower) and np.all(found.q <= robot.limits.upper)


def test_a_wrong_answer_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A chip that says solved, with a distance of zero, where nothing is."""

    def lies(search: rtl.RtlSearch, words: Array) -> Run:
        found = by_definition(search, words)
        found.words[:, :4], found.words[:, 4:] = 0, found.words[:, 4:] // 2
        return found

    monkeypatch.setattr(rtl.RtlSearch, "_simulate", lies)
    found = given("iiwa14", 6).solve(on="rtl", seed=77, **BRIEF)
    assert not found.success.any() and (found.position_error > 1e-3).all()


@pytest.mark.usefixtures("defined")
def test_roundings_that_add_up_do_not_cost_the_answer() -> None:
    """Angles that are all alike round alike, by more than a threshold is lowered by: what the chip then holds
    for solved and the host does not goes on."""
    robot = chain(100)
    start, target = _misjudged(robot, np.random.default_rng(1))
    ask = {**BRIEF, "tolerance": 1e-2}
    found = robot.inverse_kinematics(target, "tool", start, on="rtl", **ask)
    assert found.success and found.iterations > 0 and found.position_error <= 1e-2


def _misjudged(robot: robomorph.Robot, rng: np.random.Generator) -> tuple[Array, Array]:
    """A start and a target that is just out of tolerance, which the chip takes for within."""
    one = case("chain:100", speculations=4, units=1)
    for angle in rng.uniform(-1e-4, 1e-4, 200):
        start = np.full((300, 100), angle)
        away = rng.normal(size=(300, 3))
        away *= 1.0005e-2 / np.linalg.norm(away, axis=1, keepdims=True)
        targets = robot.forward_kinematics(start, "tool")[:, :3, 3] + away
        status = one.solve(one.words(targets, start, cap=0)).status
        assert set(status.tolist()) <= {CONVERGED, CAP}
        if (status == CONVERGED).any():
            k = int(np.argmax(status == CONVERGED))
            return start[k], targets[k]
    raise AssertionError("no such start: the declared error may be a proven one")
