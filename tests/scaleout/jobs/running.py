"""Running a job without any engine, as an oracle of those with one; and what a folder holds."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

from robomorph.scaleout.job import Job

OWN = ("manifest.json", "progress")  # the runner's, not the job's


def done_here(job: Job, folder: Path) -> dict[str, Any]:
    """Every shard by a copy of the job, the last first; then what sums them up."""
    folder.mkdir(parents=True, exist_ok=True)
    copy: Job = pickle.loads(pickle.dumps(job))
    shards = copy.shards()
    paths = [folder / f"shard-{shard.index:06d}{job.suffix}" for shard in shards]
    for shard, path in reversed(list(zip(shards, paths, strict=True))):
        copy.write(shard, path)
    return job.finish(folder, tuple(paths))


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of every file of the job's."""
    files = sorted(
        path for path in folder.iterdir() if path.name not in OWN and not path.name.startswith(".")
    )
    return {path.name: path.read_bytes() for path in files if path.is_file()}
