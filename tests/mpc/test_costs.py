"""Every kind of cost: plans, costs and optima of the native solver against Pinocchio and dense least
squares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.mpc import Acceleration, Controller, Effort, Function, Jerk, Velocity
from robomorph.spatial import cos, sin
from robomorph.tasks import Axis, CenterOfMass, Orientation, Pose, Position, Posture
from tests.mpc.cases import NV, TOOL, Case, bare, check_plan, reach, smooth, state
from tests.mpc.oracle import Term

Array = npt.NDArray[np.float64]


def check_optimum(case: Case, result: Any, start: Array | None = None) -> None:
    """The oracle finds nothing to gain, going on from the plan, or from accelerations `start`."""
    assert result.success and result.converged and result.reason == "solved" and result.violations == ()
    check_plan(case, result)
    best = case.oracle.solve(case.q, case.qd, result.qdd if start is None else start)
    least = case.oracle.cost(case.q, case.qd, best)
    assert abs(result.cost - least) <= 1e-8 * least


def fresh(controller: Controller, case: Case, **given: Any) -> Any:
    """A first step."""
    controller.reset()
    return controller.step(case.q, case.qd, **given)


def step(case: Case, **given: Any) -> Any:
    return Controller(case.problem, optimal=1e-10).step(case.q, case.qd, **given)


def test_a_reach() -> None:
    case = reach()
    found = step(case)
    check_optimum(case, found, np.zeros_like(found.qdd))


def test_a_pose_with_weights_for_every_row() -> None:
    case = smooth(bare())
    goal = case.oracle.reference.forward_kinematics(state()[2], TOOL)
    weight = [200.0, 100.0, 50.0, 20.0, 40.0, 80.0]
    case.problem.cost(Pose(TOOL), weight, goal).terminal(Pose(TOOL), 1000.0)
    oracle = case.oracle
    oracle.terms.append(Term(oracle.position(TOOL, goal[:3, 3]), weight[:3], 1000.0))
    oracle.terms.append(Term(oracle.orientation(TOOL, goal[:3, :3]), weight[3:], 1000.0))
    check_optimum(case, step(case))


def _position(case: Case) -> None:
    goal = case.oracle.reference.forward_kinematics(state()[2], TOOL)[:3, 3]
    case.problem.terminal(Position(TOOL), [500.0, 100.0, 300.0], goal)
    case.oracle.terms.append(Term(case.oracle.position(TOOL, goal), None, [500.0, 100.0, 300.0]))


def _orientation(case: Case) -> None:
    goal = case.oracle.reference.forward_kinematics(state()[2], TOOL)[:3, :3]
    case.problem.cost(Orientation(TOOL), 30.0, goal)
    case.oracle.terms.append(Term(case.oracle.orientation(TOOL, goal), 30.0))


def _axis(case: Case) -> None:
    """By the definition: the angle between the tool's z and the direction, along the task's two normals."""
    task, goal = Axis(TOOL, (0.0, 0.0, 1.0)), np.array([0.3, 0.4, -0.8])
    u, v, d = task.read(goal).reshape(3, 3)
    reference = case.oracle.reference

    def angles(q: Array, qd: Array) -> Array:
        axis = reference.forward_kinematics(q, TOOL)[:3, 2]
        turn = np.cross(d, axis)
        sine = np.linalg.norm(turn)
        turn *= np.arctan2(sine, d @ axis) / sine
        return np.array([turn @ u, turn @ v])

    case.problem.cost(task, [5.0, 8.0], goal).terminal(task, 20.0)
    case.oracle.terms.append(Term(case.oracle.by_differences(angles), [5.0, 8.0], 20.0))


def _center_of_mass(case: Case) -> None:
    goal = case.oracle.reference.center_of_mass(state()[2])
    case.problem.cost(CenterOfMass(), 200.0, goal)
    case.oracle.terms.append(Term(case.oracle.center_of_mass(goal), 200.0))


def _speed(case: Case) -> None:
    """The tool's speed and angular velocity, from 0.2 m/s along x."""
    reference, goal = case.oracle.reference, np.array([0.2, 0.0, 0.0, 0.0, 0.0, 0.0])
    weight = [10.0, 10.0, 10.0, 1.0, 2.0, 3.0]
    case.problem.cost(Pose(TOOL), weight, goal, rate=1).terminal(Pose(TOOL), 5.0, rate=1)
    rows = case.oracle.by_differences(lambda q, v: reference.jacobian(q, TOOL) @ v, goal)
    case.oracle.terms.append(Term(rows, weight, 5.0))


