"""Configurations whose quaternions or (cos, sin) pairs have another length than one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.compiler.partition import PARTITIONINGS
from robomorph.compiler.unit_parts import unit_parts
from robomorph.model.joints import JOINT_TYPES
from robomorph.runtime._native import NativeKernel
from robomorph.runtime.values import UNIT_TOLERANCE
from tests.hostile.targets import FLEXIBLE, TARGETS, kernel, robot, states
from tests.targets.gpu.toolchains import needs_opencl

# Per robot: the joint, and where its unit is in q.
UNITS = {"planar": ("table", slice(2, 4)), "floating": ("free", slice(3, 7)), "both": ("free", slice(8, 12))}


def test_units_come_from_what_joint_types_say() -> None:
    assert [(u.joint, u.start, u.stop) for u in unit_parts(robot("both").model)] == [
        ("table", 3, 5),
        ("free", 8, 12),
    ]
    assert unit_parts(robot("chain").model) == ()
    for joint in JOINT_TYPES.values():
        neutral = np.array(joint.neutral())[joint.unit_part]
        assert not neutral.size or np.linalg.norm(neutral) == 1.0


def test_zeros_are_no_configuration_of_a_floating_base() -> None:
    hyq = robomorph.load("hyq", floating_base=True)
    for call in (
        hyq.mass_matrix,
        hyq.center_of_mass,
        lambda q: hyq.forward_kinematics(q, hyq.link_names[-1]),
    ):
        with pytest.raises(
            ArgumentError, match=r"^q: joint '.*' needs a unit quaternion in q\[3:7\], found length 0"
        ):
            call(np.zeros(hyq.nq))
    hyq.mass_matrix(hyq.neutral)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", UNIT_TOLERANCE)
@pytest.mark.parametrize("name", UNITS)
def test_every_target_refuses_and_names_the_place(name: str, dtype: str, target: str) -> None:
    if target == "rtl" and name != "planar":
        pytest.skip("one small chip will do")
    joint, unit = UNITS[name]
    run = kernel(name, "mass_matrix", target, dtype)
    q = states(name, (3, 4), dtype)[0]
    q[1, 2, unit] *= 1.5
    place = rf"q\[1, 2, {unit.start}:{unit.stop}\], found length 1\.(5|49999|50000)"
    with pytest.raises(
        ArgumentError, match=rf"^q: joint '{joint}' needs .* in {place}.* \(.*; 1 in all\).*integrate"
    ):
        run(q)


@pytest.mark.parametrize("target", ["cpu", "interpreter"])
@pytest.mark.parametrize("dtype", UNIT_TOLERANCE)
@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("rows", [1, 2, 17, 1000])
def test_the_tolerance_is_what_the_docs_say(rows: int, name: str, dtype: str, target: str) -> None:
    """Within on both sides, out on both sides, in the last row of a batch."""
    unit, tolerance = UNITS[name][1], UNIT_TOLERANCE[dtype]
    run, exact = kernel(name, "mass_matrix", target, dtype), states(name, (rows,))[0]
    for factor in (1 - 0.9 * tolerance, 1 + 0.9 * tolerance):
        q = exact.copy()
        q[-1, unit] *= factor
        run(q.astype(dtype))
    for factor in (1 - 1.1 * tolerance, 1 + 1.1 * tolerance, 0.0, -3.0, 1e30):
        q = exact.copy()
        q[-1, unit] *= factor
        with pytest.raises(ArgumentError, match="needs a unit"):
            run(q.astype(dtype))


def test_at_the_tolerance_itself_a_call_answers_or_refuses() -> None:
    """The native scan compares squares, the report lengths: roundings must not come between them."""
    run, unit = kernel("floating", "mass_matrix", "cpu"), UNITS["floating"][1]
    rng, answers = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(300):
        q = robot("floating").random_state(rng).q
        q[unit] *= 1 + rng.choice([-1, 1]) * 1e-6 * (1 + rng.uniform(-4, 4) * 1e-10)
        try:
            run(q)
            answers[True] += 1
        except ArgumentError:
            answers[False] += 1
    assert min(answers.values()) > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_every_thread_looks_at_its_rows(threads: int) -> None:
    run = kernel("floating", "mass_matrix", "cpu", threads=threads)
    for row in (0, 4095, 8191):
        q = states("floating", (8192,))[0]
        q[row, 3:7] = 0.0
        with pytest.raises(ArgumentError, match=rf"q\[{row}, 3:7\], found length 0"):
            run(q)


def test_nan_is_still_called_nan() -> None:
    q = states("floating")[0]
    q[5] = np.nan
    with pytest.raises(ArgumentError, match=r"^q: expected finite numbers, found nan at index .5."):
        kernel("floating", "mass_matrix", "cpu")(q)


@pytest.mark.parametrize("target", FLEXIBLE)
def test_the_switch_is_that_of_the_scan_for_nan(target: str) -> None:
    run = robot("floating").compile("mass_matrix", target=target, check_finite=False)
    assert run(np.zeros(robot("floating").nq)).shape == (7, 7)


def test_a_robot_without_units_is_not_looked_at() -> None:
    robot("chain").mass_matrix(np.zeros(2))
    kernel("chain", "mass_matrix", "cpu")(np.full((50, 2), 7.0))


@needs_opencl
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
def test_partitioned_gradients_refuse_too(partitioning: str) -> None:
    run = robot("planar").compile("forward_dynamics_gradient", target="opencl", partitioning=partitioning)
    q, qd, tau = states("planar", (3,))
    run(q, qd, tau)
    q[1, 2] = np.nan
    with pytest.raises(ArgumentError, match=r"^q: expected finite numbers"):
        run(q, qd, tau)
    q = states("planar", (3,))[0]
    q[2, 2:4] *= 1.1
    with pytest.raises(
        ArgumentError, match=r"^q: joint 'table' needs a unit \(cos, sin\) pair in q\[2, 2:4\]"
    ):
        run(q, qd, tau)


# --- what is accepted ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", UNIT_TOLERANCE)
@pytest.mark.parametrize("name", UNITS)
def test_what_robomorph_makes_is_always_accepted(name: str, dtype: str) -> None:
    """random_state, its cast to float32, a thousand steps of integrate, and neutral."""
    made = robot(name)
    run = kernel(name, "mass_matrix", "cpu", dtype)
    run(made.neutral.astype(dtype))
    q, qd, _ = states(name, (2000,), dtype)
    run(q)
    for _ in range(1000 if dtype == "float32" else 100):
        q[:50] = made.integrate(q[:50], 0.3 * qd[:50])
    run(q)
    run(made.integrate(q, (1e3 * qd).astype(dtype)))


@pytest.mark.parametrize("name", UNITS)
def test_what_inverse_kinematics_finds_is_accepted(name: str) -> None:
    made = robot(name)
    frame = made.link_names[-1]
    poses = made.forward_kinematics(states(name, (20,))[0], frame)
    poses[0, :3, 3] += 1e3  # perhaps out of reach: then it is the best that was found
    found = made.inverse_kinematics(poses, frame, q0=2.0 * made.neutral)  # brought to unit length
    made.mass_matrix(found.q)
    made.integrate(found.q, np.zeros((20, made.nv)))


def test_float32_quaternions_beside_a_float64_argument() -> None:
    q, qd, qdd = states("floating", (500,))
    assert robot("floating").inverse_dynamics(q.astype(np.float32), qd, qdd).dtype == np.float64


# --- the manifold ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", UNITS)
def test_integrate_and_difference_refuse(name: str) -> None:
    made, (joint, unit) = robot(name), UNITS[name]
    q, qd, _ = states(name, (4,))
    bad = q.copy()
    bad[3, unit] *= 1.01
    calls: dict[str, Any] = {
        "q": lambda: made.integrate(bad, qd),
        "q0": lambda: made.difference(bad, q),
        "q1": lambda: made.difference(q, bad),
    }
    for argument, call in calls.items():
        with pytest.raises(ArgumentError, match=rf"^{argument}: joint '{joint}' needs .* {argument}\[3, "):
            call()
    unchecked = robomorph.Robot(made.model, check_finite=False)
    unchecked.integrate(bad, qd)


def test_integrate_names_the_place_of_nan() -> None:
    q, qd, _ = states("floating", (4,))
    qd[2, 1] = np.inf
    with pytest.raises(ArgumentError, match=r"^dq: expected finite numbers, found inf at index \[2, 1\]"):
        robot("floating").integrate(q, qd)


# --- the launcher ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "parts", [((1, 0, 2),), ((0, 5, 4),), ((0, -1, 2),), ((0, 0, 0),), ((0, 1),), ("abc",)]
)
def test_the_launcher_refuses_parts_outside_its_arguments(parts: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="unit part"):
        NativeKernel(
            in_shapes=((7,),), out_shapes=((1,),), dtype="float64", unit_parts=parts, unit_tolerance=1e-6
        )
