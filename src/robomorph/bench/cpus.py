"""How many CPUs there are for us, and how busy they are with other things."""

from __future__ import annotations

import os


def available_cpus() -> int:
    """CPUs this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load_average() -> float | None:
    """Programs that ran or wanted to run in the last minute, on average; None where it is not known."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
