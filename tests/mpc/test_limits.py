"""Hard and soft bounds: kept, and optimal by what Pinocchio and SciPy say of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.mpc import Acceleration, Controller, Effort, Function, Velocity
from robomorph.tasks import Axis, Orientation, Position, Posture
from tests.mpc.cases import NV, TOOL, Case, bare, check_plan, reach, smooth, state
from tests.mpc.oracle import Limit, Term

Array = npt.NDArray[np.float64]


def check_limited(case: Case, result: Any, active: int, near: float = 1e-3) -> None:
    """Kept by Pinocchio's own rollout; where it stops, only bounds that are reached hold it back."""
    assert result.success and result.converged and result.reason == "solved" and result.violations == ()
    check_plan(case, result)
    assert case.oracle.violation(case.q, case.qd, result.qdd) < 1e-6
    left, pushing = case.oracle.left_over(case.q, case.qd, result.qdd, near)
    assert left < 1e-3 and pushing >= active


def extremes(case: Case) -> tuple[Array, Array, Array]:
    """How large torques, velocities and accelerations become without limits."""
    free = Controller(case.problem).step(case.q, case.qd)
    return np.abs(free.torques).max(0), np.abs(free.qd[1:]).max(0), np.abs(free.qdd).max(0)


def test_torques_velocities_and_accelerations() -> None:
    case = reach(8, 0.04)
    torque, velocity, acceleration = extremes(case)
    torque, velocity, acceleration = 0.9 * torque + 0.1, 0.9 * velocity + 0.02, 0.95 * acceleration + 0.1
    case.problem.limits(torque=torque, velocity=velocity, acceleration=acceleration)
    oracle = case.oracle
    oracle.limits += [
        Limit(oracle.effort(), -torque, torque, states=False),
        Limit(oracle.acceleration(), -acceleration, acceleration, states=False),
        Limit(oracle.velocity(), -velocity, velocity),
    ]
    check_limited(case, Controller(case.problem).step(case.q, case.qd), active=8)


def test_positions_by_scipy() -> None:
    """One side only, and SLSQP finds nothing better from there."""
    case = reach(4, 0.05)
    free = Controller(case.problem).step(case.q, case.qd)
    upper = 0.5 * (free.q.max(0) + case.q) + 1e-3
    lower = np.full(NV, -np.inf)
    case.problem.limits(position=(lower, upper))
    case.oracle.limits.append(Limit(case.oracle.posture(0.0), lower, upper))
    found = Controller(case.problem).step(case.q, case.qd)
    check_limited(case, found, active=2)
    best = case.oracle.solve_limited(case.q, case.qd, found.qdd)
    assert best.success and abs(best.fun - found.cost) < 1e-6 * best.fun


def test_shares_of_the_robots_own_limits() -> None:
    case = reach(8, 0.04)
    own = case.problem.robot.limits
    torque, velocity, _ = extremes(case)
    share = float((torque / own.effort).max() * 0.9), float((velocity / own.velocity).max() * 0.9)
    case.problem.limits(torque=share[0], velocity=share[1], position=True)
    oracle = case.oracle
    oracle.limits += [
        Limit(oracle.effort(), -share[0] * own.effort, share[0] * own.effort, states=False),
        Limit(oracle.velocity(), -share[1] * own.velocity, share[1] * own.velocity),
        Limit(oracle.posture(0.0), own.lower, own.upper),
    ]
    check_limited(case, Controller(case.problem).step(case.q, case.qd), active=2)


def test_torque_limits_are_about_what_drives_give() -> None:
    case = reach(8, 0.04)
    torque, _, _ = extremes(case)
    beyond, most = np.linspace(1.0, -1.0, NV), 0.9 * torque + 1.2
    case.problem.limits(torque=most)
    oracle = case.oracle
    oracle.limits.append(Limit(oracle.effort(), -most - beyond, most - beyond, states=False))
    controller = Controller(case.problem)
    found = controller.step(case.q, case.qd, offset=beyond)
    assert (np.abs(found.torques) <= most * (1.0 + 1e-6)).all()
    found.torques[...] -= beyond
    check_limited(case, found, active=1)


