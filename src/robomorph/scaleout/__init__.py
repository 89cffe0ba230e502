"""Large runs in many processes or on many machines: a job is a pure function of (robot, seed, shard) to a
file."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Names that are imported when they are first asked for: where each is.
_LATE: dict[str, str] = {
    "Designs": "robomorph.scaleout.jobs.designs",
    "Formats": "robomorph.scaleout.jobs.formats",
    "MonteCarlo": "robomorph.scaleout.jobs.mpc",
    "Reach": "robomorph.scaleout.jobs.reach",
    "Scenarios": "robomorph.scaleout.jobs.scenarios",
    "Starts": "robomorph.scaleout.jobs.starts",
    "Suites": "robomorph.scaleout.jobs.suites",
}


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATE])
