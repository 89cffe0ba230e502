"""Jobs that come with robomorph. A new one is a file here and a line in `JOBS`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# By kind: the module here, and the class in it.
JOBS: dict[str, tuple[str, str]] = {
    "reach": ("reach", "Reach"),
    "starts": ("starts", "Starts"),
    "scenarios": ("scenarios", "Scenarios"),
    "mpc": ("mpc", "MonteCarlo"),
    "designs": ("designs", "Designs"),
    "formats": ("formats", "Formats"),
    "suites": ("suites", "Suites"),
}


def job_class(kind: str) -> Any:
    """The class of a kind of job; its module is imported now."""
    module, name = JOBS[kind]
    return getattr(import_module(f"robomorph.scaleout.jobs.{module}"), name)
