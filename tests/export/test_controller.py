"""Exported controllers: equal to Python's, without the heap, as a user compiles them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.cli.main import main
from robomorph.errors import ArgumentError
from robomorph.export import export
from robomorph.mpc import Controller, Problem, Velocity
from robomorph.tasks import Posture
from tests.export.control_cases import FLAGS, Driver, Found, joints_problem, numbers_of, rows_problem
from tests.export.tools import COMPILERS, need, output_of

# Of a warm step. Where references jump, several iterations magnify the last bits of a state, in Python too.
ITERATIONS = 1
ITERATIONS_OF_ROWS = 4  # here they do not
JOINTS = {
    "set_posture": 3,
    "set_second": 1,
    "set_weight_second": 1,
    "set_effort": 3,
    "set_corridor": 3,
    "set_posture_nodes": 14 * 3,
    "set_terminal_weight_posture": 3,
    "set_weight_acceleration": 3,
}
ROWS = {"set_pose": 12, "set_speed": 3, "set_soft_room": 3, "set_weight_pose": 6, "set_weight_jerk": 3}


@pytest.fixture(scope="module")
def joints(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    need("g++")
    yield Driver(tmp_path_factory.mktemp("joints") / "arm", joints_problem(), JOINTS, "g++", "-march=native")


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    need("g++")
    yield Driver(tmp_path_factory.mktemp("rows") / "arm", rows_problem(), ROWS, "g++", "-march=native")


def states(count: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Small moves, as a loop has them."""
    rng = np.random.default_rng(seed)
    q, qd = rng.uniform(-0.5, 0.3, 3), 0.2 * rng.normal(size=3)
    for _ in range(count):
        yield q, qd
        q, qd = q + 0.02 * qd + 1e-3 * rng.normal(size=3), 0.9 * qd + 1e-2 * rng.normal(size=3)


def assert_equal(found: list[Found], expected: list[Any]) -> None:
    assert len(found) == len(expected) > 0
    for k, (plan, result) in enumerate(zip(found, expected, strict=True)):
        assert plan.heap == 0, f"step {k} took memory from the heap"
        assert plan.iterations == result.iterations, f"step {k}"
        assert (plan.success, plan.converged) == (result.success, result.converged)
        wanted = numbers_of(result)
        assert plan.numbers.shape == wanted.shape
        error = np.abs(plan.numbers - wanted) / (1.0 + np.abs(wanted))
        assert error.max() <= 1e-9, f"step {k}: {error.max():.1e} at {error.argmax()}"


def test_joints_equal_python(joints: Driver) -> None:
    """References of costs that share joints, of bounds that move, of efforts; weights; torques beyond the
    model."""
    controller = Controller(joints_problem(), iterations=ITERATIONS)
    goals = np.linspace([0.0, 0.0, 0.0], [0.3, -0.2, 0.1], 14)
    given: list[tuple[dict[str, Any], dict[str, Any], Any]] = [
        ({}, {}, None),
        ({"posture": [0.2, 0.1, -0.2], "second": [0.4]}, {"second": 7.0}, None),
        ({"posture": goals}, {"terminal posture": 50.0, "second": 0.0}, [1.0, -2.0, 0.5]),
        ({"corridor": [0.05, 0.1, -0.1], "effort": [1.0, 2.0, 3.0]}, {"acceleration": 1e-2}, [0.5, 0.0, 0.0]),
        ({}, {}, None),
    ]
    own = {"posture": [0.5, -0.3, 0.2], "second": [0.1], "corridor": [0.0] * 3, "effort": "gravity"}
    weights = {"second": 3.0, "terminal posture": 100.0, "acceleration": 1e-4}
    expected = []
    joints.begin()
    for (q, qd), (reference, weight, offset) in zip(states(5), given, strict=True):
        for name, value in {**own, **reference}.items():
            if not isinstance(value, str):
                joints.set(f"set_{name}{'_nodes' if np.ndim(value) == 2 else ''}", value)
        for name, value in {**weights, **weight}.items():
            word = "terminal_weight_posture" if name.startswith("terminal") else f"weight_{name}"
            joints.set(f"set_{word}", np.full(1 if name == "second" else 3, value))
        if "effort" not in reference:
            joints.lines.append("gravity")
        joints.step(q, qd, offset=offset)
        expected.append(controller.step(q, qd, reference, weight, offset=offset))
    said, found = joints.run()
    assert "set 0" not in said
    assert_equal(found, expected)
    assert max(result.violation for result in expected) > 0.0, "limits should matter here"


