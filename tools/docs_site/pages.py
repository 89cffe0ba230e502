"""The pages of the site, gathered from where they are kept: docs/, the top of the repository, examples/."""

from __future__ import annotations

import os
import shutil
from pathlib import Path, PurePosixPath

from tools.docs_site.examples import TITLES, example_page, run_example
from tools.docs_site.gallery import draw_figures, gallery_text
from tools.docs_site.links import ROOT, is_outside, links, pages, with_links

# Pages that are called otherwise on the site. The README is what a reader meets first.
RENAMED = {
    "README.md": "index.md",
    "docs/index.md": "contents.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "examples": "gallery.md",
}
_MARKER = "<!-- figures -->"
_NAV_MARKER = "      - EXAMPLES\n"


def site_name(path: str) -> str | None:
    """Where a file of the repository is on the site; None where it is not."""
    if path in RENAMED:
        return RENAMED[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def stage(folder: Path) -> None:
    """Everything the builder reads, in `folder`: mkdocs.yml and pages/."""
    target = folder / "pages"
    shutil.copytree(ROOT / "docs", target, ignore=shutil.ignore_patterns("*.md"))
    for page in pages():
        _stage_page(page, target)
    _stage_examples(target)
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert _NAV_MARKER in text, "mkdocs.yml has no place for the examples any more"
    listed = "".join(f"      - {title}: examples/{stem}.md\n" for stem, title in TITLES.items())
    text = text.replace(_NAV_MARKER, listed) + "\ndocs_dir: pages\nsite_dir: site\n"
    (folder / "mkdocs.yml").write_text(text, encoding="utf-8")


def _stage_page(page: Path, target: Path) -> None:
    """The page with its links as they are on the site, and files it shows that are no pages."""
    here = page.relative_to(ROOT).as_posix()
    own = site_name(here)
    assert own is not None, f"{here} is no page of the site"
    text = page.read_text(encoding="utf-8")
    for link in links(text):
        _stage_source(_resolved(here, link), target)
    place = target / own
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(with_links(text, lambda link: site_link(here, link)), encoding="utf-8")


def site_link(page: str, link: str) -> str:
    """A link of a page (both as in the repository) as it is on the site."""
    if is_outside(link) or link.startswith("#"):
        return link
    path, (_, mark, anchor) = _resolved(page, link), link.partition("#")
    there = site_name(path) or f"sources/{path}.txt"
    start = PurePosixPath(site_name(page) or "").parent
    return os.path.relpath(there, start).replace(os.sep, "/") + mark + anchor


def _resolved(page: str, link: str) -> str:
    """The path in the repository that a link leads to."""
    return os.path.normpath(PurePosixPath(page).parent / link.partition("#")[0]).replace(os.sep, "/")


def _stage_source(path: str, target: Path) -> None:
    """A source file that a page links to is shown as text."""
    if site_name(path) is None and (ROOT / path).is_file():
        copy = target / "sources" / f"{path}.txt"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, copy)


def _stage_examples(target: Path) -> None:
    shown = []
    (target / "examples").mkdir()
    for stem in TITLES:
        example = run_example(stem)
        figures = draw_figures(example, target / "figures")
        pictures = "".join(figure.markdown("../") for figure in figures)
        text = f'<div class="figures">\n{pictures}</div>\n' if figures else ""
        (target / "examples" / f"{stem}.md").write_text(example_page(example, text), encoding="utf-8")
        shown.append((example, figures))
    gallery = target / "gallery.md"
    text = gallery.read_text(encoding="utf-8")
    assert _MARKER in text, "docs/gallery.md has no place for figures any more"
    gallery.write_text(text.replace(_MARKER, gallery_text(shown)), encoding="utf-8")
