"""Who may look: the page's own address, with its token, asked for from this computer."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from websockets.http11 import Request

_NAMES = ("127.0.0.1", "localhost")


@dataclass
class Guard:
    """The token is made anew for every viewer. A page of another site that has its name resolve to this
    computer (DNS rebinding) still says its own name in Host and Origin."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18))

    @property
    def url(self) -> str:
        return f"http://{_NAMES[0]}:{self.port}/?token={self.token}"

    def refusal(self, request: Request) -> tuple[HTTPStatus, str] | None:
        """Why a request is not answered; None if it is."""
        hosts = [f"{name}:{self.port}" for name in _NAMES]
        if self.port == 80:
            hosts += _NAMES
        if request.headers.get_all("Host") not in ([host] for host in hosts):
            return HTTPStatus.FORBIDDEN, "This viewer answers to its own address only."
        if any(
            origin not in [f"http://{host}" for host in hosts] for origin in request.headers.get_all("Origin")
        ):
            return HTTPStatus.FORBIDDEN, "This viewer answers to its own page only."
        parts = urlsplit(request.path)
        if parts.path not in ("/", "/socket"):
            return HTTPStatus.NOT_FOUND, "There is nothing here."
        given = parse_qs(parts.query).get("token", [""])
        if len(given) != 1 or not hmac.compare_digest(given[0].encode(), self.token.encode()):
            return HTTPStatus.FORBIDDEN, "Use the whole address that the program printed, with its token."
        return None

    def wants_page(self, request: Request) -> bool:
        return urlsplit(request.path).path == "/"
