"""Channels: values against the robot's own kinematics, gradients and Hessians against complex steps."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings

import robomorph
from robomorph import ArgumentError, ModelWarning, Robot
from robomorph.ir.derivatives import hessian_of
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.passes.dce import dce
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.planning.kernels import MotionKernels, channel_hessian_program, channel_program
from robomorph.spatial import Scalar, dot3, sub3
from robomorph.tasks import AnyTask, Axis, CenterOfMass, Matrix, Pose, Position, Scene, Size, Task
from robomorph.tasks.base import BoundSize
from robomorph.tasks.numbers import finite
from tests.oracle.random_trees import RandomRobot, random_robots

from .robots import NAMES, assert_close, derivative, random_arguments, random_references, robot, some_tasks

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Apart(Task):
    """Squared distance of two frames, and a product of a coordinate with a height: bends, couples branches,
    reads q by itself."""

    first: str
    second: str
    name = "apart"
    size = Size(1, 1, 1)
    bound_size = BoundSize(2, 2)

    def read(self, reference: npt.ArrayLike) -> Array:
        return finite("apart", reference, (1,))

    @property
    def coordinates(self) -> frozenset[int]:
        return frozenset({0})

    def residual(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        values, rows = self.bound_rows(scene, reference)
        return values[:1], rows[:1]

    def bound_rows(self, scene: Scene, reference: Sequence[Scalar]) -> tuple[list[Scalar], Matrix]:
        a, b = scene.pose(self.first).origin, scene.pose(self.second).origin
        com, q = scene.center_of_mass[2], scene.coordinate(0)
        away = sub3(a, b)
        one, two = scene.columns(self.first)[0], scene.columns(self.second)[0]
        nv = scene.tree.nv
        distance = [
            2.0 * dot3(away, (one[0][j] - two[0][j], one[1][j] - two[1][j], one[2][j] - two[2][j]))
            for j in range(nv)
        ]
        rise = scene.center_of_mass_jacobian[2]
        product = [2.0 * q * com * rise[j] * q + (2.0 * q * com * com if j == 0 else 0.0) for j in range(nv)]
        return [dot3(away, away) - reference[0], q * com * q * com], [distance, product]


def only_values(program: Program) -> Program:
    count = program.outputs[0].size
    return dce(Program("values", program.inputs, program.outputs[:1], program.nodes, program.results[:count]))


def check(made: Robot, tasks: Sequence[AnyTask], seed: int) -> None:
    """Gradients against steps of the values, the Hessian against steps of the gradients and against
    forward over reverse mode through everything."""
    program, hessian = channel_program(made, tasks), channel_hessian_program(made, tasks)
    arguments = random_arguments(hessian, seed)
    arguments["references"] = random_references(tasks, seed)
    state = {name: arguments[name] for name in ("q", "references")}
    gradients = interpret(program, state)["gradients"]
    stepped = derivative(program, state, "q")
    assert_close(gradients, stepped["values"])
    found = interpret(hessian, arguments)["hessian"]
    expected = np.einsum("c,cij->ij", arguments["multipliers"], stepped["gradients"])
    assert_close(found, expected)
    np.testing.assert_array_equal(found, found.T)
    by_machine = hessian_of(only_values(program), ["q"])
    assert_close(found, interpret(by_machine, arguments)["hessian"])


@pytest.mark.parametrize("name", NAMES)
def test_every_task_at_once(name: str) -> None:
    made = robot(name)
    check(made, some_tasks(made), 1)


@pytest.mark.parametrize("name", ["iiwa14", "crane", "panda", "atlas"])
def test_tasks_that_bend_and_couple_branches(name: str) -> None:
    made = robot(name)
    tasks = (Apart(made.frame_names[-1], made.frame_names[1]), Position(made.frame_names[-1]))
    check(made, tasks, 2)
    assert channel_program(made, tasks).outputs[0].size == 5


@given(random_robots(narrow=True))
@settings(max_examples=60, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_random_trees(drawn: RandomRobot) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        made = robomorph.load(drawn.text, mimic=drawn.mimic)
    check(made, (*some_tasks(made), Apart(made.frame_names[-1], made.frame_names[-2])), 3)


def test_values_are_the_robot_s_own() -> None:
    made = robot("atlas")
    program = channel_program(made, (Position("r_hand"), CenterOfMass(), Axis("l_foot", (0.0, 0.0, 1.0))))
    q = made.random_state(0, 20).q
    reference = np.zeros(3), np.zeros(3), Axis("l_foot", (0.0, 0.0, 1.0)).read([0.0, 0.6, 0.8])
    given_ = np.broadcast_to(np.concatenate(reference), (20, 15))
    values = interpret(program, {"q": q, "references": given_})["values"]
    assert_close(values[:, :3], made.forward_kinematics(q, "r_hand")[:, :3, 3])
    assert_close(values[:, 3:6], made.center_of_mass(q))
    assert_close(values[:, 6], made.forward_kinematics(q, "l_foot")[:, :3, 2] @ [0.0, 0.6, 0.8])


def test_a_frame_that_never_moves_and_one_that_is_shared() -> None:
    made = robot("atlas")
    check(made, (Position("pelvis"), Pose("l_hand"), Position("l_hand")), 4)
    hessian = channel_hessian_program(made, (Position("pelvis"),))
    assert hessian.cost() == 0


def test_the_closed_form_is_cheaper_than_differentiating_everything() -> None:
    made = robot("atlas")
    tasks = (Axis("r_hand", (0.0, 0.0, 1.0)), CenterOfMass(), Pose("l_foot"))
    program = channel_program(made, tasks)
    by_machine = run_passes(hessian_of(only_values(program), ["q"]), SIMPLIFY)
    assert channel_hessian_program(made, tasks).cost() < 0.6 * by_machine.cost()


def test_a_task_of_the_caller_s_is_known_by_its_program_alone() -> None:
    """Its code may change while its name stays, so nothing of it is looked up by name."""
    made = robot("iiwa14")
    kernels = MotionKernels(made, (Apart(made.frame_names[-1], made.frame_names[2]),))
    assert all(deferred.key is None for deferred in kernels.deferred.values())
    q, references = made.random_state(1, 9).q, np.ones((9, 1))
    expected = interpret(kernels.program("channels"), {"q": q, "references": references})["values"]
    assert_close(kernels.kernel("channels")(q, references).values, expected)
    own = MotionKernels(made, (CenterOfMass(),)).deferred
    assert len({deferred.key for deferred in own.values()}) == 3


def test_refusals() -> None:
    floating = robomorph.load("hyq", floating_base=True)
    with pytest.raises(
        ArgumentError, match=r"root_joint.*expected joints of one coordinate|root_joint.*planning"
    ):
        MotionKernels(floating, (CenterOfMass(),))
    made = robot("iiwa14")
    with pytest.raises(ArgumentError, match=r"^frame: unknown name 'elbow'"):
        MotionKernels(made, (Position("elbow"),))
    wrong: Any = "elbow"
    with pytest.raises(ArgumentError, match=r"^task: expected a task"):
        MotionKernels(made, (wrong,))
    wrong = CenterOfMass()
    with pytest.raises(ArgumentError, match=r"^tasks: expected a list of tasks"):
        MotionKernels(made, wrong)
    with pytest.raises(ArgumentError, match=r"^kernel: unknown name 'torque'"):
        MotionKernels(made, (CenterOfMass(),)).kernel("torque")
