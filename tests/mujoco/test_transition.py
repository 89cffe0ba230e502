"""Steps, derivatives and states against MuJoCo's, for models of gymnasium and dm_control without contact."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, ModelWarning, Robot

mujoco = pytest.importorskip("mujoco")
from robomorph.bench.interop import contact_free  # noqa: E402
from robomorph.bench.peers.peer import PeerError  # noqa: E402
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
STEP = 1e-6  # of differences
LARGE = ("humanoid_CMU", "dog")  # over a minute each; what they gave stands in docs/dynamics-step.md
NAMES = [
    *(f"gymnasium {name}" for name in ("ant", "half_cheetah", "hopper", "humanoid", "swimmer", "walker2d")),
    *(f"dm_control {name}" for name in ("acrobot", "cartpole", "cheetah", "finger", "fish", "humanoid")),
    *(f"dm_control {name}" for name in ("manipulator", "quadruped", "walker")),
    *(pytest.param(f"dm_control {name}", marks=pytest.mark.slow) for name in LARGE),
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


@cache
def pair(name: str) -> tuple[Robot, Any]:
    if name == "all joints":
        model = contact_free.motorised(mujoco, mujoco.MjSpec.from_string(ALL_JOINTS))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return robomorph.load(model, passive=True, ignore="actuator"), model
    package, stem = name.split()
    try:
        twins = contact_free.pair(package, stem)
    except PeerError as error:
        pytest.skip(str(error))
    return twins.robot, twins.model


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
    dt = model.opt.timestep
    for seed in range(2):
        q, qd, tau = state(robot, seed)
        data = put(model, robot, q, qd, tau)
        states = tuple(x[None].copy() for x in (data.qpos, data.qvel, data.qfrc_applied))
        after = robot.step(q, qd, tau, dt)
        found = transition_to_mujoco(robot, robot.step_gradient(q, qd, tau, dt), (q, qd, tau), after)
        for matrix, expected in (
            (found.A[None], contact_free.by_differences(model, states)[0]),
            (found.B[None], contact_free.by_forces(model, states)),
        ):
            assert np.abs(matrix - expected).max() < 1e-6 * max(1.0, np.abs(expected).max())
        mujoco.mj_step(model, data)
        theirs = state_from_mujoco(robot, data.qpos, data.qvel)
        assert np.abs(robot.difference(after.q_next, theirs.q)).max() < 1e-10
        assert np.abs(after.qd_next - theirs.qd).max() < 1e-10 * max(1.0, np.abs(theirs.qd).max())


@pytest.mark.parametrize("name", ["all joints", *NAMES])
def test_dynamics_and_gradients(name: str) -> None:
    """Inverse and forward dynamics, and their gradients against centred differences of MuJoCo's."""
    robot, model = pair(name)
    q, qd, tau = state(robot, 5)
    qdd = np.random.default_rng(6).normal(size=robot.nv)
    expected, found = inverse_of(robot, model, q, qd, qdd), robot.inverse_dynamics(q, qd, qdd)
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
    forward = forward_of(robot, model, q, qd, tau)
    assert np.abs(robot.forward_dynamics(q, qd, tau) - forward).max() < 1e-10 * max(
        1.0, np.abs(forward).max()
    )
    of_forward = robot.forward_dynamics_gradient(q, qd, tau)
    of_inverse = robot.inverse_dynamics_gradient(q, qd, qdd)
    for function, last, slopes in (
        (forward_of, tau, (of_forward.dqdd_dq, of_forward.dqdd_dqd)),
        (inverse_of, qdd, of_inverse),
    ):
        scale = max(1.0, *(np.abs(slope).max() for slope in slopes))
        for k, way in enumerate(np.eye(robot.nv)):
            moves = [(robot.integrate(q, s * STEP * way), qd) for s in (1, -1)]
            rates = [(q, qd + s * STEP * way) for s in (1, -1)]
            for ends, slope in zip((moves, rates), slopes, strict=True):
                high, low = (function(robot, model, *end, last) for end in ends)
                assert np.abs((high - low) / (2 * STEP) - slope[:, k]).max() < 1e-6 * scale


