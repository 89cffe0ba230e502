"""The page's own files: short, all of them used, and no markup is ever made from text."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import robomorph.viewer
from robomorph.viewer.html import SCRIPTS

PAGE = Path(robomorph.viewer.__file__).parent / "page"
FILES = sorted(PAGE.iterdir())
LONGEST_FILE, LONGEST_FUNCTION = 300, 50


def test_every_script_is_in_the_page() -> None:
    assert {path.stem for path in FILES if path.suffix == ".js"} == set(SCRIPTS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


SCRIPT_FILES = [path for path in FILES if path.suffix == ".js"]


@pytest.mark.parametrize("path", SCRIPT_FILES, ids=lambda path: path.name)
def test_functions_are_short(path: Path) -> None:
    """Functions of a script begin two blanks from the left; each reaches to the next at most."""
    lines = path.read_text(encoding="utf-8").splitlines()
    starts = [k for k, line in enumerate(lines) if re.match(r"  (const|return)\b", line)]
    assert max(after - before for before, after in pairwise(starts)) <= LONGEST_FUNCTION


@pytest.mark.parametrize("path", SCRIPT_FILES, ids=lambda path: path.name)
def test_text_stays_text(path: Path) -> None:
    text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"(inner|outer|Adjacent)HTML|document\.write|\beval\b|https?://", text)
