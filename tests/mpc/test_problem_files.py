"""Control problems as TOML: the same as in Python, written and read again, mistakes with file and line."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.mpc import (
    Acceleration,
    Controller,
    Effort,
    Function,
    Jerk,
    Problem,
    Velocity,
    built_in_problems,
    load_problem,
)
from robomorph.tasks import Axis, CenterOfMass, Orientation, Pose, Position, Posture
from tests.mpc.cases import NV, TOOL

from .arms import SLIDE

TEXT = """
title = "Everything"

[robot]
load = "iiwa14"
frames = { tool = "lbr_iiwa_link_7" }

[robot.postures.home]
lbr_iiwa_joint_2 = 0.5
lbr_iiwa_joint_4 = -1.2

[problem]
horizon = 10
dt = 0.02

[[cost]]
task = "pose"
frame = "tool"
reference = "home"
weight = [200.0, 200.0, 200.0, 50.0, 50.0, 50.0]
terminal = 1e3
name = "tool"

[[cost]]
task = "axis"
frame = "tool"
axis = "up"
reference = "start"
weight = 1.0

[[cost]]
task = "posture"
joints = ["lbr_iiwa_joint_1", "lbr_iiwa_joint_2"]
reference = [0.1, 0.2]
terminal = 5.0

[[cost]]
task = "velocity"
weight = 0.1
reference = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1]

[[cost]]
task = "effort"
weight = 1e-3
reference = "gravity"

[[cost]]
task = "position"
frame = "tool"
rate = 1
weight = 0.5

[limits]
torque = 0.9
velocity = true
position = { lower = -2.5, upper = [2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0] }

[[bound]]
task = "position"
frame = "tool"
lower = [-inf, -inf, 0.1]
soft = 1e3

[controller]
iterations = 3
period = 0.01

[start]
q = "home"
qd = [0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]

[simulate]
seconds = 2.0
push = { newtons = 100.0, at = 1.0 }
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "problem.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_what_it_would_be_in_python(tmp_path: Path) -> None:
    found = load_problem(write(tmp_path, TEXT))
    robot = robomorph.load("iiwa14")
    home = np.zeros(NV)
    home[[1, 3]] = 0.5, -1.2
    pose = robot.forward_kinematics(home, TOOL)
    names = list(robot.velocity_names)
    same = Problem(robot, 10, 0.02)
    same.cost(Pose(TOOL), [200.0] * 3 + [50.0] * 3, pose, name="tool").terminal(Pose(TOOL), 1e3, name="tool")
    up = np.array([0.0, 0.0, 1.0])
    same.cost(Axis(TOOL, tuple(pose[:3, :3].T @ up)), 1.0, up)
    same.terminal(Posture.of(robot.model, names[:2]), 5.0, [0.1, 0.2])
    same.cost(Velocity(), 0.1, [0.0] * 6 + [0.1]).cost(Effort(), 1e-3, "gravity")
    same.cost(Position(TOOL), 0.5, rate=1)
    same.limits(torque=0.9, velocity=True, position=(-2.5, np.full(NV, 2.0)))
    same.bound(Position(TOOL), [-np.inf, -np.inf, 0.1], soft=1e3)
    assert repr(found.problem) == repr(same)
    assert found.title == "Everything" and np.array_equal(found.q, home) and found.qd[0] == 0.1
    assert found.simulate["push"]["newtons"] == 100.0 and found.name == "problem.toml"
    controller = found.controller(tolerance=1e-5)
    assert (controller.iterations, controller.period, controller.tolerance) == (3, 0.01, 1e-5)
    expected = Controller(same).step(found.q, found.qd)
    step = controller.step(found.q, found.qd)
    assert step.success and abs(step.cost - expected.cost) < 1e-9 * expected.cost
    assert repr(Problem.from_toml(write(tmp_path, TEXT))) == repr(same)


def everything() -> Problem:
    """A problem with every kind of thing that a file has words for."""
    robot = robomorph.load("iiwa14", locked={"lbr_iiwa_joint_7": 0.1}, gravity=[0.0, 0.0, -9.0])
    nv, rng = robot.nv, np.random.default_rng(0)
    problem = Problem(robot, 6, 0.03)
    problem.cost(Posture.of(robot.model), np.arange(1.0, nv + 1), 0.1 * rng.normal(size=(7, nv)), name="way")
    problem.terminal(Posture.of(robot.model), 10.0, name="way")
    problem.cost(Orientation(TOOL), [1.0, 2.0, 3.0], np.eye(3)).cost(CenterOfMass(), 1.0, [0.1, 0.0, 0.5])
    problem.cost(Acceleration(), 1e-4).cost(Jerk(), 1e-7).cost(Effort(robot.velocity_names[:2]), 1e-3)
    problem.terminal(Axis(TOOL, (0.0, 1.0, 0.0)), 1.0, [0.0, 0.0, 1.0], name='a "name"')
    problem.limits(torque=True).limits(velocity=(np.full(nv, -1.0), 2.0), acceleration=50.0, soft=10.0)
    problem.bound(Pose(TOOL), -1.0, 1.0, reference=np.eye(4), soft=5.0).bound(Velocity(), None, 3.0, name="v")
    return problem


def test_written_and_read_again(tmp_path: Path) -> None:
    problem = everything()
    text = problem.to_toml()
    again = Problem.from_toml(write(tmp_path, text))
    assert again.to_toml() == text and repr(again) == repr(problem)
    assert again.robot.model.digest == problem.robot.model.digest
    q, qd = problem.robot.random_state(1)
    given = (q * 0.2, qd * 0.1)
    a, b = (Controller(p).step(*given) for p in (problem, again))
    assert a.cost == b.cost and np.array_equal(a.qdd, b.qdd)