def test_rows_equal_python(rows: Driver) -> None:
    """Poses, speeds, hard and soft bounds, jerk, gravity where the robot is."""
    problem = rows_problem()
    controller = Controller(problem, iterations=ITERATIONS_OF_ROWS)
    pose = np.eye(4)
    pose[:3, 3] = [0.3, 0.1, 0.4]
    numbers = np.ravel(problem.costs["pose"].subject.read(pose))
    rows.begin()
    rows.set("set_pose", numbers)
    expected = []
    for k, (q, qd) in enumerate(states(6, seed=3)):
        reference: dict[str, Any] = {"pose": pose}
        weights: dict[str, Any] = {}
        if k >= 2:
            rows.set("set_speed", [0.1, 0.0, -0.1])
            reference["speed"] = [0.1, 0.0, -0.1]
        if k >= 4:
            rows.set("set_weight_pose", np.arange(6.0))
            rows.set("set_weight_jerk", [1e-5] * 3)
            weights = {"pose": np.arange(6.0), "jerk": 1e-5}
        elapsed = 0.01 if k % 2 else 0.02
        rows.step(q, qd, elapsed=elapsed, iterations=ITERATIONS_OF_ROWS)
        expected.append(controller.step(q, qd, reference, weights, elapsed=elapsed))
    said, found = rows.run()
    assert "set 0" not in said
    assert_equal(found, expected)
    assert any(result.soft_cost > 1e-6 for result in expected), "the soft bound should matter here"


def test_construction_takes_nothing_from_the_heap(joints: Driver, rows: Driver) -> None:
    for driver in (joints, rows):
        driver.begin()
        made = driver.run()[0][0].split()
        assert made[:3] == ["made", "0", "1"]
        assert int(made[3]) > 10_000


def test_what_cannot_be_set_or_stepped_is_refused(joints: Driver, rows: Driver) -> None:
    joints.begin()
    joints.set("set_posture", [0.0, np.nan, 0.0])
    joints.set("set_weight_second", [-1.0])
    joints.set("set_corridor", [0.0, np.inf, 0.0])
    (q, qd), *_ = states(1)
    joints.step(np.array([np.nan, 0.0, 0.0]), qd)
    joints.step(q, qd, offset=[np.inf, 0.0, 0.0])
    joints.step(q, qd)
    said, found = joints.run()
    assert said[1:4] == ["set 0"] * 3
    assert [plan.code for plan in found[:2]] == [6, 6] and not found[0].success
    assert_equal(found[2:], [Controller(joints_problem(), iterations=ITERATIONS).step(q, qd)])
    rows.begin()
    rows.step(q, qd)  # the pose has no reference yet
    assert rows.run()[1][0].code == 6


def test_two_translation_units_share_one_controller(joints: Driver) -> None:
    (q, qd), *_ = states(1)
    joints.begin()
    joints.lines.append("other " + " ".join(repr(float(x)) for x in (*q, *qd)))
    assert_equal(joints.run()[1], [Controller(joints_problem()).step(q, qd)])


def test_reset_forgets_the_plan(joints: Driver) -> None:
    (q, qd), *_ = states(1)
    joints.begin()
    joints.step(q, qd)
    joints.step(q, qd)
    joints.lines.append("reset")
    joints.step(q, qd)
    first, warm, again = joints.run()[1]
    assert warm.iterations == ITERATIONS != first.iterations
    assert again.iterations == first.iterations
    np.testing.assert_array_equal(again.numbers, first.numbers)


