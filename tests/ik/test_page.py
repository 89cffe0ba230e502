"""The code of docs/ik.md runs as written."""

from __future__ import annotations

import re
from pathlib import Path

from robomorph.ik.methods import METHODS

PAGE = Path(__file__).parents[2] / "docs" / "ik.md"


def test_the_page_runs() -> None:
    before = set(METHODS)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    namespace: dict[str, object] = {"__name__": "page ik"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), namespace)
    assert set(METHODS) == before


def test_the_page_names_every_option() -> None:
    from dataclasses import fields

    from robomorph.ik import IKOptions

    text = PAGE.read_text(encoding="utf-8")
    for field in fields(IKOptions):
        assert f"`{field.name}" in text, f"docs/ik.md does not describe {field.name}"
