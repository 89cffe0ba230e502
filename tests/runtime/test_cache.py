"""The kernel cache: what comes out went in, and nothing damaged or foreign ever comes out."""

from __future__ import annotations

import logging
import multiprocessing
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from robomorph.runtime import cache as cache_module
from robomorph.runtime.cache import KernelCache, default_cache

KEY = "program text, target, versions"
PAYLOAD = bytes(range(256)) * 40


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    return KernelCache(tmp_path / "kernels")


def entry_of(cache: KernelCache) -> Path:
    assert cache.directory is not None
    [path] = cache.directory.iterdir()
    return path


def test_round_trip(cache: KernelCache) -> None:
    contents = {"": b"", "short": b"x", "long " * 100_000: PAYLOAD, "zweck \u00fc \ud800": b"unicode"}
    for key, payload in contents.items():
        assert cache.get(key) is None
        cache.put(key, payload)
    for key, payload in contents.items():
        assert cache.get(key) == payload
    cache.put("short", b"replaced")
    assert cache.get("short") == b"replaced"


def test_folder_and_entries_are_private(cache: KernelCache) -> None:
    cache.put(KEY, PAYLOAD)
    assert cache.directory is not None
    assert stat.S_IMODE(cache.directory.stat().st_mode) == 0o700
    assert stat.S_IMODE(entry_of(cache).stat().st_mode) == 0o600


def test_size_and_clear(cache: KernelCache) -> None:
    assert cache.size() == 0
    cache.clear()
    cache.put("a", PAYLOAD)
    cache.put("b", PAYLOAD)
    assert cache.size() > 2 * len(PAYLOAD)
    cache.clear()
    assert cache.size() == 0
    assert cache.get("a") is None


def flip(position: int) -> Callable[[bytes], bytes]:
    def damage(content: bytes) -> bytes:
        changed = bytearray(content)
        changed[position] ^= 0x10
        return bytes(changed)

    return damage


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "header cut": lambda content: content[:50],
    "payload cut": lambda content: content[:-1],
    "no payload": lambda content: content[:92],
    "byte appended": lambda content: content + b"\0",
    "foreign file": lambda content: b"\x7fELF" + bytes(5000),
    "last bit": flip(-1),
    "first payload bit": flip(92),
    "middle": flip(5000),
    **{f"header bit at {position}": flip(position) for position in range(0, 92, 3)},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damaged_entries_are_removed_and_never_used(
    cache: KernelCache, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    cache.put(KEY, PAYLOAD)
    path = entry_of(cache)
    content = path.read_bytes()
    assert len(content) == 92 + len(PAYLOAD)
    path.write_bytes(damage(content))
    with caplog.at_level(logging.WARNING):
        assert cache.get(KEY) is None
    assert not path.exists()
    assert [record.name for record in caplog.records] == ["robomorph.runtime.cache"]
    cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) == PAYLOAD


def test_entry_of_another_key_is_refused(cache: KernelCache) -> None:
    cache.put("other", b"other payload")
    stolen = entry_of(cache)
    cache.put(KEY, PAYLOAD)
    assert cache.directory is not None
    [path] = [path for path in cache.directory.iterdir() if path != stolen]
    os.replace(stolen, path)
    assert cache.get(KEY) is None
    assert not path.exists()


def test_older_format_is_refused(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, PAYLOAD)
    monkeypatch.setattr(cache_module, "_FORMAT", 2)
    assert cache.get(KEY) is None


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o666])
def test_entries_writable_by_others_are_refused(cache: KernelCache, mode: int) -> None:
    cache.put(KEY, PAYLOAD)
    entry_of(cache).chmod(mode)
    assert cache.get(KEY) is None


def test_entries_of_other_users_are_refused(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, PAYLOAD)
    me = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    assert cache.get(KEY) is None
    monkeypatch.undo()
    assert cache.get(KEY) == PAYLOAD  # not ours to delete, so it is still there


def test_links_and_pipes_are_not_followed(cache: KernelCache, tmp_path: Path) -> None:
    cache.put(KEY, PAYLOAD)
    path = entry_of(cache)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert cache.get(KEY) is None
    path.unlink()
    os.mkfifo(path, 0o600)
    assert cache.get(KEY) is None
    cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) == PAYLOAD


def test_unusable_folder_is_logged_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = KernelCache(tmp_path / "file" / "kernels")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            cache.put(KEY, PAYLOAD)
            assert cache.get(KEY) is None
    assert len(caplog.records) == 1
    assert cache.size() == 0
    cache.clear()


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write to read-only folders")
def test_read_only_folder_still_serves(cache: KernelCache) -> None:
    cache.put(KEY, PAYLOAD)
    assert cache.directory is not None
    cache.directory.chmod(0o500)
    try:
        cache.put("another", PAYLOAD)
        assert cache.get("another") is None
        assert cache.get(KEY) == PAYLOAD
    finally:
        cache.directory.chmod(0o700)


