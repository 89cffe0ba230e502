"""The report's frame: numbers found again, nothing fetched, runs that go on, chapters that fail."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from robomorph.cli.main import main
from robomorph.errors import ArgumentError, TargetError
from robomorph.evidence.chapters import TITLES, Chapter, choose, load_chapter
from robomorph.evidence.context import Context
from robomorph.evidence.page import page
from robomorph.evidence.parts import MEASURED, PUBLISHED, Exhibit, Lack, Part, Table, absent_parts
from robomorph.evidence.run import failures, make_report
from robomorph.evidence.store import PartStore
from robomorph.evidence.view import FORMS, UNITS, Html, View, at_path, number, plain, words, written
from tests.report.page_reader import read, wrong_numbers

# A numeral that stands alone, as a figure does: not one inside a name such as float64, 6x6 or M^-1.
FIGURE = re.compile(r"(?<![\w^.:-])\d[\d.,]*(?:e[-+]?\d+)?%?(?![\w:-])")


def loose_figures(text: str) -> list[str]:
    """Figures on a page that do not say where they come from; ticks of axes are no data."""
    found = []
    for piece, inside in read(text).texts:
        exempt = any(
            e.tag in ("style", "script") or "data-path" in e.attributes or e.attributes.get("class") == "tick"
            for e in inside
        )
        found += [] if exempt else FIGURE.findall(piece)
    return found


def toy(name: str, run: Any) -> Chapter:
    def draw(data: View) -> list[Part]:
        table = Table(("what", "us"), [(words(data["who"]), number(data["seconds"], "sig3", UNITS["us"]))])
        return [
            Exhibit("A table", (MEASURED,), table.html(), data["command"]),
            *absent_parts(data),
        ]

    return Chapter(name, f"On {name}", run, draw, Path(__file__))


def good(context: Context) -> dict[str, Any]:
    return {
        "who": "<script>alert(1)</script> & 'x'",
        "seconds": 1.2345e-5,
        "command": "robomorph toy --n 3",
        "absent": [Lack("A tool", "not installed", "pip install tool").data()],
    }


def run_toys(tmp_path: Path, runs: dict[str, Any], **more: Any) -> dict[str, Any]:
    context = Context(("iiwa14",), quick=True)
    return make_report(
        context, list(runs), PartStore(tmp_path / "parts"), load=lambda name: toy(name, runs[name]), **more
    )


def as_json(document: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(document, allow_nan=False))
    return made


# --- numbers -------------------------------------------------------------------------------------------


def test_numbers_say_where_they_are() -> None:
    view = View({"a/b": [{"x~": 0.00123}]})
    shown = number(view["a/b"][0]["x~"], "sig3", 1e3)
    reader = read(shown)
    assert reader.elements[0].text == "1.23"
    path = reader.elements[0].attributes["data-path"]
    assert path is not None and at_path(view.value, path) == 0.00123
    assert not wrong_numbers(reader, view.value)
    assert wrong_numbers(read(shown.replace(">1.23<", ">1.24<")), view.value)


def test_only_numbers_are_numbers() -> None:
    with pytest.raises(TypeError, match="/a: expected a number"):
        number(View({"a": "3"})["a"])
    with pytest.raises(TypeError, match="expected a number"):
        number(View({"a": True})["a"])
    assert number(None) == "-" and number(View({"a": None})["a"]) == "-"


@pytest.mark.parametrize(
    ("form", "value", "text"),
    [
        ("sig3", 1234.5, "1,234"),
        ("sig3", 12.345, "12.3"),
        ("sig3", 0.0012345, "0.00123"),
        ("sig3", 1.2345e-7, "1.23e-07"),
        ("sig3", 0.0, "0"),
        ("sig3", 36.0, "36"),
        ("ratio", 1.9, "1.9x"),
        ("sig3", -2.5, "-2.50"),
        ("whole", 1e6, "1,000,000"),
        ("percent", 0.636, "64%"),
        ("times", 9.8765, "9.88x"),
        ("power", 1.26e-12, "1.3e-12"),
    ],
)
def test_forms(form: str, value: float, text: str) -> None:
    assert form in FORMS and written(value, form) == text


def test_documents_are_plain() -> None:
    import numpy as np

    made = plain({1: (np.float64(2.0), float("nan"), np.arange(2)), "a": float("inf")})
    assert made == {"1": [2.0, None, [0, 1]], "a": None}
    assert type(made["1"][0]) is float


# --- the page ------------------------------------------------------------------------------------------


def test_figures_of_a_paper_beside_ours_need_its_name() -> None:
    view = View({"command": "robomorph toy", "paper": "They, On toys"})
    with pytest.raises(ValueError, match="A table: expected the paper"):
        Exhibit("A table", (MEASURED, PUBLISHED), Html(""), view["command"])
    Exhibit("A table", (MEASURED, PUBLISHED), Html(""), view["command"], paper=view["paper"])


def test_every_number_of_the_page_is_in_the_document(tmp_path: Path) -> None:
    runs = {"one": good, "two": good}
    document = as_json(run_toys(tmp_path, runs))
    text = page(document, lambda name: toy(name, runs[name]))
    assert not wrong_numbers(read(text), document)
    assert not loose_figures(text)
    assert loose_figures(text.replace("<h2>Contents</h2>", "<h2>Contents 3.5</h2>")) == ["3.5"]


def test_names_are_escaped(tmp_path: Path) -> None:
    """A hostile robot's name, in its file and in a chapter's data, stays text."""
    urdf = tmp_path / "bad.urdf"
    name = "&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror='1'&gt;"
    link = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    urdf.write_text(
        f'<robot name="{name}"><link name="a"/><link name="b&lt;script&gt;">{link}</link>'
        '<joint name="j&lt;script&gt;\'&quot;" type="continuous"><parent link="a"/>'
        '<child link="b&lt;script&gt;"/><axis xyz="0 0 1"/></joint></robot>'
    )
    output = tmp_path / "page.html"
    assert main(["report", str(urdf), "--only", "sparsity", "operations", "-o", str(output)]) == 0
    text = output.read_text()
    tags = [element.tag for element in read(text).elements]
    assert tags.count("script") == 1 and "img" not in tags
    assert "alert(1)" in text
    assert not wrong_numbers(read(text), json.loads(output.with_suffix(".json").read_text()))


def fetched(text: str) -> list[str]:
    """Whatever a page would ask the network or the disk for."""
    reader = read(text)
    found = [
        f"{e.tag} {name}={value}"
        for e in reader.elements
        for name, value in e.attributes.items()
        if name in ("src", "href", "xlink:href", "data", "poster", "action", "background", "srcset")
        and not (value or "").startswith(("#", "data:"))
    ]
    styles = "".join(e.text for e in reader.elements if e.tag in ("style", "script"))
    return found + re.findall(r"url\([^)]*\)|@import[^;]*|https?://\S*|fetch\(|import\(", styles)


def test_the_page_asks_nobody_for_anything(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    assert main(["report", "iiwa14", "--only", "sparsity", "-o", str(output)]) == 0
    text = output.read_text()
    assert not fetched(text)
    assert fetched("<img src='http://x/y.png'>") and fetched("<style>a{background:url(x)}</style>")


def test_figures_have_names_for_those_who_cannot_see_them(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    assert main(["report", "iiwa14", "--only", "sparsity", "operations", "-o", str(output)]) == 0
    pictures = [e for e in read(output.read_text()).elements if e.tag == "svg"]
    assert pictures
    assert all(e.attributes.get("role") == "img" and e.attributes.get("aria-label") for e in pictures)


# --- runs ----------------------------------------------------------------------------------------------


def test_an_interrupted_run_goes_on(tmp_path: Path) -> None:
    calls: list[str] = []

    def counted(name: str, *, stop: bool = False) -> Any:
        def run(context: Context) -> dict[str, Any]:
            calls.append(name)
            if stop:
                raise KeyboardInterrupt
            return good(context)

        return run

    with pytest.raises(KeyboardInterrupt):
        run_toys(tmp_path, {"one": counted("one"), "two": counted("two", stop=True)})
    document = run_toys(tmp_path, {"one": counted("one"), "two": counted("two")})
    assert calls == ["one", "two", "two"]
    kept = {name: record["kept"] for name, record in document["chapters"].items()}
    assert kept == {"one": True, "two": False}
    run_toys(tmp_path, {"one": counted("one")}, fresh=True)
    assert calls == ["one", "two", "two", "one"]


@pytest.mark.parametrize("damage", ["cut", "changed", "other", "empty"])
def test_a_damaged_part_is_done_again(tmp_path: Path, damage: str) -> None:
    run_toys(tmp_path, {"one": good})
    (part,) = (tmp_path / "parts").glob("one-*.json")
    text = part.read_text()
    changed = {
        "cut": text[: len(text) // 2],
        "changed": text.replace("1.2345e-05", "9.9e-05"),
        "other": text.replace('"quick": true', '"quick": false'),
        "empty": "",
    }[damage]
    assert changed != text
    part.write_text(changed)
    record = run_toys(tmp_path, {"one": good})["chapters"]["one"]
    assert not record["kept"] and record["data"]["seconds"] == 1.2345e-5
    assert part.read_text() != changed


def test_other_options_are_other_parts(tmp_path: Path) -> None:
    store = PartStore(tmp_path)
    store.save("one", {"quick": True}, {"data": 1})
    assert store.load("one", {"quick": True}) == {"data": 1}
    assert store.load("one", {"quick": False}) is None
    assert not list(tmp_path.glob("*.tmp"))


def test_a_chapter_that_fails_is_shown_and_the_others_go_on(tmp_path: Path) -> None:
    def bad(context: Context) -> dict[str, Any]:
        raise TargetError("rtl: it <b>broke</b>")

    def worse(context: Context) -> dict[str, Any]:
        return {"x": [][0]}

    runs = {"one": bad, "two": worse, "three": good}
    document = as_json(run_toys(tmp_path, runs))
    assert failures(document) == ["one", "two"]
    text = page(document, lambda name: toy(name, runs[name]))
    assert "rtl: it &lt;b&gt;broke&lt;/b&gt;" in text and "IndexError" in text and "12.3" in text
    assert not list((tmp_path / "parts").glob("one-*"))


def test_a_chapter_that_cannot_be_drawn_is_shown_too(tmp_path: Path) -> None:
    def odd(context: Context) -> dict[str, Any]:
        return {"who": "x"}

    runs = {"one": odd, "two": good}
    document = run_toys(tmp_path, runs)
    assert failures(document) == ["one"]
    assert "KeyError" in page(as_json(document), lambda name: toy(name, runs[name]))


def test_a_run_that_is_killed_goes_on(tmp_path: Path) -> None:
    """Ended without a chance to tidy up, once its first chapter is kept."""
    output = tmp_path / "page.html"
    words_ = ["-m", "robomorph", "report", "iiwa14", "--only", "sparsity", "operations", "-o", str(output)]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    first = subprocess.Popen([sys.executable, *words_], **silent)  # type: ignore[call-overload]
    while first.poll() is None and not list((tmp_path / "page.parts").glob("sparsity-*.json")):
        time.sleep(0.01)
    first.kill()
    first.wait()
    assert main(words_[2:]) == 0
    chapters = json.loads(output.with_suffix(".json").read_text())["chapters"]
    assert chapters["sparsity"]["kept"] and chapters["operations"]["status"] == "done"


# --- the command ---------------------------------------------------------------------------------------


def test_a_failed_chapter_is_exit_code_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from robomorph.evidence.chapters import sparsity

    def bad(context: Context) -> dict[str, Any]:
        raise TargetError("rtl: no")

    monkeypatch.setattr(sparsity, "run", bad)
    output = tmp_path / "page.html"
    assert main(["report", "iiwa14", "--only", "sparsity", "operations", "-o", str(output)]) == 1
    assert "failed: sparsity: rtl: no" in capsys.readouterr().out
    assert "This chapter failed" in output.read_text()


def test_list_names_every_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(TITLES)


@pytest.mark.parametrize(
    ("words_", "told"),
    [
        (["--only", "sparsty"], "unknown chapter 'sparsty'"),
        (["no-such-robot"], "no-such-robot"),
        (["iiwa14", "iiwa14"], "the same robot"),
        (["--results", "missing.json"], "missing.json"),
        (["--json", "report.html"], "another file than the page"),
        (["-o", "."], "found the folder"),
    ],
)
def test_wrong_usage_is_refused_before_the_work(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words_: list[str],
    told: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", *words_]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
    assert not list(tmp_path.iterdir())


def test_chapters_are_files_with_titles() -> None:
    assert choose(None) == list(TITLES)
    assert choose(["operations", "sparsity"]) == ["sparsity", "operations"]
    with pytest.raises(ArgumentError):
        choose(["nothing"])
    for name in TITLES:
        assert load_chapter(name).name == name


def test_html_is_not_escaped_twice() -> None:
    assert Html("<b>") + "" == "<b>"
    assert words(View({"a": "<b>"})["a"]).count("&lt;b&gt;") == 1
