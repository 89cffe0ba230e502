"""Long test suites: every test file is a row, run by pytest in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from robomorph.errors import ArgumentError, RobomorphError
from robomorph.scaleout.job import Shard
from robomorph.scaleout.jobs.files import (
    check_count,
    described,
    read_lines,
    shards_of,
    write_document,
    write_lines,
)

_GOOD = (0, 1, 5)  # pytest's exit codes: all passed, some failed, none collected
_LAST = 2000  # characters of what pytest said, in an error


class SuiteError(RobomorphError):
    """pytest itself did not come to an end."""


@dataclass(frozen=True, eq=False)
class Suites:
    """pytest over files of tests, a process each.

    tests: files, or node ids (`file.py::name`), below `root`; folders stand for the test files in them. root:
    the folder that pytest runs in, which workers must have too. options: further words for pytest, such as
    ("-m", "slow"). A shard is JSON lines, one a file: how many passed, failed, were skipped; which failed.
    """

    tests: Sequence[str]
    root: str = "."
    options: Sequence[str] = ()
    shard_size: int = 1

    kind = "suites"
    suffix = ".jsonl"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "shard_size", check_count("shard_size", self.shard_size))
        root = Path(self.root).resolve()
        set_(self, "root", str(root))
        set_(self, "options", tuple(self.options))
        set_(self, "tests", tuple(dict.fromkeys(name for test in self.tests for name in _files(root, test))))
        if not self.tests:
            raise ArgumentError("tests: expected files of tests, found none")

    def describe(self) -> dict[str, Any]:
        """With the content of the files: a suite that was edited is another one."""
        files = {name: name.partition("::")[0] for name in self.tests}
        texts = {
            name: sha256((Path(self.root) / file).read_bytes()).hexdigest() for name, file in files.items()
        }
        return described(**{"tests": texts, "options": list(self.options), "shard_size": self.shard_size})

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(len(self.tests), self.shard_size)

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        begin = time.perf_counter()
        write_lines(path, [self._ran(test) for test in self.tests[shard.start : shard.start + shard.rows]])
        return {"seconds": {"tests": time.perf_counter() - begin}}

    def _ran(self, test: str) -> dict[str, Any]:
        with TemporaryDirectory() as folder:
            document = Path(folder) / "result.xml"
            words = ["-q", "-p", "no:cacheprovider", "-n0", f"--junitxml={document}", *self.options, test]
            if not _has_xdist():
                words.remove("-n0")
            done = subprocess.run(
                [sys.executable, "-m", "pytest", *words],
                cwd=self.root,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode not in _GOOD or not document.is_file():
                said = f"{done.stdout}\n{done.stderr}".strip()[-_LAST:]
                raise SuiteError(f"{test}: expected pytest to end, found exit code {done.returncode}: {said}")
            return {"test": test, **_outcomes(document)}

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Writes `suites.json`: sums, and every test that failed."""
        rows = list(read_lines(shards))
        sums = {name: sum(row[name] for row in rows) for name in ("passed", "failed", "skipped")}
        failing = [name for row in rows for name in row["failing"]]
        facts = {"files": len(rows), **sums, "failing": failing}
        write_document(folder / "suites.json", {**facts, "table": rows})
        return facts


def _files(root: Path, test: str) -> list[str]:
    """The test files that a name stands for, below the root, in order."""
    file, colons, node = test.partition("::")
    place = (root / file).resolve()
    if not place.exists() or not place.is_relative_to(root):
        raise ArgumentError(f"tests: no file or folder {file!r} below {root}")
    if place.is_dir():
        found = sorted({*place.rglob("test_*.py"), *place.rglob("*_test.py")})
        return [path.relative_to(root).as_posix() for path in found]
    return [f"{place.relative_to(root).as_posix()}{colons}{node}"]


def _outcomes(document: Path) -> dict[str, Any]:
    """Counts and failing tests of a JUnit document; no times."""
    counts, failing = {"passed": 0, "failed": 0, "skipped": 0}, []
    for case in ET.parse(document).iter("testcase"):
        bad = case.find("failure") is not None or case.find("error") is not None
        outcome = "failed" if bad else "skipped" if case.find("skipped") is not None else "passed"
        counts[outcome] += 1
        if bad:
            failing.append(f"{case.get('classname', '')}::{case.get('name', '')}")
    return {**counts, "failing": sorted(failing)}


def _has_xdist() -> bool:
    from importlib.util import find_spec

    return find_spec("xdist") is not None
