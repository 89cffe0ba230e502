"""Steps, derivatives and states against MuJoCo's, for models of gymnasium and dm_control without contact."""

from __future__ import annotations

import warnings
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, ModelWarning, Robot

mujoco = pytest.importorskip("mujoco")
from robomorph.mujoco import (  # noqa: E402
    accelerations_from_mujoco,
    accelerations_to_mujoco,
    forces_from_mujoco,
    forces_to_mujoco,
    state_from_mujoco,
    state_to_mujoco,
    tangent_from_mujoco,
    tangent_to_mujoco,
    transition_to_mujoco,
)

Array = npt.NDArray[Any]
FOLDERS = {"gymnasium": "envs/mujoco/assets", "dm_control": "suite"}
NAMES = [
    *(f"gymnasium {name}" for name in ("ant", "half_cheetah", "hopper", "humanoid", "swimmer", "walker2d")),
    *(f"dm_control {name}" for name in ("acrobot", "cartpole", "cheetah", "finger", "fish", "humanoid")),
    *(f"dm_control {name}" for name in ("humanoid_CMU", "manipulator", "quadruped", "walker")),
    pytest.param("dm_control dog", marks=pytest.mark.slow),
]
ALL_JOINTS = """
<mujoco><compiler angle="radian"/><option gravity="0.3 -0.2 -9.81" timestep="0.01">
  <flag constraint="disable"/></option>
<worldbody><body name="base" pos="0 0 1"><joint name="free" type="free" armature="0.7" damping="0.6"/>
  <inertial pos="0.1 0.02 -0.1" mass="2" diaginertia="0.03 0.04 0.05"/>
  <body name="upper" pos="0.1 0 0.2"><joint name="ball" type="ball" armature="0.3" damping="0.4"/>
    <inertial pos="0 0.1 -0.1" mass="1" diaginertia="0.02 0.03 0.025"/>
    <body name="lower" pos="0 0 -0.4">
      <joint name="hinge" axis="0 1 0" armature="0.2" damping="3" stiffness="7" springref="0.5"/>
      <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.01 0.012 0.008"/>
      <body name="rod" pos="0 0.1 0">
        <joint name="slide" type="slide" axis="1 0 0" damping="0.1" stiffness="30" springref="-0.1"/>
        <inertial pos="0 0.2 0" mass="0.4" diaginertia="0.001 0.002 0.002"/></body></body></body></body>
  <body name="arm"><joint name="first" axis="0 0 1" damping="0.3"/><joint name="second" axis="1 0 0"/>
    <inertial pos="0 0.2 0.1" mass="0.4" diaginertia="0.01 0.02 0.02"/></body>
</worldbody></mujoco>"""


def without_contact(model: Any) -> Any:
    """The model without what is no tree of rigid bodies with dampers and springs."""
    flags = mujoco.mjtDisableBit
    model.opt.disableflags |= int(flags.mjDSBL_CONSTRAINT) | int(flags.mjDSBL_ACTUATION)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.density = model.opt.viscosity = 0.0
    model.dof_frictionloss[:] = 0.0
    if model.ntendon:
        model.tendon_stiffness[:] = model.tendon_damping[:] = 0.0
    return model


