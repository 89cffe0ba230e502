"""Docstrings of the house as Markdown: what is written as "name: words" becomes a list, docs/x.md a link."""

from __future__ import annotations

import re
from typing import Any

import griffe

from tools.docs_site.links import ROOT

_NAME = r"[a-z_]\w*(?: \([^()]*\))?"
# At the start of a line or of a sentence: one name, or several that share their words.
_ITEM = re.compile(rf"(?:^|(?<=\.\s))({_NAME}(?:(?:, | and ){_NAME})*):(?=\s)", re.MULTILINE)
_PAGE = re.compile(r"\bdocs/([\w-]+)\.md\b")


class HouseStyle(griffe.Extension):
    """Loaded by the handler (mkdocs.yml)."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = as_markdown(obj.docstring.value)


def as_markdown(text: str) -> str:
    """A docstring as the reference shows it, on a page of docs/api/."""
    paragraphs = [_listed(paragraph) for paragraph in re.split(r"\n\s*\n", text)]
    return _PAGE.sub(_linked, "\n\n".join(paragraphs))


def _linked(match: re.Match[str]) -> str:
    return f"[{match[0]}](../{match[1]}.html)" if (ROOT / match[0]).exists() else match[0]


def _listed(paragraph: str) -> str:
    """The paragraph, with an item for every name that it explains."""
    found = list(_ITEM.finditer(paragraph))
    if not found or "```" in paragraph:
        return paragraph
    ends = [*(match.start() for match in found[1:]), len(paragraph)]
    items = [
        f"- **{_plain(match[1])}**: {_plain(paragraph[match.end() : end])}"
        for match, end in zip(found, ends, strict=True)
    ]
    before = paragraph[: found[0].start()].rstrip()
    return "\n".join([*([before, ""] if before else []), *items])


def _plain(words: str) -> str:
    return " ".join(words.split())
