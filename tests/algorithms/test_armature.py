"""Armature: inertia that a joint's rates have beside the links', in every algorithm and formulation. What
is asked of all of them is asked of damping, springs and friction, too."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings

import robomorph
from robomorph import ModelError, ModelWarning, Robot
from robomorph.algorithms.inputs import set_inputs
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.algorithms.sweep import State, run
from robomorph.algorithms.torque_adjoint import TORQUE_ADJOINT
from robomorph.algorithms.torque_hessian import TORQUE_HESSIAN
from robomorph.compiler.specialise import make_request
from robomorph.compiler.units.trace import trace_units
from robomorph.ir.interpret import interpret
from robomorph.model.robots import builtin_urdf
from robomorph.mpc.kernels.observing import ObserverKernels
from robomorph.verify.states import random_states
from robomorph.verify.verdict import error
from robomorph.verify.yardstick import Yardstick
from tests.oracle.armed import armed, resisting
from tests.oracle.random_trees import RandomRobot, random_robots
from tests.planning.kernels.test_torque import check_first, check_second

Array = npt.NDArray[Any]
DYNAMICS = (
    *("inverse_dynamics", "bias_torque", "gravity_torque", "coriolis_matrix", "mass_matrix"),
    *("mass_matrix_inverse", "forward_dynamics", "inverse_dynamics_gradient", "forward_dynamics_gradient"),
    *("energy", "centroidal_momentum"),
)
WANTED = ("dqd", "qd_qd")
QUIET = settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def load(drawn: RandomRobot) -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(drawn.text, floating_base=drawn.floating, mimic=drawn.mimic)


def formulations_agree(robot: Robot) -> None:
    """Every formulation of what depends on masses, and the parallel ones, on the interpreter."""
    q, qd = robot.random_state(rng=3, batch=4)
    third = np.random.default_rng(4).normal(size=qd.shape)
    prefix = {"inverse_dynamics": ["prefix"]}
    for name in ("inverse_dynamics", "forward_dynamics", "inverse_dynamics_gradient"):
        algorithm = ALGORITHMS[name]
        names = algorithm.usable_formulations(robot.specialiser.tree(regroup=True)) + prefix.get(name, [])
        kernels = [robot.compile(name, target="interpreter", formulation=f) for f in names]
        expected, *others = (kernel(q, qd, third) for kernel in kernels)
        for other in others:
            for a, b in zip(np.atleast_1d(expected), np.atleast_1d(other), strict=True):
                assert np.abs(a - b).max() <= 1e-10 * max(1.0, np.abs(a).max())


def as_in_the_textbook(robot: Robot) -> None:
    """All that depends on masses, on the interpreter."""
    yardstick = Yardstick(robot, random_states(robot, 3), robot.link_names[-1])
    for name in DYNAMICS:
        algorithm = ALGORITHMS[name]
        kernel = robot.compile(name, target="interpreter")
        found = kernel(*yardstick.states.of(kernel.inputs).values())
        values = found if isinstance(found, tuple) else (found,)
        expected = yardstick.expected(name)
        assert expected is not None
        for output, value in zip(algorithm.outputs, values, strict=True):
            exact = output not in algorithm.derivatives
            allowed = yardstick.textbook_allowance(name, "float64") if exact else 1e-6
            assert error(value, expected[output], "float64") < allowed, (name, output)


EACH = pytest.mark.parametrize("forces", [armed, resisting])


@EACH
@pytest.mark.parametrize(("name", "floating"), [("iiwa14", False), ("hyq", True)])
def test_every_kernel_is_what_the_textbook_says(name: str, floating: bool, forces: Any) -> None:
    robot = forces(robomorph.load(name, floating_base=floating))
    found = robot.verify()
    assert found.passed, found.as_data()
    formulations_agree(robot)


@EACH
@given(drawn=random_robots())
@QUIET
def test_random_trees(drawn: RandomRobot, forces: Any) -> None:
    """Joints of all kinds, mimic joints among them."""
    robot = forces(load(drawn))
    as_in_the_textbook(robot)
    formulations_agree(robot)


@EACH
@given(drawn=random_robots(narrow=True))
@QUIET
def test_derivatives_of_planning(drawn: RandomRobot, forces: Any) -> None:
    robot = forces(load(drawn))
    check_first(robot, 3)
    check_second(robot, 4, wrench=True)


@pytest.mark.parametrize("name", ["iiwa14", "atlas"])
def test_pinocchio_agrees(name: str) -> None:
    pytest.importorskip("pinocchio", reason="needs the package pin")
    from tests.oracle.reference import Reference, build

    text = builtin_urdf(name)
    assert text is not None
    robot = armed(robomorph.load(name))
    reference = Reference(robot, build(text.decode()))
    armature = np.array([robot.model.bodies[robot.model.joint_index(n)].armature for n in robot.joint_names])
    reference.model.armature = reference.chain @ armature
    q, qd = robot.random_state(rng=1)
    third = np.random.default_rng(2).normal(size=robot.nv)
    ours = robot.forward_dynamics_gradient(q, qd, third)
    theirs = reference.forward_dynamics_gradient(q, qd, third)
    for found, expected in (
        (robot.inverse_dynamics(q, qd, third), reference.inverse_dynamics(q, qd, third)),
        (robot.forward_dynamics(q, qd, third), reference.forward_dynamics(q, qd, third)),
        (robot.mass_matrix(q), reference.mass_matrix(q)),
        (robot.mass_matrix_inverse(q), reference.mass_matrix_inverse(q)),
        (ours.dqdd_dq, theirs.dq),
        (ours.dqdd_dqd, theirs.dqd),
    ):
        assert np.abs(found - expected).max() <= 1e-10 * np.abs(expected).max()


@pytest.mark.parametrize("kind", ["floating", "planar", "spherical"])
def test_second_derivatives_of_wide_joints(kind: str) -> None:
    """Their armatures bend torques where the joint slides in axes that turn: by steps of the adjoint."""
    links = '<link name="a"/><link name="b"/>'
    joint = f'<joint name="j" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = armed(robomorph.load(f'<robot name="one">{links}{joint}</robot>'))
    rng = np.random.default_rng(5)
    tree, nv = robot.specialiser.tree(regroup=True), robot.nv
    q = robot.random_state(rng=6).q
    qd, qdd, weights = rng.normal(size=(3, nv))

    def whole(rates: Any, parts: Any) -> dict[str, Any]:
        state = State(tree)
        state.whole["multipliers"] = list(weights)
        set_inputs(state, {"q": list(q), "qd": list(rates), "qdd": list(qdd)}, ())
        run(state, parts)
        return {name: np.array(value, float) for name, value in state.whole.items() if name in WANTED}

    found = whole(qd, TORQUE_HESSIAN)["qd_qd"]
    steps = [whole(qd + e, TORQUE_ADJOINT)["dqd"] - whole(qd - e, TORQUE_ADJOINT)["dqd"] for e in np.eye(nv)]
    assert np.abs(found - np.array(steps) / 2.0).max() < 1e-12
    ahead, behind = (robot.inverse_dynamics(q, qd + s * np.eye(nv), qdd) for s in (1, -1))
    assert np.abs(whole(qd, TORQUE_ADJOINT)["dqd"] - (ahead - behind) @ weights / 2.0).max() < 1e-12
    assert np.abs(qd @ robot.bias_torque(q, qd)).max() < 1e-12  # turning axes do no work


def test_massless_links_that_only_armature_resists() -> None:
    text = (
        '<robot name="bare"><link name="a"/><link name="b"/><joint name="j" type="continuous">'
        '<parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>'
    )
    with pytest.warns(ModelWarning, match="no mass"):
        robot = robomorph.load(text)
    with pytest.raises(ModelError, match="masses"):
        robot.forward_dynamics([0.1], [0.2], [3.0])
    bodies = tuple(replace(body, armature=0.5) for body in robot.model.bodies)
    robot = Robot(replace(robot.model, bodies=bodies))
    assert robot.forward_dynamics([0.1], [0.2], [3.0]) == pytest.approx(6.0)
    assert robot.energy([0.1], [0.2]).kinetic == pytest.approx(0.5 * 0.5 * 0.2**2)


def test_link_units_of_chips() -> None:
    """Units that links share, some with armature and some without."""
    robot = armed(robomorph.load("chain:4"))
    bodies = list(robot.model.bodies)
    bodies[2] = replace(bodies[2], armature=0.0)
    robot = Robot(replace(robot.model, bodies=tuple(bodies)))
    q, qd = robot.random_state(rng=1, batch=3)
    for name, formulation in (("inverse_dynamics", "rnea"), ("inverse_dynamics_gradient", "columns")):
        request = make_request(robot.model, name, formulation=formulation)
        made = robot.compile(name, target="interpreter")(q, qd, q)
        expected = made if isinstance(made, tuple) else (made,)
        for step in (0, 2):
            units = trace_units(robot.specialiser.tree(regroup=True), request, formulation, step=step)
            found = interpret(units.program, {"q": q, "qd": qd, "qdd": q})
            for a, b in zip(found.values(), expected, strict=True):
                assert np.abs(a - b).max() < 1e-12 * np.abs(b).max()


def test_a_payload_of_an_observer_has_no_armature() -> None:
    plain = robomorph.load("iiwa14")
    q, qd = plain.random_state(rng=1)
    qdd = np.ones(7)
    found = [ObserverKernels(robot, "lbr_iiwa_link_7").carry(q, qd, qdd) for robot in (plain, armed(plain))]
    assert np.abs(found[0] - found[1]).max() < 1e-12


MUJOCO = """
<mujoco><compiler angle="radian"/><option gravity="0.3 -0.2 -9.81"><flag constraint="disable"/></option>
<worldbody><body name="base"><joint name="free" type="free" armature="0.7"/>
  <inertial pos="0.1 0.02 -0.1" mass="2" diaginertia="0.03 0.04 0.05"/>
  <body name="upper" pos="0.1 0 0.2"><joint name="ball" type="ball" armature="0.3"/>
    <inertial pos="0 0.1 -0.1" mass="1" diaginertia="0.02 0.03 0.025"/>
    <body name="lower" pos="0 0 -0.4"><joint name="hinge" axis="0 1 0" armature="0.2"/>
      <inertial pos="0 0 -0.2" mass="0.5" diaginertia="0.01 0.012 0.008"/>
      <body name="rod" pos="0 0.1 0"><joint name="slide" type="slide" axis="1 0 0" armature="0.9"/>
        <inertial pos="0 0.2 0" mass="0.4" diaginertia="0.001 0.002 0.002"/></body></body></body></body>