def _some_joints(case: Case) -> None:
    """Costs on some joints only, in another order, of every quantity."""
    robot = case.problem.robot
    joints = [robot.velocity_names[j] for j in (5, 1, 2)]
    pick, goal = np.zeros(NV), np.zeros(NV)
    pick[[5, 1, 2]], goal[[5, 1, 2]] = (30.0, 20.0, 10.0), (0.1, 0.2, 0.3)
    oracle = case.oracle
    weight, numbers = [30.0, 20.0, 10.0], [0.1, 0.2, 0.3]
    case.problem.cost(Posture.of(robot.model, joints), weight, numbers)
    case.problem.cost(Posture.of(robot.model, joints), [1.0, 0.0, 2.0], numbers, rate=1, name="speeds")
    case.problem.cost(Acceleration(tuple(joints)), [1e-3, 2e-3, 3e-3], numbers)
    case.problem.cost(Effort(joints[0]), 1e-2, [1.0], name="one effort")
    speeds, slow, torque = np.zeros(NV), np.zeros(NV), np.zeros(NV)
    speeds[[5, 1, 2]], slow[[5, 1, 2]], torque[5] = (1.0, 0.0, 2.0), (1e-3, 2e-3, 3e-3), 1e-2
    oracle.terms += [
        Term(oracle.posture(goal), pick),
        Term(oracle.velocity(goal), speeds),
        Term(oracle.acceleration(goal), slow),
        Term(oracle.effort(np.eye(NV)[5]), torque),
    ]


def _jerk(case: Case) -> None:
    goal = state()[2]
    case.problem.cost(Posture.of(case.problem.robot.model), 10.0, goal).cost(Jerk(), 1e-5)
    case.oracle.terms.append(Term(case.oracle.posture(goal), 10.0))
    case.oracle.jerk = 1e-5


def _function(case: Case) -> None:
    def f(q: Any, qd: Any) -> list[Any]:
        return [sin(q[0]) + q[1] * q[2], qd[3] * cos(q[4])]

    def plain(q: Array, qd: Array) -> Array:
        return np.array([np.sin(q[0]) + q[1] * q[2], qd[3] * np.cos(q[4])])

    case.problem.cost(Function(f, rows=2), [40.0, 2.0], [0.1, 0.2]).terminal(
        Function(f, rows=2), 3.0, name="end"
    )
    case.oracle.terms.append(Term(case.oracle.by_differences(plain, [0.1, 0.2]), [40.0, 2.0]))
    case.oracle.terms.append(Term(case.oracle.by_differences(plain), None, 3.0))


def _shared(case: Case) -> None:
    """Several costs on the same joints, from references that differ and change along the horizon."""
    robot, oracle = case.problem.robot, case.oracle
    first, rng = state()[2], np.random.default_rng(3)
    path = first + 0.1 * rng.normal(size=(oracle.horizon + 1, NV))
    model = robot.model
    case.problem.cost(Posture.of(model), 10.0, first).cost(Posture.of(model), 5.0, path, name="path")
    case.problem.terminal(Posture.of(model), 100.0).terminal(Posture.of(model), 50.0, name="path")
    part = robot.velocity_names[2]
    case.problem.cost(Posture.of(model, part), 3.0, [0.3], name="one")
    case.problem.cost(Effort(), 1e-3, "gravity", name="hold")  # beside the effort that smooth has
    one = 3.0 * np.eye(NV)[2]
    # Gravity where the costs together want the robot to be.
    weight = np.full(NV, 15.0) + one
    mean = (10.0 * first + 5.0 * path + one * 0.3) / weight
    hold = np.array([oracle.reference.gravity_torque(q) for q in mean])
    oracle.terms += [
        Term(oracle.posture(first), 10.0, 100.0),
        Term(oracle.posture(path), 5.0, 50.0),
        Term(oracle.posture(0.3), one),
        Term(oracle.effort(hold), 1e-3),
    ]


@pytest.mark.parametrize(
    "add",
    [_position, _orientation, _axis, _center_of_mass, _speed, _some_joints, _jerk, _function, _shared],
)
def test_costs(add: Callable[[Case], None]) -> None:
    case = smooth(bare())
    add(case)
    check_optimum(case, step(case))


