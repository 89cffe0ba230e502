"""Robots drawn from their tree and their masses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from robomorph import ModelWarning, Pose
from robomorph.model import WORLD, Capsule, Ellipsoid, Model, Shape, Sphere, load_model
from robomorph.shapes import inertia_shapes, shapes_to_draw, skeleton_shapes

from ..model.oracle import example_robots
from ..model.samples import MENAGERIE, SOUND_INERTIAL, joint, link, robot

BUILT_IN = ["iiwa14", "hyq", "atlas", "chain:1", "chain:7", "chain:300"]


def ends(shape: Shape) -> list[list[float]]:
    """Both ends of a capsule's axis, in the body's frame."""
    assert isinstance(shape.geometry, Capsule)
    along = shape.placement.rotation[:, 2] * shape.geometry.length / 2
    return [(shape.placement.translation + sign * along).tolist() for sign in (-1.0, 1.0)]


def bones(model: Model) -> list[Shape]:
    return [shape for shape in skeleton_shapes(model) if isinstance(shape.geometry, Capsule)]


@pytest.mark.parametrize("name", BUILT_IN)
def test_bones_lead_from_joint_to_joint(name: str) -> None:
    model = load_model(name)
    found = bones(model)
    for i, body in enumerate(model.bodies):
        where = body.placement.translation
        reached = [shape for shape in found if shape.body == body.parent]
        near = [np.abs(np.array(ends(s)[1]) - where).max() for s in reached]
        assert not where.any() or min(near) < 1e-3, f"no bone leads to joint {body.joint_name} ({i})"
    for shape in found:
        np.testing.assert_allclose(ends(shape)[0], 0.0, atol=1e-12)
        assert isinstance(shape.geometry, Capsule) and shape.geometry.radius < shape.geometry.length * 5
    balls = [shape for shape in skeleton_shapes(model) if isinstance(shape.geometry, Sphere)]
    assert [shape.body for shape in balls] == list(range(len(model.bodies)))
    assert {shape.kind for shape in skeleton_shapes(model)} == {"skeleton"}


def test_a_chain_has_a_bone_for_every_link_to_its_tip() -> None:
    found = bones(load_model("chain:4"))
    assert [shape.body for shape in found] == [0, 1, 2, 3]
    for shape in found:
        np.testing.assert_allclose(ends(shape)[1], [0.25, 0, 0], atol=1e-12)


def test_tools_and_centres_of_mass_are_reached() -> None:
    text = robot(link("base"), link("tip"), joint("j", "base", "tip", origin='<origin xyz="0 0 0"/>'))
    (bone,) = bones(load_model(text))
    np.testing.assert_allclose(ends(bone)[1], [0.1, 0, 0], atol=1e-12)  # its centre of mass
    tool = Pose(np.eye(3), np.array([0.0, 0.5, 0.0]))
    (bone,) = bones(load_model(text, tool_frames={"tool": ("tip", tool)}))
    np.testing.assert_allclose(ends(bone)[1], [0, 0.5, 0], atol=1e-12)


def test_a_robot_without_extent_is_a_ball() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        text = robot(link("a", ""), link("b", ""), joint("j", "a", "b", origin=""))
        (ball,) = skeleton_shapes(load_model(text))
        assert ball.geometry == Sphere(ball.geometry.radius) and ball.geometry.radius > 0.01  # type: ignore[union-attr]
        assert skeleton_shapes(load_model(robot(link("alone", "")))) == ()


@pytest.mark.parametrize("options", [{}, {"floating_base": True}, {"root": "finger_3"}])
def test_all_joint_types_are_drawn(options: dict[str, object]) -> None:
    model = load_model(MENAGERIE, **options)  # type: ignore[arg-type]
    drawn = skeleton_shapes(model)
    assert len(drawn) > len(model.bodies)
    assert all(np.isfinite(shape.placement.matrix).all() for shape in drawn)
    assert all(np.linalg.det(shape.placement.rotation) == pytest.approx(1.0) for shape in drawn)


def test_every_example_robot_can_be_drawn() -> None:
    for path in example_robots():
        if path.stem in ("ur3", "alex_psyonic_hands"):  # refused (test_real_files)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            model = load_model(path)
        drawn = shapes_to_draw(model)
        assert drawn and not any(shape.is_missing for shape in drawn), path
        for shape in (*skeleton_shapes(model), *inertia_shapes(model).shapes):
            assert np.isfinite(shape.placement.matrix).all()
            assert WORLD <= shape.body < len(model.bodies)


def test_what_is_drawn_first() -> None:
    ball = "<{0}><geometry><sphere radius='1'/></geometry></{0}>"
    lost = "<visual><geometry><mesh filename='package://lost/a.stl'/></geometry></visual>"

    def kinds(*shapes: str) -> set[str]:
        text = robot(link("base", SOUND_INERTIAL + "".join(shapes)), link("tip"), joint("j", "base", "tip"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            return {shape.kind for shape in shapes_to_draw(load_model(text))}

    assert kinds(ball.format("collision"), ball.format("visual")) == {"visual"}
    assert kinds(ball.format("collision"), lost) == {"collision"}
    assert kinds(lost) == kinds() == {"skeleton"}


# --- inertia ----------------------------------------------------------------------------------------------


def of_ellipsoid(mass: float, radii: tuple[float, float, float], pose: Pose) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass and tensor of a solid ellipsoid, by sums over points in it: no formula of inertia."""
    grid = np.linspace(-1.0, 1.0, 121)
    x, y, z = np.meshgrid(grid, grid, grid, indexing="ij")
    inside = x**2 + y**2 + z**2 < 1.0
    points = np.stack([x[inside], y[inside], z[inside]], axis=1) * radii @ pose.rotation.T
    each = mass / len(points)
    tensor = each * (np.eye(3) * (points**2).sum() - points.T @ points)
    return points.mean(axis=0) + pose.translation, tensor


