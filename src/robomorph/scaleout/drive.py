"""Runs a job on an engine: finds what is missing, has it done, tries again what failed, and sums up."""

from __future__ import annotations

import errno
import os
import shutil
import time
from pathlib import Path

from rich.console import Console

from robomorph.errors import ScaleoutError
from robomorph.paths import user_path
from robomorph.scaleout.dispatch import Dispatch
from robomorph.scaleout.engines import check_engine, check_sendable, opened
from robomorph.scaleout.engines.slurm import write_script
from robomorph.scaleout.folder import Receipt
from robomorph.scaleout.job import Job
from robomorph.scaleout.lock import only_driver
from robomorph.scaleout.plan import Plan, make_plan
from robomorph.scaleout.progress import Events, Reporter
from robomorph.scaleout.summary import Summary

AGAIN = "run the same command with the same folder again"


def run(
    job: Job,
    folder: str | os.PathLike[str],
    *,
    engine: str = "local",
    workers: int | None = None,
    retries: int = 2,
    progress: Console | bool | None = None,
    events: Events | None = None,
) -> Summary:
    """Does every shard of `job` that `folder` does not have yet, and writes `manifest.json` when all are
    there.

    The result is the same bytes on every engine with any number of workers, in one go or in several. A
    folder of the
    same job goes on where it was; more rows extend it. Raises ScaleoutError for a folder of another job, a
    full disk, and, after everything else is done, for shards that failed `retries` times more than once.

    engine: "local" (processes of this machine), "serial" (this process), "dask" or "ray" (a cluster of its
    own on this
    machine), "dask://host:port" or "ray://host:port" (a running one), "slurm" (writes an array script;
    `next` of the
    summary says how to go on). workers: processes, by default as many as there are cores. progress: True or
    a rich Console shows a line of progress. events: a path or a stream for JSON lines.
    """
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise ScaleoutError(f"retries: expected a whole number, 0 or more, found {retries!r}")
    check_engine(engine, workers)
    check_sendable(engine, job)
    path = Path(os.path.abspath(user_path(folder)))
    reporter = Reporter(progress, events)
    summary = Summary(job.kind, str(path), engine, workers or 0)
    begun = time.perf_counter()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with only_driver(path):
            plan = make_plan(job, path, lambda text, index: reporter.note("damaged", text, shard=index))
            _work(job, plan, summary, retries, reporter)
    except OSError as error:
        made = sum(file.stat().st_size for file in path.glob(f"shard-*{job.suffix}"))
        raise ScaleoutError(_disk_message(path, error, summary, made)) from error
    except KeyboardInterrupt:
        done = f"{summary.kept + summary.new} of {summary.shards} shards in {path} are finished and kept"
        reporter.note("stopped", f"stopped: {done}; to go on, {AGAIN}")
        raise
    finally:
        summary.seconds = time.perf_counter() - begun
        reporter.event("end", **summary.as_data())
        reporter.close()
    return summary


def _work(job: Job, plan: Plan, summary: Summary, retries: int, reporter: Reporter) -> None:
    summary.rows, summary.shards = plan.rows, len(plan.shards)
    summary.kept, summary.remade = len(plan.kept), len(plan.damaged)
    receipts = dict(plan.kept)
    if plan.todo and summary.engine == "slurm":
        plan.begin()
        summary.next = write_script(job, plan)
        return
    if plan.todo:
        with opened(summary.engine, summary.workers or None) as engine:
            summary.workers = engine.workers
            plan.begin()  # not before: an engine that does not start leaves the folder as it was
            kept_rows = sum(receipt.shard.rows for receipt in plan.kept.values())
            reporter.begin(len(plan.shards), plan.rows, len(plan.kept), kept_rows)
            receipts |= Dispatch(job, plan, engine, retries, reporter, summary).run()
    finish(job, plan, receipts, summary)


def finish(job: Job, plan: Plan, receipts: dict[int, Receipt], summary: Summary) -> None:
    """Sums the result up and writes the manifest, if nothing is missing."""
    if summary.failures:
        raise ScaleoutError(_failure_message(plan, summary))
    paths = tuple(plan.folder.shard(shard.index) for shard in plan.shards)
    for shard, path in zip(plan.shards, paths, strict=True):
        if not path.is_file() or path.stat().st_size != receipts[shard.index].bytes:
            raise ScaleoutError(f"{path}: is not as it was written a moment ago; to make it again, {AGAIN}")
    try:
        summary.finish = dict(job.finish(plan.folder.path, paths) or {})
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT) and _inside(error.filename, plan.folder.path):
            raise
        raise ScaleoutError(
            f"{plan.folder.path}: all shards are made and kept, but the job {job.kind!r} could not sum them "
            f"up: {type(error).__name__}: {error}; when the cause is mended, {AGAIN}"
        ) from error
    if not plan.complete:
        plan.end(receipts)


def _inside(name: object, folder: Path) -> bool:
    """Whether an error that tells this file name, or none, may be of the folder's disk."""
    return not isinstance(name, str) or Path(os.path.abspath(name)).is_relative_to(folder)


def _failure_message(plan: Plan, summary: Summary) -> str:
    done = summary.kept + summary.new
    failures = "\n".join(f"  {failure}" for failure in summary.failures)
    return (
        f"{plan.folder.path}: {len(summary.failures)} of {summary.shards} shards failed, {done} "
        "are finished and kept\n"
        f"{failures}\nWhen the cause is mended, {AGAIN}: only these are done"
    )


def _disk_message(path: Path, error: OSError, summary: Summary, made: int) -> str:
    """A disk that is full or closed: what is missing, and how much room it will take. made: bytes of all
    shards finished so far."""
    done = summary.kept + summary.new
    missing = (
        f"{summary.shards - done} of {summary.shards} shards are missing"
        if summary.shards
        else "nothing is begun"
    )
    text = f"{path}: {error.strerror or error}{f' ({error.filename})' if error.filename else ''}; {missing}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        need = f"about {made * (summary.shards - done) // done:,} bytes more are needed and " if done else ""
        text += f", {need}{shutil.disk_usage(path).free:,} are free. Free some space"
    else:
        text += ". See to it that the folder can be written to"
    return f"{text}; what is finished is kept: to go on, {AGAIN}"