def test_full_disk_leaves_nothing_behind(cache: KernelCache, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.put(KEY, PAYLOAD)

    def no_space(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", no_space)
    cache.put("another", PAYLOAD)
    assert cache.get("another") is None
    assert cache.get(KEY) == PAYLOAD
    assert entry_of(cache).suffix == ".kernel"  # one file, no temporary one


def test_least_recently_used_entries_go_first(tmp_path: Path) -> None:
    cache = KernelCache(tmp_path, limit_bytes=3 * (len(PAYLOAD) + 92))
    names = {}
    for age, key in enumerate(["d", "c", "b", "a"]):
        before = set(tmp_path.iterdir())
        cache.put(key, PAYLOAD)
        [names[key]] = set(tmp_path.iterdir()) - before
        os.utime(names[key], (0, 1000 + age))
    assert cache.get("d") == PAYLOAD  # the oldest, but now the most recently used
    fresh = KernelCache(tmp_path, limit_bytes=3 * (len(PAYLOAD) + 92))
    fresh.put("e", PAYLOAD)
    kept = [key for key in "abcde" if fresh.get(key) is not None]
    assert kept == ["a", "d", "e"]


def test_eviction_looks_at_most_once_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = KernelCache(tmp_path, limit_bytes=0)
    clock = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    cache.put("a", PAYLOAD)
    assert cache.size() == 0
    clock[0] += 59.0
    cache.put("b", PAYLOAD)
    assert cache.get("b") == PAYLOAD
    clock[0] += 2.0
    cache.put("c", PAYLOAD)
    assert cache.size() == 0


def test_abandoned_temporary_files_are_removed(cache: KernelCache) -> None:
    assert cache.directory is not None
    cache.directory.mkdir()
    old, new = cache.directory / "old.tmp", cache.directory / "new.tmp"
    old.write_bytes(b"half")
    new.write_bytes(b"half")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    cache.put(KEY, PAYLOAD)
    assert not old.exists()
    assert new.exists()


def payload_for(key: str) -> bytes:
    return key.encode() * 5000


def fill(directory: Path, seed: int, wrong: multiprocessing.Queue[str]) -> None:
    """Puts and gets the same keys as everybody else; reports whatever comes back wrong."""
    cache = KernelCache(directory)
    for turn in range(120):
        key = f"key {(turn * 7 + seed) % 10}"
        if turn % 3 == 0:
            cache.put(key, payload_for(key))
        found = cache.get(key)
        if found is not None and found != payload_for(key):
            wrong.put(key)
        if turn % 40 == 39 and seed == 0:
            cache.clear()
    wrong.put("")


def test_processes_may_share_the_folder(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    wrong: multiprocessing.Queue[str] = context.Queue()
    workers = [context.Process(target=fill, args=(tmp_path, seed, wrong)) for seed in range(3)]
    for worker in workers:
        worker.start()
    reports: list[str] = []
    while reports.count("") < len(workers):
        reports.append(wrong.get(timeout=30))
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert set(reports) == {""}
    assert not list(tmp_path.glob("*.tmp"))


def test_disabled_cache_holds_nothing() -> None:
    cache = KernelCache(None)
    cache.put(KEY, PAYLOAD)
    assert cache.get(KEY) is None
    assert cache.size() == 0
    assert cache.directory is None
    cache.clear()


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("ROBOMORPH_CACHE", "ROBOMORPH_CACHE_DIR", "ROBOMORPH_CACHE_LIMIT_MB", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    return monkeypatch


def test_default_folder(environment: pytest.MonkeyPatch) -> None:
    environment.setattr(sys, "platform", "linux")
    assert default_cache().directory == Path("/home/someone/.cache/robomorph")
    environment.setattr(sys, "platform", "darwin")
    assert default_cache().directory == Path("/home/someone/Library/Caches/robomorph")
    environment.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert default_cache().directory == Path("/home/someone/Library/Caches/robomorph")
    environment.setenv("XDG_CACHE_HOME", "/xdg")
    assert default_cache().directory == Path("/xdg/robomorph")
    environment.setenv("ROBOMORPH_CACHE_DIR", "~/chosen")
    assert default_cache().directory == Path("/home/someone/chosen")
    assert default_cache() is default_cache()
    environment.setenv("ROBOMORPH_CACHE", "OFF")
    assert default_cache().directory is None


def test_default_limit(
    environment: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    environment.setenv("ROBOMORPH_CACHE_DIR", str(tmp_path))
    environment.setenv("ROBOMORPH_CACHE_LIMIT_MB", "0.001")
    default_cache().put(KEY, PAYLOAD)
    assert default_cache().size() == 0
    environment.setenv("ROBOMORPH_CACHE_LIMIT_MB", "plenty")
    with caplog.at_level(logging.WARNING):
        default_cache().put(KEY, PAYLOAD)
    assert default_cache().size() > 0
    assert "ROBOMORPH_CACHE_LIMIT_MB" in caplog.text
