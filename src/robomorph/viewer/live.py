"""A page that is being served, and what a program can do with it while it is."""

from __future__ import annotations

import atexit
import html
import sys
import webbrowser
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import whole_number
from robomorph.viewer.configurations import read_q
from robomorph.viewer.exhibit import Exhibit
from robomorph.viewer.server import Server

Array = npt.NDArray[np.float64]
_HEIGHT = 560  # pixels of the page in a notebook


class Viewer:
    """A page that is being served; made by `robomorph.view`. It lives until `close`, the end of a `with`, or
    the end of the program."""

    def __init__(self, exhibit: Exhibit, port: int = 0) -> None:
        self._exhibit = exhibit
        self._session = exhibit.session()
        number = whole_number("port", port, 0, 65535)
        self._server = Server(self._session, lambda: exhibit.page(self._session), number)
        atexit.register(self.close)  # and until then it is kept: nobody need hold it

    @property
    def url(self) -> str:
        """Where the page is, with the token without which nothing is shown."""
        return self._server.url

    @property
    def q(self) -> Array:
        """(nq,) of the first robot as it is shown now; `configuration` for others."""
        return self.configuration(0)

    def configuration(self, robot: int = 0) -> Array:
        """(nq,) of the robot of that number as it is shown now."""
        return np.array(self._session.robots[self._index(robot)].q)

    @property
    def connections(self) -> int:
        """How many pages look."""
        return self._server.connections

    @property
    def closed(self) -> bool:
        return self._server.closed

    def show(self, q: npt.ArrayLike, robot: int = 0) -> None:
        """A configuration (nq,), at once; for loops. Pages that are slower than the loop skip some. It may
        lie outside the limits."""
        index = self._index(robot)
        if self.closed:
            raise ArgumentError("show: the viewer is closed: make another with robomorph.view")
        self._session.move(index, read_q(self._session.robots[index].robot, "q", q))
        self._server.moved(index)

    def save_html(self, path: str | Path) -> None:
        """One file with the robots as they are shown now and their motions, which opens without a server."""
        self._exhibit.save(path)

    def wait(self) -> None:
        """Until the viewer is closed, or the program interrupted (KeyboardInterrupt)."""
        while not self.closed:
            self._server.wait(0.2)  # in steps, so that an interrupt is heard everywhere

    def close(self) -> None:
        """Ends the page's connections, the threads and the port; it may be called twice."""
        atexit.unregister(self.close)
        self._server.close()

    def _index(self, robot: int) -> int:
        return whole_number("robot", robot, 0, len(self._session.robots) - 1)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        names = ", ".join(shown.name for shown in self._session.robots if not shown.ghost)
        return f"<Viewer of {names}: {'closed' if self.closed else self.url}>"

    def _repr_html_(self) -> str:
        if self.closed:
            return f"<p>{html.escape(repr(self))}</p>"
        return (
            f'<iframe src="{html.escape(self.url)}" title="robomorph" width="100%" height="{_HEIGHT}" '
            'style="border: 0"></iframe>'
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/html": self._repr_html_(), "text/plain": repr(self)}


def present(exhibit: Exhibit, port: Any, open_browser: Any, block: Any) -> Viewer:
    """A viewer as `robomorph.view` was asked for it."""
    for name, value in (("open_browser", open_browser), ("block", False if block is None else block)):
        if not isinstance(value, bool):
            raise ArgumentError(f"{name}: expected True or False, found {value!r}")
    viewer = Viewer(exhibit, port)
    notebook = _in_notebook()  # which shows the page in its own output
    opened = open_browser and not notebook and open_page(viewer.url)
    if open_browser and not opened and not notebook:
        sys.stderr.write(f"no browser could be opened: open {viewer.url}\n")
    if block or (block is None and opened and not _is_interactive()):
        sys.stderr.write(f"robomorph shows {viewer.url} until it is interrupted (block=False goes on)\n")
        viewer.wait()
    return viewer


def open_page(url: str) -> bool:
    """Whether a browser could be started."""
    try:
        return webbrowser.open(url)
    except (OSError, webbrowser.Error):
        return False


def _in_notebook() -> bool:
    """Is this a notebook's kernel?"""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None


def _is_interactive() -> bool:
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "IPython" in sys.modules
