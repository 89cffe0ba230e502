"""The fingerprint of the source is remembered by the files' status, and no change goes unnoticed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import robomorph
import robomorph.compiler.fingerprint as module
from robomorph.compiler.fingerprint import fingerprint, source_fingerprint
from robomorph.runtime.cache import KernelCache

SOURCES = {
    "__init__.py": "VALUE = 1\n",
    "ir/__init__.py": "",
    "ir/ops.py": "COST = 3\n",
    "ir/bench/deep.py": "X = 0\n",
    "cli/main.py": "SHOWN = 1\n",
    "ir/notes.txt": "no source\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package whose files count as settled at once."""
    monkeypatch.setattr(module, "_SETTLED_NS", -1_000_000_000)
    root = tmp_path / "package"
    for name, text in SOURCES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def memory(tmp_path: Path) -> KernelCache:
    return KernelCache(tmp_path / "cache")


def is_remembered(package: Path, memory: KernelCache, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the fingerprint is known without reading a file."""

    def refuse(root: Path, names: list[str]) -> str:
        return "read"

    with monkeypatch.context() as patch:
        patch.setattr(module, "_digest", refuse)
        return fingerprint(package, KernelCache(memory.directory)) != "read"


def test_the_second_process_reads_no_source(
    package: Path, memory: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = fingerprint(package, memory)
    assert is_remembered(package, memory, monkeypatch)
    assert fingerprint(package, memory) == first == fingerprint(package, KernelCache(None))


TICK = 0.05  # s; longer than the clock of any file system here stands still


def rewrite(path: Path, text: str = "COST = 4\n") -> None:
    time.sleep(TICK)
    path.write_text(text)


def rewrite_and_restore_the_time(path: Path) -> None:
    before = path.stat()
    rewrite(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


def replace_by_another_file(path: Path) -> None:
    """As editors and package managers do it, with every time that can be set."""
    before, new = path.stat(), path.with_suffix(".new")
    new.write_text("COST = 4\n")
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(new, path)


def swap_for_an_older_file(path: Path) -> None:
    """Older in every respect: made, and last changed, before the fingerprint was taken."""
    os.replace(path.parents[2] / "prepared.py", path)


CHANGES = (rewrite, rewrite_and_restore_the_time, replace_by_another_file, swap_for_an_older_file)


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_equal_size_is_noticed(package: Path, memory: KernelCache, change: object) -> None:
    assert callable(change)
    (package.parent / "prepared.py").write_text("COST = 4\n")
    before = fingerprint(package, memory)
    assert fingerprint(package, memory) == before
    change(package / "ir/ops.py")
    assert fingerprint(package, memory) == fingerprint(package, KernelCache(None)) != before


def test_new_removed_and_renamed_files_are_noticed(package: Path, memory: KernelCache) -> None:
    seen = [fingerprint(package, memory)]
    (package / "ir/more.py").write_text("")
    seen.append(fingerprint(package, memory))
    (package / "ir/more.py").rename(package / "ir/other.py")
    seen.append(fingerprint(package, memory))
    (package / "ir/__init__.py").unlink()
    seen.append(fingerprint(package, memory))
    assert len(set(seen)) == 4


def test_what_only_shows_makes_no_difference(package: Path, memory: KernelCache) -> None:
    before = fingerprint(package, memory)
    (package / "cli/main.py").write_text("SHOWN = 2\n")
    (package / "ir/notes.txt").write_text("still none\n")
    assert fingerprint(package, memory) == before
    rewrite(package / "ir/bench/deep.py", "X = 1\n")  # shows only at the top
    assert fingerprint(package, memory) != before


def test_files_just_written_are_read_again(
    package: Path, memory: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two writes within one tick of the clock may have one time."""
    monkeypatch.setattr(module, "_SETTLED_NS", 3_600_000_000_000)
    fingerprint(package, memory)
    assert memory.size() == 0 and not is_remembered(package, memory, monkeypatch)


def test_times_that_were_made_up_are_not_believed(
    package: Path, memory: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image of a disk may give all files one time, in whole seconds, in every version."""
    real = module._status

    def made_up(folder: str, prefix: str) -> object:
        return [(name, (*status[:3], 10**9, 10**9)) for name, status in real(folder, prefix)]

    monkeypatch.setattr(module, "_status", made_up)
    fingerprint(package, memory)
    assert memory.size() == 0 and not is_remembered(package, memory, monkeypatch)


def test_a_file_that_changes_while_it_is_read_is_not_remembered(
    package: Path, memory: KernelCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = module._digest

    def slow(root: Path, names: list[str]) -> str:
        found = read(root, names)
        rewrite(root / "ir/ops.py")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(module, "_digest", slow)
        stale = fingerprint(package, memory)
    assert memory.size() == 0
    assert fingerprint(package, memory) != stale


def test_damage_is_mended(package: Path, memory: KernelCache) -> None:
    before = fingerprint(package, memory)
    assert memory.directory is not None
    [entry] = memory.directory.iterdir()
    entry.write_bytes(entry.read_bytes()[:-1] + b"?")
    assert fingerprint(package, memory) == before


def test_a_folder_that_cannot_be_written_is_no_trouble(
    package: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Nor is it worth a word: kernels may all be there already."""
    (tmp_path / "file").write_text("")
    memory = KernelCache(tmp_path / "file" / "cache")
    assert fingerprint(package, memory) == fingerprint(package, KernelCache(None))
    assert not [record for record in caplog.records if "cannot write" in record.message]


def test_a_package_without_sources_is_never_the_same(tmp_path: Path, memory: KernelCache) -> None:
    (tmp_path / "empty").mkdir()
    assert fingerprint(tmp_path / "empty", memory) != fingerprint(tmp_path / "empty", memory)


def test_kernels_are_made_anew_after_an_edit_that_hides(tmp_path: Path) -> None:
    """The whole way, in processes of their own: equal size, restored time."""
    source = Path(robomorph.__file__).parent
    copy = tmp_path / "site" / "robomorph"
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    program = (
        "import robomorph, robomorph.compiler.fingerprint as f; f._SETTLED_NS = 0\n"
        "k = robomorph.load('chain:2').compile('energy').prepare()\n"
        "print(f.__file__, f.source_fingerprint(), k.stats.from_cache)"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(copy.parent),
        "ROBOMORPH_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }

    def run() -> tuple[str, str]:
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        place, found, cached = done.stdout.split()
        assert Path(place).is_relative_to(copy)
        return found, cached

    first, again = run(), run()
    assert first == (again[0], "False") and again[1] == "True"
    edited = copy / "passes" / "chunk.py"
    before = edited.stat()
    text = edited.read_text()
    edited.write_text(text.replace("PIECE = 300", "PIECE = 299"))
    os.utime(edited, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert edited.stat().st_size == before.st_size and edited.read_text() != text
    third = run()
    assert third[0] != first[0] and third[1] == "False"


def test_it_is_asked_once_a_process() -> None:
    assert source_fingerprint() is source_fingerprint()
