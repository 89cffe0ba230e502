"""What a kernel costs before its first result, measured in a process of its own.

Run as ``python -m robomorph.bench.cold_start ROBOT FUNCTION BATCH``; prints one JSON object: seconds from
`load` to the first result, and the peak memory of the process. Where the cache is, the environment says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from robomorph.errors import ModelWarning, TargetError

TIMEOUT_S = 600.0


def measure_in_child(source: str, function: str, batch: int, cache: Path) -> dict[str, float]:
    """load_s, first_s (tracing, compiling and running), total_s, peak_mb, cached (0 or 1)."""
    command = [sys.executable, "-m", "robomorph.bench.cold_start", source, function, str(batch)]
    environment = {**os.environ, "ROBOMORPH_CACHE_DIR": str(cache), "ROBOMORPH_CACHE": "on"}
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"{function} of {source} took more than {TIMEOUT_S:.0f} s to compile") from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise TargetError(f"compiling {function} of {source} failed: {last}")
    return {name: float(value) for name, value in json.loads(done.stdout).items()}


def cold_start(source: str, function: str, batch: int) -> dict[str, float]:
    """The same measurement in this process."""
    from robomorph.loading import load
    from robomorph.targets.cpu.kernel import Kernel

    warnings.simplefilter("ignore", ModelWarning)
    start = time.perf_counter()
    robot = load(source, mimic=False)
    loaded = time.perf_counter()
    kernel = robot.compile(function, threads=1)
    assert isinstance(kernel, Kernel)
    kernel(*_arguments(robot, kernel, batch))
    end = time.perf_counter()
    return {
        "load_s": loaded - start,
        "first_s": end - loaded,
        "total_s": end - start,
        "peak_mb": peak_memory_mb(),
        "cached": float(kernel.stats.from_cache),
    }


def _arguments(robot: Any, kernel: Any, batch: int) -> list[Any]:
    q, qd = robot.random_state(0, batch=() if batch == 1 else batch)
    return [q if port.name == "q" else qd for port in kernel.inputs]


def peak_memory_mb() -> float:
    """Most memory this process ever held. Linux keeps it per program; elsewhere the system's own count."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 1024.0
    import resource

    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    print(json.dumps(cold_start(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
