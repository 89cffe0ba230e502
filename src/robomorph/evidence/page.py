"""The document as one page: it loads nothing, and every number on it says where in the document it is."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

from robomorph.evidence.chapters import Chapter, load_chapter
from robomorph.evidence.parts import ABOUT, PUBLISHED, Absent, Exhibit, Part, Words
from robomorph.evidence.run import FAILED
from robomorph.evidence.view import Html, View, join, number, tag, words

_LEAD = (
    "What four papers measured of robot dynamics, inverse kinematics and motion planning on CPUs, GPUs and "
    "chips, run for the robots named here. Figures of ours are of this machine and carry a badge that says "
    "how they are known; figures of the papers are always named as theirs: they are of other machines."
)


def page(document: dict[str, Any], load: Callable[[str], Chapter] = load_chapter) -> str:
    """The whole page as text."""
    view = View(document)
    names = list(document["chapters"])
    chapters = [_chapter(view["chapters"][name], name, load) for name in names]
    title = "robomorph report: " + ", ".join(robot["name"] for robot in document["robots"])
    head = tag(
        "head",
        Html("<meta charset='utf-8'><meta name='viewport' content='width=device-width, initial-scale=1'>"),
        tag("title", title),
        tag("style", Html(_file("page.css"))),
    )
    body = tag(
        "body",
        tag("header", *_front(view)),
        _contents(view, names),
        tag("main", *chapters),
        _end(),
        tag("script", Html(_file("page.js"))),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _file(name: str) -> str:
    return resources.files("robomorph.evidence").joinpath(name).read_text(encoding="utf-8")


def _front(view: View) -> list[Html]:
    robots = join(*(words(robot["name"]) for robot in view["robots"]), by=", ")
    machine = view["machine"]
    facts = [
        ("made", words(view["date"])),
        ("command", tag("code", words(view["command"]))),
        ("machine", join(words(machine["cpu"]), ", ", number(machine["cores"], "plain"), " cores, ")),
        ("versions", join(*(join(n, Html(" "), words(v)) for n, v in machine["versions"].items()), by=", ")),
    ]
    facts[2] = ("machine", join(facts[2][1], words(machine["system"])))
    if machine.value["load_average"] is not None:
        facts.append(("load average at the start", number(machine["load_average"], "sig2")))
    rows = [tag("div", tag("dt", name), tag("dd", value)) for name, value in facts]
    badges = [tag("li", _badge(kind), " ", about) for kind, about in ABOUT.items()]
    warned = [tag("p", words(said), class_="absent") for key in ("warnings", "notes") for said in view[key]]
    return [
        tag("h1", "robomorph report: ", robots),
        tag("p", _LEAD),
        tag("dl", *rows),
        *warned,
        tag("ul", *badges, class_="badges"),
    ]


def _contents(view: View, names: list[str]) -> Html:
    items = []
    for name in names:
        record = view["chapters"][name]
        failed = " (failed)" if record.value["status"] == FAILED else ""
        items.append(tag("li", tag("a", words(record["title"]), failed, href=f"#{name}")))
    return tag("nav", tag("h2", "Contents"), tag("ol", *items), aria_label="Contents")


def _chapter(record: View, name: str, load: Callable[[str], Chapter]) -> Html:
    head = tag("h2", words(record["title"]))
    if record.value["status"] == FAILED:
        body = [
            tag("p", tag("strong", "This chapter failed: "), words(record["error"]), class_="failed"),
            _origin(record),
        ]
    else:
        body = [_part(part, record) for part in load(name).draw(record["data"])]
    return tag("section", head, *body, id=name)


def _part(part: Part, record: View) -> Html:
    if isinstance(part, Words):
        return tag("div", part.body, class_="words")
    if isinstance(part, Absent):
        lack = part.record
        return tag(
            "p",
            tag("strong", words(lack["what"])),
            ": ",
            words(lack["why"]),
            ". ",
            words(lack["get"]),
            class_="absent",
        )
    return _exhibit(part, record)


def _exhibit(part: Exhibit, record: View) -> Html:
    title = tag("h3", part.title, " ", *(_badge(kind) for kind in part.known))
    note = [tag("p", part.note, class_="note")] if part.note else []
    origin = [tag("code", words(part.command)), " · ", _where(record)]
    if part.known == (PUBLISHED,):  # nobody ran anything for it here
        origin = ["as printed in: ", words(part.command)]
    if part.paper is not None:  # the command, the machine and the date are of our figures alone
        origin = ["ours: ", *origin, Html("<br>theirs, from: "), words(part.paper)]
    source = tag("p", *origin, class_="origin")
    return tag("figure", tag("figcaption", title), part.body, *note, source)


def _where(record: View) -> Html:
    return join(words(record["machine"]), " · ", words(record["date"]))


def _origin(record: View) -> Html:
    return tag("p", _where(record), class_="origin")


def _badge(kind: str) -> Html:
    return tag("span", kind, class_=f"badge {kind}", title=ABOUT[kind])


def _end() -> Html:
    return tag(
        "footer",
        tag(
            "p",
            "Every number above is in the JSON document that was written beside this page: a click on one "
            "shows its path.",
        ),
        tag("p", "", id="path", role="status"),
    )
