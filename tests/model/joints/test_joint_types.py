"""Every joint type: its transform, subspace, manifold and regrouping belong together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.model.joints import JOINT_TYPES, JointType
from robomorph.spatial import BodyInertia, Motion, Symmetric, Transform

Array = npt.NDArray[Any]
KINDS = sorted(JOINT_TYPES)
TURNS = (0.0, np.pi / 2, 0.7)


@pytest.fixture(params=KINDS)
def joint(request: pytest.FixtureRequest) -> JointType:
    return JOINT_TYPES[request.param]


def configurations(joint: JointType, count: int = 6) -> Array:
    return joint.random(np.random.default_rng(3), -np.inf, np.inf, (count,))


def matrix(joint: JointType, q: Array, turn: float = 0.0) -> Array:
    """The 6x6 motion transform to the child."""
    return np.array(Transform(joint.transform(list(q), turn)).matrix(), dtype=float)


def test_registered_under_its_urdf_names() -> None:
    scalar = {"revolute", "continuous", "prismatic"}
    assert set(JOINT_TYPES) >= scalar | {"planar", "spherical", "ball", "floating"}
    claimed = [name for joint in dict.fromkeys(JOINT_TYPES.values()) for name in joint.urdf_types]
    assert sorted(claimed) == sorted(JOINT_TYPES), "two types claim one name"
    for name, joint in JOINT_TYPES.items():
        assert name in joint.urdf_types
        assert len(joint.subspace) == joint.nv
        assert len(joint.neutral()) == joint.nq


def test_neutral_is_no_motion(joint: JointType) -> None:
    np.testing.assert_array_equal(matrix(joint, np.array(joint.neutral())), np.eye(6))


@pytest.mark.parametrize("turn", TURNS)
def test_the_subspace_is_the_derivative_of_the_transform(joint: JointType, turn: float) -> None:
    """X(q + h e) = (1 - h S x) X(q): the child moves by its subspace, in its own frame."""
    h = 1e-6
    turn = turn if joint.turns and not joint.moves else 0.0
    for q in configurations(joint):
        for k, unit in enumerate(joint.subspace):
            ahead, behind = (joint.integrate(q, s * h * np.eye(joint.nv)[k]) for s in (1.0, -1.0))
            change = (matrix(joint, ahead, turn) - matrix(joint, behind, turn)) / (2 * h)
            cross = np.array([unit.cross(Motion.of(list(e))).scalars() for e in np.eye(6)]).T
            np.testing.assert_allclose(change, -cross @ matrix(joint, q, turn), rtol=0, atol=1e-8)


def test_integrating_in_steps_along_one_direction(joint: JointType) -> None:
    """exp(a d) exp(b d) = exp((a + b) d)."""
    rng = np.random.default_rng(5)
    for q in configurations(joint):
        step = rng.uniform(-1, 1, joint.nv)
        halves = joint.integrate(joint.integrate(q, 0.3 * step), 0.7 * step)
        np.testing.assert_allclose(
            matrix(joint, halves), matrix(joint, joint.integrate(q, step)), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.04, 0.06, 1.0, 1.8])
def test_difference_undoes_integrate(joint: JointType, size: float) -> None:
    rng = np.random.default_rng(6)
    q = configurations(joint)
    step = size * rng.uniform(-1, 1, (len(q), joint.nv))
    np.testing.assert_allclose(
        joint.difference(q, joint.integrate(q, step)), step, rtol=1e-9, atol=1e-14 + 1e-9 * size
    )


def test_integrate_undoes_difference(joint: JointType) -> None:
    q0, q1 = configurations(joint, 12).reshape(2, 6, joint.nq)
    reached = joint.integrate(q0, joint.difference(q0, q1))
    for a, b in zip(reached, q1, strict=True):
        np.testing.assert_allclose(matrix(joint, a), matrix(joint, b), rtol=0, atol=1e-12)


def test_configurations_stay_on_the_manifold(joint: JointType) -> None:
    """A thousand steps leave rotations normal."""
    q = configurations(joint, 1)[0]
    step = np.random.default_rng(8).uniform(-1, 1, joint.nv)
    for _ in range(1000):
        q = joint.integrate(q, step)
    rotation = matrix(joint, q)[:3, :3]
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(3), rtol=0, atol=1e-12)


def test_float32_stays_float32(joint: JointType) -> None:
    q = configurations(joint).astype(np.float32)
    step = np.full((len(q), joint.nv), 0.25, np.float32)
    ahead = joint.integrate(q, step)
    assert ahead.dtype == np.float32
    assert joint.difference(q, ahead).dtype == np.float32
    np.testing.assert_allclose(joint.difference(q, ahead), step, rtol=0, atol=2e-6)


def test_random_configurations_respect_limits(joint: JointType) -> None:
    q = joint.random(np.random.default_rng(1), -0.2, 0.3, (50,))
    assert q.shape == (50, joint.nq)
    if joint.nq == 1:
        assert np.all((q >= -0.2) & (q <= 0.3)) and np.ptp(q) > 0.1


def test_regrouping_moves_nothing_that_the_joint_feels(joint: JointType) -> None:
    """What moves to the parent gives the joint no momentum along its subspace, and looks the same from the
    parent at every configuration."""
    rng = np.random.default_rng(9)
    points = rng.normal(size=(5, 3))
    second = sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)
    first = points.sum(axis=0)
    body = BodyInertia(5.0, (first[0], first[1], first[2]), Symmetric.from_rows(np.asarray(second).tolist()))
    kept, moved = joint.regroup(body)
    np.testing.assert_allclose((kept + moved).scalars(), body.scalars(), rtol=0, atol=1e-13)
    for unit in joint.subspace:
        momentum = np.array(moved.apply(unit).scalars(), dtype=float)
        np.testing.assert_allclose(momentum, 0.0, rtol=0, atol=1e-13)
    seen = [
        np.array(Transform(joint.transform(list(q), 0.0)).inertia_back(moved).scalars(), dtype=float)
        for q in configurations(joint)
    ]
    for other in seen[1:]:
        np.testing.assert_allclose(other, seen[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_regrouping_does_move_something(kind: str) -> None:
    """Seven of a revolute link's ten parameters are left, four of a prismatic one's."""
    body = BodyInertia.of([3.0, 0.1, 0.2, 0.3, 1.0, 1.1, 1.2, 0.01, 0.02, 0.03])
    kept, _ = JOINT_TYPES[kind].regroup(body)
    assert sum(x != 0.0 for x in kept.scalars()) == {"revolute": 7, "prismatic": 4}[kind]