@cache
def pair(name: str) -> tuple[Robot, Any]:
    if name == "all joints":
        model = mujoco.MjModel.from_xml_string(ALL_JOINTS)
    else:
        package, stem = name.split()
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            pytest.skip(f"needs the package {package}")
        path = Path(spec.origin).parent / FOLDERS[package] / f"{stem}.xml"
        model = mujoco.MjModel.from_xml_path(str(path))
    model = without_contact(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        ignored = ("tendon", "equality", "actuator")
        return robomorph.load(model, passive=True, ignore=ignored if name != "all joints" else ()), model


def state(robot: Robot, seed: int, size: int | tuple[()] = ()) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    q, qd = robot.random_state(rng, size)
    # Torques that match the masses: some of these bodies weigh a gram.
    tau = robot.inverse_dynamics(q, np.clip(qd, -3, 3), rng.normal(size=qd.shape))
    return q, np.clip(qd, -3.0, 3.0), tau


def put(model: Any, robot: Robot, q: Array, qd: Array, tau: Array) -> Any:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = state_to_mujoco(robot, q, qd)
    data.qfrc_applied[:] = forces_to_mujoco(robot, q, tau)
    return data


@pytest.mark.parametrize("name", ["all joints", *NAMES])
def test_steps_and_their_derivatives(name: str) -> None:
    robot, model = pair(name)
    dt, n = model.opt.timestep, 2 * model.nv
    for seed in range(2):
        q, qd, tau = state(robot, seed)
        data = put(model, robot, q, qd, tau)
        expected = np.zeros((n + model.na, n + model.na))
        mujoco.mjd_transitionFD(model, data, 1e-6, True, expected, None, None, None)
        after = robot.step(q, qd, tau, dt)
        found = transition_to_mujoco(robot, robot.step_gradient(q, qd, tau, dt), (q, qd, tau), after)
        scale = max(1.0, np.abs(expected[:n, :n]).max())
        assert np.abs(found.A - expected[:n, :n]).max() < 1e-6 * scale
        assert np.abs(found.B - by_forces(model, data)).max() < 1e-6 * max(1.0, np.abs(found.B).max())
        mujoco.mj_step(model, data)
        theirs = state_from_mujoco(robot, data.qpos, data.qvel)
        assert np.abs(robot.difference(after.q_next, theirs.q)).max() < 1e-10
        assert np.abs(after.qd_next - theirs.qd).max() < 1e-10 * max(1.0, np.abs(theirs.qd).max())


def by_forces(model: Any, data: Any) -> Array:
    """(2nv, nv) centred differences of MuJoCo's step by qfrc_applied."""
    columns = []
    for k in range(model.nv):
        ends = []
        scale = 1e-5 * max(1.0, abs(data.qfrc_applied[k]))
        for sign in (1.0, -1.0):
            other = mujoco.MjData(model)
            other.qpos[:], other.qvel[:] = data.qpos, data.qvel
            other.qfrc_applied[:] = data.qfrc_applied
            other.qfrc_applied[k] += sign * scale
            mujoco.mj_step(model, other)
            ends.append(other)
        place = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, place, 2.0 * scale, ends[1].qpos, ends[0].qpos)
        columns.append(np.concatenate([place, (ends[0].qvel - ends[1].qvel) / (2.0 * scale)]))
    return np.array(columns).T


@pytest.mark.parametrize("name", ["all joints", *NAMES])
def test_dynamics_and_gradients(name: str) -> None:
    """Inverse and forward dynamics, and their gradients against centred differences of MuJoCo's."""
    robot, model = pair(name)
    q, qd, tau = state(robot, 5)
    qdd = np.random.default_rng(6).normal(size=robot.nv)
    data = put(model, robot, q, qd, tau)
    data.qacc[:] = accelerations_to_mujoco(robot, q, qd, qdd)
    mujoco.mj_inverse(model, data)
    expected = forces_from_mujoco(robot, q, data.qfrc_inverse)
    found = robot.inverse_dynamics(q, qd, qdd)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
    forward = forward_of(robot, model, q, qd, tau)
    assert np.abs(robot.forward_dynamics(q, qd, tau) - forward).max() < 1e-10 * max(
        1.0, np.abs(forward).max()
    )
    gradient = robot.forward_dynamics_gradient(q, qd, tau)
    scale = max(np.abs(gradient.dqdd_dq).max(), np.abs(gradient.dqdd_dqd).max())
    for k, way in enumerate(np.eye(robot.nv)):
        step = 1e-6
        by_place = [forward_of(robot, model, robot.integrate(q, s * step * way), qd, tau) for s in (1, -1)]
        by_rate = [forward_of(robot, model, q, qd + s * step * way, tau) for s in (1, -1)]
        for ends, column in ((by_place, gradient.dqdd_dq[:, k]), (by_rate, gradient.dqdd_dqd[:, k])):
            assert np.abs((ends[0] - ends[1]) / (2 * step) - column).max() < 1e-6 * max(1.0, scale)


def forward_of(robot: Robot, model: Any, q: Array, qd: Array, tau: Array) -> Array:
    data = put(model, robot, q, qd, tau)
    mujoco.mj_forward(model, data)
    return accelerations_from_mujoco(robot, q, qd, data.qacc)


# --- conversions --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(), (4,), (2, 3)])
def test_conversions_are_inverse_to_each_other(lead: tuple[int, ...]) -> None:
    robot, _ = pair("all joints")
    q, qd = robot.random_state(1, lead)
    rng = np.random.default_rng(2)
    qdd, tau = rng.normal(size=(2, *qd.shape))
    theirs = state_to_mujoco(robot, q, qd)
    back = state_from_mujoco(robot, *theirs)
    assert np.abs(back.q - q).max() < 1e-15 and np.abs(back.qd - qd).max() < 1e-14
    again = accelerations_from_mujoco(robot, q, qd, accelerations_to_mujoco(robot, q, qd, qdd))
    assert np.abs(again - qdd).max() < 1e-13
    forces = forces_to_mujoco(robot, q, tau)
    assert np.abs(forces_from_mujoco(robot, q, forces) - tau).max() < 1e-14
    # Power is the same on both sides.
    assert np.abs((forces * theirs.qd).sum(-1) - (tau * qd).sum(-1)).max() < 1e-12
    product = tangent_to_mujoco(robot, q, qd) @ tangent_from_mujoco(robot, q, qd)
    assert np.abs(product - np.eye(2 * robot.nv)).max() < 1e-13


