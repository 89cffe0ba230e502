"""Relaxed Quick-IK and speculative Newton: their steps by hand, and what every method must stand."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.bench.chain_problems import CHAINS, chain_problems
from robomorph.ik import (
    METHODS,
    AxisTarget,
    CenterOfMassTarget,
    IKResult,
    Method,
    OrientationTarget,
    PoseTarget,
    PositionTarget,
    TaskTarget,
)
from robomorph.tasks import Posture
from tests.ik.arms import arm, inside
from tests.ik.test_joints import ROOTS, robot_text
from tests.oracle.reference import Reference, build

Array = npt.NDArray[Any]
NEW = ("relaxed-quick-ik", "speculative-newton")
SPECULATIVE = ("quick-ik", *NEW)
FRAME = "panda_hand"
# Mean iterations on set B as a model of both methods in C++ found them, apart from this code.
EXPECTED = {
    "relaxed-quick-ik": {12: 17.5, 50: 53.6, 100: 112},
    "speculative-newton": dict(zip(CHAINS, (3.99, 4.58, 6.9, 10.5, 14.7), strict=True)),
}


@cache
def chain(joints: int) -> Robot:
    return robomorph.load(f"chain:{joints}")


def solve(
    robot: Robot, target: Any, q0: Array, method: str, frame: str | None = "tool", **more: Any
) -> IKResult:
    return robot.inverse_kinematics(target, frame, q0, method=method, nearest=False, starts=1, **more)


def check_iterations(method: str, joints: int, count: int) -> None:
    problems = chain_problems(chain(joints), "B", count)
    result = solve(chain(joints), problems.targets, problems.starts, method, tolerance=1e-2)
    points = chain(joints).forward_kinematics(result.q, "tool")[:, :3, 3]
    assert result.success.all() and (np.linalg.norm(points - problems.targets, axis=-1) <= 1e-2).all()
    assert result.iterations.mean() == pytest.approx(EXPECTED[method][joints], rel=0.15)


@pytest.mark.parametrize("method", NEW)
def test_iterations_on_a_short_chain(method: str) -> None:
    check_iterations(method, 12, 1000)


@pytest.mark.parametrize(("method", "joints"), [(m, n) for m in NEW for n in EXPECTED[m] if n > 12])
def test_iterations_on_long_chains(method: str, joints: int) -> None:
    check_iterations(method, joints, 300)


# --- one step by hand ------------------------------------------------------------------------------------


def newton_step(robot: Robot, target: Array, q: Array) -> Array:
    jacobian = robot.jacobian(q, "tool")[:3]
    e = target - robot.forward_kinematics(q, "tool")[:3, 3]
    gram = jacobian @ jacobian.T
    return np.asarray(jacobian.T @ np.linalg.solve(gram + 1e-6 * np.trace(gram) * np.eye(3), e))


@pytest.mark.parametrize("count", [1, 2, 5, 16])
def test_newton_takes_the_best_of_its_lengths(count: int) -> None:
    """Of the lengths 2k/K, k = 1..K; with a single one, the step itself."""
    robot = chain(12)
    problems = chain_problems(robot, "B", 20)
    shares = 2.0 * np.arange(1, count + 1) / count if count > 1 else np.ones(1)
    for target, q in zip(problems.targets, problems.starts, strict=True):
        trials = q + shares[:, None] * newton_step(robot, target, q)
        errors = np.linalg.norm(robot.forward_kinematics(trials, "tool")[:, :3, 3] - target, axis=-1)
        found = solve(
            robot, target, q, "speculative-newton", tolerance=1e-9, max_iterations=1, speculations=count
        )
        start = np.linalg.norm(robot.forward_kinematics(q, "tool")[:3, 3] - target)
        if errors.min() < start:  # else the start is the best that was found
            assert np.allclose(found.q, trials[errors.argmin()], atol=1e-9)
        assert found.position_error == pytest.approx(min(errors.min(), start), rel=1e-9)


def test_newton_has_sixteen_speculations_and_quick_ik_sixty_four() -> None:
    assert METHODS["speculative-newton"].speculations == 16
    problems = chain_problems(chain(25), "B", 20)
    for method, count in (("speculative-newton", 16), ("relaxed-quick-ik", 64), ("quick-ik", 64)):
        plain = solve(chain(25), problems.targets, problems.starts, method, tolerance=1e-2)
        said = solve(chain(25), problems.targets, problems.starts, method, tolerance=1e-2, speculations=count)
        assert np.array_equal(plain.q, said.q)


def test_a_relaxed_step_is_somewhat_shorter_than_the_best() -> None:
    robot, shares = chain(12), []
    problems = chain_problems(robot, "B", 40)
    for k, (target, q) in enumerate(zip(problems.targets, problems.starts, strict=True)):
        best, relaxed = (
            solve(robot, target, q, method, tolerance=1e-9, max_iterations=1, seed=k)
            for method in ("quick-ik", "relaxed-quick-ik")
        )
        whole, part = best.q - q, relaxed.q - q
        if np.linalg.norm(part) == 0.0:  # the start was better than the relaxed step
            continue
        shares.append(float(part @ whole / (whole @ whole)))
        assert np.allclose(part, shares[-1] * whole, rtol=1e-9, atol=1e-12)
    assert len(shares) > 30 and 0.7 <= min(shares) < 0.75 and 0.95 < max(shares) <= 1.0


def test_a_best_step_that_ends_the_search_is_not_relaxed() -> None:
    """Then the last step is Quick-IK's from the same place."""
    robot = chain(12)
    problems = chain_problems(robot, "B", 10)
    for target, q in zip(problems.targets, problems.starts, strict=True):
        whole = solve(robot, target, q, "relaxed-quick-ik", tolerance=1e-2)
        assert whole.success and whole.iterations > 1
        before = solve(
            robot, target, q, "relaxed-quick-ik", tolerance=1e-2, max_iterations=int(whole.iterations) - 1
        )
        last = solve(robot, target, before.q, "quick-ik", tolerance=1e-2, max_iterations=1)
        assert last.success and np.allclose(last.q, whole.q, atol=1e-12)


