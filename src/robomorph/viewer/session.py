"""The state of one live viewer: a message comes in, messages go out. No network is in it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError, RobomorphError
from robomorph.viewer.configurations import beyond_limits, read_q
from robomorph.viewer.handle import Followed, follow
from robomorph.viewer.marks import LAYERS, marks_of
from robomorph.viewer.messages import Message, Refused, read_message
from robomorph.viewer.poses import rounded, sevens
from robomorph.viewer.shown import Shown

Array = npt.NDArray[np.float64]
Answer = dict[str, Any]
_FIRST_LAYERS = frozenset({"visual", "forces"})  # on until a page says otherwise


class Session:
    """Robots with their configurations, and what pages look at. Any thread may call its methods; none of them
    holds the lock while it computes, so that a program that streams states does not wait for a search."""

    def __init__(self, robots: Sequence[Shown], scene: Callable[[], dict[str, Any]]) -> None:
        self.robots = list(robots)
        self._scene = scene
        self._lock = threading.Lock()
        self._layers: dict[Hashable, frozenset[str]] = {}
        self._chosen = [shown.frames[0] if shown.frames else None for shown in self.robots]
        self._unexplained: tuple[int, int | None, Followed] | None = None

    def answer(self, message: str | bytes | Message | Refused, page: Hashable = None) -> list[Answer]:
        """The answers to a message of a page. Whatever is wrong with it becomes an error's text."""
        read = read_message(message) if isinstance(message, (str, bytes)) else message
        if isinstance(read, Refused):
            return [_error(read.id, read.text)]
        try:
            return _HANDLERS[read.kind](self, read, page)
        except RobomorphError as error:
            return [_error(read.id, str(error))]
        except Exception as error:  # a defect, but one message shall not end the others
            return [_error(read.id, f"this is a defect in robomorph ({type(error).__name__}: {error})")]

    def explain(self) -> Answer | None:
        """The last state once more, with the reason why a drag did not succeed: it may take a second search,
        so it is asked for when nothing else is to do. None if the last drag did, or is history."""
        with self._lock:
            left, self._unexplained = self._unexplained, None
        if left is None:
            return None
        index, number, followed = left
        return self.state(number, ik=followed.words(self.robots[index].robot, explain=True))

    def forget(self, page: Hashable) -> None:
        """A page is gone."""
        with self._lock:
            self._layers.pop(page, None)

    def move(self, index: int, q: Array, failed: tuple[int, int | None, Followed] | None = None) -> None:
        """A robot's configuration (nq,), checked already. failed: a drag that did not get further."""
        with self._lock:
            self.robots[index].q = q
            self._unexplained = failed

    # --- what is sent ----------------------------------------------------------------------------------

    def scene(self) -> Answer:
        return {"type": "scene", "scene": {**self._scene(), "marks": self.state()["marks"]}}

    def state(self, number: int | None = None, ik: dict[str, Any] | None = None) -> Answer:
        """Where all robots are, and the marks of the layers that are on."""
        on = self.computed_layers
        robots, marks = [], []
        for i, shown in enumerate(self.robots):
            q = shown.q
            links = shown.robot.link_poses(q)
            if shown.ghost:
                continue
            robots.append({"index": i, "q": q.tolist(), "poses": rounded(sevens(links))})
            marks += marks_of(i, shown, q, links, on, self._chosen[i])
        return {"type": "state", "id": number, "robots": robots, "marks": marks, "ik": ik}

    def frame(self, index: int) -> Answer:
        """Where one robot is, in short."""
        shown = self.robots[index]
        return {"type": "frame", "robot": index, "poses": rounded(sevens(shown.robot.link_poses(shown.q)))}

    @property
    def computed_layers(self) -> frozenset[str]:
        """Layers that some page shows and that change with the configuration."""
        with self._lock:
            on = frozenset().union(*self._layers.values()) if self._layers else _FIRST_LAYERS
        forces = any(shown.f_ext for shown in self.robots)
        return frozenset(name for name in LAYERS if name in on and (name != "forces" or forces))

    # --- what pages say ---------------------------------------------------------------------------------

    def _hello(self, message: Message, page: Hashable) -> list[Answer]:
        with self._lock:
            self._layers.setdefault(page, _FIRST_LAYERS)
        return [self.scene()]

    def _q(self, message: Message, page: Hashable) -> list[Answer]:
        shown = self._movable(message.robot)
        q = read_q(shown.robot, "q", np.array(message.q))
        wrong = beyond_limits(shown.robot, q, shown.q)
        if wrong is not None:
            raise ArgumentError(wrong)
        self.move(message.robot, q)
        return [self.state(message.id)]

    def _drag(self, message: Message, page: Hashable) -> list[Answer]:
        shown = self._movable(message.robot)
        turn = None if message.quaternion is None else np.array(message.quaternion)
        followed = follow(shown, message.frame, np.array(message.position), turn)
        done = bool(followed.result.success)
        self._chosen[message.robot] = message.frame
        self.move(message.robot, followed.q, None if done else (message.robot, message.id, followed))
        return [self.state(message.id, ik=followed.words(shown.robot))]

    def _on(self, message: Message, page: Hashable) -> list[Answer]:
        with self._lock:
            self._layers[page] = message.layers
        return [{**self.state(message.id), "robots": []}]  # nobody moved: a motion that plays goes on

    def _reset(self, message: Message, page: Hashable) -> list[Answer]:
        for i, shown in enumerate(self.robots):
            self.move(i, shown.start.copy())
        return [self.state(message.id)]

    def _movable(self, index: int) -> Shown:
        if not 0 <= index < len(self.robots):
            raise ArgumentError(f"robot: expected 0 to {len(self.robots) - 1}, found {index}")
        shown = self.robots[index]
        if shown.ghost:
            raise ArgumentError(f"robot: {index} is a ghost of {shown.robot.name}, which cannot be moved")
        return shown


def _error(number: int | None, text: str) -> Answer:
    return {"type": "error", "id": number, "text": text}


_HANDLERS: dict[str, Callable[[Session, Message, Hashable], list[Answer]]] = {
    "hello": Session._hello,
    "q": Session._q,
    "drag": Session._drag,
    "layers": Session._on,
    "reset": Session._reset,
}