</worldbody></mujoco>"""
URDF = """
<robot name="same"><link name="world"/>
<joint name="free" type="floating"><parent link="world"/><child link="base"/></joint>
<link name="base"><inertial><origin xyz="0.1 0.02 -0.1"/><mass value="2"/>
  <inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="ball" type="ball"><origin xyz="0.1 0 0.2"/><parent link="base"/><child link="upper"/></joint>
<link name="upper"><inertial><origin xyz="0 0.1 -0.1"/><mass value="1"/>
  <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="continuous"><origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/>
  <parent link="upper"/><child link="lower"/></joint>
<link name="lower"><inertial><origin xyz="0 0 -0.2"/><mass value="0.5"/>
  <inertia ixx="0.01" iyy="0.012" izz="0.008" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="slide" type="prismatic"><origin xyz="0 0.1 0"/><axis xyz="1 0 0"/>
  <parent link="lower"/><child link="rod"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<link name="rod"><inertial><origin xyz="0 0.2 0"/><mass value="0.4"/>
  <inertia ixx="0.001" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


def test_mujoco_agrees_about_every_joint() -> None:
    """A free joint's linear velocity is in the world's axes there, in the base's here: v_world = R v."""
    mujoco = pytest.importorskip("mujoco")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        robot = robomorph.load(URDF, gravity=(0.3, -0.2, -9.81))
    armatures = {"free": 0.7, "ball": 0.3, "hinge": 0.2, "slide": 0.9}
    bodies = tuple(replace(b, armature=armatures[b.joint_name]) for b in robot.model.bodies)
    robot = Robot(replace(robot.model, bodies=bodies))
    model = mujoco.MjModel.from_xml_string(MUJOCO)
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(5):
        q, (qd, qdd) = robot.random_state(rng).q, rng.normal(size=(2, robot.nv))
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, q[[6, 3, 4, 5]])
        r = turn.reshape(3, 3)
        data.qpos[:] = q[[0, 1, 2, 6, 3, 4, 5, 10, 7, 8, 9, 11, 12]]
        data.qvel[:] = np.concatenate([r @ qd[:3], qd[3:]])
        data.qacc[:] = np.concatenate([r @ (qdd[:3] + np.cross(qd[3:6], qd[:3])), qdd[3:]])
        mujoco.mj_inverse(model, data)
        expected = np.concatenate([r.T @ data.qfrc_inverse[:3], data.qfrc_inverse[3:]])
        assert np.abs(robot.inverse_dynamics(q, qd, qdd) - expected).max() < 1e-11 * np.abs(expected).max()
        mujoco.mj_forward(model, data)
        qacc = data.qacc.copy()
        qacc[:3] = r.T @ qacc[:3] - np.cross(qd[3:6], qd[:3])
        assert (
            np.abs(robot.forward_dynamics(q, qd, np.zeros(robot.nv)) - qacc).max()
            < 1e-11 * np.abs(qacc).max()
        )
        mujoco.mj_energyVel(model, data)
        assert robot.energy(q, qd).kinetic == pytest.approx(data.energy[1], rel=1e-12)
