"""Every link of the pages leads somewhere, and the checkers notice when one does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.docs_site.links import anchors, broken_links, links, pages, slug, with_links
from tools.docs_site.pages import site_link
from tools.docs_site.site_check import check_site


@pytest.mark.parametrize("page", pages(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken_links(page)


def test_broken_links_are_named(tmp_path: Path) -> None:
    (tmp_path / "other.md").write_text("# A title: `code` & more\n")
    page = tmp_path / "page.md"
    page.write_text(
        "# Here\n[a](other.md#a-title-code--more) [b](#here) [c](gone.md) [d](other.md#gone) [e](#gone)\n"
        "`[not](a-link.md)` <https://example.org> [f](https://example.org/x.md)\n"
        "```python\nx = y[z](w)\n# No heading\n```\n"
    )
    assert broken_links(page) == [
        "page.md: gone.md leads to gone.md, which does not exist",
        "page.md: other.md#gone names no heading of other.md",
        "page.md: #gone names no heading of page.md",
    ]
    assert anchors(page.read_text()) == {"here"}


def test_links_are_changed_outside_of_code() -> None:
    text = "![p](a.svg) `[x](b.md)` [y](c.md#d)"
    assert list(links(text)) == ["a.svg", "c.md#d"]
    assert with_links(text, str.upper) == "![p](A.SVG) `[x](b.md)` [y](C.MD#D)"
    assert slug("[Words](x.md) of `f(x)`: what?") == "words-of-fx-what"


@pytest.mark.parametrize(
    ("page", "link", "expected"),
    [
        ("README.md", "docs/ik.md#targets", "ik.md#targets"),
        ("docs/index.md", "../README.md", "index.md"),
        ("docs/api/index.md", "../../CHANGELOG.md", "../changelog.md"),
        ("docs/gpu.md", "../src/robomorph/robot.py", "sources/src/robomorph/robot.py.txt"),
        ("docs/gpu.md", "https://example.org/", "https://example.org/"),
        ("docs/gpu.md", "#here", "#here"),
    ],
)
def test_links_on_the_site(page: str, link: str, expected: str) -> None:
    assert site_link(page, link) == expected


def test_site_check_names_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "style.css").write_text("@import 'https://fonts.example.org/a.css'; a { color: red }")
    (tmp_path / "index.html").write_text(
        "<link href='style.css' rel=stylesheet><h1 id=top>x</h1><a href='sub/b.html#there'>b</a>"
        "<a href='https://example.org'>links out are not fetched</a>"
    )
    (tmp_path / "sub" / "b.html").write_text(
        "<h1 id=there>b</h1><a href='../index.html#top'></a><a href='../index.html#gone'></a>"
        "<a href='c.html'></a>"
        "<script src='//cdn.example.org/x.js'></script><img src='gone.svg'><img src='data:,'>"
    )
    assert check_site(tmp_path) == [
        "style.css: fetches https://fonts.example.org/a.css",
        "sub/b.html: fetches //cdn.example.org/x.js",
        "sub/b.html: shows gone.svg, which does not exist",
        "sub/b.html: links to ../index.html#gone, but there is no such anchor",
        "sub/b.html: links to c.html, which does not exist",
    ]
    assert check_site(tmp_path / "sub" / "empty") != []
