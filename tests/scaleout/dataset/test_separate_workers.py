"""One data set, byte for byte, from workers that share nothing but the output folder.

Every worker has a working folder and a kernel cache of its own and is started by itself, as on another
machine; engines of running clusters are given by their addresses.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

import robomorph
from robomorph.scaleout import Dataset
from robomorph.scaleout.drive import run
from tests.scaleout.dummy import contents


def _job() -> Dataset:
    return Dataset(
        robomorph.load("iiwa14"), ["inverse_dynamics", "mass_matrix"], 600, rows_per_shard=100, seed=3
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("serial")
    run(_job(), folder, engine="serial")
    return contents(folder)


def _environment(folder: Path) -> dict[str, str]:
    """Of a worker in `folder`, with its own cache."""
    path = os.pathsep.join(p for p in sys.path if p)
    return {**os.environ, "PYTHONPATH": path, "ROBOMORPH_CACHE_DIR": str(folder / "cache")}


@contextmanager
def _started(folder: Path, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    folder.mkdir()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command], cwd=folder, env=_environment(folder), stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextmanager
def _dask(tmp_path: Path, workers: int) -> Iterator[str]:
    pytest.importorskip("distributed")
    port = _free_port()
    address = f"127.0.0.1:{port}"
    serve = (
        "-m",
        "distributed.cli.dask_scheduler",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-dashboard",
    )
    work = ("-m", "distributed.cli.dask_worker", f"tcp://{address}", "--nthreads", "1", "--no-dashboard")
    with ExitStack() as stack:
        stack.enter_context(_started(tmp_path / "scheduler", *serve))
        for k in range(workers):
            stack.enter_context(_started(tmp_path / f"worker{k}", *work))
        yield f"dask://{address}"


@contextmanager
def _ray(tmp_path: Path, workers: int) -> Iterator[str]:
    """A cluster of one-core nodes; the first is its head."""
    if find_spec("ray") is None:  # the engine has to import it first: what it says in the environment counts
        pytest.skip("ray is not installed")
    port, client = _free_port(), _free_port()
    head = ("--head", f"--port={port}", f"--ray-client-server-port={client}", "--include-dashboard=false")
    here = ("--node-ip-address=127.0.0.1",)
    with ExitStack() as stack:
        for k in range(workers):
            where = head if k == 0 else (f"--address=127.0.0.1:{port}",)
            command = ("-m", "ray.scripts.scripts", "start", "--block", "--num-cpus=1", *here, *where)
            process = stack.enter_context(_started(tmp_path / f"worker{k}", *command))
            if k == 0:
                _wait_for(client, process)
        yield f"ray://127.0.0.1:{client}"


def _wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 120) -> None:
    limit = time.monotonic() + seconds
    while time.monotonic() < limit and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise AssertionError(f"nothing listens on port {port}; exit code {process.poll()}")


CLUSTERS = {"dask": _dask, "ray": _ray}


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("engine", ["dask", pytest.param("ray", marks=pytest.mark.slow)])
def test_the_same_bytes_from_separate_workers(
    files: dict[str, bytes], tmp_path: Path, engine: str, workers: int
) -> None:
    with CLUSTERS[engine](tmp_path, workers) as address:
        summary = run(_job(), tmp_path / "out", engine=address)
    assert contents(tmp_path / "out") == files
    assert (summary.new, summary.failures, summary.deaths) == (6, [], 0)
    caches = [folder for folder in tmp_path.glob("worker*/cache") if any(folder.iterdir())]
    assert 1 <= len(caches) <= workers  # a slow start may leave all shards to the first


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_bytes_from_tasks_in_folders_of_their_own(
    files: dict[str, bytes], tmp_path: Path, workers: int
) -> None:
    """An array's tasks, each a process with a cache of its own: nothing was compiled for it."""
    out = tmp_path / "out"
    run(_job(), out, engine="slurm")
    for shard in range(6):
        here = tmp_path / f"worker{shard % workers}"
        here.mkdir(exist_ok=True)
        command = [sys.executable, "-m", "robomorph.scaleout", str(out), "--shard", str(shard)]
        subprocess.run(command, cwd=here, env=_environment(here), check=True, capture_output=True)
    finish = [sys.executable, "-m", "robomorph.scaleout", str(out), "--finish"]
    subprocess.run(finish, check=True, capture_output=True, env=_environment(tmp_path / "worker0"))
    assert contents(out) == files