def test_references_and_weights_are_data_of_a_call() -> None:
    """The same controller with others gives what a problem made with them gives; then its own again."""
    case, other = reach(), bare()
    rng = np.random.default_rng(5)
    path = state()[2] + 0.1 * rng.normal(size=(case.oracle.horizon + 1, NV))
    model = case.problem.robot.model
    hold = np.array([other.oracle.reference.gravity_torque(q) for q in path])
    oracle = other.oracle
    oracle.terms += [
        Term(oracle.posture(path), 20.0, np.arange(1.0, 8.0)),
        Term(oracle.velocity(0.1), 0.1, 10.0),
        Term(oracle.effort(hold), 1e-3),
    ]
    controller = Controller(case.problem, optimal=1e-10)
    controller.step(case.q, case.qd)
    kernels = controller._kernels.handles
    given = {"posture": path, "velocity": np.full(NV, 0.1)}
    weights = {"posture": 20.0, "terminal posture": np.arange(1.0, 8.0)}
    check_optimum(other, fresh(controller, case, reference=given, weights=weights))
    by_task = {Posture.of(model): path, Velocity(): np.full(NV, 0.1)}
    check_optimum(other, fresh(controller, case, reference=by_task, weights=weights))
    check_optimum(case, fresh(controller, case))
    assert controller._kernels.handles is kernels


def test_one_task_needs_no_name() -> None:
    case = smooth(bare())
    goal = case.oracle.reference.forward_kinematics(state()[2], TOOL)
    case.problem.cost(Position(TOOL), 100.0)
    case.oracle.terms.append(Term(case.oracle.position(TOOL, goal[:3, 3]), 100.0))
    check_optimum(case, step(case, reference=goal[:3, 3]))


def test_gravity_at_the_start_where_no_posture_is_wanted() -> None:
    case = bare()
    goal = case.oracle.reference.forward_kinematics(state()[2], TOOL)[:3, 3]
    case.problem.cost(Position(TOOL), 100.0, goal).cost(Effort(), 1e-3, "gravity").cost(Velocity(), 0.1)
    oracle = case.oracle
    hold = oracle.reference.gravity_torque(case.q)
    oracle.terms += [
        Term(oracle.position(TOOL, goal), 100.0),
        Term(oracle.effort(hold), 1e-3),
        Term(oracle.velocity(), 0.1),
    ]
    check_optimum(case, step(case))
    numbers = np.arange(NV)
    oracle.terms[1] = Term(oracle.effort(numbers), 1e-3)
    controller = Controller(case.problem, optimal=1e-10)
    check_optimum(case, fresh(controller, case, reference={"effort": numbers}))
    oracle.terms[1] = Term(oracle.effort(hold), 1e-3)
    check_optimum(case, fresh(controller, case))


def test_torques_beyond_the_model() -> None:
    """Costs of efforts are about what drives give; what holds the robot still has the same beyond."""
    case = reach()
    oracle, beyond = case.oracle, np.linspace(-5.0, 5.0, NV)
    case.problem.cost(Effort(), 2e-3, np.ones(NV), name="ones")
    oracle.terms.append(Term(oracle.effort(1.0 - beyond), 2e-3))
    found = step(case, offset=beyond)
    check_optimum(case, _without(found, beyond))


def _without(result: Any, beyond: Array) -> Any:
    """The result with the model's torques."""
    result.torques[...] -= beyond
    return result


def test_gains_are_the_slope_of_torques_by_the_state() -> None:
    """By differences of converged steps; Gauss-Newton leaves out what bends, so residuals are made small."""
    case = reach()
    robot = case.problem.robot
    goal = case.q + 1e-5
    controller = Controller(case.problem)
    rest = np.zeros(NV)

    def tau(q: Array, qd: Array) -> Array:
        controller.reset()
        return np.array(controller.step(q, qd, reference={"posture": goal}).tau)

    gains = controller.step(case.q, rest, reference={"posture": goal}).gains
    assert gains.shape == (NV, 2 * NV) and robot.nv == NV
    h = 1e-4
    for j, e in enumerate(h * np.eye(NV)):
        by_q = (tau(case.q + e, rest) - tau(case.q - e, rest)) / (2 * h)
        by_qd = (tau(case.q, e) - tau(case.q, -e)) / (2 * h)
        size = np.abs(gains).max()
        assert np.allclose(gains[:, j], by_q, rtol=0, atol=1e-3 * size)
        assert np.allclose(gains[:, NV + j], by_qd, rtol=0, atol=1e-3 * size)
