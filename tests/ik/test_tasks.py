"""Any task as a target: the same answers as the named targets give, and tasks of a caller's own."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.ik import (
    AxisTarget,
    CenterOfMassTarget,
    OrientationTarget,
    PoseTarget,
    PositionTarget,
    TaskTarget,
)
from robomorph.tasks import (
    Axis,
    CenterOfMass,
    FrameTask,
    Matrix,
    Orientation,
    Pose,
    Position,
    Posture,
    Scene,
    Size,
)
from robomorph.tasks.kinds import DIRECTION, LINEAR, ROTATION, Kind
from robomorph.tasks.numbers import finite
from tests.ik.arms import ARMS, arm
from tests.oracle.chains import chain

Array = npt.NDArray[Any]
FRAME = ARMS["iiwa14"]


def anything(value: Any) -> Any:
    """What a caller may pass against the annotations."""
    return value


def pairs() -> list[tuple[Any, Any]]:
    """A named target and the same with its task."""
    robot, _ = arm("iiwa14")
    poses = robot.forward_kinematics(robot.random_state(2, 6).q, FRAME)
    points, turns, z = poses[:, :3, 3], poses[:, :3, :3], poses[:, :3, 2]
    com = robot.center_of_mass(robot.random_state(2, 6).q)
    weights = (1.0, 1.0, 0.0, 1.0, 0.5, 1.0)
    return [
        (PositionTarget(FRAME, points), TaskTarget(Position(FRAME), points)),
        (PositionTarget(FRAME, points, (1, 1, 0)), TaskTarget(Position(FRAME), points, (1, 1, 0))),
        (OrientationTarget(FRAME, turns), TaskTarget(Orientation(FRAME), turns)),
        (
            OrientationTarget(FRAME, turns, tolerance=(1e-3, 1e-3, 0.5)),
            TaskTarget(Orientation(FRAME), turns, tolerance=(1e-3, 1e-3, 0.5)),
        ),
        (PoseTarget(FRAME, poses), TaskTarget(Pose(FRAME), poses)),
        (PoseTarget(FRAME, poses, weights[:3], weights[3:]), TaskTarget(Pose(FRAME), poses, weights)),
        (
            PoseTarget(FRAME, poses, position_tolerance=1e-3, rotation_tolerance=1e-3),
            TaskTarget(Pose(FRAME), poses, tolerance=1e-3),
        ),
        (AxisTarget(FRAME, (0, 0, 2), z), TaskTarget(Axis(FRAME, (0, 0, 2)), z)),
        (CenterOfMassTarget(com), TaskTarget(CenterOfMass(), com)),
    ]


@pytest.mark.parametrize("i", range(9))
def test_a_task_is_solved_as_its_named_target_is(i: int) -> None:
    robot, _ = arm("iiwa14")
    named, task = pairs()[i]
    one, other = robot.inverse_kinematics([named], starts=8), robot.inverse_kinematics(task, starts=8)
    assert one == other and one.success.any()


def test_some_joints_held_by_a_posture() -> None:
    robot, reference = arm("iiwa14")
    q = robot.random_state(5).q
    point = reference.forward_kinematics(q, FRAME)[:3, 3]
    held = [robot.joint_names[k] for k in (1, 4)]
    result = robot.inverse_kinematics(
        [PositionTarget(FRAME, point), TaskTarget(Posture.of(robot.model, held), q[[1, 4]])]
    )
    assert result.success and np.allclose(result.q[[1, 4]], q[[1, 4]], rtol=0, atol=1.001e-5)
    assert np.linalg.norm(reference.forward_kinematics(result.q, FRAME)[:3, 3] - point) <= 1.001e-5


def test_a_posture_beyond_the_limits_says_by_how_much() -> None:
    robot, _ = arm("iiwa14")
    names, upper = robot.joint_names[1:3], robot.limits.upper[1:3]
    reason = robot.inverse_kinematics(TaskTarget(Posture.of(robot.model, names), [9.0, 9.0]), starts=4).reason
    over = ", ".join(f"{n} by {9.0 - u:.3g}" for n, u in zip(names, upper, strict=True))
    assert f"would exceed {over}; " in reason  # not what is left after turning back
    assert f"misses by {np.linalg.norm(9.0 - upper):.3g} rad or m" in reason


@pytest.mark.parametrize("kind", ["continuous z", "revolute z"])
@pytest.mark.parametrize("nearest", [True, False])
@pytest.mark.parametrize("wanted", [-20.0, -7.0, 5.0, 9.0])
def test_turns_count_where_a_task_reads_the_joint_itself(kind: str, wanted: float, nearest: bool) -> None:
    """The search turns joints that are back after a turn as it likes, but not these."""
    limits = {0: '<limit lower="-30" upper="30" effort="1" velocity="1"/>'} if "revolute" in kind else {}
    robot = robomorph.load(chain(kind, "revolute y", extra=limits))
    target = TaskTarget(Posture.of(robot.model, ["j0"]), [wanted])
    for q0 in (None, [0.0, 0.0], [25.0, 0.0]):
        result = robot.inverse_kinematics(target, q0=q0, nearest=nearest)
        assert result.success and abs(result.q[0] - wanted) <= 1.001e-5


def test_a_task_that_hides_what_it_reads_is_refused() -> None:
    class Hidden(Posture):
        coordinates = frozenset()

    robot, _ = arm("iiwa14")
    task = Posture.of(robot.model, robot.joint_names[:2])
    with pytest.raises(ArgumentError, match=r"posture: .*`coordinates`, found \[0, 1\] read and not listed"):
        robot.inverse_kinematics(TaskTarget(Hidden(task.joints, task.places), [0.1, 0.2]))


@pytest.mark.parametrize(
    ("target", "says"),
    [
        (TaskTarget(Position("hand"), np.zeros(3)), "frame: unknown name 'hand'"),
        (TaskTarget(Pose("hand"), np.eye(4)), "frame: unknown name 'hand'"),
        (TaskTarget(Pose(FRAME), np.zeros(3)), r"pose of .*: expected shape \(..., 4, 4\)"),
        (TaskTarget(Pose(FRAME), np.eye(4), weight=(1, 1, 1)), "weight of pose of .* 6 numbers"),
        (TaskTarget(Pose(FRAME), np.eye(4), tolerance=-1.0), "tolerance of position of"),
        (TaskTarget(Position(FRAME), np.zeros(3), weight=0.0), "not all 0"),
        (
            TaskTarget(anything("position"), np.zeros(3)),
            "task: expected a task .* found 'position'",
        ),
        (
            TaskTarget(anything(Position), np.zeros(3)),
            "task: expected a task .* found <class",
        ),
    ],
)
def test_wrong_tasks(target: Any, says: str) -> None:
    robot, _ = arm("iiwa14")
    with pytest.raises(ArgumentError, match=says):
        robot.inverse_kinematics(target)


def along(share: float) -> type[FrameTask]:
    """A task of the caller's own: how far a frame is along x, times a number that its name does not tell."""

    @dataclass(frozen=True)
    class Along(FrameTask):
        name, size = "along", Size(1, 1, 1)

        def read(self, reference: npt.ArrayLike) -> Array:
            return finite(self.title, reference, (1,))

        def residual(self, scene: Scene, reference: Sequence[Any]) -> tuple[list[Any], Matrix]:
            x, row = scene.pose(self.frame).origin[0], scene.columns(self.frame)[0][0]
            return [share * x - reference[0]], [[share * entry for entry in row]]

    return Along