def test_a_frame_held_in_a_box() -> None:
    """The tool must not sink as far as it would."""
    case = reach(8, 0.04)
    oracle = case.oracle
    free = Controller(case.problem).step(case.q, case.qd)
    path = np.array([oracle.reference.forward_kinematics(q, TOOL)[:3, 3] for q in free.q])
    start = path[0]
    gone = path[-1] - start
    axis = int(np.argmax(np.abs(gone)))
    lower, upper = np.full(3, -1.0), np.full(3, 1.0)
    lower[axis], upper[axis] = -0.5 * abs(gone[axis]), 0.5 * abs(gone[axis])
    case.problem.bound(Position(TOOL), lower, upper, reference=start)
    oracle.limits.append(Limit(oracle.position(TOOL, start), lower, upper))
    controller = Controller(case.problem)
    found = controller.step(case.q, case.qd)
    check_limited(case, found, active=1, near=1e-4)
    # From where a step says: a box around somewhere further along lets it go there.
    wide = controller.step(case.q, case.qd, reference={"bound on position of lbr_iiwa_link_7": path[-1]})
    assert wide.cost < found.cost


def test_directions_orientations_and_speeds() -> None:
    """Bounds on angles hold the angles, as they say; those on speeds the speeds."""
    case = reach(8, 0.04)
    reference = case.oracle.reference
    here = reference.forward_kinematics(case.q, TOOL)[:3, :3]
    free = Controller(case.problem).step(case.q, case.qd)

    def angle(q: Array) -> float:
        return float(np.arccos(np.clip(reference.forward_kinematics(q, TOOL)[:3, 2] @ here[:, 2], -1.0, 1.0)))

    def speed(q: Array, qd: Array) -> float:
        return float(np.abs(reference.jacobian(q, TOOL)[:3] @ qd).max())

    most = 0.6 * max(map(angle, free.q))
    fastest = 0.8 * max(map(speed, free.q[1:], free.qd[1:]))
    case.problem.bound(Axis(TOOL, (0.0, 0.0, 1.0)), None, most, reference=here[:, 2])
    case.problem.bound(Orientation(TOOL), -0.2, 0.2, reference=here)
    case.problem.bound(Position(TOOL), -fastest, fastest, rate=1)
    found = Controller(case.problem).step(case.q, case.qd)
    assert found.success and found.converged
    check_plan(case, found)
    assert max(map(angle, found.q)) <= most * (1.0 + 1e-5)
    assert max(map(speed, found.q[1:], found.qd[1:])) <= fastest * (1.0 + 1e-6)
    # And they hold it back: both are reached.
    assert (
        max(map(angle, found.q)) > 0.98 * most or max(map(speed, found.q[1:], found.qd[1:])) > 0.98 * fastest
    )


def test_a_function_of_the_callers_as_a_bound() -> None:
    case = reach(8, 0.04)
    free = Controller(case.problem).step(case.q, case.qd)

    def product(q: Any, qd: Any) -> list[Any]:
        return [q[1] * q[3] + qd[1]]

    values = free.q[1:, 1] * free.q[1:, 3] + free.qd[1:, 1]
    most = float(values.max() - 0.3 * np.ptp(values))
    case.problem.bound(Function(product, rows=1, name="product"), None, most)
    oracle = case.oracle
    rows = oracle.by_differences(lambda q, qd: np.array([q[1] * q[3] + qd[1]]))
    oracle.limits.append(Limit(rows, -np.inf, most))
    check_limited(case, Controller(case.problem).step(case.q, case.qd), active=1)


@pytest.mark.parametrize("soft", [0.1, 10.0])
def test_soft_bounds_cost_half_the_squared_violation(soft: float) -> None:
    """By the oracle's own cost of it: rows that count where they are beyond the bound only."""
    case = reach(8, 0.04)
    _, velocity, _ = extremes(case)
    most = 0.7 * velocity
    assert (np.abs(case.qd) > most).any()  # the start breaks some, which changes nothing
    case.problem.bound(Velocity(), -most, most, soft=soft)
    found = Controller(case.problem).step(case.q, case.qd)
    assert found.success and found.converged and found.violations == ()
    beyond = np.maximum(0.0, np.abs(found.qd[1:]) - most)
    assert beyond.max() > 1e-3
    assert abs(found.soft_cost - 0.5 * soft * np.square(beyond).sum()) < 1e-5 * found.soft_cost
    check_plan(case, found)
    # The price is part of what is least: with it as a cost at all nodes nothing is left to gain.
    oracle = case.oracle

    def excess(k: int, q: Array, v: Array, a: Array) -> Any:
        rows = oracle.velocity()(k, q, v, a)
        over = np.where(np.abs(v) > most, v - np.sign(v) * most, 0.0)
        return rows._replace(values=over, dv=np.diag((over != 0.0).astype(float)))

    oracle.terms.append(Term(excess, soft / oracle.dt, soft))
    gradient = oracle.gradient(case.q, case.qd, found.qdd)
    scale = np.abs(oracle.gradient(case.q, case.qd, 0.0 * found.qdd)).max()
    assert np.abs(gradient).max() < 1e-4 * scale


