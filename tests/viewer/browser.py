"""A browser for tests of the viewer's page: the system's Chromium, driven by playwright, without network."""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

CHROMIUM = "/usr/bin/chromium"
_ARGUMENTS = (
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
_LONGEST = 60.0  # s that a wait may take, for machines that do other things as well
_REST = 450  # ms, longer than the page's own rest before fine pictures
_DECODE = """async data => {
  const image = new Image();
  image.src = 'data:image/png;base64,' + data;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const pen = canvas.getContext('2d');
  pen.drawImage(image, 0, 0);
  const bytes = pen.getImageData(0, 0, image.width, image.height).data;
  let text = '';
  for (let k = 0; k < bytes.length; k += 32768) text += String.fromCharCode(...bytes.subarray(k, k + 32768));
  return [image.height, image.width, btoa(text)];
}"""


def _missing(reason: str) -> None:
    """Skip; fail where a browser is required."""
    if os.environ.get("ROBOMORPH_REQUIRE_BROWSER"):
        pytest.fail(f"ROBOMORPH_REQUIRE_BROWSER is set, but {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for the whole run."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed: pip install 'robomorph[dev]'")
    if not Path(CHROMIUM).exists():
        _missing(f"there is no {CHROMIUM}")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=list(_ARGUMENTS))
        yield made
        made.close()


@dataclass
class Opened:
    """A page, with what it said and asked for since it was opened."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.set_default_timeout(1000.0 * _LONGEST)

    def run(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def wait(self, condition: str) -> None:
        """Until an expression is true. Playwright's own wait runs eval, which the page's policy forbids."""
        end = time.monotonic() + _LONGEST
        while not self.run(condition):
            assert time.monotonic() < end, f"never true: {condition}"
            self.page.wait_for_timeout(20)

    def drawn(self) -> None:
        """Wait until two more pictures are drawn."""
        count = self.run("robomorph.redraw(), robomorph.frames")
        self.wait(f"robomorph.frames > {count}")
        self.run("robomorph.redraw()")
        self.wait(f"robomorph.frames > {count + 1}")

    def idle(self) -> None:
        """Wait until the page has drawn its last, fine picture, and then nothing more for a while."""
        self.wait("robomorph.settled")
        end = time.monotonic() + _LONGEST
        before, count = -1, self.run("robomorph.frames")
        while before != count:
            assert time.monotonic() < end, "pictures are drawn without end"
            self.page.wait_for_timeout(_REST)
            before, count = count, self.run("robomorph.frames")
        self.wait("robomorph.settled")

    def poses(self, robot: int = 0) -> npt.NDArray[np.float64]:
        return np.array(self.run(f"robomorph.poses({robot})"))

    def project(self, place: npt.ArrayLike) -> tuple[float, float]:
        x, y = self.run("p => robomorph.project(p)", np.asarray(place, float).tolist())
        return x, y

    def pixels(self) -> npt.NDArray[np.uint8]:
        """(height, width, 4): what is seen, read from a screenshot."""
        self.idle()  # while something moves, pictures may be coarse
        shot = base64.b64encode(self.page.screenshot()).decode()
        other = self.page.context.new_page()
        try:
            height, width, data = other.evaluate(_DECODE, shot)
        finally:
            other.close()
        return np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)


@contextmanager
def opened_file(browser: Any, path: Path, init: str | None = None, **settings: Any) -> Iterator[Opened]:
    """A file opened by file:// without a network. init: a script that runs before the page's."""
    settings.setdefault("viewport", {"width": 1000, "height": 640})
    context = browser.new_context(**settings)
    try:
        page = context.new_page()
        opened = Opened(page)
        watch(opened, path.as_uri())
        context.set_offline(True)
        if init is not None:
            page.add_init_script(init)
        page.goto(path.as_uri())
        opened.wait("window.robomorph && window.robomorph.ready")
        yield opened
    finally:
        context.close()


def watch(opened: Opened, own: str) -> None:
    """Record what goes wrong, and every request but that for the page itself."""
    page = opened.page

    def said(message: Any) -> None:
        if message.type in ("error", "warning"):
            opened.errors.append(message.text)

    def asked(request: Any) -> None:
        if not _own(request.url, own):
            opened.requests.append(request.url)

    page.on("console", said)
    page.on("pageerror", lambda error: opened.errors.append(str(error)))
    page.on("request", asked)


def _own(url: str, own: str) -> bool:
    return url == own or url.startswith("data:")
