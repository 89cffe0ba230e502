"""Closed forms of derivatives know what joints ask for by themselves: they equal products with matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph

ROBOTS: dict[str, dict[str, Any]] = {"iiwa14": {}, "hyq": {"floating_base": True}}


def _heavy(name: str) -> robomorph.Robot:
    joints = [j for j in robomorph.load(name, **ROBOTS[name]).joint_names if j != "root_joint"]
    values: dict[str, Any] = {
        key: {j: size * (1 + 0.1 * i) for i, j in enumerate(joints)} for key, size in _OWN.items()
    }
    return robomorph.load(name, **ROBOTS[name], passive=True, **values)


_OWN = {"armature": 0.1, "damping": 0.3, "friction": 0.2, "stiffness": 2.0}


def _rows(matrix: Any, changes: Any) -> Any:
    return np.einsum("...ij,...j->...i", matrix, changes)


@pytest.mark.parametrize("name", list(ROBOTS))
@pytest.mark.parametrize("form", ["adjoint", "articulated adjoint"])
def test_adjoint_of_forward_dynamics(name: str, form: str) -> None:
    robot, rng = _heavy(name), np.random.default_rng(1)
    q, qd = robot.random_state(rng=2, batch=5)
    tau, w = rng.normal(size=(2, 5, robot.nv))
    matrices = robot.forward_dynamics_gradient(q, qd, tau)
    found = robot.compile("forward_dynamics", derivative="vjp", formulation=form)(q, qd, tau, w)
    for own, matrix in zip(found, (matrices.dqdd_dq, matrices.dqdd_dqd, matrices.minv), strict=True):
        expected = _rows(np.swapaxes(matrix, -1, -2), w)
        assert np.abs(own - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("name", list(ROBOTS))
@pytest.mark.parametrize("form", ["tangent", "articulated tangent"])
def test_tangent_of_forward_dynamics(name: str, form: str) -> None:
    robot, rng = _heavy(name), np.random.default_rng(3)
    q, qd = robot.random_state(rng=4, batch=5)
    tau, *changes = rng.normal(size=(4, 5, robot.nv))
    matrices = robot.forward_dynamics_gradient(q, qd, tau)
    found = robot.compile("forward_dynamics", derivative="jvp", formulation=form)(q, qd, tau, *changes)
    blocks = (matrices.dqdd_dq, matrices.dqdd_dqd, matrices.minv)
    expected = sum(_rows(block, change) for block, change in zip(blocks, changes, strict=True))
    assert np.abs(np.asarray(found) - expected).max() < 1e-11 * np.abs(expected).max()


@pytest.mark.parametrize("name", list(ROBOTS))
def test_inverse_dynamics(name: str) -> None:
    robot, rng = _heavy(name), np.random.default_rng(5)
    q, qd = robot.random_state(rng=6, batch=5)
    qdd, w, *changes = rng.normal(size=(5, 5, robot.nv))
    gradient, mass = robot.inverse_dynamics_gradient(q, qd, qdd), robot.mass_matrix(q)
    blocks = (gradient.dtau_dq, gradient.dtau_dqd, mass)
    adjoint = robot.compile("inverse_dynamics", derivative="vjp", formulation="adjoint")(q, qd, qdd, w)
    for own, matrix in zip(adjoint, blocks, strict=True):
        expected = _rows(np.swapaxes(matrix, -1, -2), w)
        assert np.abs(own - expected).max() < 1e-11 * np.abs(expected).max()
    tangent = robot.compile("inverse_dynamics", derivative="jvp", formulation="tangent")(q, qd, qdd, *changes)
    along = sum(_rows(block, change) for block, change in zip(blocks, changes, strict=True))
    assert np.abs(np.asarray(tangent) - along).max() < 1e-11 * np.abs(along).max()
