"""Large runs in many processes or on many machines: a job is a pure function of (robot, seed, shard) to a
file."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robomorph.scaleout.dataset.job import Dataset
    from robomorph.scaleout.dataset.read import OpenDataset, open_dataset
    from robomorph.scaleout.drive import run
    from robomorph.scaleout.jobs.designs import Designs
    from robomorph.scaleout.jobs.formats import Formats
    from robomorph.scaleout.jobs.mpc import MonteCarlo
    from robomorph.scaleout.jobs.reach import Reach
    from robomorph.scaleout.jobs.scenarios import Scenarios
    from robomorph.scaleout.jobs.starts import Starts
    from robomorph.scaleout.jobs.suites import Suites
    from robomorph.scaleout.summary import Summary

__all__ = [
    "Dataset",
    "Designs",
    "Formats",
    "MonteCarlo",
    "OpenDataset",
    "Reach",
    "Scenarios",
    "Starts",
    "Suites",
    "Summary",
    "open_dataset",
    "run",
]
_HOMES = {
    "Dataset": "dataset.job",
    "Designs": "jobs.designs",
    "Formats": "jobs.formats",
    "MonteCarlo": "jobs.mpc",
    "OpenDataset": "dataset.read",
    "Reach": "jobs.reach",
    "Scenarios": "jobs.scenarios",
    "Starts": "jobs.starts",
    "Suites": "jobs.suites",
    "Summary": "summary",
    "open_dataset": "dataset.read",
    "run": "drive",
}


def __getattr__(name: str) -> object:
    """Imported on first use: a worker that does one job need not load the others."""
    if name not in _HOMES:
        raise AttributeError(f"module 'robomorph.scaleout' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"robomorph.scaleout.{_HOMES[name]}"), name)
    globals()[name] = found
    return found
