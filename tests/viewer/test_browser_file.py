"""Files of robots, opened without a network: nothing is asked for, and robots stand where they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph.viewer.html import page_html
from robomorph.viewer.scene import make_scene
from tests.viewer.browser import Opened, opened_file
from tests.viewer.scenes import (
    BLUE,
    GREEN,
    RED,
    block,
    blocks,
    motion,
    robot,
    swing,
    write_robot,
    write_scene,
)

PAGE_LIMIT = 150_000  # bytes of a page apart from its scene


def assert_quiet(opened: Opened) -> None:
    assert opened.errors == []
    assert opened.requests == []


@pytest.mark.parametrize(("name", "floating"), [("iiwa14", False), ("hyq", True), ("atlas", True)])
def test_a_robots_file_opens_offline(browser: Any, tmp_path: Path, name: str, floating: bool) -> None:
    model = robot(name, floating)
    path = write_robot(model, tmp_path / "robot.html", trajectories=[motion(model)])
    with opened_file(browser, path) as opened:
        times, q = swing(model)
        for k in (0, 17, len(times) - 1):
            opened.run("t => robomorph.setTime(t)", times[k])
            assert_poses(opened.poses(), model.link_poses(q[k]))
        opened.drawn()
        assert_seen(opened)
        assert opened.page.title() == f"{name} \u00b7 robomorph"
        assert "made by robomorph" in opened.page.inner_text("footer")
        assert_quiet(opened)


def assert_poses(found: Any, expected: Any) -> None:
    """Positions and rotations, by a quaternion's own formula for turning a vector."""
    assert np.abs(found[:, :3] - expected[:, :3, 3]).max() < 1e-6
    v, w = found[:, 3:6], found[:, 6:]
    for k, axis in enumerate(np.eye(3)):
        cross = 2.0 * np.cross(v, axis)
        turned = axis + w * cross + np.cross(v, cross)
        assert np.abs(turned - expected[:, :3, k]).max() < 1e-6


def assert_seen(opened: Opened) -> None:
    """Over the robot there are colours that the empty scene does not have."""
    box = opened.page.locator("#canvas").bounding_box()
    seen = opened.pixels()[: int(box["height"]), : int(box["width"]), :3].astype(int)
    bright = seen.max(2) - seen.min(2)
    assert (bright > 60).sum() > 200  # orange balls at the joints
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 500  # shades


def test_colours_are_where_links_are(browser: Any, tmp_path: Path) -> None:
    with opened_file(browser, write_scene(blocks(), tmp_path / "b.html")) as opened:
        opened.drawn()
        seen = opened.pixels()
        poses = opened.poses()
        for k, colour in enumerate((RED, GREEN, BLUE)):
            x, y = opened.project(poses[k, :3])
            assert_colour(seen[round(y), round(x)], colour)
        # A metre away from the robot there is none.
        x, y = opened.project([0.0, -0.35, 0.1])
        assert np.ptp(seen[round(y), round(x), :3].astype(int)) < 40
        assert (
            seen[300, 5, :3].mean() > 180 and seen[300, -5, :3].mean() > 180
        )  # light, unless dark is preferred
        assert_quiet(opened)


def assert_colour(pixel: Any, colour: tuple[float, ...]) -> None:
    """The strongest part is the colour's, by far, however bright the light is."""
    strongest = int(np.argmax(colour[:3]))
    others = [int(pixel[k]) for k in range(3) if k != strongest]
    assert int(pixel[strongest]) > 1.6 * max(others), (pixel, colour)


# Sizes of shapes, and how wide and high each looks along x.
SIZES = {
    "box": ([0.3, 0.2, 0.4], (0.2, 0.4)),
    "sphere": ([0.2], (0.4, 0.4)),
    "cylinder": ([0.1, 0.5], (0.2, 0.5)),
    "capsule": ([0.1, 0.4], (0.2, 0.6)),
    "ellipsoid": ([0.2, 0.1, 0.3], (0.2, 0.6)),
}