def test_ellipsoids_have_the_mass_and_the_inertia_of_their_bodies() -> None:
    model = load_model("iiwa14")
    shapes, skipped = inertia_shapes(model)
    assert not skipped and [shape.body for shape in shapes] == list(range(7))
    for shape in shapes[::3]:
        assert isinstance(shape.geometry, Ellipsoid)
        body = model.bodies[shape.body].inertia
        com, tensor = of_ellipsoid(body.mass, shape.geometry.radii, shape.placement)
        np.testing.assert_allclose(com, body.com, atol=1e-9)
        np.testing.assert_allclose(tensor, body.tensor, atol=2e-3 * np.abs(body.tensor).max())


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_body_of_the_built_in_robots_has_one(name: str) -> None:
    model = load_model(name)
    shapes, skipped = inertia_shapes(model)
    assert not skipped and len(shapes) == sum(body.inertia.mass > 0 for body in model.bodies)
    for shape in shapes:
        assert isinstance(shape.geometry, Ellipsoid) and min(shape.geometry.radii) > 0.0
        assert np.linalg.det(shape.placement.rotation) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("mass", "moments", "why"),
    [
        (1, (0, 0, 0), "a point, a line or a plate"),
        (1, (0, 1, 1), "a point, a line or a plate"),
        (1, (1, 1, 2), "a point, a line or a plate"),
        (1, (1, 1, 3), "no real body has them"),
        (1, (1, 1, -1), "no real body has them"),
        (0, (1, 1, 1), "no mass"),
    ],
)
def test_inertias_of_no_ellipsoid_are_skipped_with_a_reason(
    mass: float, moments: tuple[float, float, float], why: str
) -> None:
    xx, yy, zz = moments
    inertial = (
        f'<inertial><mass value="{mass}"/><inertia ixx="{xx}" ixy="0" ixz="0" iyy="{yy}" iyz="0" izz="{zz}"/>'
        "</inertial>"
    )
    text = robot(link("base"), link("tip", inertial), link("end"), joint("j", "base", "tip"))
    text = text.replace("</robot>", joint("k", "tip", "end") + "</robot>")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        shapes, skipped = inertia_shapes(load_model(text))
    assert [shape.link for shape in shapes] == ["end"]
    assert set(skipped) == {"tip"} and why in skipped["tip"]


def test_what_stands_is_drawn_where_it_counts() -> None:
    shapes, _ = inertia_shapes(load_model("hyq", root="lf_lowerleg"))
    assert [shape.body for shape in shapes].count(WORLD) == 1
