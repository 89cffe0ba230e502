"""The code of docs/ik.md and docs/ik-chip.md runs as written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from robomorph.accelerators.ik.knobs import KNOBS, WIDTHS
from robomorph.ik.methods import METHODS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "ik.md"


@pytest.mark.parametrize(("name", "least"), [("ik", 5), ("ik-chip", 1)])
def test_the_page_runs(name: str, least: int) -> None:
    before, page = set(METHODS), DOCS / f"{name}.md"
    blocks = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= least
    namespace: dict[str, object] = {"__name__": f"page {name}"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), namespace)
    assert set(METHODS) == before


def test_the_page_names_every_knob_of_the_chip() -> None:
    text = (DOCS / "ik-chip.md").read_text(encoding="utf-8")
    for name in WIDTHS | KNOBS:
        assert f"`{name}" in text, f"docs/ik-chip.md does not describe {name}"


def test_the_page_names_every_option() -> None:
    from dataclasses import fields

    from robomorph.ik import IKOptions

    text = PAGE.read_text(encoding="utf-8")
    for field in fields(IKOptions):
        assert f"`{field.name}" in text, f"docs/ik.md does not describe {field.name}"
