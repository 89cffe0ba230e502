"""The live viewer over a real socket: who may look, odd messages, slow pages, and what is left behind."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

import robomorph
from robomorph import ArgumentError, TargetError
from robomorph.viewer.client import Mailbox
from robomorph.viewer.live import Viewer
from robomorph.viewer.messages import Message, Refused
from tests.soak.test_soak import native_threads, resident, settled_threads
from tests.viewer.page import Page, fetched, socket_url
from tests.viewer.robots import TOOL, bent, loaded, pose_by_pinocchio


@pytest.fixture
def viewer() -> Iterator[Viewer]:
    with robomorph.view(loaded("iiwa14"), q=bent("iiwa14"), open_browser=False) as found:
        yield found


def until(holds: Callable[[], bool], seconds: float = 10.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if holds():
            return True
        time.sleep(0.01)
    return False


def test_a_page_is_greeted_and_answered(viewer: Viewer) -> None:
    with Page(viewer.url) as page:
        scene = page.ask(type="hello")["scene"]
        assert scene["robots"][0]["links"] == list(loaded("iiwa14").link_names)
        place = [0.45, 0.1, 0.55]
        state = page.ask(type="drag", id=4, robot=0, frame=TOOL["iiwa14"], position=place, quaternion=None)
        assert state["id"] == 4 and state["ik"]["success"]
        q = state["robots"][0]["q"]
        np.testing.assert_allclose(pose_by_pinocchio("iiwa14", q, TOOL["iiwa14"])[:3, 3], place, atol=1.1e-5)
        np.testing.assert_array_equal(viewer.q, q)


def test_the_page_itself_is_served(viewer: Viewer) -> None:
    status, text = fetched(viewer.url)
    assert status == 200 and text.startswith("<!") and "Content-Security-Policy" in text
    viewer.show(bent("iiwa14") + 0.01)
    assert fetched(viewer.url)[1] != text  # as things are now


def test_others_are_refused(viewer: Viewer) -> None:
    bare, port = viewer.url.split("?")[0], viewer.url.split(":")[2].split("/")[0]
    assert fetched(bare)[0] == 403
    assert fetched(f"{bare}?token=wrong")[0] == 403
    assert fetched(f"{viewer.url}&token=x")[0] == 403
    assert fetched(f"{bare}secret")[0] == 404
    assert fetched(viewer.url, Host="evil.example")[0] == 403  # a name that was made to mean this computer
    assert fetched(viewer.url, Host=f"evil.example:{port}")[0] == 403
    assert fetched(viewer.url, Host=f"localhost:{port}")[0] == 200
    assert fetched(viewer.url, Origin="http://evil.example")[0] == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "file://"])
def test_pages_of_others_get_no_socket(viewer: Viewer, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        Page(viewer.url, origin=origin)
    assert refused.value.response.status_code == 403


def test_sockets_without_the_token_are_refused(viewer: Viewer) -> None:
    for url in (viewer.url.split("?")[0], viewer.url[:-1]):
        with pytest.raises(InvalidStatus) as refused:
            Page(url)
        assert refused.value.response.status_code == 403
    own = viewer.url.split("/?")[0]
    Page(viewer.url, origin=own).socket.close()


def test_it_listens_on_this_computer_only(viewer: Viewer) -> None:
    port = int(viewer.url.split(":")[2].split("/")[0])
    others = {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in map(str, others - {"127.0.0.1", "127.0.1.1"}):
        with pytest.raises(OSError):
            socket.create_connection((address, port), timeout=1.0)


def test_odd_messages_do_not_end_the_connection(viewer: Viewer) -> None:
    with Page(viewer.url) as page:
        for text in ("nonsense", "x" * 10_000_000, b"\x00" * 100, "[" * 200_000, '{"type": "drag"}', "{}"):
            page.socket.send(text)
            assert page.hear()["type"] == "error"
        assert page.ask(type="reset", id=1)["type"] == "state"


def test_a_message_beyond_all_measure_ends_its_own_connection_only(viewer: Viewer) -> None:
    with Page(viewer.url) as other, Page(viewer.url) as page:
        with pytest.raises(ConnectionClosed):
            page.socket.send("x" * 20_000_000)
            page.hear()
        assert other.ask(type="reset")["type"] == "state"


def test_noise_on_the_port_is_survived(viewer: Viewer) -> None:
    address = ("127.0.0.1", int(viewer.url.split(":")[2].split("/")[0]))
    for data in (
        b"",
        b"\x16\x03\x01" * 40,
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\n",
    ):
        with socket.create_connection(address, timeout=5.0) as raw:
            raw.sendall(data)
    assert fetched(viewer.url)[0] == 200


def alone(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    """In a thread of its own: a browser in the same run has a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(work())).result()


def test_drags_that_are_stale_are_not_answered() -> None:
    async def waiting() -> list[Message | Refused]:
        box = Mailbox()
        for k in range(1000):
            await box.put(Message("drag", k, 0))
            await box.put(Message("drag", k, 1))
        await box.put(Message("reset", 7))
        await box.put(Message("q", 8, 0))
        return [box.take() for _ in range(len(box))]

    left = alone(waiting)
    assert [(m.id, m.key) for m in left] == [(999, ("drag", 0)), (999, ("drag", 1)), (7, None), (8, ("q", 0))]


