"""Robots whose joints have springs, damping and armature of their own, in loops: against formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

import robomorph
from robomorph import mpc
from robomorph.mpc.kernels.observing import ObserverKernels
from robomorph.tasks import Posture

from .arms import PENDULUM, PENDULUM_INERTIA, PENDULUM_MOMENT, SLIDE
from .test_plants import PLANTS, Make

_SPRING, _REST, _ARMATURE = 30.0, 0.4, 0.2


def sprung() -> robomorph.Robot:
    springs = {"swing": (_SPRING, _REST)}
    return robomorph.load(PENDULUM, passive=True, stiffness=springs, armature=_ARMATURE, damping=0.5)


def held(q: float) -> float:
    """N m that hold it at rest."""
    return PENDULUM_MOMENT * math.sin(q) + _SPRING * (q - _REST)


def problem_of(robot: robomorph.Robot) -> mpc.Problem:
    problem = mpc.Problem(robot, horizon=20, dt=0.02)
    problem.cost(Posture.of(robot.model), 10.0, name="goal").terminal(
        Posture.of(robot.model), 1e3, name="goal"
    )
    problem.cost(mpc.Velocity(), 0.1).terminal(mpc.Velocity(), 10.0)
    return problem.cost(mpc.Effort(), 1e-3, "gravity")


@pytest.mark.parametrize("make", PLANTS)
def test_friction_of_a_plant_comes_on_top_of_the_robots_own_damping(make: Make) -> None:
    """4 kg on a rail, slowed down by 3 + 2 N s/m."""
    plant = make(robomorph.load(SLIDE, damping=3.0, passive=True), friction=mpc.Friction(viscous=2.0))
    plant.reset([0.0], [1.0])
    plant.advance(np.zeros(1), 0.5)
    assert plant.qd[0] == pytest.approx(math.exp(-5.0 / 4.0 * 0.5), rel=1e-3)


@pytest.mark.parametrize("goal", [0.7, -0.2])
def test_efforts_are_measured_from_what_holds_the_robot_against_its_springs(goal: float) -> None:
    controller = mpc.Controller(problem_of(sprung()))
    answer = controller.step([goal], [0.0], reference={"goal": [goal]})
    assert answer.tau[0] == pytest.approx(held(goal), rel=1e-6)
    assert answer.cost == pytest.approx(0.0, abs=1e-9)  # at rest where it is to be, nothing is left to pay


def test_an_observer_takes_no_spring_for_a_momentum() -> None:
    robot = sprung()
    kernels = ObserverKernels(robot, "rod")
    for q in (-1.0, 0.4, 2.0):
        momentum = kernels.correct(np.array([q]), np.array([3.0]), np.zeros(1))
        assert momentum[0] == pytest.approx(3.0 * (PENDULUM_INERTIA + _ARMATURE))


@pytest.mark.parametrize("make", PLANTS)
def test_a_loop_learns_nothing_where_the_plant_is_the_model(make: Make) -> None:
    robot = sprung()
    controller = mpc.Controller(problem_of(robot), iterations=1, period=5e-3)
    loop = mpc.simulate(controller, make(robot), seconds=1.0, start=np.zeros(1), reference=np.array([0.7]))
    assert loop.left < 1e-2
    assert loop.tau[-1, 0] == pytest.approx(held(0.7), abs=0.5)


CROSS = """<mujoco model="cross"><worldbody><body name="rod" pos="0 0 1" euler="10 20 30">
  <joint name="a" axis="0 1 0" pos="0.02 0.01 0" armature="0.1" damping="0.3" stiffness="2" springref="20"/>
  <joint name="b" type="slide" axis="1 0 0.2" armature="0.2"/>
  <joint name="c" axis="0 0 1" pos="0 0.03 0" damping="0.1"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.04"/>
  <body name="tip" pos="0.4 0 0.1"><joint name="d" axis="0.6 0.8 0"/><geom size="0.05" pos="0.1 0 0"/></body>
</body></worldbody></mujoco>"""


def test_mujoco_is_a_plant_for_bodies_with_several_joints() -> None:
    """Which are links without mass here. Against the file itself in MuJoCo, and wrenches to Jacobians."""
    mujoco = pytest.importorskip("mujoco")
    theirs = mujoco.MjModel.from_xml_string(CROSS)
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    robot, data = robomorph.load(CROSS, passive=True), mujoco.MjData(theirs)
    plant, rng = mpc.MujocoPlant(robot), np.random.default_rng(0)
    for _ in range(5):
        q, qd, tau, wrench = rng.normal(size=4), rng.normal(size=4), rng.normal(size=4), rng.normal(size=6)
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q, qd, tau
        mujoco.mj_forward(theirs, data)
        np.testing.assert_allclose(plant.acceleration(q, qd, tau), data.qacc, rtol=1e-9, atol=1e-9)
        for frame in ("rod", "tip"):
            slopes = np.zeros((6, 4))
            body = mujoco.mj_name2id(theirs, mujoco.mjtObj.mjOBJ_BODY, frame)
            mujoco.mj_jac(theirs, data, slopes[:3], slopes[3:], data.xpos[body], body)
            data.qfrc_applied[:] = tau + slopes.T @ wrench
            mujoco.mj_forward(theirs, data)
            plant.reset(q, qd)
            plant.advance(tau, 1e-6, {frame: wrench})
            np.testing.assert_allclose((plant.qd - qd) / 1e-6, data.qacc, rtol=1e-3, atol=1e-3)
            data.qfrc_applied[:] = tau
    with pytest.raises(robomorph.ArgumentError, match=r"push: expected a frame of a link with mass.*'rod@a'"):
        plant.advance(np.zeros(4), 1e-6, {"rod@a": np.ones(6)})