def inverse_of(robot: Robot, model: Any, q: Array, qd: Array, qdd: Array) -> Array:
    data = put(model, robot, q, qd, np.zeros(robot.nv))
    data.qacc[:] = accelerations_to_mujoco(robot, q, qd, qdd)
    mujoco.mj_inverse(model, data)
    return forces_from_mujoco(robot, q, data.qfrc_inverse)


def forward_of(robot: Robot, model: Any, q: Array, qd: Array, tau: Array) -> Array:
    data = put(model, robot, q, qd, tau)
    mujoco.mj_forward(model, data)
    return accelerations_from_mujoco(robot, q, qd, data.qacc)


# --- motors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["all joints", *NAMES])
def test_motors(name: str) -> None:
    """Both A and B are those of MuJoCo's own function, at torques that motors make: B by their controls is
    ours by generalised forces times the transmission."""
    robot, model = pair(name)
    dt, nv = model.opt.timestep, model.nv
    q, qd, tau = state(robot, 3)
    data = put(model, robot, q, qd, tau)
    forces = data.qfrc_applied.copy()
    data.qfrc_applied[:] = 0.0
    by_controls = contact_free.transmission(model)
    data.ctrl[:] = np.linalg.solve(by_controls, forces)
    a, b = np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, nv))
    mujoco.mjd_transitionFD(model, data, 1e-6, True, a, b, None, None)
    after = robot.step(q, qd, tau, dt)
    found = transition_to_mujoco(robot, robot.step_gradient(q, qd, tau, dt), (q, qd, tau), after)
    for matrix, expected in ((found.A, a), (found.B @ by_controls, b)):
        assert np.abs(matrix - expected).max() < 1e-6 * max(1.0, np.abs(expected).max())


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
    robot, _model = pair("all joints")
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
        '<robot name="two"><link name="world"/><link name="b"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="2" izz="2.5" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<link name="a"><inertial><mass value="1"/>'
        '<inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="free" type="floating"><parent link="world"/><child link="b"/></joint>'
        '<joint name="turn" type="continuous"><parent link="world"/><child link="a"/>'
        '<axis xyz="0 0 1"/></joint>'
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

    tau = np.random.default_rng(2).normal(size=7)
    after, slopes = robot.step(q, qd, tau, 0.01), robot.step_gradient(q, qd, tau, 0.01)
    transition = transition_to_mujoco(robot, slopes, (q, qd, tau), after, model=model)
    model.opt.timestep = 0.01
    states = qpos[None], qvel[None], forces_to_mujoco(robot, q, tau, model=model)[None]
    assert np.abs(transition.A - contact_free.by_differences(model, states)[0][0]).max() < 1e-7
    assert np.abs(transition.B - contact_free.by_forces(model, states)[0]).max() < 1e-7


@pytest.mark.parametrize("shared", [(), (3,)], ids=["one state", "a batch"])
def test_transitions_are_products_with_the_tangents(shared: tuple[int, ...]) -> None:
    robot, _ = pair("all joints")
    q, qd, _ = state(robot, 4)
    a, b = (np.random.default_rng(5).normal(size=(*shared, 26, n)) for n in (26, 13))
    found = transition_to_mujoco(robot, (a, b), (q, qd, np.zeros(13)), (q, qd))
    back, out = tangent_from_mujoco(robot, q, qd), tangent_to_mujoco(robot, q, qd)
    assert np.abs(found.A - out @ a @ back).max() < 1e-12
    assert np.abs(found.B - out @ b @ back[13:, 13:]).max() < 1e-12


