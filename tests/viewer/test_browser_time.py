"""The time bar, robots and plots move together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.viewer.browser import Opened, opened_file
from tests.viewer.scenes import motion, robot, swing, write_robot

SAMPLES = 5001


@pytest.fixture(scope="module")
def opened(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    model = robot("iiwa14")
    both = [motion(model), motion(model, SAMPLES, name="long")]
    path = write_robot(model, tmp_path_factory.mktemp("time") / "r.html", trajectories=both)
    with opened_file(browser, path) as page:
        page.drawn()
        yield page
        assert page.errors == [] and page.requests == []


def positions(opened: Opened) -> Any:
    return opened.poses()[:, :3]


def swung(time: float) -> Any:
    """Where the links are at a time of the motion."""
    model = robot("iiwa14")
    times, q = swing(model)
    return model.link_poses(np.array([np.interp(time, times, q[:, k]) for k in range(model.nq)]))[:, :3, 3]


def test_scrubbing_moves_robot_and_cursors(opened: Opened) -> None:
    opened.page.locator(".track").fill("0.7")
    opened.drawn()
    assert np.abs(positions(opened) - swung(0.7)).max() < 1e-4
    assert opened.run("robomorph.cursors()") == [0.7, 0.7]
    assert "0.70 / 2.00 s" in opened.page.inner_text(".reading")


def test_playing_moves_and_a_loop_comes_round(opened: Opened) -> None:
    opened.run("robomorph.setTime(1.0), robomorph.speed = 10")
    opened.page.get_by_role("button", name="play").click()
    opened.wait("robomorph.time() !== 1.0")
    opened.wait(
        "window.was = Math.max(window.was || 0, robomorph.time()), robomorph.time() < window.was"
    )  # came round
    opened.page.get_by_role("button", name="pause").click()
    opened.drawn()
    assert np.abs(positions(opened) - swung(opened.run("robomorph.time()"))).max() < 1e-4
    assert opened.run("robomorph.cursors()[0] === robomorph.time()")
    opened.run("robomorph.speed = 1")


def test_without_a_loop_it_ends_at_the_end(opened: Opened) -> None:
    opened.run("robomorph.loop = false, robomorph.speed = 10, robomorph.setTime(1.5), robomorph.play()")
    opened.wait("robomorph.time() === 2")
    opened.idle()
    assert opened.run("robomorph.time()") == 2
    opened.run("robomorph.loop = true, robomorph.speed = 1")


def test_a_click_in_a_plot_moves_the_time(opened: Opened) -> None:
    """In the middle between the paddings of its axes."""
    box = opened.page.locator("canvas.plot").first.bounding_box()
    opened.page.mouse.click(box["x"] + 46 + (box["width"] - 56) / 2, box["y"] + 60)
    opened.drawn()
    assert opened.run("robomorph.time()") == pytest.approx(1.0, abs=0.02)
    assert opened.run("robomorph.cursors()[1] === robomorph.time()")


def test_hovering_shows_values(opened: Opened) -> None:
    opened.run("robomorph.setTime(0)")
    box = opened.page.locator("canvas.plot").first.bounding_box()
    opened.page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + 60)
    at = float(opened.page.locator(".when").first.inner_text().split()[1])
    value = opened.page.locator(".key b").first.inner_text().replace("\u2212", "-")
    assert at > 1.0 and float(value) == pytest.approx(0.1 * np.sin(2.0 * at), abs=2e-3)
    assert opened.run("robomorph.time()") == 0


def test_another_trajectory_has_its_own_plots(opened: Opened) -> None:
    """Its wave has 5,001 points over some 250 pixels: thinned, it still reaches top and bottom everywhere."""
    opened.page.get_by_label("trajectory").select_option("1")
    opened.drawn()
    assert opened.run("robomorph.scene.trajectories[1].times.length") == SAMPLES
    plot = "document.querySelectorAll('canvas.plot')[1]"
    image = opened.run(
        f"(c => {{ const d = c.getContext('2d').getImageData(0, 0, c.width, c.height);"
        f"return [d.width, d.height, Array.from(d.data)]; }})({plot})"
    )
    seen = np.array(image[2]).reshape(image[1], image[0], 4).astype(int)
    blue = (seen[..., 2] > seen[..., 0] + 60) & (seen[..., 3] > 100)
    rows = np.flatnonzero(blue.any(1))
    # sin(40 t) turns 13 times: its line is at the top and at the bottom in all parts of the picture.
    for part in np.array_split(blue[rows.min() : rows.max() + 1], 6, axis=1)[1:-1]:
        assert part[:10].any() and part[-10:].any()
    opened.page.get_by_label("trajectory").select_option("0")


def test_keys(opened: Opened) -> None:
    opened.page.locator("#canvas").focus()
    before = opened.run("[robomorph.camera.yaw, robomorph.camera.distance]")
    opened.page.keyboard.press("ArrowLeft")
    opened.page.keyboard.press("+")
    after = opened.run("[robomorph.camera.yaw, robomorph.camera.distance]")
    assert after[0] != before[0] and after[1] < before[1]
    opened.page.keyboard.press(" ")
    opened.wait("robomorph.time() > 0")
    opened.page.keyboard.press(" ")
    assert (
        opened.run(
            "(t => new Promise(go => setTimeout(() => go(robomorph.time() - t), 200)))(robomorph.time())"
        )
        == 0
    )


def test_legend_hides_lines(opened: Opened) -> None:
    key = opened.page.locator(".key").first
    key.click()
    assert key.get_attribute("aria-pressed") == "false"
    key.click()
    assert key.get_attribute("aria-pressed") == "true"