def test_soft_and_hard_bounds_on_the_same_joints() -> None:
    """The soft ones become rows: they pull, and the hard ones hold."""
    case = reach(8, 0.04)
    model = case.problem.robot.model
    _, velocity, _ = extremes(case)
    hard, soft = 0.9 * velocity, 0.5 * velocity
    case.problem.limits(velocity=hard, position=True)
    case.problem.bound(Velocity(), -soft, soft, soft=1.0).bound(Posture.of(model), -3.0, 3.0, soft=1.0)
    assert [b.subject.symbol for b in case.problem.bounds.values()] == ["v", "q", "rows", "rows"]
    found = Controller(case.problem).step(case.q, case.qd)
    assert found.success and (np.abs(found.qd[1:]) <= hard * (1 + 1e-6)).all() and found.soft_cost > 0.0
    check_plan(case, found)


def test_bounds_that_move_with_a_reference() -> None:
    """A tube around a path of postures, given with the step."""
    case = reach(8, 0.04)
    robot = case.problem.robot
    case.problem.bound(Posture.of(robot.model), -0.01, 0.01, reference=case.q, name="tube")
    path = case.q + np.linspace(0.0, 1.0, 9)[:, None] ** 2 * 0.05
    qd = np.zeros(NV)
    found = Controller(case.problem).step(case.q, qd, reference={"tube": path})
    assert found.success
    assert (np.abs(found.q[1:] - path[1:]) <= 0.01 + 1e-7).all()
    assert (np.abs(found.q[1:] - path[1:]) > 0.0099).any()


def test_a_problem_that_cannot_be_kept_is_named() -> None:
    """Torques below what gravity takes: which joint, which node, by how much."""
    case = reach(8, 0.04)
    hold = np.abs(case.oracle.reference.gravity_torque(case.q))
    joint = int(np.argmax(hold))
    most = np.full(NV, 300.0)
    most[joint] = 0.5 * hold[joint]
    case.problem.limits(torque=most, position=(case.q - 0.05, case.q + 0.05))
    found = Controller(case.problem).step(case.q, np.zeros(NV))
    assert not found.success and not found and found.violation > 1e-6
    check_plan(Case(case.problem, case.oracle, case.q, np.zeros(NV)), found)
    name = case.problem.robot.velocity_names[joint]
    assert any(v.row == name for v in found.violations)
    assert "no motion was found that keeps every hard limit" in found.reason and "wider by" in found.reason
    worst = found.violations[0]
    assert worst.name in found.reason and worst.row in found.reason and f"node {worst.node}" in found.reason
    for v in found.violations:
        values = {"torque limits": found.torques, "position limits": found.q}[v.name]
        k = case.problem.robot.velocity_names.index(v.row)
        limit = {"torque limits": most[k], "position limits": 0.05}[v.name]
        centre = 0.0 if v.name == "torque limits" else case.q[k]
        sign = 1.0 if v.bound == "upper" else -1.0
        assert v.limit == pytest.approx(centre + sign * limit) and v.time == pytest.approx(0.04 * v.node)
        assert v.unit == {"torque limits": "N m", "position limits": "rad"}[v.name]
        assert v.value == values[v.node, k] and v.amount == pytest.approx(sign * (v.value - v.limit))
        assert v.scaled == pytest.approx(v.amount / (2 * limit)) and v.scaled <= found.violation * (1 + 1e-9)


def test_effort_and_acceleration_bounds_of_some_joints() -> None:
    case = smooth(bare(8, 0.04))
    goal = state()[2]
    case.problem.cost(Posture.of(case.problem.robot.model), 10.0, goal)
    names = case.problem.robot.velocity_names
    torque, _, acceleration = extremes(case)
    case.problem.bound(Effort(names[1]), -0.9 * torque[1], 0.9 * torque[1])
    case.problem.bound(Acceleration((names[4], names[0])), -0.5 * acceleration[[4, 0]], None)
    found = Controller(case.problem).step(case.q, case.qd)
    assert found.success and (np.abs(found.torques[:, 1]) <= 0.9 * torque[1] * (1 + 1e-6)).all()
    assert (found.qdd[:, [4, 0]] >= -0.5 * acceleration[[4, 0]] - 1e-5).all()
    assert np.abs(found.torques[:, 1]).max() > 0.89 * torque[1]