def test_quaternions_of_any_length_mean_the_same_to_mujoco() -> None:
    robot, _ = pair("all joints")
    q, qd = robot.random_state(7, 3)
    qpos, qvel = state_to_mujoco(robot, q, qd)
    qpos[0, 3:7] *= 2.0
    qpos[1, 7:11] *= 1e-3
    found = state_from_mujoco(robot, qpos, qvel)
    assert np.abs(found.q - q).max() < 1e-15 and np.abs(found.qd - qd).max() < 1e-14
    for length in (0.0, 1e-16, 1e-100, 1e200):  # MuJoCo takes the short ones for no turn, not for their own
        qpos[2, 3:7] = length * q[2, 3:7]
        with pytest.raises(ArgumentError, match=r"qpos: joint 'free' needs a quaternion .* found length "):
            state_from_mujoco(robot, qpos, qvel)


def test_our_quaternions_have_length_one() -> None:
    """Another length would scale velocities and forces of a free joint."""
    robot, _ = pair("all joints")
    q, qd, tau = state(robot, 1)
    bad, slopes = q.copy(), robot.step_gradient(q, qd, tau, 0.01)
    bad[3:7] *= 1.001
    calls = (
        lambda: state_to_mujoco(robot, bad, qd),
        lambda: accelerations_from_mujoco(robot, bad, qd, qd),
        lambda: accelerations_to_mujoco(robot, bad, qd, qd),
        lambda: forces_from_mujoco(robot, bad, qd),
        lambda: forces_to_mujoco(robot, bad, qd),
        lambda: tangent_to_mujoco(robot, bad, qd),
        lambda: tangent_from_mujoco(robot, bad, qd),
        lambda: transition_to_mujoco(robot, slopes, (bad, qd, tau), (q, qd)),
        lambda: transition_to_mujoco(robot, slopes, (q, qd, tau), (bad, qd)),
    )
    for call in calls:
        with pytest.raises(ArgumentError, match="q: joint 'free' needs a unit quaternion"):
            call()


def test_other_libraries_vectors_are_not_mujocos() -> None:
    """A robot made from Pinocchio's model knows where its joints stand there."""
    pin = pytest.importorskip("pinocchio", reason="needs the package pin")
    theirs = pin.Model()
    for kind, name in ((pin.JointModelFreeFlyer(), "free"), (pin.JointModelRZ(), "turn")):
        joint = theirs.addJoint(0, kind, pin.SE3.Identity(), name)
        theirs.appendBodyToJoint(joint, pin.Inertia.Random(), pin.SE3.Identity())
    robot = robomorph.load(theirs)
    q, qd = robot.random_state(1)
    with pytest.raises(ArgumentError, match="load the robot from MJCF, or give model="):
        state_to_mujoco(robot, q, qd)
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="turn"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'
        '</body><body><freejoint name="free"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>'
        "</worldbody></mujoco>"
    )
    assert state_to_mujoco(robot, q, qd, model=model).q[0] == q[7]


def test_joints_of_one_name_are_of_one_kind() -> None:
    robot = robomorph.load("chain:1")
    text = (
        '<mujoco><worldbody><body><joint name="joint_1" type="{}"/><geom size="1"/></body></worldbody>'
        "</mujoco>"
    )
    zero = np.zeros(1)
    for kind in ("ball", "slide", "free"):
        model = mujoco.MjModel.from_xml_string(text.format(kind))
        with pytest.raises(ArgumentError, match=f"joint 'joint_1': expected a hinge .*, found a {kind}"):
            state_to_mujoco(robot, zero, zero, model=model)
    model = mujoco.MjModel.from_xml_string(text.format("hinge"))
    assert state_to_mujoco(robot, zero, zero + 2.0, model=model).qd == 2.0


def test_robots_with_the_first_joint_locked_are_refused_by_name() -> None:
    """What is left would stand where MuJoCo's vectors of that size have ended."""
    two = "<body><freejoint name='{}'/><geom size='0.1'/></body>"
    text = f"<mujoco><worldbody>{two.format('one')}{two.format('other')}</worldbody></mujoco>"
    held = robomorph.load(text, locked={"one": [0, 0, 0, 0, 0, 0, 1]})
    state = held.random_state(0)
    for call in (state_to_mujoco, state_from_mujoco):
        with pytest.raises(ArgumentError, match="found none for 'one': load the robot without locking"):
            call(held, state.q, state.qd)


