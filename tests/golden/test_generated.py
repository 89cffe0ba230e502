"""What is made from the registries is up to date: Robot's methods, and tables of the docs.

`pytest tests/golden --update-golden` and `python tools/generated.py` write it anew.
"""

from __future__ import annotations

import pytest

from tools.generated import GENERATED, ROOT, write


@pytest.mark.parametrize("name", GENERATED)
def test_generated_texts_are_up_to_date(name: str, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--update-golden"):
        write(name)
    text = (ROOT / name).read_text(encoding="utf-8")
    assert GENERATED[name](text) == text, f"{name} is out of date: run pytest tests/golden --update-golden"
