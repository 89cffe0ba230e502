"""`stats.from_cache` is true of what a kernel's code is, before and after the first call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import Kernel
from robomorph.runtime import default_cache


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOMORPH_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("ROBOMORPH_CACHE", raising=False)


def kernel(**options: Any) -> Kernel:
    """As in a new process: nothing is shared but the cache."""
    made = robomorph.load("chain:2").compile("inverse_dynamics", **options)
    assert isinstance(made, Kernel)
    return made


def call(run: Kernel, rows: int) -> Kernel:
    run(*[np.zeros((rows, 2), run.dtype)] * 3)
    return run


def test_a_cold_cache() -> None:
    run = kernel()
    assert run.stats.from_cache is False
    assert call(run, 1).stats.from_cache is False
    assert run.stats.from_cache is False  # it was compiled here, though it is stored now


@pytest.mark.parametrize("rows", [1, 50])
def test_a_warm_cache_is_known_before_the_first_call(rows: int) -> None:
    call(kernel(), rows)
    run = kernel()
    assert run.stats.from_cache is True
    assert not run._variants  # nothing was loaded or compiled to find out
    assert call(run, rows).stats.from_cache is True
    other = call(run, 51 - rows)  # for which there was no code
    assert other.stats.from_cache is False


def test_code_of_another_kernel_does_not_count() -> None:
    call(kernel(), 1)
    assert kernel(dtype="float32").stats.from_cache is False
    assert kernel(f_ext=True).stats.from_cache is False


def test_a_damaged_or_absent_entry_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call(kernel(), 1)
    for path in tmp_path.glob("*.kernel"):
        path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert kernel().stats.from_cache is False
    call(kernel(), 1)
    assert kernel().stats.from_cache is True
    monkeypatch.setenv("ROBOMORPH_CACHE", "off")
    assert default_cache().directory is None
    assert kernel().stats.from_cache is False
