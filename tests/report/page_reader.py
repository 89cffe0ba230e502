"""Reading a report's page as a browser would: texts with the elements that they are in."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from robomorph.evidence.view import at_path, written

# Elements that end where they begin.
VOID = {"meta", "br", "circle", "path", "line", "rect", "polyline", "polygon", "ellipse", "hr", "img", "link"}


@dataclass
class Element:
    """An element with its attributes, its text and its ancestors."""

    tag: str
    attributes: dict[str, str | None]
    ancestors: list[Element]
    text: str = ""


@dataclass
class Reader(HTMLParser):
    """All elements of a page, and pieces of text with where they are."""

    elements: list[Element] = field(default_factory=list)
    texts: list[tuple[str, list[Element]]] = field(default_factory=list)
    _open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), list(self._open))
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, dict(attrs), list(self._open)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self._open and self._open[-1].tag == tag, f"</{tag}> closes {self._open[-1:]}"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.text += data
        self.texts.append((data, list(self._open)))


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert not reader._open, "elements left open"
    return reader


def wrong_numbers(reader: Reader, document: object) -> list[str]:
    """Elements that say their place in the document but show something else."""
    wrong = []
    for element in reader.elements:
        path = element.attributes.get("data-path")
        if path is None:
            continue
        value = at_path(document, path)
        form = element.attributes.get("data-form")
        scale = float(element.attributes.get("data-scale") or 1.0)
        expected = str(value) if form is None else written(value, form, scale)
        if element.text != expected:
            wrong.append(f"{path}: {element.text!r} is not {expected!r}")
    return wrong
