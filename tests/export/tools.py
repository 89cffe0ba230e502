"""Compilers for the exported code, and strict ways to run them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

# What the exported code must stand, as errors.
STRICT = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror")
COMPILERS = ("g++", "clang++")


def need(tool: str) -> str:
    """The path of a tool; skips the test where it is missing."""
    path = shutil.which(tool)
    if path is None:
        pytest.skip(f"{tool} is not installed here")
    return path


def output_of(*command: str | Path) -> str:
    """Run a command that must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]} failed:\n{done.stdout[-2000:]}\n{done.stderr[:4000]}"
    return done.stdout


def compile_program(compiler: str, folder: Path, source: str, *flags: str) -> Path:
    """An executable from one source of an exported folder, with all warnings as errors."""
    program = folder / f"{Path(source).stem}_{Path(compiler).name}"
    strict = ["-std=c++17", "-ffp-contract=off", *STRICT, *flags, f"-I{folder / 'include'}"]
    output_of(need(compiler), *strict, folder / source, "-o", program)
    return program
