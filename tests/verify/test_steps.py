"""Steps in time are checked: against a textbook step of its own, and their gradients against differences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import robomorph
from robomorph import Passive, Robot
from robomorph.model.manifolds import SE2, SE3, SO3
from robomorph.verify.states import moderate, random_states
from robomorph.verify.yardstick import Yardstick, check_kernel
from tests.verify.mutants import broken
from tests.verify.robots import serial

STEPS = ("step", "semi_implicit_step")
GRADIENTS = ("step_gradient", "semi_implicit_step_gradient")


def verdict(robot: Robot, name: str) -> Any:
    """Of the interpreter: it is what a kernel is compiled from."""
    states = random_states(robot, 4)
    yardstick = Yardstick(robot, states, robot.link_names[-1])
    states = moderate(yardstick.reference, states)
    yardstick = Yardstick(robot, states, robot.link_names[-1])
    kernel = robot.compile(name, target="interpreter")
    return check_kernel(robot, name, kernel, yardstick, dtype="float64", frame=None)


@pytest.mark.parametrize("name", [*STEPS, *GRADIENTS])
@pytest.mark.parametrize(
    "kinds",
    [
        ("revolute", "prismatic", "mimic"),
        ("ball", "revolute"),
        ("planar", "ball"),
        ("floating",),
        ("prismatic", "floating"),
    ],
)
def test_steps_of_every_joint_with_drag(kinds: tuple[str, ...], name: str) -> None:
    found = verdict(serial(*kinds), name)
    assert found.passed and found.independent < (1e-7 if name in GRADIENTS else 1e-11)
    assert (found.textbook is None) == (name in GRADIENTS)


@pytest.mark.parametrize("width", [0.01, 1e-6])
@pytest.mark.parametrize("name", ["inverse_dynamics_gradient", *GRADIENTS])
def test_differences_are_as_fine_as_friction_is(name: str, width: float) -> None:
    """With differences of one step for all robots, right gradients were called wrong."""
    robot = serial("revolute", "ball", passive=Passive(width=width))
    assert verdict(robot, name).passed


def test_very_light_links_take_short_steps() -> None:
    text = (
        '<robot name="speck"><link name="a"/><link name="b"><inertial><mass value="1e-6"/>'
        '<inertia ixx="1e-9" iyy="2e-9" izz="2.5e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="ball"><parent link="a"/><child link="b"/></joint></robot>'
    )
    robot = robomorph.load(text)
    states = random_states(robot, 8)
    short = moderate(Yardstick(robot, states, "b").reference, states).dt
    moved = robot.step(states.q, states.qd, states.tau, short).qd_next * short[:, None]
    assert (short > 0).all() and np.abs(moved).max() < 2.5
    for dtype in ("float64", "float32"):
        assert robot.verify(["step", "step_gradient"], dtype=dtype).passed


def test_the_textbook_step_of_a_free_body() -> None:
    """By scipy's rotations, from accelerations of the textbook's own inverse dynamics."""
    robot = serial("fixed", passive=False, floating_base=True)
    known = Yardstick(robot, random_states(robot, 5), "lb").known
    found = known.step(implicit=True)
    assert found is not None
    h, place, turn = known.dt[:, None], known.q[:, :3], Rotation.from_quat(known.q[:, 3:])
    still = known.tau - known.inverse_dynamics(np.zeros_like(known.qd))
    qdd = np.linalg.solve(known.mass_matrix(), still[..., None])[..., 0]
    spin = known.qd[:, 3:] + h * qdd[:, 3:]
    along = turn.apply(known.qd[:, :3] + h * (qdd[:, :3] + np.cross(known.qd[:, 3:], known.qd[:, :3])))
    after = turn * Rotation.from_rotvec(h * spin)
    assert np.abs(found["q_next"][:, :3] - place - h * along).max() < 1e-14
    assert (Rotation.from_quat(found["q_next"][:, 3:]).inv() * after).magnitude().max() < 1e-14
    assert np.abs(found["qd_next"] - np.concatenate([after.inv().apply(along), spin], axis=1)).max() < 1e-12


def test_a_joint_that_steps_in_its_own_way_is_left_to_the_interpreter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Own(SO3):
        pass

    robot = serial("ball")
    monkeypatch.setattr("robomorph.model.joints.Spherical.manifold", Own())
    yardstick = Yardstick(robot, random_states(robot, 2), "l0")
    assert yardstick.known.step(implicit=True) is None and yardstick.expected("step") is None


# --- what is wrong is found -------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.98])
@pytest.mark.parametrize("name", [*STEPS, *GRADIENTS])
def test_a_flipped_sign_is_found(name: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = serial("ball", "revolute")
    broken(monkeypatch, name, None, share)
    assert not verdict(robot, name).passed


@pytest.mark.parametrize(("kind", "manifold"), [("ball", SO3), ("floating", SE3), ("planar", SE2)])
@pytest.mark.parametrize("name", ["step", "step_gradient"])
def test_a_wrong_way_to_step_is_found(
    kind: str, manifold: type, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One entry of one joint type."""
    what = "advance" if name == "step" else "advance_slopes"
    right = getattr(manifold, what)

    def wrong(self: Any, step: Any) -> Any:
        found = right(self, step)
        if name == "step":
            places, rates = found
            return [*places[:-1], -places[-1]], rates
        rows = [list(row) for row in found.place_by_place]
        rows[0][-1] = rows[0][-1] + 1e-3
        return replace(found, place_by_place=rows)

    monkeypatch.setattr(manifold, what, wrong)
    assert not verdict(serial(kind), name).passed


def test_the_gradient_of_a_wrong_step_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = serial("revolute", "revolute")
    broken(monkeypatch, "step", None, 0.5)
    found = verdict(robot, "step_gradient")
    assert not found.passed and found.distrust is not None and "step itself" in found.distrust


@pytest.mark.parametrize("name", ["step", "step_gradient"])
def test_drag_at_the_other_speed_is_found(name: str) -> None:
    """A kernel of the other integrator: nearly the same, and wrong."""
    robot = serial("revolute", "ball")
    kernel = robot.compile(f"semi_implicit_{name}", target="interpreter")
    yardstick = Yardstick(robot, random_states(robot, 4), "l1")
    assert not check_kernel(robot, name, kernel, yardstick, dtype="float64", frame=None).passed