def test_shapes_have_their_size(browser: Any, tmp_path: Path) -> None:
    """Side by side, seen from the side: the picture of each is as wide and high as it says."""
    scene = blocks()
    places = 0.8 * np.arange(len(SIZES)) - 1.6
    shapes = [
        {**block(BLUE, (0.0, y, 0.0), 0), "kind": kind, "size": size}
        for y, (kind, (size, _)) in zip(places, SIZES.items(), strict=True)
    ]
    scene["robots"][0].update(shapes=shapes, poses=[[0, 0, 1.0, 0, 0, 0, 1.0]] * 3)
    with opened_file(browser, write_scene(scene, tmp_path / "b.html")) as opened:
        opened.run("Object.assign(robomorph.camera, {yaw: 0, pitch: 0, distance: 12, target: [0, 0, 1]}), 0")
        opened.drawn()
        seen = opened.pixels()[..., :3].astype(int)
        blue = (seen[..., 2] > 1.5 * seen[..., 0]) & (seen[..., 2] > 1.5 * seen[..., 1])
        for y, (kind, (_, expected)) in zip(places, SIZES.items(), strict=True):
            (left, top), (right, bottom) = (
                opened.project([0, y - 0.4, 1.4]),
                opened.project([0, y + 0.4, 0.6]),
            )
            part = blue[round(top) : round(bottom), round(left) : round(right)]
            rows, columns = np.flatnonzero(part.any(1)), np.flatnonzero(part.any(0))
            found = (0.8 * len(columns) / (right - left), 0.8 * len(rows) / (bottom - top))
            assert found == pytest.approx(expected, abs=0.04), kind


def test_the_page_is_small() -> None:
    assert len(page_html(blocks()).encode()) < PAGE_LIMIT
    assert len(page_html(make_scene([robot("atlas", True)])).encode()) < PAGE_LIMIT + 60_000


def test_a_phone_sees_one_column(browser: Any, tmp_path: Path) -> None:
    model = robot("iiwa14")
    path = write_robot(
        model, tmp_path / "r.html", trajectories=[motion(model), motion(model, name="x" * 200)]
    )
    phone: dict[str, Any] = {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "has_touch": True,
    }
    with opened_file(browser, path, **phone) as opened:
        opened.drawn()
        assert opened.run("document.documentElement.scrollWidth") <= 390
        box = "getBoundingClientRect()"
        places = opened.run(f"['view', 'timebar', 'side'].map(i => document.getElementById(i).{box}.top)")
        assert places == sorted(places)
        parts = "document.querySelectorAll('button, select, input, canvas')"
        assert max(opened.run(f"[...{parts}].map(n => n.{box}.right)")) <= 390
        assert_quiet(opened)


def test_dark(browser: Any, tmp_path: Path) -> None:
    with opened_file(browser, write_scene(blocks(), tmp_path / "b.html"), color_scheme="dark") as opened:
        opened.drawn()
        seen = opened.pixels()[..., :3]
        assert seen[300, 5].mean() < 80 and seen[300, -5].mean() < 80  # of the scene, of the panels
        assert_quiet(opened)


def test_marks_belong_to_layers(browser: Any, tmp_path: Path) -> None:
    place = [0.2, 0.2, 0.3]
    marks = [{"layer": "com", "kind": "point", "position": place, "size": [0.05], "colour": list(RED)}]
    marks += [
        {
            "layer": "forces",
            "kind": "arrow",
            "position": [0.1, 0.1, 0.05],
            "vector": [0, 0, 0.2],
            "colour": GREEN,
        }
    ]
    marks += [
        {"kind": "ellipsoid", "position": [-0.3, 0, 0.5], "quaternion": [0, 0, 0, 1], "size": [0.1] * 3}
    ]
    marks += [{"kind": "axes", "position": [0.2, 0.2, 0.45], "quaternion": [0, 0, 0, 1], "name": "goal"}]
    with opened_file(browser, write_scene(blocks(marks=marks), tmp_path / "b.html")) as opened:
        (x, y), (u, v) = opened.project(place), opened.project([0.1, 0.1, 0.13])
        opened.drawn()
        before = opened.pixels()
        opened.page.locator("[data-layer=com]").check()
        opened.page.locator("[data-layer=forces]").uncheck()
        after = opened.pixels()
        assert_colour(after[round(y), round(x)], RED)
        assert_colour(before[round(v), round(u)], GREEN)
        assert np.ptp(before[round(y), round(x), :3].astype(int)) < 40  # no centre of mass yet
        assert after[round(v), round(u), :3].argmax() == 0  # no arrow, but the red block behind it
        assert opened.page.locator(".label:visible").all_text_contents() == ["goal"]
        assert_quiet(opened)


def test_two_fingers_zoom(browser: Any, tmp_path: Path) -> None:
    phone: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    with opened_file(browser, write_scene(blocks(), tmp_path / "b.html"), **phone) as opened:
        before = opened.run("[robomorph.camera.distance, robomorph.camera.yaw]")
        touch = opened.page.context.new_cdp_session(opened.page)
        for kind, apart in (("touchStart", 30), ("touchMove", 40), ("touchMove", 60), ("touchEnd", None)):
            points = [] if apart is None else [{"x": 190 + s * apart, "y": 200, "id": s + 1} for s in (-1, 1)]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        after = opened.run("[robomorph.camera.distance, robomorph.camera.yaw]")
        assert after == pytest.approx([before[0] / 2, before[1]], rel=1e-6)
