"""The code on the documentation's pages and the examples is run as written, and must print what pages say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# Beside what tests need in any case.
NEEDS = {"torch_identify": ("torch",), "jax_swing_up": ("jax",), "arrays": ("jax", "torch")}
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def registries(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a page registers is gone after it, and its kernels are not kept."""
    from robomorph.algorithms.registry import ALGORITHMS
    from robomorph.bench.sections import GROUPS
    from robomorph.model.joints import JOINT_TYPES
    from robomorph.model.read import FORMATS
    from robomorph.targets import TARGETS
    from robomorph.tasks import TASKS

    monkeypatch.setenv("ROBOMORPH_CACHE", "off")
    sections = [group.sections for group in GROUPS.values()]
    changed: list[dict[str, Any]] = [ALGORITHMS, FORMATS, JOINT_TYPES, TARGETS, TASKS, *sections]
    kept = [(registry, dict(registry)) for registry in changed]
    yield
    for registry, before in kept:
        registry.clear()
        registry.update(before)


# Pages that other toolchains or minutes are needed for are run by the tests of what they describe.
WITHIN_REACH = {
    *(
        "README",
        "arrays",
        "casadi",
        "compiler",
        "fixed",
        "models",
        "motion-kernels",
        "mpc-loop",
        "mpc",
        "native",
        "planning",
        "planning-certificate",
        "viewer",
    ),
    *(
        "add-a-format",
        "add-a-joint",
        "add-a-pass",
        "add-a-section",
        "add-a-target",
        "add-a-task",
        "add-an-algorithm",
    ),
}


def skip_without_package(name: str) -> None:
    for package in NEEDS.get(name, ()):
        if not find_spec(package) and not os.environ.get(f"ROBOMORPH_REQUIRE_{package.upper()}"):
            pytest.skip(f"{package} is not installed: pip install 'robomorph[{package}]'")


@pytest.mark.parametrize("name", sorted(WITHIN_REACH))
def test_page_runs(
    name: str,
    registries: None,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    skip_without_package(name)
    monkeypatch.chdir(tmp_path)  # what a page writes
    page = ROOT / "README.md" if name == "README" else ROOT / "docs" / f"{name}.md"
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks, f"{page.name} has no Python blocks any more"
    namespace: dict[str, object] = {"__name__": f"page {name}"}
    for block in blocks:
        exec(compile(block, str(page), "exec"), namespace)


def test_readme_shows_what_its_example_prints(registries: None, capsys: pytest.CaptureFixture[str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    match = re.search(r"^```python\n(.*?)^```\n+```text\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert match is not None, "README.md: expected a Python block followed by its output as a text block"
    exec(compile(match[1], "README.md", "exec"), {})
    assert capsys.readouterr().out == match[2]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example: Path, tmp_path: Path) -> None:
    skip_without_package(example.stem)
    result = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()


def test_models_page_lists_every_builtin_robot() -> None:
    from robomorph import builtin_robots

    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in text for name in builtin_robots())
