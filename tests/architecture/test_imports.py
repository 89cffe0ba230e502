"""Imports point one way, from what shows down to what only knows numbers.

The table has a row for every part of the package and says what it may import from robomorph; whoever needs
more has put something in the wrong place. Imports inside functions and for type checkers count too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import robomorph

ROOT = Path(robomorph.__file__).parent

# Ground: knows numbers. No robot in sight.
GROUND: dict[str, set[str]] = {
    "errors": set(),
    "checker": {"errors"},  # a second opinion: shares nothing with what it checks
    "naming": set(),
    "paths": set(),
    "ir": {"errors"},
    "passes": {"errors", "ir"},
    "runtime": {"errors", "ir", "naming"},
    "targets": {"errors", "ir", "naming", "passes", "runtime"},
}
# First floor: knows robots.
ROBOTS: dict[str, set[str]] = {
    "spatial": set(),
    "model": {"errors", "naming", "paths", "spatial"},
    "shapes": {"errors", "model", "paths"},
    "algorithms": {"errors", "ir", "model", "spatial"},
    "tasks": {"algorithms", "errors", "model", "naming", "runtime", "spatial"},
}
# From the one to the other, and what uses kernels.
USES: dict[str, set[str]] = {
    "compiler": {*GROUND, *ROBOTS} - {"paths"},
    "accelerators": {"algorithms", "errors", "ir", "model", "passes", "spatial", "targets"},
    "ik": {*GROUND, *ROBOTS, "accelerators", "compiler", "robot"} - {"paths"},
    "given": {*GROUND, *ROBOTS, "loading", "robot"},
    "planning": {*GROUND, *ROBOTS, "compiler", "given", "robot"},
    "mpc": {*GROUND, *ROBOTS, "accelerators", "compiler", "given", "planning", "robot"},
    # Jobs use whatever does the work of a shard; what runs them knows no robot.
    "scaleout": {
        *GROUND,
        *ROBOTS,
        # export: how functions are named in `--functions`, the same words here.
        *(
            "accelerators",
            "compiler",
            "export",
            "given",
            "ik",
            "loading",
            "mpc",
            "planning",
            "robot",
            "__version__",
        ),
    },
    "robot_functions": set(),
    # targets: only the types of the kernels that `compile` gives.
    "robot": {
        *("algorithms", "compiler", "errors", "ik", "model", "robot_functions", "runtime", "targets"),
        "verify",
    },
    "loading": {"errors", "model", "robot"},
    # Bridges to other packages' arrays; their faces are single modules.
    "interop": {
        *("algorithms", "compiler", "errors", "ir", "model", "naming", "robot", "robot_functions", "runtime"),
        *("spatial", "targets"),
    },
    "jax": {"interop"},
    "casadi": {"interop"},
    "mujoco": {"interop"},
    "torch": {"interop"},
    # The page and its server; `robomorph.view` is a name of the package, so it stands below `public`.
    "viewer": {
        *("algorithms", "compiler", "errors", "given", "ik", "model", "mpc", "naming", "paths", "planning"),
        *("robot", "runtime", "shapes", "__version__"),
    },
    "public": {"errors", "loading", "model", "robot", "runtime", "targets", "viewer"},
    "__init__": {"public"},
}
# Top: shows and checks.
SHOWS: dict[str, set[str]] = {
    "report": {"accelerators", "compiler", "errors", "ir", "mpc", "planning", "robot", "targets"},
    "export": {*GROUND, *ROBOTS, "accelerators", "compiler", "given", "interop", "mpc", "report", "robot"},
    "verify": {"algorithms", "errors", "model", "robot", "spatial"},
    "bench": {
        *GROUND,
        *ROBOTS,
        "accelerators",
        "casadi",
        "compiler",
        "given",
        "ik",
        "interop",
        "loading",
        "mpc",
        "mujoco",
        "planning",
        "report",
        "robot",
        "viewer",
    },
    # The papers' measurements as one page: asks everybody who measures. `report` has the figures that bench
    # draws too, so it could not.
    "evidence": {*GROUND, *ROBOTS, *USES, "bench", "report", "viewer"} - {"checker", "robot_functions"},
    "cli": {*GROUND, *ROBOTS, *USES, "bench", "evidence", "export", "report", "verify", "__version__"},
    "__main__": {"cli"},
}
ALLOWED = {**GROUND, **ROBOTS, **USES, **SHOWS}
# Methods of a robot that import what does the work when they are called.
LATE = ("ik", "verify")
# Only these may be imported by nobody but the parts named.
PRIVATE = {
    "cli": {"__main__"},
    "bench": {"cli", "evidence"},
    "evidence": {"cli"},
    "report": {"bench", "cli", "evidence", "export"},
    "verify": {"cli", "robot"},
}
# Targets do not know each other; languages that look like C share a printer, chips and integer lanes what is
# computed in fixed point.
SIBLINGS: dict[str, set[str]] = {
    "casadi": {"cpp", "cpu", "templates"},  # kernels of either, with CasADi's interface around them
    "cpp": {"c_family", "templates"},
    "cpu": {"fixed_point"},
    "gpu": {"c_family", "templates"},
    "rtl": {"fixed_point"},
}


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


PARTS = sorted({part_of(path) for path in ROOT.rglob("*.py")})


def test_every_part_has_a_row() -> None:
    assert set(PARTS) == set(ALLOWED)


@pytest.mark.parametrize("part", PARTS)
def test_a_part_imports_only_what_it_may(part: str) -> None:
    may = ALLOWED[part]
    wrong = [f"{where} imports {other}" for p, other, where in IMPORTS if p == part and other not in may]
    assert not wrong, "\n".join(wrong)


def test_the_table_has_no_cycle() -> None:
    needs = {part: set(others) - {"__version__"} for part, others in ALLOWED.items()}
    needs["robot"] -= set(LATE)
    done: set[str] = set()
    while len(done) < len(needs):
        ready = {part for part, others in needs.items() if others <= done} - done
        assert ready, f"a cycle among {set(needs) - done}"
        done |= ready


def test_targets_know_no_robot() -> None:
    for part in GROUND:
        assert not ALLOWED[part] & {*ROBOTS, *USES, *SHOWS}


def _sibling(path: Path) -> str:
    return path.relative_to(ROOT / "targets").parts[0].removesuffix(".py")


TARGETS = sorted({_sibling(path) for path in (ROOT / "targets").rglob("*.py")} - {"__init__"})


@pytest.mark.parametrize("target", TARGETS)
def test_targets_do_not_know_each_other(target: str) -> None:
    pattern = re.compile(r"robomorph\.targets\.(\w+)")
    wrong = []
    for path in (ROOT / "targets").rglob("*.py"):
        if _sibling(path) == target:
            known = {target, *SIBLINGS.get(target, ())}
            found = set(pattern.findall(path.read_text(encoding="utf-8"))) - known
            wrong += [f"{path.relative_to(ROOT)} imports {other}" for other in found]
    assert not wrong, "\n".join(wrong)


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
