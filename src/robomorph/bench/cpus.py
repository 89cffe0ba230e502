"""How many CPUs there are for us, and how busy they are with other things."""

from __future__ import annotations

import os

from robomorph.targets.cpu.host import available_cpus

__all__ = ["available_cpus", "load_average"]


def load_average() -> float | None:
    """Programs that ran or wanted to run in the last minute, on average; None where it is not known."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