def test_refusals() -> None:
    robot, _ = pair("all joints")
    with pytest.raises(ArgumentError, match=r"qpos: expected shape \(\.\.\., 15\)"):
        state_from_mujoco(robot, np.zeros(3), np.zeros(robot.nv))
    with pytest.raises(ArgumentError, match="batch dimensions that broadcast"):
        state_to_mujoco(robot, np.zeros((2, robot.nq)), np.zeros((3, robot.nv)))
    iiwa = robomorph.load("iiwa14")
    with pytest.raises(ArgumentError, match="load the robot from MJCF, or give model="):
        state_to_mujoco(iiwa, np.zeros(7), np.zeros(7))
    urdf = (
        '<robot name="r"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint></robot>'
    )
    wheel = robomorph.load(pytest.importorskip("pinocchio").buildModelFromXML(urdf))
    with pytest.raises(ArgumentError, match="load the robot from MJCF, or give model="):
        state_to_mujoco(wheel, np.zeros(1), np.zeros(1))  # Pinocchio's vectors are other ones
    held = robomorph.load(ALL_JOINTS, locked={"hinge": 0.0})
    with pytest.raises(ArgumentError, match="found none for 'hinge'"):
        state_to_mujoco(held, held.neutral, np.zeros(held.nv))
    with pytest.raises(ArgumentError, match="gradient: expected A"):
        transition_to_mujoco(robot, (np.zeros((2, 2)), np.zeros((2, 1))), (0.0, 0.0, 0.0), (0.0, 0.0))
    q, qd = robot.random_state(1, 3)
    with pytest.raises(ArgumentError, match="q: expected an array of real numbers, found dtype complex128"):
        state_to_mujoco(robot, q + 1j, qd)
    with pytest.raises(ArgumentError, match="qd: expected an array of real numbers"):
        state_to_mujoco(robot, q, [[1.0], [2.0, 3.0]])
    with pytest.raises(ArgumentError, match="model: expected an MjModel, found MjSpec"):
        state_to_mujoco(robot, q, qd, model=mujoco.MjSpec.from_string(ALL_JOINTS))
    a, b = np.zeros((3, 26, 26)), np.zeros((3, 26, 13))
    with pytest.raises(ArgumentError, match=r"for matrices \(3,\) and \(2,\)"):
        transition_to_mujoco(robot, (a, b[:2]), (q, qd, qd), (q, qd))
    with pytest.raises(ArgumentError, match=r"before=\(q, qd, tau\)"):
        transition_to_mujoco(robot, (a, b), (q, qd), (q, qd))  # type: ignore[arg-type]
    nothing: Any = None
    with pytest.raises(ArgumentError, match=r"expected after=\(q, qd\), found NoneType"):
        transition_to_mujoco(robot, (a, b), (q, qd, qd), nothing)
    with pytest.raises(ArgumentError, match=r"expected gradient=\(A, B\), found ndarray"):
        transition_to_mujoco(robot, a, (q, qd, qd), (q, qd))


def test_dampers_of_the_semi_implicit_step_are_those_without_eulerdamp() -> None:
    text = ALL_JOINTS.replace('constraint="disable"', 'constraint="disable" eulerdamp="disable"')
    robot, model = robomorph.load(text, passive=True), mujoco.MjModel.from_xml_string(text)
    q, qd, tau = state(robot, 1)
    data = put(model, robot, q, qd, tau)
    mujoco.mj_step(model, data)
    theirs = state_from_mujoco(robot, data.qpos, data.qvel)
    ours = robot.step(q, qd, tau, model.opt.timestep, integrator="semi-implicit")
    assert np.abs(ours.qd_next - theirs.qd).max() < 1e-12 * np.abs(theirs.qd).max()