@pytest.mark.parametrize("method", ["lm", "quick-ik", "speculative-newton", "jacobian-transpose-fixed"])
@pytest.mark.parametrize("fresh", [False, True])
def test_an_edited_task_is_never_answered_with_old_code(fresh: bool, method: str) -> None:
    """The same name, other rows: on the same robot, and on a new one that has nothing but the disk cache."""
    robot = robomorph.load("iiwa14")
    for share in (1.0, 0.5):
        robot = robomorph.load("iiwa14") if fresh else robot
        target = TaskTarget(along(share)(FRAME), [0.2])
        result = robot.inverse_kinematics(target, method=method, tolerance=1e-4)
        assert result.success
        assert abs(share * robot.forward_kinematics(result.q, FRAME)[0, 3] - 0.2) <= 1.001e-4


def broken(raw: int, rows: int, width: int, numbers: int, said: Size, of: Kind) -> FrameTask:
    """A task that does not do what it says."""

    @dataclass(frozen=True)
    class Broken(FrameTask):
        name, size, kind = "broken", said, of

        def read(self, reference: npt.ArrayLike) -> Array:
            return np.zeros(numbers)

        def residual(self, scene: Scene, reference: Sequence[Any]) -> tuple[list[Any], Matrix]:
            z = scene.pose(self.frame).origin[2]
            return [z] * raw, [[z] * width] * rows

    return Broken(FRAME)


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (broken(2, 1, 7, 1, Size(1, 1, 1), LINEAR), "expected 1 raw errors and a Jacobian .* found .* 2 raw"),
        (broken(1, 2, 7, 1, Size(1, 1, 1), LINEAR), "1 raw errors and 2 rows"),
        (broken(1, 1, 6, 1, Size(1, 1, 1), LINEAR), r"1 rows of \[6\] entries"),
        (broken(2, 1, 7, 1, Size(1, 2, 1), LINEAR), r"found size \(2, 1\)"),
        (broken(3, 3, 7, 1, Size(1, 3, 3), ROTATION), r"expected 9 raw errors and a Jacobian \(3, 7\)"),
        (broken(3, 3, 7, 1, Size(1, 3, 3), DIRECTION), r"expected 3 raw errors and a Jacobian \(2, 7\)"),
        (broken(1, 1, 7, 2, Size(1, 1, 1), LINEAR), r"expected `read` to give \(..., 1\) numbers"),
    ],
)
def test_tasks_that_do_not_do_what_they_say_are_refused(task: FrameTask, says: str) -> None:
    """Native code would read beyond its arrays, or other rows than those meant."""
    robot, _ = arm("iiwa14")
    with pytest.raises(ArgumentError, match=f"broken of '{FRAME}': .*{says}"):
        robot.inverse_kinematics(TaskTarget(task, [0.1]))