# --- what does not matter --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", NEW)
def test_the_same_bits_for_any_threads_and_place_in_a_batch(method: str) -> None:
    robot = chain(25)
    problems = chain_problems(robot, "B", 60)
    options: dict[str, Any] = {"tolerance": 1e-6, "seed": 5}
    one, two = (
        solve(robot, problems.targets, problems.starts, method, threads=threads, **options)
        for threads in (1, 2)
    )
    order = np.random.default_rng(0).permutation(60)
    mixed = solve(robot, problems.targets[order], problems.starts[order], method, **options)
    assert np.array_equal(one.q, two.q) and np.array_equal(one.iterations, two.iterations)
    assert np.array_equal(mixed.q, one.q[order]) and np.array_equal(mixed.iterations, one.iterations[order])
    alone = solve(robot, problems.targets[37], problems.starts[37], method, **options)
    assert np.array_equal(alone.q, one.q[37])


def test_the_seed_decides_the_relaxation_and_nothing_of_newton() -> None:
    problems = chain_problems(chain(25), "B", 10)
    for method, matters in (("relaxed-quick-ik", True), ("speculative-newton", False)):
        a, b, c = (
            solve(chain(25), problems.targets, problems.starts, method, seed=seed).q for seed in (0, 0, 1)
        )
        assert np.array_equal(a, b) and np.array_equal(a, c) != matters


def resized(factor: float) -> Robot:
    """iiwa14 with all lengths times `factor`."""
    text = (resources.files("robomorph.model.robots") / "iiwa14.urdf").read_text(encoding="utf-8")

    def longer(found: re.Match[str]) -> str:
        return found[1] + " ".join(repr(factor * float(x)) for x in found[2].split()) + '"'

    return robomorph.load(re.sub(r'(<origin[^>]*xyz=")([^"]+)"', longer, text))


@pytest.mark.parametrize("factor", [2.0**-10, 2.0**10])
def test_newton_searches_alike_for_a_robot_of_any_size(factor: float) -> None:
    """Positions to the bit, with lengths times a power of two; poses, of rows in two units, as surely."""
    frame, robots = "lbr_iiwa_link_7", (robomorph.load("iiwa14"), resized(factor))
    q, q0 = robots[0].random_state(3, 300).q, robots[0].random_state(4, 300).q
    found: dict[str, list[Any]] = {"points": [], "poses": []}
    for robot, size in zip(robots, (1.0, factor), strict=True):
        poses = robot.forward_kinematics(q, frame)
        for what, target in (("points", poses[:, :3, 3]), ("poses", poses)):
            options: dict[str, Any] = {"tolerance": (1e-5 * size, 1e-5), "max_iterations": 100}
            found[what].append(solve(robot, target, q0, "speculative-newton", frame, **options))
    here, there = found["points"]
    assert np.array_equal(here.q, there.q) and np.array_equal(here.success, there.success)
    here, there = found["poses"]
    assert here.success.mean() > 0.55 and abs(here.success.mean() - there.success.mean()) < 0.1