def test_refusals(tmp_path: Path) -> None:
    problem = joints_problem()
    with pytest.raises(ArgumentError, match="expected target 'cpp', found 'cuda'"):
        export(problem.robot, tmp_path / "a", target="cuda", mpc=problem)
    with pytest.raises(
        ArgumentError, match="with joints joint_1, joint_2, joint_3: expected those of 'iiwa14'"
    ):
        export(robomorph.load("iiwa14"), tmp_path / "a", mpc=problem)
    with pytest.raises(ArgumentError, match=r"mpc: expected an mpc\.Problem"):
        export(problem.robot, tmp_path / "a", mpc=3)
    with pytest.raises(ArgumentError, match="no file 'nowhere'"):
        export(problem.robot, tmp_path / "a", mpc="nowhere")
    assert not (tmp_path / "a").exists()


def test_command_line_and_manifest(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "out"
    robot = robomorph.load("chain:2")
    problem = Problem(robot, 4, 0.02).cost(Posture.of(robot.model), 1.0, [0.1, 0.2]).cost(Velocity(), 0.1)
    file = tmp_path / "problem.toml"
    file.write_text(problem.to_toml() + "\n[controller]\niterations = 2\n")
    assert main(["export", "chain:2", "--mpc", str(file), "-o", str(folder), "--name", "arm"]) == 0
    assert "control_torque" in capsys.readouterr().out
    about = json.loads((folder / "robomorph.json").read_text())["controller"]
    assert (about["horizon"], about["iterations"], about["costs"]) == (4, 2, ["posture", "velocity"])
    assert "inline constexpr int iterations = 2;" in (folder / "include/arm/mpc/problem.hpp").read_text()
    assert "`set_posture`" in (folder / "README.md").read_text()
    assert main(["export", "chain:2", "--target", "rtl", "--mpc", str(file), "-o", str(folder)]) != 0
    assert "expected --target cpp" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "flags", [("-march=native",), ("-mavx2", "-mfma"), ()], ids=["native", "avx2", "plain"]
)
def test_check_and_loop_with_every_instruction_set(
    tmp_path: Path, compiler: str, flags: tuple[str, ...]
) -> None:
    """The folder's own check; the loop runs for half a second and prints its histogram."""
    export(robomorph.load("iiwa14"), tmp_path / "arm", mpc="reach", name="arm")
    for source in ("test/controller_check.cpp", "example/control_loop.cpp"):
        program = tmp_path / Path(source).stem
        include = f"-I{tmp_path / 'arm/include'}"
        strict = [flag if flag != "-O1" else "-O2" for flag in FLAGS]
        output_of(
            need(compiler), *strict, *flags, include, tmp_path / "arm" / source, "-pthread", "-o", program
        )
    assert output_of(tmp_path / "controller_check").splitlines()[-1] == "all plans agree"
    shown = output_of(tmp_path / "control_loop", "0.5", "2000")
    assert "thread: " in shown and "steps: half within" in shown and "250 steps every 2000 us" in shown


@pytest.mark.slow
def test_cmake_project(tmp_path: Path) -> None:
    cmake, ctest = need("cmake"), need("ctest")
    export(robomorph.load("chain:3"), tmp_path / "arm", mpc=joints_problem(), name="arm")
    build, prefix, user = tmp_path / "build", tmp_path / "prefix", tmp_path / "user"
    output_of(cmake, "-S", tmp_path / "arm", "-B", build, "-DARM_NATIVE=ON")
    output_of(cmake, "--build", build)
    output_of(ctest, "--test-dir", build, "--output-on-failure")
    assert "woken late" in output_of(build / "control_loop", "0.2")
    output_of(cmake, "--install", build, "--prefix", prefix)
    user.mkdir()
    shutil.copy(tmp_path / "arm/test/controller_check.cpp", user / "main.cpp")
    (user / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(user CXX)\nfind_package(arm 1.0 CONFIG REQUIRED)\n"
        "add_executable(main main.cpp)\ntarget_link_libraries(main PRIVATE arm::controller)\n"
    )
    output_of(
        cmake, "-S", user, "-B", user / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release"
    )
    output_of(cmake, "--build", user / "build")
    assert "all plans agree" in output_of(user / "build/main")
