"""The machine and the versions that a set of figures belongs to."""

from __future__ import annotations

import platform
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import llvmlite
import numpy as np

import robomorph
from robomorph.bench.cpus import available_cpus, load_average
from robomorph.bench.session import Session
from robomorph.targets.cpu.host import host


def describe_machine(session: Session) -> dict[str, Any]:
    cpu = host()
    return {
        "cpu": _cpu_model(),
        "llvm_cpu": cpu.cpu,
        "cores": available_cpus(),
        "vector_bits": cpu.vector_bits,
        "fused_multiply_add": cpu.fma,
        "system": f"{platform.system()} {platform.machine()}",
        "load_average": load_average(),  # other programs that ran at the same time disturb what is measured
        "time": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "versions": {
            "robomorph": robomorph.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "llvmlite": llvmlite.__version__,
            **{peer.name: peer.version() for peer in session.present},
        },
        "absent": dict(session.absent),
    }


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.lower().startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
