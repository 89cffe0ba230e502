"""SLURM: an array script in the run's folder, whose tasks need nothing but that folder.

`progress/job.pickle` is the job. Unpickling runs code, so it is read back only if it belongs to the user who
reads it, nobody else may write to it, and it is what the script was made for.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import shlex
import stat
import sys
from pathlib import Path

from robomorph.errors import ScaleoutError
from robomorph.scaleout.folder import Folder, as_json, move, read_json, write_whole
from robomorph.scaleout.job import Job
from robomorph.scaleout.plan import Plan
from robomorph.scaleout.work import Done, Task, do, one_thread

_ARRAY = 1000  # tasks; SLURM allows 1,001 unless it is set up otherwise


def write_script(job: Job, plan: Plan) -> tuple[str, ...]:
    """Writes job and script into `progress/`; returns what the user has to do, line by line."""
    progress = plan.folder.progress
    content = pickle.dumps(job)
    each = -(-len(plan.shards) // _ARRAY)
    tasks = sorted({shard.index // each for shard in plan.todo})
    aside = progress / f".job.{os.getpid()}"
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "wb") as file:
        file.write(content)
        os.fsync(file.fileno())
    move(aside, progress / "job.pickle")
    digest = hashlib.sha256(content).hexdigest()
    write_whole(progress / "slurm.json", as_json({"sha256": digest, "each": each}))
    script = progress / "array.sbatch"
    write_whole(script, _script(job, plan, tasks))
    command = f"{shlex.quote(sys.executable)} -m robomorph.scaleout {shlex.quote(str(plan.folder.path))}"
    return (
        f"{len(plan.todo)} shards in {len(tasks)} tasks are ready. Start them with",
        f"  sbatch {shlex.quote(str(script))}",
        "and when they have ended, check the result and write its manifest with",
        f"  {command} --finish",
        "A task can be run by hand too:",
        f"  {command} --shard {tasks[0]}",
    )


def _script(job: Job, plan: Plan, tasks: list[int]) -> str:
    folder = shlex.quote(str(plan.folder.path))
    log = str(plan.folder.progress / "task-%a.log").replace("\n", "")
    settings = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in one_thread().items())
    return (
        "#!/bin/sh\n"
        f"#SBATCH --job-name=robomorph-{job.kind}\n#SBATCH --array={ranges(tasks)}\n#SBATCH --ntasks=1\n"
        f"#SBATCH --cpus-per-task=1\n#SBATCH --requeue\n#SBATCH --open-mode=append\n"
        f'#SBATCH --output="{log}"\n'
        f"# Time, memory and partition are your cluster's: add them here or give them to sbatch.\n{settings}"
        f"exec {shlex.quote(sys.executable)} -m robomorph.scaleout {folder} "
        '--shard "$SLURM_ARRAY_TASK_ID"\n'
    )


def ranges(numbers: list[int]) -> str:
    """Sorted numbers as SLURM writes them: 0-3,7."""
    pieces: list[list[int]] = []
    for number in numbers:
        if pieces and pieces[-1][-1] == number - 1:
            pieces[-1][1:] = [number]
        else:
            pieces.append([number])
    return ",".join("-".join(map(str, piece)) for piece in pieces)


def read_job(path: Path) -> tuple[Job, int]:
    """The job of a prepared folder and how many shards a task has."""
    progress = Folder(path).progress
    facts = read_json(progress / "slurm.json")
    if facts is None:
        raise ScaleoutError(
            f"{path}: no run was prepared here, or it is finished; prepare one with engine='slurm'"
        )
    try:
        descriptor = os.open(progress / "job.pickle", os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise ScaleoutError(f"{progress / 'job.pickle'}: {error.strerror}; prepare the run again") from None
    with open(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        content = file.read()
    if status.st_uid != os.getuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise ScaleoutError(
            f"{progress / 'job.pickle'}: is not yours alone to write, and reading it would run "
            "code; prepare the run "
            "again as the user who runs it"
        )
    if hashlib.sha256(content).hexdigest() != facts.get("sha256"):
        raise ScaleoutError(f"{progress / 'job.pickle'}: is damaged; prepare the run again")
    try:
        job: Job = pickle.loads(content)
    except Exception as error:
        raise ScaleoutError(
            f"{progress / 'job.pickle'}: cannot be read here ({error}); is all it needs installed?"
        ) from None
    return job, int(facts["each"])


def run_task(plan: Plan, job: Job, task: int, each: int) -> list[str]:
    """Does those of a task's shards that are not finished; returns what went wrong with which."""
    mine = plan.shards[task * each : (task + 1) * each]
    if task < 0 or not mine:
        raise ScaleoutError(
            f"{plan.folder.path}: there is no task {task}: {-(-len(plan.shards) // each)} there are"
        )
    wrong = []
    for shard in mine:
        if shard.index not in plan.kept:
            outcome = do(Task(job, shard, str(plan.folder.path), plan.digest(), plan.header["versions"]))
            if not isinstance(outcome, Done):
                wrong.append(f"shard {shard.index}: {outcome.kind}: {outcome.error}")
    return wrong