@pytest.mark.parametrize(
    "options", [{"snap": 0.1}, {"armature": 0.1}, {"passive": True, "stiffness": {"rail": (3, 0.1)}}]
)
def test_a_file_is_about_the_robot_as_it_was_loaded(tmp_path: Path, options: dict[str, Any]) -> None:
    path = tmp_path / "slide.urdf"
    path.write_text(SLIDE.replace("<parent", '<origin rpy="1.5 0 0"/> <parent'))
    problem = Problem(robomorph.load(str(path), **options), 5, 0.1).cost(Velocity())
    again = Problem.from_toml(write(tmp_path, problem.to_toml()))
    assert again.robot.model.digest == problem.robot.model.digest
    assert problem.robot.model.digest != robomorph.load(path).model.digest


def test_what_has_no_words_in_a_file() -> None:
    robot = robomorph.load("iiwa14")
    problem = Problem(robot, 5, 0.1).cost(Function(lambda q, qd: q[:1], rows=1))
    with pytest.raises(ArgumentError, match="function: a task of your own has no words in a file"):
        problem.to_toml()
    odd = robomorph.load("iiwa14", tool_frames={"tip": (TOOL, [0.0, 0.0, 0.1])})
    with pytest.raises(ArgumentError, match=r"loaded with tool_frames.*write the \[robot\] table yourself"):
        Problem(odd, 5, 0.1).cost(Velocity()).to_toml()
    document = robot.record.document.data.decode() if robot.record else ""
    text = robomorph.load(document)
    made = Problem(text, 5, 0.1).cost(Velocity())
    with pytest.raises(ArgumentError, match=r"say what to load with load="):
        made.to_toml()
    assert 'load = "arm.urdf"' in made.to_toml(load="arm.urdf")


@pytest.mark.parametrize("name", built_in_problems())
def test_built_in_problems(name: str) -> None:
    found = load_problem(name)
    result = found.controller().step(found.q, found.qd)
    assert result.success and result.converged


def changed(*pairs: tuple[str, str]) -> str:
    text = TEXT
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new, 1)
    return text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            changed(("horizon = 10", "horizon = 0")),
            r"problem.toml:12, \[problem\]: horizon: expected a whole",
        ),
        (changed(("horizon = 10", "")), r":12, \[problem\]: expected 'horizon', found none"),
        (changed(('frame = "tool"', 'frame = "hand"')), r":16, \[cost\]: frame: unknown name 'hand'"),
        (changed(('task = "axis"', 'task = "axes"')), r":24, \[cost\]: task: unknown name 'axes'.*'axis'"),
        (
            changed(('reference = "home"', 'reference = "away"')),
            r"\[cost\]: reference: unknown posture 'away'",
        ),
        (changed(("terminal = 5.0", "")), r":31, \[cost\]: expected 'weight', 'terminal'"),
        (
            changed(("weight = 1e-3", "weight = -1")),
            r"\[cost\]: weight of effort: expected weights of at least 0",
        ),
        (changed(("torque = 0.9", "torqe = 0.9")), r"\[limits\]: unknown key 'torqe'.*did you mean 'torque'"),
        (
            changed(("lower = -2.5", "least = -2.5")),
            r"\[limits\]: unknown key 'least' of \[limits.position\]",
        ),
        (changed(("soft = 1e3", "soft = 0")), r"\[bound\]: soft of .*expected None"),
        (changed(("iterations = 3", "iteration = 3")), r"\[controller\]: unknown key 'iteration'"),
        (changed(('q = "home"', "q = [1.0, 2.0]")), r"\[start\]: q: expected shape"),
        (changed(("qd = [0.1", "qd = [nan")), r"\[start\]: qd: expected finite numbers"),
        (changed(("[simulate]", "[simulation]")), r"unknown key 'simulation': did you mean 'simulate'"),
        (changed(("[limits]", "[limit]")), r"unknown key 'limit'"),
        (changed(("[robot]", "[robots]")), r"unknown key 'robots'"),
        ("title = 3", r"expected 'robot', found none"),
        ("robot = 'iiwa14'\nproblem = 3\n[[cost]]\n", r"problem: expected a table, found 3"),
        ("robot = 'iiwa14'\ncost = [1]\n[problem]\nhorizon = 3\ndt = 0.1", r"expected a table, found 1"),
        ("= 3", r"problem.toml: not TOML"),
        (changed(('reference = "gravity"', 'reference = "start"')), r"\[cost\]: reference: expected numbers"),
        (changed(('load = "iiwa14"', 'load = "nowhere.urdf"')), "nowhere.urdf"),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises((ArgumentError, robomorph.ModelError), match=says):
        load_problem(write(tmp_path, text))


def test_files_that_are_not_there() -> None:
    with pytest.raises(ArgumentError, match=re.escape("problem: no file 'rech', and did you mean 'reach'?")):
        load_problem("rech")


def test_another_robot(tmp_path: Path) -> None:
    """A problem of postures runs on any robot whose table has them."""
    other = tmp_path / "other.toml"
    postures = "[robot.postures.left]\n[robot.postures.right]\njoint_1 = 0.2\n"
    other.write_text(f'[robot]\nload = "chain:3"\n{postures}', encoding="utf-8")
    names = robomorph.load("chain:3").velocity_names
    other.write_text(other.read_text().replace("joint_1", names[0]), encoding="utf-8")
    text = "\n".join(
        line
        for line in (Path(robomorph.__file__).parent / "mpc/problems/reach.toml").read_text().splitlines()
        if not line.startswith(("torque", "velocity =", "position"))
    ).replace("[limits]", "[limits]\nacceleration = 100.0")
    found: Any = load_problem(write(tmp_path, text), robot=other)
    assert found.problem.robot.nv == 3 and found.controller().step(found.q, found.qd).success
