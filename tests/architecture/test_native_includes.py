"""Native code points one way: core -> ik -> python, and only the binding knows Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

NATIVE = Path(__file__).parents[2] / "native"
# What the files of each part may include with quotes: files of these parts, by their path from native/.
MAY_INCLUDE = {
    "core": {"core"},
    "ik": {"core", "ik"},
    "mpc": {"core", "mpc"},
    "planning": {"core", "planning"},
    "xla": {"core", "xla"},
    "python": {"core", "ik", "mpc", "planning", "python", "xla"},
    "tests": {"core", "ik", "mpc", "planning", "tests", "xla"},
}
# Headers that only the binding may include.
PYTHONS = re.compile(r"Python\.h|structmember\.h|numpy/.*")
_INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def faults(part: str, text: str) -> Iterator[str]:
    """What a file of a part includes and may not."""
    for bracket, name in _INCLUDE.findall(text):
        foreign = bracket == '"' and name.split("/")[0] not in MAY_INCLUDE[part]
        if foreign or (PYTHONS.fullmatch(name) and part != "python"):
            yield name


def sources(part: str) -> list[Path]:
    return sorted(path for path in (NATIVE / part).rglob("*") if path.suffix in (".cpp", ".h"))


@pytest.mark.parametrize("part", MAY_INCLUDE)
def test_a_part_includes_only_what_it_may(part: str) -> None:
    assert sources(part), f"native/{part} is gone: mend the table"
    wrong = [f"{path.name}: {name}" for path in sources(part) for name in faults(part, path.read_text())]
    assert not wrong, "\n".join(wrong)


def test_every_part_is_in_the_table() -> None:
    assert {path.name for path in NATIVE.iterdir() if path.is_dir()} == set(MAY_INCLUDE)


def test_the_test_sees_includes() -> None:
    text = '#include <Python.h>\n  # include "python/kernel.h"\n#include "ik/plan.h"\n#include <vector>\n'
    assert list(faults("core", text)) == ["Python.h", "python/kernel.h", "ik/plan.h"]
    assert list(faults("python", text)) == []
    assert list(faults("core", '#include "scratch.h"\n')) == ["scratch.h"]  # from native/, never from here
    assert any('"core/' in path.read_text() for path in sources("ik"))
