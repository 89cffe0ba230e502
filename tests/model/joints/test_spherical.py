"""The spherical joint in every algorithm, against Pinocchio's and finite differences."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import Robot
from robomorph.compiler.chip import make_accelerator
from robomorph.compiler.specialise import make_request
from robomorph.model.joints import JOINT_TYPES
from robomorph.targets.rtl.measure import measure
from robomorph.targets.rtl.options import Options
from tests.oracle.calls import sample
from tests.oracle.chains import WITH_BALLS, chain
from tests.oracle.compare import assert_close
from tests.oracle.finite_differences import by_configuration, by_vector
from tests.targets.rtl.toolchains import needs_verilator

pytest.importorskip("pinocchio", reason="needs the package pin")

import pinocchio

from tests.oracle.checks import CHECKS, Subject
from tests.oracle.reference import Reference, build

Array = npt.NDArray[Any]
BALL = JOINT_TYPES["spherical"]


@cache
def pair(name: str, floating: bool = False) -> tuple[Robot, Reference]:
    text = chain(*WITH_BALLS[name])
    robot = robomorph.load(text, floating_base=floating)
    return robot, Reference(robot, build(text, floating=floating))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", ["ball wrist", "two balls"])
def test_compiled_kernels_agree_with_pinocchio(name: str, check: str) -> None:
    robot, reference = pair(name)
    CHECKS[check](Subject(robot, reference, sample(robot, 4, 9), "cpu"))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", ["ball shoulder", "slide and balls"])
def test_on_a_floating_base_too(name: str, check: str) -> None:
    robot, reference = pair(name, floating=True)
    CHECKS[check](Subject(robot, reference, sample(robot, 5, 2), "interpreter"))


@pytest.mark.parametrize("formulation", ["columns", "composite"])
@pytest.mark.parametrize("name", WITH_BALLS)
def test_gradients_against_finite_differences(name: str, formulation: str) -> None:
    robot, _ = pair(name)
    x = sample(robot, 6, 1).row(0)
    inverse, forward = (
        robot.compile(f"{which}_dynamics_gradient", formulation=formulation, target="interpreter")
        for which in ("inverse", "forward")
    )
    dtau = inverse(x.q, x.qd, x.qdd)
    dqdd = forward(x.q, x.qd, x.tau)
    torques = by_configuration(robot, lambda q: robot.inverse_dynamics(q, x.qd, x.qdd), x.q)
    assert_close(dtau.dtau_dq, torques, "dtau_dq", 1e-6)
    rates = by_vector(lambda qd: robot.inverse_dynamics(x.q, qd, x.qdd), x.qd)
    assert_close(dtau.dtau_dqd, rates, "dtau_dqd", 1e-6)
    accelerations = by_configuration(robot, lambda q: robot.forward_dynamics(q, x.qd, x.tau), x.q)
    assert_close(dqdd.dqdd_dq, accelerations, "dqdd_dq", 1e-6)
    rates = by_vector(lambda qd: robot.forward_dynamics(x.q, qd, x.tau), x.qd)
    assert_close(dqdd.dqdd_dqd, rates, "dqdd_dqd", 1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_opencl_agrees_with_the_cpu(dtype: str) -> None:
    robot, _ = pair("two balls")
    states = sample(robot, 7, 33).astype(dtype)
    name = "forward_dynamics_gradient"
    try:
        kernel = robot.compile(name, target="opencl", dtype=dtype)
        results = kernel(*states.arguments(name))
    except robomorph.TargetError as error:
        pytest.skip(str(error))
    for ours, cpu in zip(results, robot.compile(name, dtype=dtype)(*states.arguments(name)), strict=True):
        assert_close(ours, cpu, name, 1e-5 if dtype == "float32" else 1e-12)


@needs_verilator
def test_hardware_computes_what_the_interpreter_does() -> None:
    robot = robomorph.load(chain("revolute z", "spherical"))
    request = make_request(robot.model, "inverse_dynamics")
    accelerator = make_accelerator(robot.specialiser, request, Options(bits=24))
    found = measure(accelerator, accelerator.sample(40, seed=1))
    assert found.exact and found.overflows == 0


ANGLES = [0.0, 1e-300, 1e-14, 1e-9, 1e-4, 1.0, np.pi - 1e-3, np.pi - 1e-9, np.pi - 1e-12, np.pi]


@pytest.mark.parametrize("angle", ANGLES)
def test_small_steps_and_half_turns(angle: float) -> None:
    """`integrate` and `difference` as Pinocchio has them, to rounding; half a turn has two answers."""
    model = pinocchio.Model()
    model.addJoint(0, pinocchio.JointModelSpherical(), pinocchio.SE3.Identity(), "ball")
    rng = np.random.default_rng(1)
    q0 = BALL.random(rng, 0.0, 0.0, (30,))
    axis = rng.normal(size=(30, 3))
    step = angle * axis / np.linalg.norm(axis, axis=-1, keepdims=True)
    q1 = BALL.integrate(q0, step)
    between = BALL.difference(q0, q1)
    single = BALL.difference(
        q0.astype(np.float32), BALL.integrate(q0.astype(np.float32), step.astype(np.float32))
    )
    assert single.dtype == np.float32
    for a, b, w, found, rough in zip(q0, q1, step, between, single, strict=True):
        theirs = pinocchio.integrate(model, a, w)
        assert min(np.abs(theirs - b).max(), np.abs(theirs + b).max()) < 1e-15
        assert np.abs(pinocchio.difference(model, a, b) - found).max() < 2e-15
        for answer, allowed in ((found, 2e-15), (rough, 1e-6)):
            other = np.abs(answer + w).max() if angle > 3.14 else np.inf
            assert min(np.abs(answer - w).max(), other) < allowed


def test_locked_at_a_turn() -> None:
    robot, _ = pair("ball wrist")
    turn: Any = BALL.random(np.random.default_rng(2), 0.0, 0.0, ())
    held = robomorph.load(chain(*WITH_BALLS["ball wrist"]), locked={"j3": turn})
    q = robot.random_state(3).q
    q[robot.coordinates("j3")[0]] = turn
    assert held.nq == 3
    assert_close(held.forward_kinematics(q[:3], "l4"), robot.forward_kinematics(q, "l4"), "pose", 1e-12)
    with pytest.raises(robomorph.ArgumentError, match=r"\[qx, qy, qz, qw\] for a spherical joint"):
        robomorph.load(chain(*WITH_BALLS["ball wrist"]), locked={"j3": 0.3})


def test_what_a_robot_says_of_it() -> None:
    text = chain("revolute z", "ball", extra={1: '<limit effort="7" velocity="2"/>'})
    robot = robomorph.load(text)
    assert (robot.nq, robot.nv) == (5, 4)
    assert robot.coordinates("j1") == (slice(1, 5), slice(1, 4))
    assert robot.neutral.tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    assert robot.limits.velocity.tolist() == [9.0, 2.0, 2.0, 2.0]
    assert robot.limits.effort[1:].tolist() == [7.0] * 3
    assert np.isinf(robot.limits.lower[1:]).all()
    assert np.allclose(np.linalg.norm(robot.random_state(1, 50).q[:, 1:], axis=-1), 1.0)


def test_mimics_have_one_coordinate() -> None:
    follow = '<mimic joint="j0"/>'
    for joints in (("spherical", "spherical"), ("revolute z", "spherical")):
        with pytest.raises(robomorph.ModelError, match="mimic"):
            robomorph.load(chain(*joints, extra={1: follow}), strict=True)
    limits = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
    with pytest.raises(robomorph.ModelError, match="mimic"):
        robomorph.load(chain("spherical", "revolute z", extra={1: limits + follow}), strict=True)
