"""Chains of all proportions, ranges and couplings, in words of all widths: the definition's answers by
Pinocchio. Nothing is beyond its limits, nothing farther from the truth than the chip says."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.accelerators.ik.chain import make_chain
from robomorph.accelerators.ik.make import IkChip, make_chip
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.errors import ArgumentError, ModelWarning
from robomorph.ik.joints import bounds
from robomorph.robot import Robot
from robomorph.targets.rtl.ik.chip import IkDesign
from robomorph.targets.rtl.ik.definition import Answers, solve
from robomorph.targets.rtl.ik.plan import HEADER_OUT, Knobs, Widths
from robomorph.targets.rtl.ik.stream_words import CONVERGED, problem_words
from robomorph.targets.rtl.simulate import Simulation
from tests.oracle.hostile_chains import HOSTILE, urdf
from tests.oracle.mixed_chains import mixed_chain
from tests.targets.rtl.ik.solves import QUIET, case
from tests.targets.rtl.toolchains import needs_verilator

Array = npt.NDArray[np.float64]
SIZES = {"tiny": 1e-5, "huge": 1e5}


@cache
def loaded(text: str) -> tuple[Robot, PinocchioCheck]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(text)
    return robot, PinocchioCheck(robot, text)


@cache
def hostile(name: str) -> str:
    size = SIZES.get(name, 0.1)
    return urdf("hostile", HOSTILE[name], (size, 0.2 * size, 0.0))


class Trial(NamedTuple):
    """A chip, its limits, and what became of some problems."""

    chip: IkChip
    lower: Array
    upper: Array
    words: npt.NDArray[np.int64]
    answers: Answers
    q: Array
    true: Array  # distances from the targets by Pinocchio

    def check(self) -> None:
        assert (self.q >= self.lower).all() and (self.q <= self.upper).all()
        apart = np.abs(self.true - self.chip.distance(self.answers.words))
        assert apart.max() <= self.chip.worst_error
        assert self.chip.own_error <= self.chip.worst_error


def tried(
    text: str,
    widths: Widths,
    rng: np.random.Generator,
    *,
    count: int = 60,
    mode: int = 2,
    cap: int = 60,
    log: int = 4,
    open_ends: float = 0.0,
    turning: str = "multiply",
) -> Trial:
    """Random problems, some from equal angles, from the limits, and at their target; that share of the
    limits which `open_ends` says is missing."""
    robot, oracle = loaded(text)
    lower, upper = bounds(robot.model, (), True)
    slides = np.array([body.kind == "prismatic" for body in robot.model.bodies if body.mimic is None])
    lower = np.where((rng.random(robot.nq) < open_ends) & ~slides, -np.inf, lower)
    upper = np.where((rng.random(robot.nq) < open_ends) & ~slides, np.inf, upper)
    knobs = Knobs(units=1, speculations=1 << log, turning=turning)
    chip = make_chip(make_chain(robot.model, "tool", lower, upper), widths, knobs)
    low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 5.0, -3.0))
    high = np.where(np.isfinite(upper), upper, low + 6.0)
    starts, ends = rng.uniform(low, high, (2, count, robot.nq))
    starts[:10] = low + (high - low) * rng.random((10, 1))
    starts[10], starts[11] = low, high
    targets = oracle.poses(ends, "tool")[:, :3, 3]
    targets[-2:] = oracle.poses(starts[-2:], "tool")[:, :3, 3]
    goal, theta, whole = chip.target_words(targets)[0], *chip.theta_words(starts)
    limit = np.full(count, chip.threshold_words(_tolerance(chip)))
    words = problem_words(goal, limit, cap, mode, log, 30, np.arange(count), theta)
    answers = solve(chip.plan, words)
    q = chip.configurations(answers.words[:, HEADER_OUT:], whole, starts)
    true = np.linalg.norm(oracle.poses(q, "tool")[:, :3, 3] - targets, axis=1)
    return Trial(chip, lower, upper, words, answers, q, true)


def _tolerance(chip: IkChip) -> float:
    return max(2.0 * chip.worst_error, 1e-3 * chip.chain.reach)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("name", list(HOSTILE))
def test_hostile_chains(name: str, mode: int) -> None:
    rng = np.random.default_rng(mode)
    size: dict[str, Any] = {"count": 20, "cap": 12} if name == "two hundred" else {}
    tried(hostile(name), Widths(), rng, mode=mode, cap=0).check()
    one = tried(hostile(name), Widths(), rng, mode=mode, **size)
    one.check()
    solved = one.answers.status == CONVERGED
    assert (one.true[solved] <= _tolerance(one.chip) + one.chip.worst_error - one.chip.own_error).all()
    if mode == 2:
        assert solved.mean() >= 0.7


@pytest.mark.parametrize("seed", range(40))
def test_words_of_all_widths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    unit = int(rng.integers(12, 22))
    theta = int(rng.integers(max(unit, 18) + 1, 27))
    widths = Widths(
        unit=unit,
        angle=int(rng.integers(max(10, unit - 6), 19)),
        theta=theta,
        guard=int(rng.integers(0, 6)),
        serial=int(rng.integers(unit, theta)) if theta < 24 else int(rng.integers(unit, 23)),
        serial_angle=18,
        weight=int(rng.integers(12, 28)),
        mantissa=int(rng.integers(18, 33)),
    )
    text = mixed_chain(seed) if seed % 3 else hostile(str(rng.choice(list(HOSTILE)[:12])))
    options = {"mode": seed % 4, "cap": int(rng.integers(0, 20)), "log": int(rng.integers(0, 7))}
    turning = ("multiply", "cordic")[seed // 4 % 2]
    tried(text, widths, rng, open_ends=0.2, turning=turning, **options).check()


def test_equal_angles_round_alike() -> None:
    """Where roundings do not even out, a long chain is off by more than is likely, never by more than the
    worst; random angles are far below both."""
    one = case("chain:100")
    rng = np.random.default_rng(0)
    like = rng.uniform(-1e-4, 1e-4, (2000, 1)) * np.ones((1, 100))
    apart = []
    for starts in (like, rng.uniform(-3.0, 3.0, (2000, 100))):
        targets = one.robot.forward_kinematics(starts, one.frame)[:, :3, 3]
        true, own = one.errors(one.solve(one.words(targets, starts, cap=0)), targets, starts)
        apart.append(np.abs(true - own).max())
    assert apart[1] < 0.5 * one.chip.own_error
    assert one.chip.own_error < apart[0] <= one.chip.worst_error


def _chip(text: str, lower: float, upper: float) -> tuple[IkChip, Array]:
    robot, _ = loaded(text)
    low, high = np.full(robot.nq, lower), np.full(robot.nq, upper)
    return make_chip(make_chain(robot.model, "tool", low, high), Widths(), Knobs()), np.zeros(robot.nq)


@pytest.mark.parametrize(
    ("lower", "upper"), [(3.0, np.inf), (-np.inf, -3.0), (-np.inf, np.inf), (0.5, np.inf)]
)
def test_a_joint_with_one_limit_turns_on(lower: float, upper: float) -> None:
    """Whole turns come back, the limit is kept, and there is a turn of room."""
    chip, _ = _chip(hostile("a joint"), lower, upper)
    away = np.array([0.0, 0.3, 3.0, 6.0, 30.0, 3e5])[:, None]
    q = lower + away if np.isfinite(lower) else upper - away if np.isfinite(upper) else away
    words, whole = chip.theta_words(q)
    np.testing.assert_allclose(chip.configurations(words, whole, q), q, atol=1e-6)
    low, high = chip.coordinates.ends[:, 0]
    assert high - low >= 1.0
    held, none = chip.theta_words(q - 1.0 if np.isfinite(lower) else q + 1.0)
    back = chip.configurations(held, none, q)
    assert (back >= lower).all() and (back <= upper).all()


def test_what_a_chip_does_not_count_is_refused() -> None:
    chip, q = _chip(hostile("followers"), -np.inf, np.inf)
    q[1] = 100.0
    with pytest.raises(ArgumentError, match=r"q0: entry 1 moves joint 'joint1': expected -12.57 to 12.57"):
        chip.theta_words(q[None])
    chip, _ = _chip(hostile("a joint"), -np.inf, np.inf)
    with pytest.raises(ArgumentError, match=r"q0: entry 0 moves joint 'joint0'.*found 1e\+300"):
        chip.theta_words(np.array([[1e300]]))
    with pytest.raises(ArgumentError, match=r"'joint0': a range up to 15.9 turns.*counts up to 8 either way"):
        _chip(hostile("a joint"), -100.0, 100.0)
    with pytest.raises(ArgumentError, match="'joint0' slides without limits"):
        _chip(hostile("slides alone"), -np.inf, np.inf)
    robot, _ = loaded(hostile("slides alone"))
    chain = make_chain(robot.model, "tool", *bounds(robot.model, (), True))
    with pytest.raises(ArgumentError, match="serial: with sliding joints, expected at most 23 bits"):
        make_chip(chain, Widths(serial=24), Knobs())


@pytest.mark.parametrize(("size", "says"), [(1e-8, "found .*e-08 m"), (1e7, "found .*e\\+07 m")])
def test_sizes_beyond_reason_are_refused(size: float, says: str) -> None:
    links = [link._replace(xyz=(size, 0.0, 0.0)) for link in HOSTILE["tiny"]]
    with pytest.raises(ArgumentError, match=f"a chip needs a chain of 1e-6 to 1e6 m, {says}"):
        _chip(urdf("hostile", links, (0.0, 0.0, size)), -np.inf, np.inf)


@needs_verilator
def test_hostile_chains_in_simulation() -> None:
    """Ranges without width and followers of all kinds, every word of them."""
    links = [*HOSTILE["a slide that turns a joint"], *HOSTILE["ranges of less than a word"][4:]]
    links.append(links[0]._replace(follows=(1, -3.0, 0.4)))
    text = urdf("hostile", links)
    one = tried(text, Widths(), np.random.default_rng(3), mode=1, cap=15, log=2, open_ends=0.3)
    one.check()
    run = Simulation(IkDesign(one.chip.plan)).run(one.words, quiet=QUIET)
    np.testing.assert_array_equal(run.words, one.answers.words)
