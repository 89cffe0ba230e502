"""Gradients and Jacobians against central differences of our own forward functions.

Mimic joints, floating and planar joints, prismatic ones and external forces are all among them.
"""

from __future__ import annotations

import warnings
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ModelWarning, Robot
from tests.model.oracle import example_robot
from tests.model.samples import MENAGERIE
from tests.oracle.calls import Sample, sample
from tests.oracle.compare import assert_close
from tests.oracle.crane import CRANE
from tests.oracle.finite_differences import by_configuration, by_vector

Array = npt.NDArray[Any]
TOLERANCE = 1e-6  # of the largest entry: what central differences are good for

CASES = {
    "iiwa14": ("iiwa14", False),
    "menagerie": (MENAGERIE, False),  # every joint type, a chain of mimics
    "crane-fixed": (CRANE, False),
    "crane-floating": (CRANE, True),
    "hyq-floating": ("hyq", True),
    "panda": ("panda.urdf", False),
}
F_EXT = {"iiwa14": False, "menagerie": True, "crane-fixed": False, "crane-floating": True,
         "hyq-floating": False, "panda": True}  # fmt: skip


@cache
def load(case: str) -> Robot:
    source, floating = CASES[case]
    if source.endswith(".urdf"):
        path = example_robot(source.removesuffix(".urdf"))
        if path is None:
            pytest.skip("needs the package example-robot-data")
        source = str(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return robomorph.load(source, floating_base=floating)


def prepared(case: str) -> tuple[Robot, Sample, Array | None]:
    """A robot, one state, and wrenches on all links, constant in the links' frames."""
    robot = load(case)
    rng = np.random.default_rng(3)
    wrenches = rng.normal(size=(len(robot.link_names), 6)) if F_EXT[case] else None
    return robot, sample(robot, 11, 1).row(0), wrenches


def test_mimic_joints_are_among_the_cases() -> None:
    coupled = [case for case in CASES if any(b.mimic is not None for b in load(case).model.bodies)]
    assert {"menagerie", "crane-fixed", "crane-floating", "panda"} <= set(coupled)


@pytest.mark.parametrize("formulation", ["columns", "composite"])
@pytest.mark.parametrize("case", CASES)
def test_inverse_dynamics_gradient(case: str, formulation: str) -> None:
    robot, x, wrenches = prepared(case)
    rest = () if wrenches is None else (wrenches,)
    kernel = robot.compile(
        "inverse_dynamics_gradient", formulation=formulation, target="interpreter", f_ext=F_EXT[case]
    )
    dtau_dq, dtau_dqd = kernel(x.q, x.qd, x.qdd, *rest)
    by_q = by_configuration(robot, lambda q: robot.inverse_dynamics(q, x.qd, x.qdd, wrenches), x.q)
    assert_close(dtau_dq, by_q, "dtau_dq", TOLERANCE)
    by_qd = by_vector(lambda qd: robot.inverse_dynamics(x.q, qd, x.qdd, wrenches), x.qd)
    assert_close(dtau_dqd, by_qd, "dtau_dqd", TOLERANCE)


@pytest.mark.parametrize("case", CASES)
def test_forward_dynamics_gradient(case: str) -> None:
    robot, x, wrenches = prepared(case)
    gradient = robot.forward_dynamics_gradient(x.q, x.qd, x.tau, wrenches)
    by_q = by_configuration(robot, lambda q: robot.forward_dynamics(q, x.qd, x.tau, wrenches), x.q)
    assert_close(gradient.dqdd_dq, by_q, "dqdd_dq", TOLERANCE)
    by_qd = by_vector(lambda qd: robot.forward_dynamics(x.q, qd, x.tau, wrenches), x.qd)
    assert_close(gradient.dqdd_dqd, by_qd, "dqdd_dqd", TOLERANCE)
    by_tau = by_vector(lambda tau: robot.forward_dynamics(x.q, x.qd, tau, wrenches), x.tau)
    assert_close(gradient.minv, by_tau, "minv", TOLERANCE)
    assert_close(gradient.qdd, robot.forward_dynamics(x.q, x.qd, x.tau, wrenches), "qdd")


def position(robot: Robot, frame: str, q: Array) -> Array:
    return np.asarray(robot.forward_kinematics(q, frame)[..., :3, 3])


@pytest.mark.parametrize("case", CASES)
def test_jacobians(case: str) -> None:
    robot, x, _ = prepared(case)
    by_q = by_configuration(robot, robot.center_of_mass, x.q)
    assert_close(robot.center_of_mass_jacobian(x.q), by_q, "center_of_mass_jacobian", TOLERANCE)
    for frame in (robot.link_names[-1], robot.link_names[len(robot.link_names) // 2]):
        jacobian = robot.jacobian(x.q, frame)
        pose = robot.forward_kinematics(x.q, frame)
        origin = by_configuration(robot, partial(position, robot, frame), x.q)
        assert_close(jacobian[:3], origin, f"linear rows of {frame}", TOLERANCE)
        for k in range(robot.nv):
            # dR/dq_k R^T is the skew matrix of the angular column.
            steps = 1e-5 * np.eye(robot.nv)[k]
            ahead, behind = (
                robot.forward_kinematics(robot.integrate(x.q, s * steps), frame)[:3, :3] for s in (1.0, -1.0)
            )
            spin = (ahead - behind) / 2e-5 @ pose[:3, :3].T
            angular = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
            np.testing.assert_allclose(jacobian[3:, k], angular, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("case", CASES)
def test_the_dynamics_agree_with_each_other(case: str) -> None:
    """M M^-1 = 1, forward undoes inverse, and energy's power is the torques' (no external forces)."""
    robot, x, _ = prepared(case)
    mass = robot.mass_matrix(x.q)
    assert_close(mass @ robot.mass_matrix_inverse(x.q), np.eye(robot.nv), "M M^-1")
    np.testing.assert_array_equal(mass, mass.T)
    tau = robot.inverse_dynamics(x.q, x.qd, x.qdd)
    assert_close(robot.forward_dynamics(x.q, x.qd, tau), x.qdd, "forward after inverse")
    energy = robot.energy(x.q, x.qd)
    assert_close(energy.kinetic, 0.5 * x.qd @ mass @ x.qd, "kinetic energy")
    h = 1e-5
    totals = [
        sum(robot.energy(robot.integrate(x.q, s * x.qd + 0.5 * s * s * x.qdd), x.qd + s * x.qdd))
        for s in (h, -h)
    ]
    power = (totals[0] - totals[1]) / (2 * h)
    assert power == pytest.approx(tau @ x.qd, rel=1e-5, abs=1e-5)