def test_a_page_that_floods_is_read_no_further() -> None:
    async def full() -> int:
        box = Mailbox()
        with pytest.raises(asyncio.TimeoutError):
            for _ in range(1000):
                await asyncio.wait_for(box.put(Refused("x")), 0.05)
        return len(box)

    assert alone(full) == 64


def test_the_latest_drag_is_answered(viewer: Viewer) -> None:
    with Page(viewer.url) as page:
        for k in range(300):
            place = [0.4, 0.001 * k, 0.6]
            page.say(type="drag", id=k, robot=0, frame=TOOL["iiwa14"], position=place, quaternion=None)
        ids: list[int] = []
        while not ids or ids[-1] != 299:
            state = page.hear()
            ids.append(state["id"])
        assert ids == sorted(set(ids))
        found = pose_by_pinocchio("iiwa14", state["robots"][0]["q"], TOOL["iiwa14"])[:3, 3]
        np.testing.assert_allclose(found, [0.4, 0.299, 0.6], atol=1.1e-5)


def test_the_reason_follows_when_nothing_else_is_to_do(viewer: Viewer) -> None:
    with Page(viewer.url) as page:
        far = {"robot": 0, "frame": TOOL["iiwa14"], "position": [2.0, 0.0, 0.5], "quaternion": None}
        first = page.ask(type="drag", id=1, **far)
        assert first["ik"]["reason"].startswith("does not follow")
        later = page.hear()
        assert later["id"] == 1 and later["ik"]["reason"].startswith("out of reach")


def test_all_pages_see_the_same(viewer: Viewer) -> None:
    with Page(viewer.url) as one, Page(viewer.url) as other:
        one.ask(type="hello"), other.ask(type="hello")
        state = one.ask(type="q", id=3, robot=0, q=(bent("iiwa14") + 0.02).tolist())
        seen = other.hear()
        assert seen["id"] is None and seen["robots"] == state["robots"]


# --- streaming ---------------------------------------------------------------------------------------


def test_shown_states_arrive_and_settle(viewer: Viewer) -> None:
    with Page(viewer.url) as page:
        page.ask(type="hello")
        q = bent("iiwa14") + 0.05
        viewer.show(q)
        frame = page.hear()
        assert frame["type"] == "frame" and frame["robot"] == 0
        theirs = pose_by_pinocchio("iiwa14", q, TOOL["iiwa14"])[:3, 3]
        place = loaded("iiwa14").link_names.index(TOOL["iiwa14"])
        np.testing.assert_allclose(frame["poses"][place][:3], theirs, atol=1e-6)
        state = page.hear()  # so that sliders agree with what is seen
        assert state["type"] == "state" and state["robots"][0]["q"] == q.tolist()


def test_marks_move_with_what_is_streamed(viewer: Viewer) -> None:
    with Page(viewer.url) as page:
        page.ask(type="hello")
        page.ask(type="layers", on=["com"])
        viewer.show(bent("iiwa14") + 0.05)
        state = page.hear()
        assert state["type"] == "state" and state["marks"][0]["layer"] == "com" and state["id"] is None


def test_show_takes_no_wrong_states(viewer: Viewer) -> None:
    for q in (np.zeros(6), np.full(7, np.nan), ["a"] * 7, None):
        with pytest.raises(ArgumentError, match="q: expected"):
            viewer.show(q)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="robot: expected a whole number from 0 to 0"):
        viewer.show(bent("iiwa14"), robot=1)
    viewer.show(np.full(7, 9.0))  # outside the limits: a viewer shows what is, not what should be
    viewer.close()
    with pytest.raises(ArgumentError, match="the viewer is closed"):
        viewer.show(bent("iiwa14"))


