"""Functions that can be seen whole, files that can be read in one go."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
LONGEST_FUNCTION, LONGEST_FILE = 50, 400
FOLDERS = ("src", "native", "tests", "tools", "examples")
PYTHON = sorted(path for folder in FOLDERS for path in (REPOSITORY / folder).rglob("*.py"))
NATIVE = sorted(
    path
    for folder in FOLDERS
    for suffix in ("cpp", "h", "hpp", "sv")
    for path in (REPOSITORY / folder).rglob(f"*.{suffix}")
)


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Every function and its number of lines, decorators apart."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def native_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Line and length of every outermost block of a C++ file that follows a parameter list."""
    opened = re.compile(r"\)[^;{}]*\{\s*$")
    start, depth = 0, 0
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])\'|//.*', "", line)
        if depth == 0 and opened.search(bare):
            start, depth = number, bare.count("{") - bare.count("}")
        elif depth:
            depth += bare.count("{") - bare.count("}")
            if depth <= 0:
                yield start, number - start + 1
                depth = 0


@pytest.mark.parametrize("path", [*PYTHON, *NATIVE], ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_files_are_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= LONGEST_FILE, f"{lines} lines: split it by what it knows"


@pytest.mark.parametrize("path", PYTHON, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_functions_are_short(path: Path) -> None:
    long = {name: lines for name, lines in python_functions(path) if lines > LONGEST_FUNCTION}
    assert not long, f"longer than {LONGEST_FUNCTION} lines: {long}"


@pytest.mark.parametrize(
    "path", [p for p in NATIVE if p.suffix != ".sv"], ids=lambda path: str(path.relative_to(REPOSITORY))
)
def test_native_functions_are_short(path: Path) -> None:
    long = {
        line: length
        for line, length in native_blocks(path.read_text(encoding="utf-8"))
        if length > LONGEST_FUNCTION
    }
    assert not long, f"blocks longer than {LONGEST_FUNCTION} lines, by first line: {long}"


def test_the_counters_count() -> None:
    source = "void f() {\n  if (x) {\n  }\n}\nint g(int a) {\n" + "  a++;\n" * 60 + "}\n"
    assert list(native_blocks(source)) == [(1, 4), (5, 62)]
    assert max(lines for _, lines in python_functions(Path(__file__))) > 5
