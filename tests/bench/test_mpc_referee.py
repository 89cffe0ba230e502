"""The referee of control problems: costs, dynamics and limits by Pinocchio, and what it must see."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomorph.bench.mpc import problems
from robomorph.bench.mpc.ours import OurSolver
from robomorph.bench.mpc.problem import ControlProblem, Limits, ProblemSet, subject
from robomorph.bench.mpc.referee import PinocchioArm, Referee, Trajectory
from robomorph.errors import ArgumentError
from tests.bench.mpc_samples import small_problem, write_arm

pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_arm(tmp_path_factory.mktemp("arm"))


def wild(problem: ControlProblem, seed: int = 0) -> Trajectory:
    """A motion under random torques."""
    rng = np.random.default_rng(seed)
    return Referee(problem).drive(problem.initial.tau + rng.normal(0.0, 2.0, (problem.horizon, problem.nv)))


def by_hand(problem: ControlProblem, plan: Trajectory) -> float:
    """The cost once more, without Pinocchio: poses by our kernels, rotations by SciPy."""
    from scipy.spatial.transform import Rotation

    total = 0.0
    for k in range(problem.horizon + 1):
        last = k == problem.horizon
        w, factor = (problem.terminal, 1.0) if last else (problem.running, problem.dt)
        terms = w.q * np.sum((plan.q[k] - problem.goal) ** 2) + w.v * np.sum(plan.v[k] ** 2)
        if not last:
            terms += w.tau * np.sum((plan.tau[k] - problem.effort) ** 2)
        if problem.target is not None:
            pose = problem.robot.forward_kinematics(plan.q[k], problem.target.frame)
            turn = Rotation.from_matrix(problem.target.turn.T @ pose[:3, :3]).as_rotvec()
            terms += w.position * np.sum((pose[:3, 3] - problem.target.place) ** 2)
            terms += w.rotation * np.sum(turn**2)
        total += 0.5 * factor * float(terms)
    return total


@pytest.mark.parametrize("kind", ["small", "hyq", "pose"])
def test_costs_and_dynamics_are_those_of_other_code(kind: str, source: str) -> None:
    """hyq and the small arm: Pinocchio has their joints in another order."""
    if kind == "pose":
        problem = replace(problems.pose("iiwa14", 1), horizon=6)
    else:
        problem = small_problem(source) if kind == "small" else problems.reach("hyq", 0, 6)
    plan = wild(problem)
    found = Referee(problem).judge(plan)
    assert found.cost == pytest.approx(by_hand(problem, plan), rel=1e-12)
    assert found.driven == pytest.approx(found.cost, rel=1e-12) and found.gap < 1e-12
    slope = np.diff(plan.v, axis=0) / problem.dt
    ours = problem.robot.inverse_dynamics(plan.q[:-1], plan.v[:-1], slope)
    np.testing.assert_allclose(ours, plan.tau, atol=1e-9)
    assert found.torque_error < 1e-9 and found.violation == 0.0


def test_what_is_wrong_with_a_plan_is_seen(source: str) -> None:
    problem = small_problem(source)
    good = wild(problem)
    judge = Referee(problem).judge
    torque = replace(good, tau=good.tau + np.array([0.0, 1e-3, 0.0]))
    assert judge(torque).torque_error == pytest.approx(1e-3, rel=1e-6) and judge(torque).gap > 1e-5
    assert judge(torque).driven != pytest.approx(judge(torque).cost, rel=1e-6)
    moved = replace(good, q=good.q + 1e-4)
    assert judge(moved).gap == pytest.approx(1e-4, rel=0.1)
    late = good.q.copy()
    late[3] += 1e-5
    assert judge(replace(good, q=late)).gap >= 1e-5
    empty = replace(good, v=np.full_like(good.v, np.nan))
    assert np.isnan(judge(empty).gap) and np.isnan(judge(empty).cost)
    with pytest.raises(ArgumentError, match="a plan of q, v, tau"):
        judge(replace(good, tau=good.tau[:-1]))


def test_limits_are_measured_at_their_nodes(source: str) -> None:
    free = small_problem(source)
    plan = wild(free)
    most = np.max(np.abs(plan.tau), axis=0)
    tight = most * np.array([1.0, 1.0, 0.9])
    limits = replace(Limits.none(3), torque=(-tight, tight))
    found = Referee(replace(free, limits=limits)).judge(plan)
    assert found.newtons == pytest.approx(0.1 * most[2], rel=1e-9)
    assert found.violation == pytest.approx(0.1 / 1.8, rel=1e-9) and found.active[0] >= 3
    for name, values in (("velocity", plan.v), ("position", plan.q)):
        low, high = values[1:].min(axis=0) - 1e-9, values[1:].max(axis=0)
        kept = Referee(replace(free, limits=replace(Limits.none(3), **{name: (low, high)}))).judge(plan)
        assert kept.violation == 0.0 and max(kept.active) > 0  # node 0 is given, and no bound is about it
        high = high - np.array([0.0, 0.01, 0.0])
        broken = Referee(replace(free, limits=replace(Limits.none(3), **{name: (low, high)}))).judge(plan)
        assert broken.violation == pytest.approx(0.01 / (high - low)[1], rel=1e-6) and broken.newtons == 0.0


def test_other_joints_and_frames_are_refused(source: str) -> None:
    _, arm = subject(source)
    with pytest.raises(ArgumentError, match="frames of the robot's file, found 'nowhere'"):
        arm.pose(np.zeros(3), "nowhere")
    with pytest.raises(ArgumentError, match="expected the joints"):
        PinocchioArm(Path(source).read_text(), ["z_root", "y_left"])


@pytest.mark.parametrize("seed", range(8))
def test_limited_problems_can_be_held_and_want_more(seed: int) -> None:
    problem = problems.limited("iiwa14", seed)
    found = Referee(problem).judge(problem.initial)
    assert found.violation == 0.0 and found.gap < 1e-12 and found.torque_error < 1e-9
    low, high = problem.limits.position
    beyond = np.maximum(low - problem.goal, problem.goal - high)
    assert np.sum(beyond > 0.0) == 2 and beyond.max() == pytest.approx(0.05)
    assert problem.limits.any == (True, True, True)
    assert problems.limited("iiwa14", seed, states=False).limits.any == (True, False, False)
    again = problems.limited("iiwa14", seed)
    assert np.array_equal(again.q, problem.q) and np.array_equal(again.goal, problem.goal)
    assert not np.array_equal(problems.limited("iiwa14", seed + 1).q, problem.q)


def test_a_set_is_plain_data(source: str) -> None:
    limits = replace(Limits.none(3), velocity=(np.full(3, -1.0), np.array([1.0, np.inf, 2.0])))
    data = ProblemSet("a set", (small_problem(source, limits=limits),)).as_data()
    again = json.loads(json.dumps(data, allow_nan=False))
    assert again["joints"] == ["z_root", "y_left", "x_right"] and "<robot" in again["urdf"]
    (problem,) = again["problems"]
    assert problem["limits"]["velocity"] == [[-1.0, -1.0, -1.0], [1.0, None, 2.0]]
    assert problem["limits"]["torque"][0] == [None] * 3 and problem["target"] is None
    assert np.shape(problem["initial"]["tau"]) == (5, 3) and problem["initial"]["q"][5] == problem["q"]


@pytest.mark.parametrize("kind", ["small", "pose", "limited"])
def test_our_plans_cost_what_they_claim(kind: str, source: str) -> None:
    made = {
        "small": lambda: small_problem(source),
        "pose": lambda: problems.pose("iiwa14", 0, 10),
        "limited": lambda: problems.limited("iiwa14", 0, 20),
    }
    problem = made[kind]()
    solver = OurSolver(ProblemSet(kind, (problem,)))
    plan, cost, iterations = solver.solve(0, 100)
    found = Referee(problem).judge(plan)
    assert found.cost == pytest.approx(cost, rel=1e-9) and 1 < iterations <= 100
    assert found.driven == pytest.approx(cost, rel=1e-7) and found.violation <= 1e-6
    assert found.cost < 0.9 * Referee(problem).cost(problem.initial)
    assert solver.solve(0, 1)[2] == 1  # a cap is a cap
    wall, cpu = solver.time([(0, 2), (0, 100)])
    assert len(wall) == len(cpu) == 2 and min(*wall, *cpu) > 0.0
