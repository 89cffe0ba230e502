"""Imports point one way: spatial -> model -> algorithms, ir -> passes -> targets, and the robot on top.

The table says what each part of the core may import from robomorph; whoever needs more has put something in
the wrong place. Imports inside functions and for type checkers count too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import robomorph

ROOT = Path(robomorph.__file__).parent

ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "naming": set(),
    "paths": set(),
    # what a robot is
    "spatial": set(),
    "model": {"errors", "paths", "spatial"},
    # what a program is: no robot in sight
    "ir": {"errors"},
    "passes": {"errors", "ir"},
    "runtime": {"errors"},
    "targets": {"errors", "ir", "passes", "runtime"},
    # from the one to the other
    "algorithms": {"errors", "ir", "model", "spatial"},
    "tasks": {"algorithms", "errors", "model", "naming", "runtime", "spatial"},
    "singular": {"errors", "model"},
    "specialise": {"algorithms", "errors", "ir", "model", "passes", "singular"},
    # kernels
    "array_kinds": {"errors"},
    "arguments": {"array_kinds", "errors", "ir"},
    "values": {"algorithms", "errors", "ir", "model"},
    "wrenches": {"arguments", "array_kinds", "errors", "model"},
    "outputs": {"array_kinds", "errors", "ir"},
    "results": {"ir"},
    "recipe": {"model", "specialise"},
    "kernel": {
        "arguments",
        "errors",
        "ir",
        "outputs",
        "recipe",
        "results",
        "runtime",
        "targets",
        "values",
    },
    "compiler": {
        "algorithms",
        "errors",
        "ir",
        "kernel",
        "model",
        "passes",
        "recipe",
        "runtime",
        "specialise",
        "targets",
        "values",
    },
}
# The top floor shows what the others found. It stands on parts that have no row above.
SHOWS: dict[str, set[str]] = {"report": {"errors", "gpu", "robot", "targets"}}
# Only these may be imported by nobody but the parts named.
PRIVATE = {"cli": {"__main__"}, "bench": {"cli"}, "report": {"bench", "cli", "hardware"}}


def part_of(path: Path) -> str:
    """The top-level module or package that a file belongs to."""
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_parts(path: Path, tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Parts of robomorph that a file imports, with the line."""
    package = ["robomorph", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            pieces = name.split(".")
            if pieces[0] == "robomorph" and len(pieces) > 1:
                yield pieces[1], node.lineno


def all_imports() -> Iterator[tuple[str, str, str]]:
    """(part, imported part, where) for every import across parts."""
    for path in sorted(ROOT.rglob("*.py")):
        part = part_of(path)
        for other, line in imported_parts(path, ast.parse(path.read_text(encoding="utf-8"))):
            if other != part:
                yield part, other, f"{path.relative_to(ROOT)}:{line}"


IMPORTS = list(all_imports())


@pytest.mark.parametrize("part", [*ALLOWED, *SHOWS])
def test_a_part_imports_only_what_it_may(part: str) -> None:
    assert any(part_of(path) == part for path in ROOT.rglob("*.py")), f"{part} is gone: mend the table"
    may = {**ALLOWED, **SHOWS}[part]
    wrong = [f"{where} imports {other}" for p, other, where in IMPORTS if p == part and other not in may]
    assert not wrong, "\n".join(wrong)


def test_the_table_has_no_cycle() -> None:
    done: set[str] = set()
    while len(done) < len(ALLOWED):
        ready = {part for part, needs in ALLOWED.items() if needs <= done} - done
        assert ready, f"a cycle among {set(ALLOWED) - done}"
        done |= ready


def test_targets_know_no_robot() -> None:
    assert not ALLOWED["targets"] & {"model", "algorithms", "specialise", "robot"}
    assert not ALLOWED["passes"] & {"model", "algorithms"}


@pytest.mark.parametrize("part", PRIVATE)
def test_nothing_imports_the_face_from_below(part: str) -> None:
    wrong = [
        f"{where} imports {part}" for p, other, where in IMPORTS if other == part and p not in PRIVATE[part]
    ]
    assert not wrong, "\n".join(wrong)


def test_the_test_sees_imports() -> None:
    """Relative and nested imports are found, and the real ones among them."""
    source = "def f():\n    from ..model import Model\n    import robomorph.robot\n"
    path = ROOT / "targets" / "cpu" / "imaginary.py"
    assert list(imported_parts(path, ast.parse(source.replace("..model", "...model")))) == [
        ("model", 2),
        ("robot", 3),
    ]
    assert ("algorithms", "spatial") in {(p, other) for p, other, _ in IMPORTS}
