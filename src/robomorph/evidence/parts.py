"""What a chapter hands to the page: exhibits, each with how it is known and the command behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from robomorph.evidence.view import Html, View, join, markup, tag, words

MEASURED, SIMULATED, COMPUTED = "measured", "simulated", "computed"
ESTIMATED, PUBLISHED = "estimated", "published"
ABOUT = {
    MEASURED: "run on this machine, and timed or counted there",
    SIMULATED: "run cycle by cycle in a simulator of the design",
    COMPUTED: "follows from programs and descriptions, without a run",
    ESTIMATED: "from a model or from assumptions, which are named",
    PUBLISHED: "printed in a paper, of its authors' machines",
}


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table. `known`: how, the first being that of our own figures. `command` makes it again;
    where all of it is published, it is the paper. `paper`: whose figures stand beside ours."""

    title: str
    known: tuple[str, ...]
    body: Html
    command: View
    note: str = ""
    paper: View | None = None

    def __post_init__(self) -> None:
        if PUBLISHED in self.known and self.known != (PUBLISHED,) and self.paper is None:
            raise ValueError(f"{self.title}: expected the paper whose figures stand beside ours, found none")


@dataclass(frozen=True)
class Words:
    """A paragraph."""

    body: Html


@dataclass(frozen=True)
class Absent:
    """Something that this machine, or this run, lacks: a record with `what`, `why` and `get`."""

    record: View


Part = Exhibit | Words | Absent


@dataclass(frozen=True)
class Lack:
    """What `Absent` shows, as data."""

    what: str
    why: str
    get: str

    def data(self) -> dict[str, str]:
        return {"what": self.what, "why": self.why, "get": self.get}


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first `left` columns are text."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1
    theirs: frozenset[int] = field(default_factory=frozenset)  # rows of published figures

    def html(self) -> Html:
        head = [tag("th", c, scope="col", class_=self._class(k)) for k, c in enumerate(self.columns)]
        body = []
        for i, row in enumerate(self.rows):
            cells = [self._cell(k, cell) for k, cell in enumerate(row)]
            body.append(tag("tr", *cells, class_="theirs" if i in self.theirs else None))
        return tag(
            "div",
            tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body)),
            class_="scroll",
            tabindex="0",
        )

    def _class(self, column: int) -> str | None:
        return None if column < self.left else "figure"

    def _cell(self, column: int, cell: str) -> Html:
        if column == 0:
            return tag("th", cell, scope="row")
        return tag("td", cell, class_=self._class(column))


def absent_parts(data: View) -> list[Part]:
    """All that is lacking in a chapter, one after the other."""
    return [Absent(record) for record in data.get("absent") or ()]


def notes(data: View) -> list[Part]:
    """What a measurement says of itself."""
    said = data.get("notes")
    if not said:
        return []
    items = [tag("li", words(one)) for one in said]
    return [Words(join(tag("strong", "Notes of this run"), tag("ul", *items, class_="note")))]


def sentence(*parts: str) -> Words:
    """A paragraph of text and markup."""
    return Words(Html("".join(markup(part) for part in parts)))
