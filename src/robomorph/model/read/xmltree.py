"""XML into a small tree that knows its line numbers; hostile XML is refused before it can cost anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from ...errors import ModelError
from ..document import MAX_BYTES
from ..notes import Place, fault

MAX_DEPTH = 64
MAX_ELEMENTS = 200_000
_SHOWN_TEXT = 40
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = re.compile(rb"\s*")
_LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(eq=False)
class Element:
    """One XML element: tag, attributes, children in order, and the line (from 1) where it starts.

    text: the beginning of the first text in it that is not blank; URDF has none, so it is for messages.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    parent: Element | None = None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, tag: str) -> Iterator[Element]:
        """The direct children with this tag."""
        return (child for child in self.children if child.tag == tag)

    @property
    def label(self) -> str:
        """How messages call this element, e.g. `<origin> of <joint name="elbow">`."""
        own = (
            f'<{self.tag} name="{self.attributes["name"]}">' if "name" in self.attributes else f"<{self.tag}>"
        )
        if self.parent is None or self.parent.parent is None:
            return own
        owner = self.parent
        while owner.parent is not None and owner.parent.parent is not None:
            owner = owner.parent
        return f"{own} of {owner.label}"


def parse_xml(data: bytes, source: str, encoding: str | None = None) -> Element:
    """The root element of an XML document; ModelError for anything that is not plain, well-formed XML.

    Document type declarations are refused outright: with them go entity expansion, external entities and
    every other way in which reading XML can hang, read files or open connections.
    """
    if not data.strip():
        raise fault(
            Place(source, 1, "start of file"),
            expected="a robot's description",
            found="nothing at all",
            fix="check that the file was written completely",
        )
    if len(data) > MAX_BYTES:
        raise fault(
            Place(source, 1, "start of file"),
            expected=f"at most {MAX_BYTES} bytes",
            found=f"{len(data)} bytes",
            fix="remove what is not needed, such as embedded meshes",
        )
    data, skipped = without_leading(data)
    builder = _Builder(source, encoding, skipped)
    try:
        builder.parser.Parse(data, True)
    except ModelError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise builder.malformed(error) from None
    assert builder.root is not None  # expat refuses a document without a root element
    return builder.root


def without_leading(data: bytes) -> tuple[bytes, int]:
    """The document from its <?xml on, and how many lines came before.

    XML allows nothing before its declaration, but files have blank lines and comments there.
    """
    start = end = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
    while True:
        end = _end_of_blanks(data, end)
        closed = data.find(b"-->", end) if data.startswith(b"<!--", end) else -1
        if closed < 0:
            break
        end = closed + len(b"-->")
    if not data.startswith(b"<?xml", end):
        return data, 0
    return data[:start] + data[end:], len(_LINE_END.findall(data[start:end]))


def _end_of_blanks(data: bytes, start: int) -> int:
    blanks = _BLANKS.match(data, start)
    assert blanks is not None  # it matches the empty string too
    return blanks.end()


class _Builder:
    def __init__(self, source: str, encoding: str | None, skipped: int) -> None:
        self.source = source
        self.skipped = skipped  # lines before what the parser sees
        self.root: Element | None = None
        self._open: list[Element] = []
        self._count = 0
        self.parser = expat.ParserCreate(encoding)
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.EntityDeclHandler = self._refuse_doctype

    @property
    def line(self) -> int:
        return self.parser.CurrentLineNumber + self.skipped

    def malformed(self, error: Exception) -> ModelError:
        if isinstance(error, expat.ExpatError):
            line, found = error.lineno + self.skipped, expat.ErrorString(error.code) or "an error"
        else:
            line, found = self.line, str(error)
        inside = self._open[-1].label if self._open else "start of file"
        return fault(
            Place(self.source, line, inside),
            expected="well-formed XML",
            found=found,
            fix="check for a truncated or damaged file and for unclosed elements",
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        parent = self._open[-1] if self._open else None
        element = Element(tag, attributes, self.line, parent)
        self._count += 1
        if len(self._open) >= MAX_DEPTH or self._count > MAX_ELEMENTS:
            raise fault(
                Place(self.source, element.line, f"<{tag}>"),
                expected=f"at most {MAX_ELEMENTS} elements, nested at most {MAX_DEPTH} deep",
                found="more",
                fix="URDF needs a depth of about 6; check what wrote this file",
            )
        if parent is None:
            self.root = element
        else:
            parent.children.append(element)
        self._open.append(element)

    def _end(self, tag: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        element = self._open[-1]
        if not element.text:
            element.text = text.strip()[:_SHOWN_TEXT]

    def _refuse_doctype(self, *declaration: object) -> NoReturn:
        place = Place(self.source, self.line, "<!DOCTYPE>")
        raise fault(
            place,
            expected="no document type or entity declaration",
            found=f"{declaration[0]!r}",
            fix="remove it: URDF needs none, and entities can read files or fill memory",
        )
