"""One page's connection: messages wait in a box that keeps only the latest of a drag, and what is streamed
replaces what a slow page has not taken yet."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from websockets.exceptions import ConnectionClosed

from robomorph.viewer.messages import Message, Refused, read_message

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from websockets.asyncio.server import ServerConnection

    from robomorph.viewer.session import Answer, Session

_MOST_WAITING = 64  # messages; a page that sends more is read no further until some are answered
_IDLE_S = 0.15  # without a message before a reason is worked out


def encode(answer: Answer) -> str:
    """As it is sent."""
    return json.dumps(answer, separators=(",", ":"), allow_nan=False)


class Mailbox:
    """Messages in the order of their arrival; one makes those stale that have its key."""

    def __init__(self) -> None:
        self._waiting: list[Message | Refused] = []
        self._room = asyncio.Event()
        self._room.set()

    def __len__(self) -> int:
        return len(self._waiting)

    async def put(self, message: Message | Refused) -> None:
        if message.key is not None:
            self._waiting = [other for other in self._waiting if other.key != message.key]
        await self._room.wait()
        self._waiting.append(message)
        self._update()

    def take(self) -> Message | Refused:
        message = self._waiting.pop(0)
        self._update()
        return message

    def _update(self) -> None:
        (self._room.clear if len(self._waiting) >= _MOST_WAITING else self._room.set)()


class Client:
    """A page. `tell` is called with every state that others should see, too."""

    def __init__(
        self,
        socket: ServerConnection,
        session: Session,
        worker: Executor,
        tell: Callable[[Client, Answer], None],
    ) -> None:
        self._socket, self._session, self._worker, self._tell = socket, session, worker, tell
        self._mailbox = Mailbox()
        self._slots: dict[str, str] = {}  # what is streamed, by what it replaces
        self._wake = asyncio.Event()
        self._puzzled = False  # a drag did not succeed, and why is not said yet

    async def run(self) -> None:
        """Until the page is gone."""
        writer = asyncio.ensure_future(self._write())
        try:
            await self._read()
        except ConnectionClosed:
            pass
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            self._session.forget(self)

    def post(self, slot: str, text: str) -> None:
        """Send this when the page is ready for it, unless something newer takes its place by then."""
        self._slots.pop(slot, None)
        self._slots[slot] = text
        self._wake.set()

    async def _read(self) -> None:
        async for text in self._socket:
            await self._mailbox.put(read_message(text))
            self._wake.set()

    async def _write(self) -> None:
        try:
            while True:
                await self._wait()
                while self._mailbox:
                    await self._answer(self._mailbox.take())
                while self._slots:
                    await self._socket.send(self._slots.pop(next(iter(self._slots))))
        except ConnectionClosed:
            pass
        except RuntimeError:  # the worker is gone: the viewer is being closed
            await self._socket.close()

    async def _wait(self) -> None:
        """Until there is something to do; a reason that is missing is worked out if it takes long."""
        while not self._wake.is_set():
            try:
                await asyncio.wait_for(self._wake.wait(), _IDLE_S if self._puzzled else None)
            except asyncio.TimeoutError:
                self._puzzled = False
                await self._explain()
        self._wake.clear()

    async def _answer(self, message: Message | Refused) -> None:
        answers, texts = await self._work(self._answered, message)
        for answer, text in zip(answers, texts, strict=True):
            await self._socket.send(text)
            if answer["type"] == "state":
                self._puzzled = answer["ik"] is not None and not answer["ik"]["success"]
                self._tell(self, answer)

    def _answered(self, message: Message | Refused) -> tuple[list[Answer], list[str]]:
        answers = self._session.answer(message, self)
        return answers, [encode(answer) for answer in answers]

    async def _explain(self) -> None:
        answer = await self._work(self._session.explain)
        if answer is not None:
            await self._socket.send(encode(answer))

    async def _work(self, call: Callable[..., Any], *args: Any) -> Any:
        """In the viewer's own thread: compiling a kernel takes longer than the network may wait."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, call, *args)