def test_slow_pages_miss_frames_and_the_program_does_not_wait(viewer: Viewer) -> None:
    """One page reads nothing while 2,000 states are shown; what waits for it stays small."""
    slow = socket.create_connection(("127.0.0.1", int(viewer.url.split(":")[2].split("/")[0])))
    path = socket_url(viewer.url).split("/", 3)[3]
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    lines = [f"GET /{path} HTTP/1.1", f"Host: {viewer.url.split('/')[2]}", "Upgrade: websocket"]
    lines += ["Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + "A" * 22 + "=="]
    slow.sendall("\r\n".join([*lines, "", ""]).encode())
    with Page(viewer.url) as page:
        page.ask(type="hello")
        assert until(lambda: viewer.connections == 2)
        q = bent("iiwa14")
        for k in range(2000):
            viewer.show(q + 1e-4 * k)
        while True:
            heard = page.hear()
            if heard["type"] == "state" and heard["robots"][0]["q"] == (q + 1e-4 * 1999).tolist():
                break
        waiting = [len(client._slots) for client in viewer._server._clients]
        assert max(waiting) <= 2
    slow.close()
    assert until(lambda: viewer.connections == 0)


def test_a_program_that_streams_does_not_wait_for_a_search(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search that takes a second (as one that is compiled does) holds up neither frames nor pages."""
    begun, go = threading.Event(), threading.Event()

    def slowly(*args: Any, **options: Any) -> Any:
        begun.set()
        go.wait(10.0)
        raise ArgumentError("enough")

    monkeypatch.setattr("robomorph.viewer.session.follow", slowly)
    with Page(viewer.url) as dragging, Page(viewer.url) as looking:
        looking.ask(type="hello")
        dragging.say(type="drag", id=1, frame=TOOL["iiwa14"], position=[0.4, 0, 0.6], quaternion=None)
        assert begun.wait(10.0)
        viewer.show(bent("iiwa14") + 0.03)
        assert looking.hear(5.0)["type"] == "frame"
        go.set()
        assert until(lambda: dragging.hear()["type"] == "error")


# --- closing -----------------------------------------------------------------------------------------


def test_closing_ends_pages_threads_and_port() -> None:
    threads = native_threads()
    viewer = robomorph.view(loaded("iiwa14"), open_browser=False)
    page = Page(viewer.url)
    page.ask(type="hello")
    viewer.close()
    viewer.close()
    assert viewer.closed and repr(viewer) == "<Viewer of iiwa14: closed>"
    with pytest.raises(ConnectionClosed):
        page.hear()
    page.socket.close()
    with pytest.raises(OSError):
        fetched(viewer.url)
    assert settled_threads(threads) <= threads
    viewer.wait()


def test_ports() -> None:
    with robomorph.view(loaded("iiwa14"), open_browser=False) as viewer:
        port = int(viewer.url.split(":")[2].split("/")[0])
        with pytest.raises(TargetError, match=f"port {port} is in use: choose another"):
            robomorph.view(loaded("iiwa14"), port=port, open_browser=False)
    with robomorph.view(loaded("iiwa14"), port=port, open_browser=False) as again:
        assert f":{port}/" in again.url
    for wrong in (-1, 65536, "80", True, 1.5):
        with pytest.raises(ArgumentError, match="port: expected a whole number from 0 to 65535"):
            robomorph.view(loaded("iiwa14"), port=wrong, open_browser=False)  # type: ignore[arg-type]


def come_and_go(url: str, times: int) -> None:
    """Pages that say hello, drag and leave: some with a goodbye, some without."""
    for k in range(times):
        page = Page(url)
        page.say(type="hello")
        page.say(
            type="drag", id=k, frame=TOOL["iiwa14"], position=[0.4, 0.001 * (k % 50), 0.6], quaternion=None
        )
        if k % 3:
            assert page.hear()["type"] == "scene"
        if k % 2:
            page.socket.close()
        else:
            page.socket.socket.shutdown(socket.SHUT_RDWR)  # a browser that was killed
            page.socket.close()


def nothing_is_left(viewer: Viewer, times: int, growth: float) -> None:
    come_and_go(viewer.url, 20)
    assert until(lambda: viewer.connections == 0)
    gc.collect()
    threads, memory = native_threads(), resident()
    tasks = len(asyncio.all_tasks(viewer._server._loop))
    come_and_go(viewer.url, times)
    assert until(lambda: viewer.connections == 0)
    assert until(lambda: len(asyncio.all_tasks(viewer._server._loop)) <= tasks)
    gc.collect()
    assert settled_threads(threads) <= threads
    assert viewer._session._layers == {}
    assert resident() - memory < growth
    with Page(viewer.url) as page:
        assert page.ask(type="hello")["type"] == "scene"


def test_pages_come_and_go_and_leave_nothing(viewer: Viewer) -> None:
    nothing_is_left(viewer, 50, 16 * 2**20)


@pytest.mark.slow
def test_a_thousand_pages_leave_nothing(viewer: Viewer) -> None:
    nothing_is_left(viewer, 1000, 16 * 2**20)


def test_many_pages_at_once(viewer: Viewer) -> None:
    pages = [Page(viewer.url) for _ in range(40)]
    assert viewer.connections == 40
    for page in pages:
        page.say(type="hello")
    for page in pages:
        assert page.hear()["type"] == "scene"
    viewer.close()
    for page in pages:
        page.socket.close()


def test_a_program_that_ends_ends_its_viewer() -> None:
    code = (
        "import robomorph\nv = robomorph.view(robomorph.load('chain:2'), open_browser=False)\n"
        "v.show([0.1, 0.2])\nprint(v.url)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("http://127.0.0.1:")


def test_without_websockets_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['websockets'] = None\nimport robomorph\n"
        "try: robomorph.view(robomorph.load('chain:2'), open_browser=False)\n"
        "except robomorph.TargetError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "needs websockets: pip install 'robomorph[view]'" in done.stdout, done.stderr


def test_states_are_json_without_nan(viewer: Viewer) -> None:
    with Page(viewer.url) as page:
        page.say(type="hello")
        text = page.socket.recv(timeout=10.0)
        json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in the scene"))
