"""The live viewer's server: the page and its socket on one port of this computer, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from robomorph.errors import TargetError
from robomorph.viewer.guard import Guard

try:
    from websockets.asyncio.server import ServerConnection, serve
    from websockets.datastructures import Headers
    from websockets.http11 import Request, Response

    from robomorph.viewer.client import Client, encode
except ImportError as error:
    raise TargetError(f"the live viewer needs websockets: pip install 'robomorph[view]' ({error})") from error

if TYPE_CHECKING:
    from robomorph.viewer.session import Answer, Session

HOST = "127.0.0.1"
_LARGEST_MESSAGE = 16 * 2**20  # bytes; longer ones end their connection, those too long to be read an error
_FRAME_S = 1 / 120  # frames are not sent more often
_SETTLE_S = 0.25  # after frames a whole state is sent, so that sliders agree with what is seen
_CLOSE_S = 1.0  # that a page is given to say goodbye
_LOGGER = logging.getLogger("robomorph.viewer")
_LOGGER.addHandler(logging.NullHandler())


class Server:
    """Serves a session until `close`. page: gives the text of the page as things are."""

    def __init__(self, session: Session, page: Callable[[], str], port: int = 0) -> None:
        self.session, self._page = session, page
        self._clients: set[Client] = set()
        self._moved: set[int] = set()  # robots that moved since the last frame
        self._scheduled = False
        self._settling = False
        self._lock = threading.Lock()
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="robomorph-viewer-work")
        started: Future[int] = Future()
        self._thread = threading.Thread(
            target=self._run, args=(port, started), name="robomorph-viewer", daemon=True
        )
        self._thread.start()
        try:
            started.result()
        except OSError as error:
            self._worker.shutdown()
            raise _port_error(port, error) from error

    @property
    def url(self) -> str:
        return self._guard.url

    @property
    def port(self) -> int:
        return self._guard.port

    @property
    def connections(self) -> int:
        return len(self._clients)

    def moved(self, index: int) -> None:
        """A robot moved by the program's doing: pages are told soon, of the latest only."""
        with self._lock:
            self._moved.add(index)
            if self._scheduled or self._stop.is_set():
                return
            self._scheduled = True
        self._in_loop(self._send_frames)

    def close(self) -> None:
        """Ends all connections, the threads and the port; may be called twice."""
        with self._lock:
            running = not self._loop.is_closed()
        if running:
            self._in_loop(self._stop.set)
        self._thread.join()
        self._worker.shutdown()

    def wait(self, seconds: float | None = None) -> None:
        """Until it is closed."""
        self._thread.join(seconds)

    @property
    def closed(self) -> bool:
        return not self._thread.is_alive()

    # --- in the server's thread -------------------------------------------------------------------------

    def _in_loop(self, call: Callable[[], Any]) -> None:
        with contextlib.suppress(RuntimeError):  # closed meanwhile
            self._loop.call_soon_threadsafe(call)

    def _run(self, port: int, started: Future[int]) -> None:
        try:
            asyncio.run(self._serve(port, started))
        except BaseException as error:
            if not started.done():
                started.set_exception(error)
            else:
                raise

    async def _serve(self, port: int, started: Future[int]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = serve(
            self._connected,
            HOST,
            port,
            process_request=self._requested,
            compression=None,  # on one computer it costs more than it saves
            max_size=_LARGEST_MESSAGE,
            close_timeout=_CLOSE_S,
            logger=_LOGGER,
        )
        async with server as running:
            self._guard = Guard(next(iter(running.sockets)).getsockname()[1])
            started.set_result(self._guard.port)
            await self._stop.wait()

    async def _requested(self, connection: ServerConnection, request: Request) -> Response | None:
        """The page, a refusal, or None for the socket."""
        refused = self._guard.refusal(request)
        if refused is not None:
            return _response(*refused, "text/plain")
        if self._guard.wants_page(request):
            text = await self._loop.run_in_executor(self._worker, self._page)
            return _response(HTTPStatus.OK, text, "text/html")
        return None

    async def _connected(self, socket: ServerConnection) -> None:
        client = Client(socket, self.session, self._worker, self._tell_others)
        self._clients.add(client)
        try:
            await client.run()
        finally:
            self._clients.discard(client)

    def _tell_others(self, teller: Client, state: Answer) -> None:
        if len(self._clients) > 1:
            text = encode({**state, "id": None})
            for client in self._clients - {teller}:
                client.post("state", text)

    def _send_frames(self) -> None:
        with self._lock:
            moved, self._moved = self._moved, set()
        if moved and self._clients:
            if self.session.computed_layers:  # marks move, too
                self._post("state", self.session.state())
            else:
                for index in moved:
                    self._post(f"frame {index}", self.session.frame(index))
                self._settle_later()
        self._loop.call_later(_FRAME_S, self._frames_sent)

    def _frames_sent(self) -> None:
        with self._lock:
            self._scheduled = bool(self._moved)
        if self._scheduled:
            self._send_frames()

    def _settle_later(self) -> None:
        if not self._settling:
            self._settling = True
            self._loop.call_later(_SETTLE_S, self._settle)

    def _settle(self) -> None:
        self._settling = False
        self._post("state", self.session.state())

    def _post(self, slot: str, answer: Answer) -> None:
        text = encode(answer)
        for client in self._clients:
            client.post(slot, text)


def _response(status: HTTPStatus, text: str, kind: str) -> Response:
    body = text.encode()
    headers = Headers(
        [
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Connection", "close"),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("Referrer-Policy", "no-referrer"),
        ]
    )
    return Response(status.value, status.phrase, headers, body)


def _port_error(port: int, error: OSError) -> TargetError:
    if error.errno == errno.EADDRINUSE:
        return TargetError(f"port {port} is in use: choose another, or 0 for any that is free")
    return TargetError(f"port {port} of {HOST} cannot be opened: {error.strerror or error}")
