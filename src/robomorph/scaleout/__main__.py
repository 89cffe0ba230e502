"""`python -m robomorph.scaleout FOLDER`: the tasks of a prepared run, and its end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from robomorph.errors import RobomorphError, ScaleoutError
from robomorph.scaleout.drive import finish
from robomorph.scaleout.engines.slurm import ranges, read_job, run_task
from robomorph.scaleout.lock import only_driver
from robomorph.scaleout.plan import make_plan
from robomorph.scaleout.summary import Summary, add


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m robomorph.scaleout", description=__doc__)
    parser.add_argument("folder", type=Path, help="which run(..., engine='slurm') prepared")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--shard", type=int, metavar="TASK", help="do the shards of this task of the array")
    what.add_argument("--finish", action="store_true", help="verify all shards and write the manifest")
    given = parser.parse_args(arguments)
    try:
        return _finish(given.folder) if given.finish else _task(given.folder, given.shard)
    except (RobomorphError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _task(folder: Path, task: int) -> int:
    """Verifies and does the shards of this task and no others; what is whole stays."""
    job, each = read_job(folder)
    mine = range(task * each, (task + 1) * each)
    plan = make_plan(job, folder, lambda text, index: print(text, file=sys.stderr), mine)
    wrong = run_task(plan, job, task, each)
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


def _finish(folder: Path) -> int:
    job, each = read_job(folder)
    with only_driver(folder):
        plan = make_plan(job, folder, lambda text, index: print(text, file=sys.stderr))
        if plan.todo:
            missing = sorted({shard.index // each for shard in plan.todo})
            raise ScaleoutError(
                f"{plan.folder.path}: {len(plan.todo)} of {len(plan.shards)} shards are missing "
                "or damaged; run these "
                f"again: sbatch --array={ranges(missing)} {plan.folder.progress / 'array.sbatch'}"
            )
        summary = Summary(job.kind, str(plan.folder.path), "slurm", 1, plan.rows, len(plan.shards))
        summary.kept = len(plan.kept)
        for receipt in plan.kept.values():
            summary.worker_seconds += receipt.seconds
            add(summary.parts, receipt.facts or {})
        finish(job, plan, plan.kept, summary)
    print(summary.text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
