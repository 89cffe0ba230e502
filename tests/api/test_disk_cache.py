"""Kernels through the disk cache: found again, never run when damaged or foreign, shared by processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import Kernel
from robomorph.runtime.cache import default_cache

Array = npt.NDArray[Any]
NAME = "forward_dynamics"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of our own."""
    monkeypatch.setenv("ROBOMORPH_CACHE_DIR", str(tmp_path / "kernels"))
    monkeypatch.delenv("ROBOMORPH_CACHE", raising=False)
    return tmp_path / "kernels"


def evaluate(name: str = NAME) -> tuple[Kernel, list[Array]]:
    """A kernel made as if by a new process, and its results for one state and for a batch."""
    robot = robomorph.load("chain:3")
    kernel = robot.compile(name)
    assert isinstance(kernel, Kernel)
    q, qd, tau = np.random.default_rng(1).uniform(-1, 1, (3, 20, 3))
    return kernel, [kernel(q, qd, tau), kernel(q[0], qd[0], tau[0])]


def same(a: list[Array], b: list[Array]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def test_a_second_process_finds_what_the_first_made(folder: Path) -> None:
    first, results = evaluate()
    assert not first.stats.from_cache
    assert list(folder.glob("*.kernel"))
    second, again = evaluate()
    assert second.stats.from_cache
    assert same(results, again)
    assert second.stats.formulation == first.stats.formulation
    assert second.stats.flops == first.stats.flops


def test_other_kernels_do_not_share_entries(folder: Path) -> None:
    _, forward = evaluate()
    count = len(list(folder.glob("*.kernel")))
    _, inverse = evaluate("inverse_dynamics")
    assert len(list(folder.glob("*.kernel"))) > count
    assert not same(forward, inverse)
    heavier = robomorph.load("chain:3", payloads={"link_3": (0.5, (0.0, 0.0, 0.1))})
    q = np.full(3, 0.3)
    assert not np.array_equal(heavier.mass_matrix(q), robomorph.load("chain:3").mass_matrix(q))


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


def foreign(content: bytes) -> bytes:
    return b"\x7fELF" + os.urandom(len(content))


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "cut": cut,
    "flipped": flip,
    "foreign": foreign,
    "empty": lambda content: b"",
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_entries_are_rebuilt(folder: Path, kind: str, caplog: pytest.LogCaptureFixture) -> None:
    _, results = evaluate()
    sound = {path: path.read_bytes() for path in folder.glob("*.kernel")}
    for path, content in sound.items():
        path.write_bytes(DAMAGE[kind](content))
    rebuilt, again = evaluate()
    assert same(results, again)
    assert not rebuilt.stats.from_cache
    assert "ignoring the cached kernel" in caplog.text
    assert {path for path in folder.glob("*.kernel") if path in sound} == set(sound), "written anew"
    third, _ = evaluate()
    assert third.stats.from_cache


def test_entries_under_other_names_are_not_run(folder: Path) -> None:
    """Swapping two sound entries must not swap what they compute."""
    _, forward = evaluate()
    _, inverse = evaluate("inverse_dynamics")
    paths = sorted(folder.glob("*.kernel"))
    contents = [path.read_bytes() for path in paths]
    for path, content in zip(paths, contents[1:] + contents[:1], strict=True):
        path.write_bytes(content)
    assert same(evaluate()[1], forward)
    assert same(evaluate("inverse_dynamics")[1], inverse)


def test_without_a_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, results = evaluate()
    monkeypatch.setenv("ROBOMORPH_CACHE", "off")
    assert default_cache().directory is None
    kernel, again = evaluate()
    assert not kernel.stats.from_cache and same(results, again)


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    monkeypatch.setenv("ROBOMORPH_CACHE_DIR", str(blocker / "kernels"))
    kernel, results = evaluate()
    assert not kernel.stats.from_cache and np.all(np.isfinite(results[0]))


SCRIPT = """
import sys, time, numpy as np, robomorph
robot = robomorph.load("chain:4")
while time.time() < float(sys.argv[1]):  # start together
    pass
x = np.linspace(-1, 1, 40).reshape(10, 4)
for name in ("inverse_dynamics", "forward_dynamics", "forward_dynamics_gradient"):
    result = robot.compile(name)(x, x, x)
    for array in result if isinstance(result, tuple) else (result,):
        sys.stdout.write(array.tobytes().hex())
"""


def test_two_processes_filling_one_cache(folder: Path) -> None:
    start = str(time.time() + 2.0)
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", SCRIPT, start], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(2)
    ]
    outputs = [run.communicate(timeout=120) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], outputs
    assert outputs[0][0] and outputs[0][0] == outputs[1][0]
    assert not outputs[0][1] and not outputs[1][1], "nothing is complained about"
    entries = list(folder.glob("*.kernel"))
    assert len(entries) >= 3 and not list(folder.glob("*.tmp"))
    third = subprocess.run([sys.executable, "-c", SCRIPT, "0"], capture_output=True, timeout=120, check=True)
    assert third.stdout == outputs[0][0]