def test_paths_solutions_and_batches_of_tasks() -> None:
    robot, reference = arm("iiwa14")
    q0 = np.array([0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0])
    pose = robot.forward_kinematics(q0, FRAME)
    line = np.tile(pose, (20, 1, 1))
    line[:, 2, 3] += np.linspace(0.0, 0.1, 20)
    track = robot.inverse_kinematics(TaskTarget(Pose(FRAME), line), q0=q0, path=True)
    assert track.success.all() and track == robot.inverse_kinematics(line, FRAME, q0, path=True)
    many = robot.inverse_kinematics(TaskTarget(Pose(FRAME), pose), q0=q0, solutions=3)
    assert many.success.all() and many.q.shape == (3, 7)
    wrist = Posture.of(robot.model, "lbr_iiwa_joint_7")
    spread = [TaskTarget(Position(FRAME), line[:2, None, :3, 3]), TaskTarget(wrist, [[0.1], [0.2], [0.3]])]
    found = robot.inverse_kinematics(spread, q0=q0)
    assert found.success.shape == (2, 3) and found.success.all()
    for index in np.ndindex(2, 3):
        tip = reference.forward_kinematics(found.q[index], FRAME)[:3, 3]
        assert np.linalg.norm(tip - line[index[0], :3, 3]) <= 1.001e-5
        assert abs(found.q[index][6] - 0.1 * (index[1] + 1)) <= 1.001e-5


def test_task_targets_compare_and_pickle() -> None:
    one = TaskTarget(Axis(FRAME, (0, 0, 1)), [0, 1, 0], tolerance=0.1)
    for back in (copy.deepcopy(one), pickle.loads(pickle.dumps(one))):
        assert back == one and hash(back) == hash(one)
    assert one == TaskTarget(Axis(FRAME, (0, 0, 2)), np.array([0.0, 1.0, 0.0]), tolerance=0.1)
    assert one != TaskTarget(Axis(FRAME, (0, 1, 0)), [0, 1, 0], tolerance=0.1)
    assert one != TaskTarget(Axis(FRAME, (0, 0, 1)), [0, 1, 0])
