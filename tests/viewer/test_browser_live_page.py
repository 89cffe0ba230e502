"""The page in live mode, with a server of a few lines in this test: what it sends, what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from robomorph.viewer.html import page_html
from robomorph.viewer.poses import sevens
from robomorph.viewer.scene import Placing, make_scene
from tests.viewer.browser import Opened, watch
from tests.viewer.scenes import motion, robot

URL = "http://127.0.0.1:1/?token=secret"
TOOL = "lbr_iiwa_link_7"
REASON = "the target is out of reach"


class Server:
    """Answers like a viewer does. A drag is not followed: the robot stays, with a reason."""

    def __init__(self) -> None:
        self.model = robot("iiwa14")
        self.start = np.array([0.0, 0.5, 0.0, -1.0, 0.0, 0.5, 0.0])
        self.q = self.start.copy()
        self.heard: list[dict[str, Any]] = []
        self.sockets: list[Any] = []

    def scene(self) -> dict[str, Any]:
        placing = Placing(self.model, self.q, frames=(TOOL,))
        return make_scene([placing], trajectories=[motion(self.model)])

    def connect(self, socket: Any) -> None:
        self.sockets.append(socket)
        socket.on_message(lambda text: self.answer(socket, json.loads(text)))

    def answer(self, socket: Any, message: dict[str, Any]) -> None:
        self.heard.append(message)
        kind = message["type"]
        if kind == "hello":
            socket.send(json.dumps({"type": "scene", "scene": self.scene()}))
            return
        if kind in ("q", "reset"):
            self.q = np.array(message["q"]) if kind == "q" else self.start.copy()
        ik = None
        if kind == "drag":
            target = [*message["position"], *(message["quaternion"] or [0, 0, 0, 1])]
            ik = {
                "success": False,
                "reason": REASON,
                "position_error": 0.25,
                "rotation_error": 0.5,
                "frame": TOOL,
            }
            ik |= {"limits": ["lbr_iiwa_joint_4 at its upper limit"], "target": target}
        state = {"index": 0, "q": self.q.tolist(), "poses": sevens(self.model.link_poses(self.q)).tolist()}
        socket.send(
            json.dumps({"type": "state", "id": message.get("id"), "robots": [state], "marks": [], "ik": ik})
        )

    def last(self, kind: str) -> dict[str, Any]:
        return [message for message in self.heard if message["type"] == kind][-1]


@pytest.fixture(scope="module")
def live(browser: Any) -> Iterator[tuple[Opened, Server]]:
    server = Server()
    context = browser.new_context(viewport={"width": 1000, "height": 640})
    page = context.new_page()
    opened = Opened(page)
    watch(opened, URL)
    text = page_html(server.scene(), live=True)
    page.route(URL, lambda route: route.fulfill(body=text, content_type="text/html; charset=utf-8"))
    page.route_web_socket("ws://127.0.0.1:1/socket?token=secret", server.connect)
    page.goto(URL)
    opened.wait("window.robomorph && window.robomorph.ready && window.robomorph.connected")
    yield opened, server
    context.close()
    assert opened.errors == [] and opened.requests == []


def until(opened: Opened, condition: Any) -> None:
    for _ in range(600):
        if condition():
            return
        opened.page.wait_for_timeout(20)
    raise AssertionError("it never came")


def positions(server: Server) -> Any:
    return server.model.link_poses(server.q)[:, :3, 3]


def test_it_says_hello_and_which_layers_are_on(live: tuple[Opened, Server]) -> None:
    opened, server = live
    until(opened, lambda: any(message["type"] == "layers" for message in server.heard))
    assert server.heard[0] == {"type": "hello"}
    assert set(server.last("layers")["on"]) == {"visual", "forces"}
    opened.page.locator("[data-layer=com]").check()
    until(opened, lambda: "com" in server.last("layers")["on"])


def test_sliders_and_numbers_move_joints(live: tuple[Opened, Server]) -> None:
    opened, server = live
    slider = opened.page.get_by_label("lbr_iiwa_joint_2, rad", exact=True)
    limits = server.model.limits
    assert float(slider.get_attribute("min")) == pytest.approx(limits.lower[1])
    slider.fill("0.9")
    until(opened, lambda: server.q[1] == pytest.approx(0.9, abs=1e-6))
    opened.drawn()
    assert np.abs(opened.poses()[:, :3] - positions(server)).max() < 1e-6
    number = opened.page.get_by_label("lbr_iiwa_joint_4, rad, as a number")
    number.fill("99")
    number.press("Enter")
    until(opened, lambda: server.q[3] == pytest.approx(limits.upper[3]))
    opened.page.get_by_role("button", name="back to the start").click()
    until(opened, lambda: bool((server.q == server.start).all()))
    until(opened, lambda: float(slider.input_value()) == pytest.approx(0.5))


def test_the_handle_is_dragged_along_an_axis(live: tuple[Opened, Server]) -> None:
    opened, server = live
    opened.page.get_by_label("frame that the handle holds").select_option(label=TOOL)
    opened.drawn()
    start = np.array(opened.run("robomorph.handle.position"))
    assert np.abs(start - server.model.forward_kinematics(server.q, TOOL)[:3, 3]).max() < 1e-6
    arm = 80 * opened.run("robomorph.camera.pixelAt(robomorph.handle.position)")
    grip, end = (opened.project(start + k * arm * np.array([0, 0, 1])) for k in (1, 3))
    mouse = opened.page.mouse
    mouse.move(*grip)
    mouse.down()
    mouse.move(*end, steps=5)
    mouse.up()
    until(opened, lambda: any(message["type"] == "drag" for message in server.heard))
    sent = server.last("drag")
    moved = np.array(sent["position"]) - start
    assert moved == pytest.approx([0, 0, 2 * arm], abs=0.03 * arm)
    assert (sent["frame"], sent["robot"]) == (TOOL, 0) and len(sent["quaternion"]) == 4


def test_why_it_cannot_follow_is_said(live: tuple[Opened, Server]) -> None:
    opened, _ = live
    words = opened.page.locator(".result").inner_text()
    for part in ("cannot follow", REASON, "0.250 m", "0.500 rad", "lbr_iiwa_joint_4 at its upper limit"):
        assert part in words


def test_position_only_sends_no_quaternion(live: tuple[Opened, Server]) -> None:
    opened, server = live
    opened.page.get_by_label("what is followed").select_option("position")
    opened.drawn()
    centre = opened.project(opened.run("robomorph.handle.position"))
    opened.page.mouse.move(*centre)
    opened.page.mouse.down()
    opened.page.mouse.move(centre[0] + 30, centre[1] + 10, steps=3)
    opened.page.mouse.up()
    until(opened, lambda: server.last("drag")["quaternion"] is None)
    opened.page.get_by_label("what is followed").select_option("pose")


def test_a_ring_turns_about_its_axis(live: tuple[Opened, Server]) -> None:
    opened, server = live
    opened.page.get_by_role("button", name="handle back to the frame").click()
    opened.run("Object.assign(robomorph.camera, {yaw: -Math.PI / 2, pitch: 1.5})")  # from above
    opened.drawn()
    start = np.array(opened.run("robomorph.handle.position"))
    size = 66 * opened.run("robomorph.camera.pixelAt(robomorph.handle.position)")
    angles = np.pi / 4, np.pi / 4 + 0.5
    grip, end = (opened.project(start + size * np.array([np.cos(a), np.sin(a), 0])) for a in angles)
    opened.page.mouse.move(*grip)
    opened.page.mouse.down()
    opened.page.mouse.move(*end, steps=4)
    opened.page.mouse.up()
    until(opened, lambda: server.last("drag")["quaternion"] is not None)
    sent = server.last("drag")
    assert sent["position"] == pytest.approx(start.tolist(), abs=1e-9)
    before = sevens(server.model.forward_kinematics(server.q, TOOL))[3:]
    assert abs(2 * np.arccos(min(1.0, abs(before @ np.array(sent["quaternion"]))))) == pytest.approx(
        0.5, abs=0.05
    )


def test_trajectories_and_the_server_take_turns(live: tuple[Opened, Server]) -> None:
    opened, server = live
    opened.run("robomorph.setTime(1.0)")
    played = opened.poses()[:, :3]
    opened.page.locator(
        "[data-layer=com]"
    ).uncheck()  # the server answers with a state in which nothing moved
    until(opened, lambda: "com" not in server.last("layers")["on"])
    opened.drawn()
    assert np.abs(opened.poses()[:, :3] - played).max() < 1e-9
    opened.page.get_by_label("lbr_iiwa_joint_2, rad", exact=True).fill("0.3")
    until(opened, lambda: np.abs(opened.poses()[:, :3] - positions(server)).max() < 1e-6)
    server.sockets[-1].send(
        json.dumps(
            {"type": "frame", "robot": 0, "poses": sevens(server.model.link_poses(server.start)).tolist()}
        )
    )
    expected = server.model.link_poses(server.start)[:, :3, 3]
    until(opened, lambda: np.abs(opened.poses()[:, :3] - expected).max() < 1e-6)


def test_errors_are_shown_as_text(live: tuple[Opened, Server]) -> None:
    opened, server = live
    server.sockets[-1].send(json.dumps({"type": "error", "id": 1, "text": "q: <b>no</b>"}))
    opened.page.get_by_text("q: <b>no</b>").wait_for()
    opened.page.get_by_role("button", name="dismiss").click()
    assert opened.page.locator(".error").count() == 0


def test_a_lost_connection_is_said_and_opened_again(live: tuple[Opened, Server]) -> None:
    opened, server = live
    count = len(server.sockets)
    server.sockets[-1].close()
    opened.page.get_by_text("is lost").wait_for()
    until(opened, lambda: len(server.sockets) > count)
    opened.page.locator("#connection").wait_for(state="hidden")
    until(opened, lambda: server.heard[-1]["type"] in ("hello", "layers"))
