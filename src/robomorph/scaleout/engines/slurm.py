"""SLURM: an array script in the run's folder, whose tasks need nothing but that folder."""

from __future__ import annotations

from robomorph.scaleout.job import Job
from robomorph.scaleout.plan import Plan


def write_script(job: Job, plan: Plan) -> tuple[str, ...]:
    raise NotImplementedError
