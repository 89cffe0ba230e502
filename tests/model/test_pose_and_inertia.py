"""Poses and inertias against their definitions, on random values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robomorph.model import Inertia, Pose
from robomorph.model.pose import cos_sin, right_angle_error, rotation_about, rotation_from_rpy


def random_pose(rng: np.random.Generator) -> Pose:
    return Pose(rotation_from_rpy(rng.uniform(-3, 3, 3), 0.0), rng.normal(size=3))


def cloud(rng: np.random.Generator, count: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Point masses (count,) and their places (count, 3): a body whose inertia can be summed up directly."""
    return rng.uniform(0.1, 2.0, count), rng.normal(size=(count, 3))


def inertia_of(masses: np.ndarray, places: np.ndarray) -> Inertia:
    mass = masses.sum()
    com = masses @ places / mass
    arms = places - com
    tensor = sum(m * (a @ a * np.eye(3) - np.outer(a, a)) for m, a in zip(masses, arms, strict=True))
    return Inertia(mass, com, np.asarray(tensor))


def assert_close(ours: Inertia, theirs: Inertia) -> None:
    assert ours.mass == pytest.approx(theirs.mass, rel=1e-13)
    np.testing.assert_allclose(ours.com, theirs.com, atol=1e-13)
    np.testing.assert_allclose(ours.tensor, theirs.tensor, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_poses_compose_and_invert_like_matrices(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_pose(rng), random_pose(rng)
    np.testing.assert_allclose(a.compose(b).matrix, a.matrix @ b.matrix, atol=1e-14)
    np.testing.assert_allclose(a.inverse().matrix, np.linalg.inv(a.matrix), atol=1e-14)
    np.testing.assert_array_equal(Pose.from_matrix(a.matrix).matrix, a.matrix)
    np.testing.assert_array_equal(Pose.identity().matrix, np.eye(4))


@pytest.mark.parametrize("seed", range(5))
def test_inertias_move_and_add_like_point_masses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    (m1, p1), (m2, p2), pose = cloud(rng), cloud(rng), random_pose(rng)
    one, two = inertia_of(m1, p1), inertia_of(m2, p2)
    assert_close(one + two, inertia_of(np.concatenate([m1, m2]), np.concatenate([p1, p2])))
    assert_close(one.moved(pose), inertia_of(m1, p1 @ pose.rotation.T + pose.translation))
    at_origin = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(m1, p1, strict=True))
    np.testing.assert_allclose(one.tensor_at_origin, at_origin, atol=1e-12)
    np.testing.assert_allclose(one.first_moment, m1 @ p1, atol=1e-13)
    assert not one.is_indefinite
    assert not one.breaks_triangle_inequality


def test_zero_changes_nothing() -> None:
    body = inertia_of(*cloud(np.random.default_rng(0)))
    assert body + Inertia.zero() is body
    assert Inertia.zero() + body is body
    assert (Inertia.zero() + Inertia.zero()).is_zero


def test_rotational_inertia_without_mass_adds_up() -> None:
    bare = Inertia(0.0, np.array([5.0, 0, 0]), np.eye(3))
    total = bare + Inertia(2.0, np.array([1.0, 0, 0]), np.eye(3))
    assert total.com.tolist() == [1.0, 0.0, 0.0]
    assert total.tensor.tolist() == (2 * np.eye(3)).tolist()
    assert (bare + bare).tensor.tolist() == (2 * np.eye(3)).tolist()


def test_faults_of_tensors() -> None:
    assert Inertia(1.0, np.zeros(3), np.diag([1, 1, -0.1])).is_indefinite
    assert not Inertia(1.0, np.zeros(3), np.diag([0, 1, 1])).is_indefinite
    assert not Inertia(1.0, np.zeros(3), np.diag([-1e-35, 0, 1e-35])).is_indefinite
    assert Inertia(1.0, np.zeros(3), np.diag([1, 1, 2.1])).breaks_triangle_inequality
    assert not Inertia(1.0, np.zeros(3), np.diag([1, 1, 2])).breaks_triangle_inequality


def test_arrays_of_the_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        Pose(np.eye(4), np.zeros(3))
    with pytest.raises(ValueError, match="shape"):
        Inertia(1.0, np.zeros(2), np.eye(3))


@settings(max_examples=50, deadline=None)
@given(st.integers(-40, 40), st.floats(-1e-10, 1e-10))
def test_right_angles_are_exact(quarters: int, noise: float) -> None:
    angle = quarters * math.pi / 2 + noise
    cosine, sine = cos_sin(angle, 1.1e-10)
    assert {abs(cosine), abs(sine)} == {0.0, 1.0}
    assert cosine == pytest.approx(math.cos(angle), abs=1e-9)
    assert sine == pytest.approx(math.sin(angle), abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.floats(-1e30, 1e30))
def test_other_angles_are_not_touched(angle: float) -> None:
    """Above all large ones, where a float is always close to some multiple of pi/2 as a float."""
    if right_angle_error(angle) > 1e-10:
        assert cos_sin(angle, 1e-10) == (math.cos(angle), math.sin(angle))


def test_rpy_turns_about_fixed_axes() -> None:
    roll, pitch, yaw = 0.3, -0.7, 1.9
    x, y, z = np.eye(3)
    parts = [rotation_about(axis, math.cos(a), math.sin(a)) for axis, a in ((z, yaw), (y, pitch), (x, roll))]
    expected = parts[0] @ parts[1] @ parts[2]
    np.testing.assert_allclose(rotation_from_rpy(np.array([roll, pitch, yaw]), 0.0), expected, atol=1e-15)
