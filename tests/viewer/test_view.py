"""`robomorph.view` as programs and notebooks use it."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.viewer import Trajectory, Viewer, live
from robomorph.viewer.exhibit import make_exhibit
from tests.viewer.robots import TOOL, bent, loaded
from tests.viewer.test_command import scene_of

TIMES = np.array([0.0, 0.5])


def still(name: str) -> Trajectory:
    return Trajectory(TIMES, np.tile(bent(name), (2, 1)), name=name)


def test_names_and_their_words() -> None:
    assert "view" in dir(robomorph) and inspect.isfunction(robomorph.view)
    assert robomorph.viewer.__name__ == "robomorph.viewer"
    assert set(robomorph.viewer.__all__) == {"Trajectory", "Viewer"}
    names = list(inspect.signature(robomorph.view).parameters)
    assert names[:2] == ["robot", "trajectory"]
    assert {"q", "frames", "f_ext", "ghosts", "port", "open_browser", "block"} <= set(names)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        robomorph.viewer.nothing  # noqa: B018


def test_loading_a_robot_loads_no_viewer() -> None:
    code = "import sys, robomorph; robomorph.load; robomorph.view; print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    loaded_modules = done.stdout
    for name in ("asyncio", "websockets", "robomorph.viewer.server", "robomorph.mpc", "robomorph.planning"):
        assert f"'{name}'" not in loaded_modules


def test_a_viewer_shows_and_saves(tmp_path: Path) -> None:
    with robomorph.view(loaded("iiwa14"), still("iiwa14"), open_browser=False) as viewer:
        assert isinstance(viewer, Viewer)
        np.testing.assert_array_equal(viewer.q, bent("iiwa14"))  # where its motion begins
        viewer.q[0] = 9.0  # a copy
        np.testing.assert_array_equal(viewer.q, bent("iiwa14"))
        viewer.show(bent("iiwa14") + 0.1)
        viewer.save_html(tmp_path / "page.html")
        scene = scene_of(tmp_path / "page.html")
        np.testing.assert_array_equal(scene["robots"][0]["q"], bent("iiwa14") + 0.1)
        assert [motion["name"] for motion in scene["trajectories"]] == ["iiwa14"]
        assert {mark["layer"] for mark in scene["marks"]} == {"com", "manipulability"}
        before = (tmp_path / "page.html").read_text()
        with pytest.raises(ArgumentError, match=r"ending in \.html, found 'page.png'"):
            viewer.save_html(tmp_path / "page.png")
        with pytest.raises(OSError):
            viewer.save_html(tmp_path / "nowhere" / "page.html")
        assert os.listdir(tmp_path) == ["page.html"] and (tmp_path / "page.html").read_text() == before


def test_notebooks_show_the_page(viewer_of_arm: Viewer) -> None:
    text = viewer_of_arm._repr_html_()
    assert text.startswith(f'<iframe src="{viewer_of_arm.url}"')
    bundle = viewer_of_arm._repr_mimebundle_()
    assert bundle == {"text/html": text, "text/plain": repr(viewer_of_arm)}
    viewer_of_arm.close()
    assert "closed" in viewer_of_arm._repr_html_() and "iframe" not in viewer_of_arm._repr_html_()


@pytest.fixture
def viewer_of_arm() -> Any:
    with robomorph.view(loaded("iiwa14"), open_browser=False) as viewer:
        yield viewer


def _opened(urls: list[str], url: str) -> bool:
    urls.append(url)
    return True


def test_browsers_are_opened_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", partial(_opened, opened))
    viewer = robomorph.view(loaded("iiwa14"), block=False)
    assert opened == [viewer.url]
    viewer.close()
    waited: list[Viewer] = []
    monkeypatch.setattr(live.Viewer, "wait", lambda self: waited.append(self))
    monkeypatch.setattr(live, "_is_interactive", lambda: False)
    for block, count in ((None, 1), (True, 2), (False, 2)):
        robomorph.view(loaded("iiwa14"), block=block).close()
        assert len(waited) == count
    robomorph.view(loaded("iiwa14"), open_browser=False).close()  # nobody could see it yet: goes on
    assert len(waited) == 2
    monkeypatch.setattr(live, "_is_interactive", lambda: True)
    robomorph.view(loaded("iiwa14")).close()
    assert len(waited) == 2


def test_without_a_browser_the_address_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(url: str) -> bool:
        raise OSError("no display")

    monkeypatch.setattr("webbrowser.open", none)
    with robomorph.view(loaded("iiwa14")) as viewer:
        assert f"open {viewer.url}" in capsys.readouterr().err


def test_wait_ends_when_the_viewer_is_closed(viewer_of_arm: Viewer) -> None:
    threading.Timer(0.3, viewer_of_arm.close).start()
    viewer_of_arm.wait()
    assert viewer_of_arm.closed


def test_several_robots_motions_and_ghosts() -> None:
    arm, dog = loaded("iiwa14"), loaded("hyq")
    exhibit = make_exhibit([arm, dog], [None, still("hyq")], ghosts=[bent("iiwa14"), (dog, bent("hyq"))])
    assert [shown.ghost for shown in exhibit.shown] == [False, False, True, True]
    assert [(index, motion.name) for index, motion in exhibit.motions] == [(1, "hyq")]
    np.testing.assert_array_equal(exhibit.shown[1].q, bent("hyq"))
    both = make_exhibit(arm, [still("iiwa14"), (TIMES, np.zeros((2, 7)))])
    assert [index for index, _ in both.motions] == [0, 0]
    assert len(json.dumps(exhibit.document())) > 1000
    plain = make_exhibit(arm, [[0.0] * 7, [0.1] * 7], rate=10.0)
    np.testing.assert_allclose(plain.motions[0][1].times, [0.0, 0.1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"robot": "iiwa14"}, "robot: expected one for a robot, or a list, found str"),
        ({"robot": []}, "robot: expected one for a robot, or a list, found none"),
        ({"robot": [1]}, "expected what robomorph.load gives, found int"),
        ({"q": np.zeros(3)}, r"q: expected \(7,\)"),
        ({"robot": "two", "q": [np.zeros(7)]}, "one configuration for each of 2 robots, found 1"),
        ({"robot": "two", "trajectory": [None]}, r"one \(or None\) for each of 2 robots, found 1"),
        ({"trajectory": 3}, "expected a Trajectory, a plan"),
        ({"trajectory": "none.txt"}, "ending in"),
        ({"rate": 10.0}, "rate: expected with a trajectory"),
        ({"ghosts": [None]}, "ghosts: expected configurations"),
        ({"ghosts": [np.zeros(2)]}, r"q: expected \(7,\)"),
        ({"move_base": 1}, "move_base: expected True or False"),
        ({"open_browser": "no"}, "open_browser: expected True or False"),
        ({"block": "no"}, "block: expected True or False"),
        ({"frames": ["tool"]}, "no link or frame called 'tool'"),
        ({"f_ext": {TOOL["iiwa14"]: [1.0]}}, r"expected \(6,\)"),
    ],
)
def test_wrong_words_are_refused(words: dict[str, Any], said: str) -> None:
    threads = threading.active_count()
    robots = {"two": [loaded("iiwa14"), loaded("iiwa14")]}
    given = {"robot": loaded("iiwa14"), "open_browser": False, **words}
    if isinstance(given["robot"], str):
        given["robot"] = robots.get(given["robot"], given["robot"])
    with pytest.raises(ArgumentError, match=said):
        robomorph.view(**given)
    assert threading.active_count() == threads
