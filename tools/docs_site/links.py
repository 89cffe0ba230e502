"""Links and anchors of Markdown pages, and which of them lead nowhere."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[ ]*$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_LINK = re.compile(r"(?<=\]\()[^()\s]+(?=\))")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_GIVEN_ANCHOR = re.compile(r"""<[a-z]+ [^>]*(?:id|name)=["']([^"']+)["']""")


def pages(root: Path = ROOT) -> list[Path]:
    """Every page that readers see: those of docs/ and the three at the top."""
    top = [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*sorted((root / "docs").rglob("*.md")), *top]


def is_outside(link: str) -> bool:
    return re.match(r"[a-z][a-z0-9+.-]*:", link) is not None


def links(text: str) -> Iterator[str]:
    """The targets of all links and pictures, in their order; what is code is no link."""
    for match in _LINK.finditer(_without_code(text)):
        yield match[0]


def with_links(text: str, change: Callable[[str], str]) -> str:
    """The page with every link's target changed; what is code stays."""
    hidden = _without_code(text)
    parts, done = [], 0
    for match in _LINK.finditer(hidden):
        parts += [text[done : match.start()], change(match[0])]
        done = match.end()
    return "".join([*parts, text[done:]])


def anchors(text: str) -> set[str]:
    """What a link may name after #: slugs of the headings, as code hosts and the site make them, and ids."""
    fenceless = _FENCE.sub(_blank, text)
    found: set[str] = set(_GIVEN_ANCHOR.findall(fenceless))
    for heading in _HEADING.findall(fenceless):
        found.add(slug(heading))
    return found


def slug(heading: str) -> str:
    """The anchor of a heading: of links only their words, small letters, no punctuation, - for a space."""
    words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")


def broken_links(page: Path) -> list[str]:
    """What is wrong with the links of a page, in words; links out of the repository are not followed."""
    text = page.read_text(encoding="utf-8")
    wrong = []
    for link in links(text):
        if is_outside(link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        if not target.exists():
            wrong.append(f"{page.name}: {link} leads to {name}, which does not exist")
        elif anchor and target.suffix != ".md":
            wrong.append(f"{page.name}: {link} has an anchor in a file that is no page")
        elif anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
            wrong.append(f"{page.name}: {link} names no heading of {target.name}")
    return wrong


def _without_code(text: str) -> str:
    """The text with blanks for code, so that places stay the same."""
    return _CODE.sub(_blank, _FENCE.sub(_blank, text))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])