def test_tangents_are_small_changes_of_states() -> None:
    robot, model = pair("all joints")
    q, qd = robot.random_state(3)
    matrix, step = tangent_to_mujoco(robot, q, qd), 1e-6
    for k, way in enumerate(np.eye(2 * robot.nv)):
        place, rate = np.split(step * way, 2)
        ends = [state_to_mujoco(robot, robot.integrate(q, s * place), qd + s * rate) for s in (1, -1)]
        change = np.zeros(model.nv)
        mujoco.mj_differentiatePos(model, change, 2.0 * step, ends[1].q, ends[0].q)
        found = np.concatenate([change, (ends[0].qd - ends[1].qd) / (2.0 * step)])
        assert np.abs(found - matrix[:, k]).max() < 1e-8


def test_batches_are_their_states() -> None:
    robot, model = pair("all joints")
    q, qd, tau = state(robot, 1, 5)
    dt = np.linspace(0.001, 0.01, 5)
    after, gradient = robot.step(q, qd, tau, dt), robot.step_gradient(q, qd, tau, dt)
    whole = transition_to_mujoco(robot, gradient, (q, qd, tau), after)
    for k in range(5):
        one = robot.step(q[k], qd[k], tau[k], float(dt[k]))
        single = robot.step_gradient(q[k], qd[k], tau[k], float(dt[k]))
        alone = transition_to_mujoco(robot, single, (q[k], qd[k], tau[k]), one)
        assert np.abs(alone.A - whole.A[k]).max() < 1e-12 * np.abs(alone.A).max()
        assert np.abs(alone.B - whole.B[k]).max() < 1e-12 * np.abs(alone.B).max()


def test_joints_are_known_by_their_names() -> None:
    """A URDF in another order than the MjModel."""
    urdf = (
        '<robot name="two"><link name="world"/>'
        '<link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/>'
        '</inertial></link><link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="free" type="floating"><parent link="world"/><child link="b"/></joint>'
        '<joint name="turn" type="continuous"><parent link="world"/><child link="a"/><axis xyz="0 0 1"/></joint>'
        "</robot>"
    )
    mjcf = (
        '<mujoco><worldbody><body><joint name="turn" axis="0 0 1"/>'
        '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.2 0.25"/></body>'
        '<body><freejoint name="free"/><inertial pos="0 0 0" mass="2" diaginertia="1 2 2.5"/></body>'
        "</worldbody></mujoco>"
    )
    robot, model = robomorph.load(urdf), mujoco.MjModel.from_xml_string(mjcf)
    q, qd = robot.random_state(1)
    qpos, qvel = state_to_mujoco(robot, q, qd, model=model)
    assert qpos[0] == q[7] and np.array_equal(qpos[1:4], q[:3]) and qpos[4] == q[6] and qvel[0] == qd[6]
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    mujoco.mj_forward(model, data)
    found = accelerations_from_mujoco(robot, q, qd, data.qacc, model=model)
    assert np.abs(found - robot.forward_dynamics(q, qd, np.zeros(7))).max() < 1e-11


def test_refusals() -> None:
    robot, _ = pair("all joints")
    with pytest.raises(ArgumentError, match=r"qpos: expected shape \(\.\.\., 15\)"):
        state_from_mujoco(robot, np.zeros(3), np.zeros(robot.nv))
    with pytest.raises(ArgumentError, match="batch dimensions that broadcast"):
        state_to_mujoco(robot, np.zeros((2, robot.nq)), np.zeros((3, robot.nv)))
    iiwa = robomorph.load("iiwa14")
    with pytest.raises(ArgumentError, match="load the robot from MJCF, or give model="):
        state_to_mujoco(iiwa, np.zeros(7), np.zeros(7))
    held = robomorph.load(ALL_JOINTS, locked={"hinge": 0.0})
    with pytest.raises(ArgumentError, match="found none for 'hinge'"):
        state_to_mujoco(held, held.neutral, np.zeros(held.nv))
    with pytest.raises(ArgumentError, match="gradient: expected A"):
        transition_to_mujoco(robot, (np.zeros((2, 2)), np.zeros((2, 1))), (0.0, 0.0, 0.0), (0.0, 0.0))
