"""Every job gives the same files on every engine, whatever the number of workers: those of this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import robomorph
from robomorph.scaleout import MonteCarlo, Reach, Starts
from robomorph.scaleout.drive import run
from robomorph.scaleout.job import Job
from tests.scaleout.jobs.running import contents, done_here


def _reach() -> Job:
    return Reach(robomorph.load("iiwa14"), 50, shard_size=20)


def _starts() -> Job:
    return Starts("arm", 3, shard_size=1)


def _loops() -> Job:
    robot = robomorph.load("iiwa14")
    return MonteCarlo(robot, 3, horizon=10, rate=100.0, seconds=0.3, levels=1, shard_size=1)


JOBS: dict[str, Callable[[], Job]] = {"reach": _reach, "starts": _starts, "mpc": _loops}


@pytest.fixture(scope="module", params=list(JOBS))
def job_and_files(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Job, dict[str, bytes]]:
    job, folder = JOBS[request.param](), tmp_path_factory.mktemp("here")
    done_here(job, folder)
    return job, contents(folder)


@pytest.mark.parametrize(
    ("engine", "workers"),
    [
        ("serial", None),
        ("local", 2),
        ("dask", 2),
        pytest.param("ray", 2, marks=pytest.mark.slow),
    ],
)
def test_files_are_those_of_one_process(
    job_and_files: tuple[Job, dict[str, bytes]], tmp_path: Path, engine: str, workers: int | None
) -> None:
    job, files = job_and_files
    if engine in ("dask", "ray"):
        pytest.importorskip("distributed" if engine == "dask" else "ray")
    summary = run(job, tmp_path, engine=engine, workers=workers)
    assert summary.shards == summary.new == len(job.shards()) and not summary.failures
    assert contents(tmp_path) == files