# --- every kind of target and joint ----------------------------------------------------------------------


@pytest.mark.parametrize("method", NEW)
def test_every_kind_of_target(method: str) -> None:
    robot, reference = arm("panda")
    wanted = robot.random_state(2).q
    pose, com = robot.forward_kinematics(wanted, FRAME), robot.center_of_mass(wanted)
    tolerance = 1e-4
    for target in (
        PositionTarget(FRAME, pose[:3, 3]),
        OrientationTarget(FRAME, pose[:3, :3]),
        PoseTarget(FRAME, pose),
        PoseTarget(FRAME, pose, rotation_weight=(1.0, 0.5, 0.0), position_tolerance=(1e-4, 1e-4, 1e-2)),
        AxisTarget(FRAME, (0.0, 0.6, 0.8), (1.0, 0.0, 0.0)),
        CenterOfMassTarget(com),
        TaskTarget(Posture.of(robot.model, ["panda_joint4"]), [-1.8]),
        [PositionTarget(FRAME, pose[:3, 3]), AxisTarget(FRAME, (0, 0, 1), pose[:3, 2])],
    ):
        result = robot.inverse_kinematics(target, method=method, tolerance=tolerance, starts=20)
        assert result.success, (target, result.reason)
        assert inside(robot, result.q)
    reached = reference.forward_kinematics(result.q, FRAME)
    assert np.linalg.norm(reached[:3, 3] - pose[:3, 3]) <= 1.001e-4
    assert np.arccos(np.clip(reached[:3, 2] @ pose[:3, 2], -1, 1)) <= 1.1e-4


@pytest.mark.parametrize("method", NEW)
@pytest.mark.parametrize("root", ROOTS)
def test_every_type_of_joint(root: str, method: str) -> None:
    """Prismatic, mimic, planar and floating joints; limits are kept."""
    follow = '<mimic joint="turn_1" multiplier="0.5" offset="0.1"/>'
    text = robot_text(ROOTS[root], last=follow)
    robot = robomorph.load(text)
    reference = Reference(robot, build(text))
    points = robot.forward_kinematics(robot.random_state(3, 12).q, "f")[:, :3, 3]
    result = robot.inverse_kinematics(points, "f", method=method, starts=30)
    assert result.success.all(), result.reason
    for q, point in zip(result.q, points, strict=True):
        assert np.linalg.norm(reference.forward_kinematics(q, "f")[:3, 3] - point) <= 1.001e-5
        assert ((q >= robot.limits.lower) & (q <= robot.limits.upper)).all()


def test_a_ball_joint() -> None:
    ball = '<joint name="root" type="spherical"><parent link="a"/><child link="b"/></joint>'
    text = robot_text(ball)
    robot = robomorph.load(text)
    poses = robot.forward_kinematics(robot.random_state(3, 8).q, "f")
    for method in NEW:
        result = robot.inverse_kinematics(poses, "f", method=method, starts=50, tolerance=1e-4)
        assert result.success.all()
        assert np.allclose(robot.forward_kinematics(result.q, "f"), poses, atol=3e-4)


@pytest.mark.parametrize("method", NEW)
def test_active_limits(method: str) -> None:
    """Targets at the edge of the limits: found inside them, some with joints at a limit."""
    robot, _ = arm("panda")
    rng = np.random.default_rng(3)
    lower, upper = robot.limits.lower, robot.limits.upper
    wanted = np.where(rng.uniform(size=(40, robot.nq)) < 0.5, lower, upper)
    wanted = wanted + (rng.uniform(lower, upper, (40, robot.nq)) - wanted) * 0.1
    points = robot.forward_kinematics(wanted, FRAME)[:, :3, 3]
    result = robot.inverse_kinematics(points, FRAME, method=method, starts=50, max_iterations=300)
    assert result.success.mean() > 0.9 and inside(robot, result.q)
    assert (result.active_limits != 0).any()


# --- hostile ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", SPECULATIVE)
def test_a_start_at_the_target_takes_no_iteration(method: str) -> None:
    robot = chain(12)
    q = robot.random_state(1).q
    result = solve(robot, robot.forward_kinematics(q, "tool")[:3, 3], q, method)
    assert result.success and result.iterations == 0 and np.array_equal(result.q, q)


