"""A page without a browser: a client of the live socket."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect


def socket_url(url: str) -> str:
    """Of the page at `url`."""
    parts = urlsplit(url)
    return f"ws://{parts.netloc}/socket?{parts.query}"


class Page:
    """Says and hears messages as a page does."""

    def __init__(self, url: str, **options: Any) -> None:
        address = (urlsplit(url).hostname, urlsplit(url).port or 80)  # straight there: proxies are for others
        own = socket.create_connection(address)
        self.socket: ClientConnection = connect(
            socket_url(url), sock=own, max_size=None, compression=None, **options
        )

    def say(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def hear(self, seconds: float = 30.0) -> dict[str, Any]:
        return dict(json.loads(self.socket.recv(timeout=seconds)))

    def ask(self, **message: Any) -> dict[str, Any]:
        self.say(**message)
        return self.hear()

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()


def fetched(url: str, **headers: str) -> tuple[int, str]:
    """Status and text of a request."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
