"""Searches on OpenCL against the CPU's and Pinocchio, hostile arguments among them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.ik import CenterOfMassTarget, PositionTarget, TaskTarget
from robomorph.ik.devices import Found
from robomorph.spatial.scalar import sqrt
from robomorph.tasks import FrameTask, Matrix, Posture, Scene, Size
from tests.ik.arms import arm
from tests.ik.devices.problems import FRAMES, QUICK, Array, Problems, assert_agrees, assert_holds, problems
from tests.targets.gpu.toolchains import needs_opencl

pytestmark = needs_opencl

TOOL = FRAMES["iiwa14"]
SLIDER = """<robot name="slider">
  <link name="base"/><link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="slide" type="prismatic"><parent link="base"/><child link="a"/><axis xyz="1 0 0"/>
    <limit lower="-0.5" upper="0.5" effort="1" velocity="1"/></joint>
  <joint name="turn" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0 0 0.2"/>
    <axis xyz="0 1 0"/></joint>
  <joint name="lift" type="prismatic"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="0.4" effort="1" velocity="1"/></joint>
  <joint name="follow" type="prismatic"><parent link="c"/><child link="d"/><axis xyz="0 0.6 0.8"/>
    <mimic joint="lift" multiplier="-0.5" offset="0.1"/>
    <limit lower="-0.05" upper="0.2" effort="1" velocity="1"/></joint>