@pytest.mark.parametrize("method", NEW)
@pytest.mark.parametrize("joints", [12, 100])
def test_a_straight_chain(method: str, joints: int) -> None:
    """Across, a target is reached; along, no joint moves the tip towards it, which does no harm."""
    robot, straight = chain(joints), np.zeros(joints)
    tip = robot.forward_kinematics(straight, "tool")[:3, 3]
    across = solve(robot, 0.5 * tip + [0.0, 0.3, 0.2], straight, method)
    assert across.success
    along = solve(robot, 0.5 * tip, straight, method, max_iterations=20)
    assert not along.success and np.isfinite(along.q).all()
    assert along.position_error == pytest.approx(0.5, abs=1e-9)
    nearly = solve(robot, 0.5 * tip, np.full(joints, 1e-7), method)
    assert nearly.success and np.abs(nearly.q).max() < 1e3


@pytest.mark.parametrize("method", SPECULATIVE)
def test_targets_out_of_reach(method: str) -> None:
    """The best that was found: never worse for more iterations, and near the edge of what can be reached."""
    robot, rng = chain(12), np.random.default_rng(0)
    far = rng.normal(size=(20, 3))
    far *= 3.0 / np.linalg.norm(far, axis=-1, keepdims=True)
    starts, before = robot.random_state(2, 20).q, np.full(20, np.inf)
    for iterations in (5, 50, 500):
        result = solve(robot, far, starts, method, max_iterations=iterations)
        points = robot.forward_kinematics(result.q, "tool")[:, :3, 3]
        assert not result.success.any() and (result.position_error <= before).all()
        assert np.allclose(np.linalg.norm(points - far, axis=-1), result.position_error, atol=1e-12)
        before = result.position_error
    assert (before < 2.25).all() and "out of reach" in result.reason[0]


@pytest.mark.parametrize("method", NEW)
def test_a_tiny_tolerance(method: str) -> None:
    robot = chain(12)
    problems = chain_problems(robot, "B", 50)
    result = solve(robot, problems.targets, problems.starts, method, tolerance=1e-9)
    points = robot.forward_kinematics(result.q, "tool")[:, :3, 3]
    assert result.success.all()
    assert (np.linalg.norm(points - problems.targets, axis=-1) <= 1.000001e-9).all()


@pytest.mark.parametrize("method", NEW)
@pytest.mark.parametrize("count", [1, 3, 7, 33])
def test_any_number_of_speculations(method: str, count: int) -> None:
    problems = chain_problems(chain(25), "B", 100)
    result = solve(chain(25), problems.targets, problems.starts, method, tolerance=1e-4, speculations=count)
    assert result.success.all()


@pytest.mark.parametrize("method", NEW)
def test_what_is_no_number_is_refused(method: str) -> None:
    robot = chain(12)
    for bad in (np.nan, np.inf):
        with pytest.raises(ArgumentError, match="finite"):
            solve(robot, [bad, 0.0, 0.0], np.zeros(12), method)
        with pytest.raises(ArgumentError, match="q0"):
            solve(robot, [0.1, 0.0, 0.0], np.full(12, bad), method)
    for count in (0, -1, 1.5, "many", 10**8):
        with pytest.raises(ArgumentError, match="speculations"):
            solve(robot, [0.1, 0.0, 0.0], np.zeros(12), method, speculations=count)


def test_a_method_says_what_lengths_it_may_try() -> None:
    rule = METHODS["quick-ik"].rule
    wrong: list[dict[str, Any]] = [{"longest_share": x} for x in (0.0, 2.5, np.nan)]
    for lengths in [*wrong, *({"relaxation": x} for x in (-0.1, 1.0, np.nan))]:
        with pytest.raises(ArgumentError, match="method 'x': expected longest_share"):
            Method("x", rule, speculative=True, **lengths)


@pytest.mark.parametrize("method", NEW)
def test_a_path(method: str) -> None:
    robot, _ = arm("panda")
    q0 = np.array([0.1, -0.4, 0.2, -2.0, 0.1, 1.8, 0.5, 0.02])
    line = np.tile(robot.forward_kinematics(q0, FRAME)[:3, 3], (30, 1))
    line += np.linspace(0.0, 0.2, 30)[:, None] * [0.3, -0.6, 0.2]
    result = robot.inverse_kinematics(line, FRAME, q0, path=True, method=method)
    assert result.success.all() and np.abs(np.diff(result.q, axis=0)).max() < 0.1
