"""The live viewer in a browser: sliders, a handle and a mouse, motions, reloads; beside Pinocchio."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph.viewer import Trajectory, Viewer
from tests.viewer.browser import Opened, watch
from tests.viewer.robots import TOOL, bent, loaded, pose_by_pinocchio

Array = npt.NDArray[np.float64]
NAMES = ("iiwa14", "hyq", "atlas")
ELBOW_UP = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])  # where an arm can be pulled either way
JOINT = {"iiwa14": "lbr_iiwa_joint_2", "hyq": "lf_hfe_joint", "atlas": "r_arm_shz"}


@contextmanager
def opened_url(browser: Any, url: str) -> Iterator[Opened]:
    context = browser.new_context(viewport={"width": 1000, "height": 640})
    try:
        page = context.new_page()
        opened = Opened(page)
        watch(opened, url)
        page.goto(url)
        opened.wait("window.robomorph && window.robomorph.ready && window.robomorph.connected")
        yield opened
    finally:
        context.close()


@contextmanager
def shown(browser: Any, name: str, **more: Any) -> Iterator[tuple[Viewer, Opened]]:
    robot = loaded(name)
    asked = {"q": bent(name), "open_browser": False, **more}
    with robomorph.view(robot, **asked) as viewer, opened_url(browser, viewer.url) as opened:
        until(opened, lambda: viewer.connections == 1)
        yield viewer, opened
        assert opened.errors == [] and opened.requests == []


def until(opened: Opened, holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never came"
        opened.page.wait_for_timeout(15)


def check_drawn(opened: Opened, name: str, q: Array) -> None:
    """Every link is drawn where Pinocchio has it."""
    for link, pose in zip(loaded(name).link_names, opened.poses(), strict=True):
        np.testing.assert_allclose(pose[:3], pose_by_pinocchio(name, q, link)[:3, 3], atol=2e-6)


def agrees(opened: Opened, name: str, q: Array) -> bool:
    links = loaded(name).link_poses(q)[:, :3, 3]
    return bool(np.abs(opened.poses()[:, :3] - links).max() < 2e-6)


@pytest.mark.parametrize("name", NAMES)
def test_a_slider_moves_the_right_link(browser: Any, name: str) -> None:
    robot, joint = loaded(name), JOINT[name]
    with shown(browser, name) as (viewer, opened):
        check_drawn(opened, name, bent(name))
        before = opened.pixels()
        place = robot.coordinates(joint)[0].start
        wanted = 0.8 * robot.limits.lower[place] + 0.2 * robot.limits.upper[place]
        opened.page.get_by_label(f"{joint}, rad", exact=True).fill(str(wanted))
        until(opened, lambda: abs(viewer.q[place] - wanted) < 1e-6)
        expected = bent(name)
        expected[place] = viewer.q[place]
        np.testing.assert_array_equal(viewer.q, expected)
        until(opened, lambda: agrees(opened, name, expected))
        check_drawn(opened, name, expected)
        opened.drawn()
        canvas = opened.page.locator("#canvas").bounding_box()
        after = opened.pixels()
        area = np.s_[: int(canvas["height"]), : int(canvas["width"]), :3]
        assert (np.abs(after[area].astype(int) - before[area].astype(int)).max(axis=2) > 20).sum() > 100


def free_axis(opened: Opened) -> int:
    """The axis of the handle that is longest on the screen, so that a mouse can pull it; one that is seen."""
    start = np.array(opened.run("robomorph.handle.position"))
    size = opened.run("robomorph.camera.pixelAt(robomorph.handle.position)")
    box = opened.page.locator("#canvas").bounding_box()
    centre, lengths = np.array(opened.project(start)), []
    for axis in np.eye(3):
        tip = np.array(opened.project(start + 140 * size * axis))
        seen = bool((tip > 0).all() and tip[0] < box["width"] and tip[1] < box["height"])
        lengths.append(float(np.linalg.norm(tip - centre)) if seen else 0.0)
    return int(np.argmax(lengths))


def pull(opened: Opened, k: int, step: float) -> Array:
    """Drag the handle along an axis by `step` pixels; where it was left."""
    start = np.array(opened.run("robomorph.handle.position"))
    size = opened.run("robomorph.camera.pixelAt(robomorph.handle.position)")
    axis = np.eye(3)[k]
    grip = opened.project(start + 82 * size * axis)
    end = opened.project(start + (82 + step) * size * axis)
    mouse = opened.page.mouse
    mouse.move(*grip)
    mouse.down()
    mouse.move(*end, steps=2)
    mouse.up()
    return np.array(opened.run("robomorph.handle.position"))


def confirmed(viewer: Viewer, opened: Opened, name: str, target: Array) -> bool:
    """Is what the page says of the last drag so, by Pinocchio: the frame is there, or it is so far off?"""
    text = opened.page.locator(".result").inner_text()
    off = float(np.linalg.norm(pose_by_pinocchio(name, viewer.q, TOOL[name])[:3, 3] - target))
    said = re.search(r"position error\s+(\S+) m", text)
    if said is None:
        return False
    error = float(said[1].replace("\u2212", "-"))
    return abs(error - off) < 2e-6 + 0.02 * off and ("cannot follow" in text) == (off > 1.1e-5)


def drag_and_confirm(browser: Any, name: str, drags: int) -> None:
    frame, robot = TOOL[name], loaded(name)
    start = ELBOW_UP if name == "iiwa14" else bent(name)
    with shown(browser, name, q=start, frames=frame) as (viewer, opened):
        opened.page.get_by_label("frame that the handle holds").select_option(label=frame)
        opened.page.get_by_label("what is followed").select_option("position")
        opened.drawn()
        k, followed = free_axis(opened), 0
        first = np.array(opened.run("robomorph.handle.position"))
        np.testing.assert_allclose(first, pose_by_pinocchio(name, start, frame)[:3, 3], atol=2e-6)
        for drag in range(drags):
            before = np.array(opened.run("robomorph.handle.position"))
            target = pull(opened, k, 12.0 if (drag // 3) % 2 == 0 else -12.0)
            assert np.linalg.norm(target - before) > 1e-3
            until(opened, lambda target=target: confirmed(viewer, opened, name, target))  # type: ignore[misc]
            until(opened, lambda: agrees(opened, name, viewer.q))
            followed += "cannot" not in opened.page.locator(".result").inner_text()
            assert np.all(viewer.q >= robot.limits.lower) and np.all(viewer.q <= robot.limits.upper)
        assert followed >= drags // 2
        check_drawn(opened, name, viewer.q)


@pytest.mark.parametrize(("name", "drags"), [("iiwa14", 20), ("hyq", 4), ("atlas", 4)])
def test_the_handle_is_dragged_and_followed(browser: Any, name: str, drags: int) -> None:
    """By the mouse. The robot ends where Pinocchio says that the frame is where the handle was left, or the
    page says by how much it does not."""
    drag_and_confirm(browser, name, drags)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hyq", "atlas"])
def test_the_handle_is_dragged_for_long(browser: Any, name: str) -> None:
    drag_and_confirm(browser, name, 20)


def test_a_pose_out_of_reach_is_explained(browser: Any) -> None:
    with shown(browser, "iiwa14", frames=TOOL["iiwa14"]) as (_, opened):
        opened.page.get_by_label("frame that the handle holds").select_option(label=TOOL["iiwa14"])
        opened.drawn()
        k = free_axis(opened)
        for _ in range(3):
            pull(opened, k, 300.0)
        until(opened, lambda: "out of reach" in opened.page.locator(".result").inner_text())
        assert "cannot follow" in opened.page.locator(".result").inner_text()


def test_a_motion_plays_and_is_scrubbed(browser: Any) -> None:
    robot = loaded("iiwa14")
    times = np.linspace(0.0, 2.0, 81)
    q = bent("iiwa14") + 0.3 * np.sin(2.0 * times)[:, None] * np.linspace(-1.0, 1.0, 7)
    with shown(browser, "iiwa14", trajectory=Trajectory(times, q, name="wave"), q=None) as (_, opened):
        for k in (0, 40, 80):
            opened.run("t => robomorph.setTime(t)", times[k])
            check_drawn(opened, "iiwa14", q[k])
        opened.run("robomorph.setTime(0), robomorph.play()")
        until(opened, lambda: opened.run("robomorph.time()") > 0.3)
        opened.run("robomorph.pause()")
        at = opened.run("robomorph.time()")
        between = np.array([np.interp(at, times, q[:, j]) for j in range(robot.nq)])
        np.testing.assert_allclose(
            opened.poses()[-1, :3], pose_by_pinocchio("iiwa14", between, TOOL["iiwa14"])[:3, 3], atol=1e-3
        )
        track = opened.page.get_by_role("slider", name="time", exact=True)
        track.fill("1.5")
        assert opened.run("robomorph.time()") == pytest.approx(1.5, abs=0.02)


def test_a_motion_goes_on_when_the_server_sends_its_scene_again(browser: Any) -> None:
    times = np.linspace(0.0, 60.0, 61)
    q = bent("iiwa14") + 0.3 * np.sin(times)[:, None] * np.linspace(-1.0, 1.0, 7)
    motions = [Trajectory(times, q, name="wave"), Trajectory(times / 2.0, q, name="faster")]
    with shown(browser, "iiwa14", trajectory=motions, q=None) as (_, opened):
        chosen = opened.page.get_by_label("trajectory", exact=True)
        chosen.select_option(label="faster")
        opened.run("robomorph.setTime(20), robomorph.play()")
        assert not opened.run("document.getElementById('reconnect').click(), robomorph.connected")
        opened.wait("robomorph.connected")
        assert opened.run("robomorph.time()") >= 20.0
        until(opened, lambda: opened.run("robomorph.time()") > 20.1)
        opened.run("robomorph.pause()")
        assert chosen.evaluate("node => node.options[node.selectedIndex].text") == "faster"
        opened.run("robomorph.setTime(22.5)")
        check_drawn(opened, "iiwa14", q[45])


def test_marks_are_drawn_when_their_layer_is_on(browser: Any) -> None:
    force = {TOOL["iiwa14"]: [0.0, 20.0, 0.0, 0.0, 0.0, 0.0]}
    with shown(browser, "iiwa14", f_ext=force) as (viewer, opened):
        kinds = "robomorph.scene.marks.map(mark => mark.layer)"
        until(opened, lambda: opened.run(kinds) == ["forces"])
        opened.page.locator("[data-layer=com]").check()
        opened.page.locator("[data-layer=manipulability]").check()
        until(opened, lambda: set(opened.run(kinds)) == {"com", "manipulability", "forces"})
        viewer.show(bent("iiwa14") + 0.1)  # marks come along
        centre = loaded("iiwa14").center_of_mass(bent("iiwa14") + 0.1)
        place = "robomorph.scene.marks.find(mark => mark.layer === 'com').position"
        until(opened, lambda: bool(np.abs(np.array(opened.run(place)) - centre).max() < 1e-6))


def test_streamed_states_are_seen(browser: Any) -> None:
    with shown(browser, "atlas") as (viewer, opened):
        robot, q = loaded("atlas"), bent("atlas")
        for k in range(30):
            step = np.zeros(robot.nv)
            step[:3], step[8] = [0.01 * k, 0.0, 0.0], 0.005 * k
            now = robot.integrate(q, step)
            viewer.show(now)
            opened.page.wait_for_timeout(5)
        until(opened, lambda: agrees(opened, "atlas", now))
        until(opened, lambda: np.allclose(opened.run("robomorph.scene.robots[0].q"), now))  # sliders, too


def _reload(opened: Opened, wait_until: str) -> None:
    """Reloads the page. The browser refuses while the reload before is between two pages: asked again."""
    for _ in range(50):
        try:
            opened.page.reload(wait_until=wait_until)
            return
        except Exception as refused:  # playwright's own class: it may not be installed where this is imported
            if "Not attached to an active page" not in str(refused):
                raise
            opened.page.wait_for_timeout(100)
    raise AssertionError("the browser never reloaded the page")


def test_a_page_that_is_closed_or_reloaded_leaves_nothing(browser: Any) -> None:
    with shown(browser, "iiwa14", frames=TOOL["iiwa14"]) as (viewer, opened):
        for k in range(20):
            _reload(opened, wait_until="load" if k % 4 else "commit")  # some before anything was shown
        opened.wait("window.robomorph && window.robomorph.ready && window.robomorph.connected")
        until(opened, lambda: viewer.connections == 1)
        with opened_url(browser, viewer.url) as other:
            until(other, lambda: viewer.connections == 2)
            other.page.get_by_label("frame that the handle holds").select_option(label=TOOL["iiwa14"])
            other.drawn()
            start = np.array(other.run("robomorph.handle.position"))
            other.page.mouse.move(*other.project(start))
            other.page.mouse.down()
            other.page.mouse.move(300, 200, steps=3)
        until(opened, lambda: viewer.connections == 1)  # closed in the middle of a drag
        opened.page.get_by_label("lbr_iiwa_joint_1, rad", exact=True).fill("0.5")
        until(opened, lambda: abs(viewer.q[0] - 0.5) < 1e-6)