</robot>"""


def iiwa(count: int) -> Problems:
    return problems("iiwa14", count)


@pytest.mark.parametrize(
    ("name", "count", "same"),
    [
        ("chain:12", 50, 0.95),
        ("chain:25", 30, 0.95),
        ("chain:50", 10, 0.8),
        ("chain:100", 6, 0.5),
        ("iiwa14", 50, 0.9),
        ("hyq", 50, 0.9),
        ("atlas", 30, 0.9),
    ],
)
def test_the_same_search_as_the_cpus(name: str, count: int, same: float) -> None:
    given = problems(name, count)
    cpu, device = given.solve(max_iterations=2000), given.solve(max_iterations=2000, on="opencl")
    assert_agrees(cpu, device, same)
    assert_holds(name, given, device)
    assert device.success.mean() >= 0.9 * cpu.success.mean() > 0.0


@pytest.mark.parametrize("speculations", [1, 2, 31, 33, 64, 100, 128, 300])
def test_any_number_of_speculations(speculations: int) -> None:
    """Fewer than threads, no multiple of them, and more than a block has."""
    given = iiwa(12)
    cpu, device = (
        given.solve(speculations=speculations, max_iterations=300, on=on) for on in ("cpu", "opencl")
    )
    assert_agrees(cpu, device, 0.8)


def test_prismatic_and_mimic_joints_and_turns(tmp_path: Path) -> None:
    """A start several turns away: joints come back to where they are nearest to it, as on the CPU."""
    path = tmp_path / "slider.urdf"
    path.write_text(SLIDER)
    with pytest.warns(robomorph.ModelWarning, match="move no mass"):
        robot = robomorph.load(path)
    rng = np.random.default_rng(2)
    ends = rng.uniform([-0.5, -3.0, 0.0], [0.5, 3.0, 0.3], (40, 3))
    targets = robot.forward_kinematics(ends, "d")[:, :3, 3]
    starts = rng.uniform([-0.5, -20.0, 0.0], [0.5, 20.0, 0.3], (40, 3))
    cpu, device = (
        robot.inverse_kinematics(targets, "d", starts, tolerance=1e-4, max_iterations=500, on=on, **QUICK)
        for on in ("cpu", "opencl")
    )
    assert cpu.success.sum() > 10 and (cpu.active_limits != 0).any()
    assert_agrees(cpu, device, 0.9)
    # Searches that fail go on for hundreds of steps, in which rounding grows to any size.
    same = (cpu.iterations == device.iterations) & cpu.success & device.success
    assert same.sum() > 10 and np.allclose(cpu.q[same], device.q[same], atol=1e-4)
    assert np.all(device.q[:, 2] <= 0.3 + 1e-12)  # where the mimic joint meets its own limit


def test_batch_shapes() -> None:
    given = iiwa(6)
    whole = given.solve(on="opencl")
    shaped = given._replace(targets=given.targets.reshape(2, 3, 3), starts=given.starts.reshape(2, 3, 7))
    assert np.array_equal(shaped.solve(on="opencl").q.reshape(6, 7), whole.q)
    one = given._replace(targets=given.targets[4], starts=given.starts[4]).solve(on="opencl")
    assert one.q.shape == (7,) and np.array_equal(one.q, whole.q[4]) and one.iterations == whole.iterations[4]
    every = given._replace(targets=given.targets[:, None], starts=given.starts[:2]).solve(on="opencl")
    assert every.q.shape == (6, 2, 7) and np.array_equal(every.q[1, 1], whole.q[1])
    for lead in ((0,), (3, 0)):
        none = given._replace(targets=np.empty((*lead, 3)), starts=given.starts[0]).solve(on="opencl")
        assert none.q.shape == (*lead, 7) and none.success.shape == lead and none.reason.shape == lead


def test_strided_and_reversed_arrays() -> None:
    given = iiwa(8)
    wide = np.zeros((8, 6))
    wide[:, ::2] = given.targets
    strided = given._replace(targets=wide[:, ::2], starts=np.asfortranarray(given.starts)).solve(on="opencl")
    assert np.array_equal(strided.q, given.solve(on="opencl").q)
    back = given._replace(targets=given.targets[::-1], starts=given.starts[::-1]).solve(on="opencl")
    assert np.array_equal(back.q[::-1], strided.q)


def test_a_start_at_the_target_takes_no_step() -> None:
    robot = arm("iiwa14")[0]
    q = np.array([0.1, 0.2, 0.3, -0.4, 0.5, 0.6, 0.7])
    target = robot.forward_kinematics(q, TOOL)[:3, 3]
    result = robot.inverse_kinematics(target, TOOL, q, on="opencl", **QUICK)
    assert result.success and result.iterations == 0 and np.array_equal(result.q, q)


def test_out_of_reach_is_said_and_ends_after_its_iterations() -> None:
    robot = arm("iiwa14")[0]
    for most in (1, 7):
        cpu, device = (
            robot.inverse_kinematics([3.0, 0.0, 0.0], TOOL, max_iterations=most, on=on, **QUICK)
            for on in ("cpu", "opencl")
        )
        assert not device.success and device.iterations == most == cpu.iterations
        assert np.allclose(cpu.q, device.q, atol=1e-12)
        assert "out of reach" in device.reason


def test_far_targets_do_no_harm() -> None:
    robot = arm("iiwa14")[0]
    pair = [
        robot.inverse_kinematics([1e11, -1e11, 1e11], TOOL, max_iterations=20, on=on, **QUICK)
        for on in ("cpu", "opencl")
    ]
    lower, upper = robot.limits.lower, robot.limits.upper
    assert not pair[1].success and np.all(pair[1].q >= lower) and np.all(pair[1].q <= upper)
    # So far away, squared errors of near configurations are equal but for rounding: both go the right way.
    direction = np.array([1.0, -1.0, 1.0]) / np.sqrt(3.0)
    start, *ends = robot.forward_kinematics([np.zeros(7), *(r.q for r in pair)], TOOL)[:, :3, 3] @ direction
    assert min(ends) > start + 0.2


def test_a_frame_of_the_base_cannot_move() -> None:
    robot = arm("iiwa14")[0]
    base = robot.link_names[0]
    there = robot.inverse_kinematics([0.0, 0.0, 0.0], base, on="opencl", **QUICK)
    away = robot.inverse_kinematics([0.1, 0.0, 0.0], base, max_iterations=5, on="opencl", **QUICK)
    assert there.success and there.iterations == 0
    assert not away.success and np.array_equal(away.q, there.q)


def test_a_fine_tolerance() -> None:
    given = iiwa(10)._replace(tolerance=1e-9)
    cpu, device = given.solve(), given.solve(on="opencl")
    assert device.success.any()
    assert np.all(device.position_error[device.success] <= 1e-9)
    assert np.array_equal(cpu.success, device.success)


def test_nan_is_refused_before_the_device() -> None:
    robot = arm("iiwa14")[0]
    with pytest.raises(robomorph.ArgumentError, match="NaN"):
        robot.inverse_kinematics([np.nan, 0.0, 0.0], TOOL, on="opencl", **QUICK)
    with pytest.raises(robomorph.ArgumentError, match="q0"):
        robot.inverse_kinematics([0.1, 0.0, 0.0], TOOL, np.full(7, np.inf), on="opencl", **QUICK)


def test_fixed_joints_and_free_limits() -> None:
    given = iiwa(20)
    fixed = ["lbr_iiwa_joint_2", "lbr_iiwa_joint_5"]
    for options in ({"fixed": fixed}, {"limits": False}):
        cpu, device = (given.solve(max_iterations=300, on=on, **options) for on in ("cpu", "opencl"))
        assert_agrees(cpu, device, 0.9)
    held = given.solve(max_iterations=50, on="opencl", fixed=fixed)
    assert np.array_equal(held.q[:, [1, 4]], given.starts[:, [1, 4]])


def test_a_floating_base_that_is_fixed() -> None:
    robot, reference = arm("hyq", floating=True)
    frame, base = FRAMES["hyq"], robot.joint_names[0]
    middle = 0.5 * (robot.limits.lower[7:] + robot.limits.upper[7:])
    q0, end = robot.random_state(3)[0], robot.random_state(3)[0]
    q0[7:], end[7:] = middle, middle + 0.2
    target = robot.forward_kinematics(end, frame)[:3, 3]
    cpu, device = (
        robot.inverse_kinematics(target, frame, q0, tolerance=1e-4, fixed=base, on=on, **QUICK)
        for on in ("cpu", "opencl")
    )
    assert cpu.success and device.success and cpu.iterations == device.iterations
    assert np.allclose(device.q[:7], q0[:7], atol=1e-12) and np.allclose(cpu.q, device.q, atol=1e-9)
    assert np.linalg.norm(reference.forward_kinematics(device.q, frame)[:3, 3] - target) <= 1.001e-4


def test_several_targets_weights_and_tolerances() -> None:
    """Every task whose errors are differences: positions by axis, centres of mass, postures."""
    robot = arm("iiwa14")[0]
    q = np.array([0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0])
    place = robot.forward_kinematics(q, TOOL)[:3, 3]
    elbow = Posture.of(robot.model, ["lbr_iiwa_joint_4"])
    centre = CenterOfMassTarget(robot.center_of_mass(q), tolerance=1e-3)
    weighted = PositionTarget(TOOL, place, weight=(1, 2, 0), tolerance=(1e-3, 1e-4, 1))
    for targets in ([weighted, TaskTarget(elbow, [-1.2])], [centre]):
        cpu, device = (robot.inverse_kinematics(targets, on=on, **QUICK) for on in ("cpu", "opencl"))
        assert cpu.success and device.success and cpu.iterations == device.iterations
        assert np.allclose(cpu.q, device.q, atol=1e-9)


def test_paths_follow_on_the_device() -> None:
    robot = arm("iiwa14")[0]
    q = np.array([0.3, 0.6, -0.2, -1.3, 0.1, 0.9, 0.0])
    line = robot.forward_kinematics(q, TOOL)[:3, 3] + np.linspace(0, 1, 10)[:, None] * [0.0, -0.1, 0.05]
    cpu, device = (
        robot.inverse_kinematics(line, TOOL, q, path=True, tolerance=1e-4, on=on, **QUICK)
        for on in ("cpu", "opencl")
    )
    assert device.success.all() and np.allclose(cpu.q, device.q, atol=1e-8)


def test_robots_in_turn_and_calls_at_once() -> None:
    """Answers do not depend on what ran before or runs beside."""
    sets = [iiwa(5), problems("chain:12", 5), problems("hyq", 5)]
    first = [s.solve(on="opencl", max_iterations=500) for s in sets]
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(s.solve, on="opencl", max_iterations=500) for _ in range(4) for s in sets]
        again = [job.result() for job in jobs]
    for k, result in enumerate(again):
        assert result == first[k % 3]


def test_a_wrong_answer_of_a_device_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    from robomorph.ik.devices import gpu

    def lies(search: gpu.GpuSearch, reference: Array, start: Array) -> Found:
        return Found(start + 0.5, np.ones(len(start), np.int32))

    monkeypatch.setattr(gpu.GpuSearch, "__call__", lies)
    given = iiwa(4)
    result = given.solve(on="opencl", seed=77)
    assert not result.success.any() and (result.position_error > given.tolerance).all()


class Height(FrameTask):
    """A task of the caller's own: the height of a frame, or, `rooted`, its distance from the floor."""

    name, size, rooted = "height", Size(1, 1, 1), False

    def read(self, reference: npt.ArrayLike) -> Array:
        return np.asarray(reference, float)

    def residual(self, scene: Scene, reference: Sequence[Any]) -> tuple[list[Any], Matrix]:
        z, row = scene.pose(self.frame).origin[2], scene.columns(self.frame)[0][2]
        return [(sqrt(z * z) if self.rooted else z) - reference[0]], [list(row)]


class Rooted(Height):
    name, rooted = "rooted", True


def test_tasks_of_the_callers_own() -> None:
    robot = arm("iiwa14")[0]
    q0 = np.full(7, 0.3)
    cpu, device = (
        robot.inverse_kinematics(TaskTarget(Height(TOOL), [0.5]), q0=q0, on=on, **QUICK)
        for on in ("cpu", "opencl")
    )
    assert cpu.success and device.success and np.allclose(cpu.q, device.q, atol=1e-9)
    with pytest.raises(robomorph.TargetError, match=r'has no instruction for sqrt: use on="cpu"'):
        robot.inverse_kinematics(TaskTarget(Rooted(TOOL), [0.5]), q0=q0, on="opencl", **QUICK)


def test_a_robot_too_large_for_a_block_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    from robomorph.targets.gpu.opencl.device import OpenClDevice

    monkeypatch.setattr(OpenClDevice, "shared_limit", 1024)
    with pytest.raises(
        robomorph.TargetError, match=r'bytes of shared memory, a block has 1024: use on="cpu"'
    ):
        iiwa(2).solve(on="opencl", seed=78)
