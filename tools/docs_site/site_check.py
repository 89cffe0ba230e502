"""Checks of the built HTML: every link and anchor leads somewhere, and nothing is fetched from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes that make a browser fetch something; <a href> does not.
_FETCHED = {
    ("img", "src"),
    ("script", "src"),
    ("link", "href"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("object", "data"),
    ("image", "href"),
    ("use", "href"),
}
_CSS_URL = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])((?:https?:)?//[^"')\s]+)""")


class _Page(HTMLParser):
    """The ids of a page, its links, and what it fetches."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.fetched: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value is None:
                continue
            if name in ("id", "name") and tag != "meta":
                self.ids.add(value)
            elif (tag, name) in _FETCHED:
                self.fetched.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif name == "srcset":
                self.fetched += [part.split()[0] for part in value.split(",") if part.strip()]
            elif name == "style":
                self.fetched += _CSS_URL.findall(value)


def check_site(folder: Path) -> list[str]:
    """What is wrong with the site in `folder`, in words."""
    parsed = {
        path.resolve(): _Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))
    }
    if not parsed:
        return [f"{folder}: no pages"]
    wrong = [
        f"{path.relative_to(folder)}: fetches {url}"
        for path in sorted(folder.rglob("*.css"))
        for url in _CSS_URL.findall(path.read_text(encoding="utf-8"))
    ]
    for path, page in parsed.items():
        name = path.relative_to(folder.resolve())
        wrong += [f"{name}: {words}" for words in _check_page(path, page, parsed)]
    return wrong


def _check_page(path: Path, page: _Page, parsed: dict[Path, _Page]) -> list[str]:
    wrong = []
    for url in page.fetched:
        parts = urlsplit(url)
        if parts.scheme == "data":
            continue
        if parts.scheme or parts.netloc:
            wrong.append(f"fetches {url}")
        elif parts.path and not _target(path, parts.path).exists():
            wrong.append(f"shows {url}, which does not exist")
    for url in page.links:
        parts = urlsplit(url)
        if parts.scheme or parts.netloc:
            continue
        target = _target(path, parts.path) if parts.path else path
        if not target.exists():
            wrong.append(f"links to {url}, which does not exist")
        elif parts.fragment and target in parsed and unquote(parts.fragment) not in parsed[target].ids:
            wrong.append(f"links to {url}, but there is no such anchor")
    return wrong


def _target(page: Path, link: str) -> Path:
    place = (page.parent / unquote(link)).resolve()
    return place / "index.html" if place.is_dir() else place
