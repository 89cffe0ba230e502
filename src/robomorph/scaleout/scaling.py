"""How a job scales: measured on this machine with one and two workers, then a model of more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from robomorph.errors import ArgumentError
from robomorph.given.numbers import whole_number
from robomorph.robot import Robot
from robomorph.scaleout.cluster_model import Cluster, ideal_seconds, simulate_cluster
from robomorph.scaleout.job import Job, Shard
from robomorph.scaleout.jobs.files import shards_of

WORKERS = (8, 16, 32, 64, 128, 256, 512, 1000)
_SHARDS = 8  # that are measured
_EMPTY = 64  # shards without work, for the driver's time
_SLOW: dict[str, Any] = {"slow_share": 0.02, "slow_times": 5.0}
# Once a day for every worker, and a minute to come back.
_FAILING: dict[str, Any] = {"failures": 1.0 / 24.0, "restart": 60.0}
_SHARED_DISK = 1e9  # bytes/s that all workers together can write


@dataclass(frozen=True)
class Empty:
    """A job without work: what is left is the driver's time."""

    count: int

    kind = "empty"
    suffix = ".txt"

    def describe(self) -> dict[str, Any]:
        return {}

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(self.count, 1)

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        path.write_text(f"{shard.index}\n", encoding="utf-8")
        return {}

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class Measured:
    """A run on this machine: rows_per_second of the whole, without the start of workers; shard: s of a worker
    for one; start: s until workers were at work; bytes_per_row of the shards."""

    workers: int
    rows: int
    shards: int
    seconds: float
    shard: float
    start: float
    bytes_per_row: float

    @property
    def rows_per_second(self) -> float:
        return self.rows / max(self.seconds - self.start, 1e-9)


def measure(job: Job, workers: int) -> Measured:
    """Run a job in local processes in a folder that is thrown away. A first run of one shard compiles."""
    from robomorph.scaleout.drive import run

    with TemporaryDirectory() as folder:
        summary = run(job, folder, engine="local", workers=workers)
        files = [path for path in Path(folder).glob(f"shard-*{job.suffix}") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
    shard = summary.worker_seconds / summary.shards
    start = max(0.0, summary.seconds - summary.worker_seconds / workers)
    per_row = size / summary.rows
    return Measured(workers, summary.rows, summary.shards, summary.seconds, shard, start, per_row)


def driver_seconds(workers: int = 1) -> float:
    """Of the driver for a shard: what a shard without work takes, beyond what starting takes."""
    from robomorph.scaleout.drive import run

    seconds = []
    for count in (1, 1 + _EMPTY):
        with TemporaryDirectory() as folder:
            seconds.append(run(Empty(count), folder, engine="local", workers=workers).seconds)
    return max(0.0, seconds[1] - seconds[0]) / _EMPTY


def measured_job(robot: Robot, kind: str, rows: int, seed: int) -> Job:
    """The job that is measured, in eight shards: "reach", or "dataset" of inverse dynamics."""
    size = max(1, rows // _SHARDS)
    if kind == "reach":
        from robomorph.scaleout.jobs.reach import Reach

        return Reach(robot, rows, seed=seed, shard_size=size)
    if kind == "dataset":
        from importlib import import_module

        made = import_module("robomorph.scaleout.dataset.job").Dataset
        dataset: Job = made(robot, ["inverse_dynamics"], rows, seed=seed, rows_per_shard=size)
        return dataset
    raise ArgumentError(f"job: expected 'reach' or 'dataset', found {kind!r}")


def study(
    robot: Robot,
    *,
    kind: str = "reach",
    rows: int = 10**9,
    measured_rows: int = 20_000,
    workers: Sequence[int] = WORKERS,
    seed: int = 0,
) -> dict[str, Any]:
    """What was measured with one and two workers, and what the model makes of `rows` rows with more."""
    whole_number("rows", rows, 1, 10**15)
    whole_number("measured_rows", measured_rows, 1, 10**9)
    job = measured_job(robot, kind, measured_rows, seed)
    measure(measured_job(robot, kind, 1, seed), 1)  # kernels are in the cache from now on
    found = [measure(job, count) for count in (1, 2)]
    driver = driver_seconds()
    return {
        "job": kind,
        "robot": robot.name,
        "measured": [{**asdict(one), "rows_per_second": one.rows_per_second} for one in found],
        "driver_s": driver,
        "model": modelled(found[0], driver, rows, workers, seed),
    }


def modelled(
    one: Measured,
    driver: float,
    rows: int,
    workers: Sequence[int],
    seed: int = 0,
    shard_seconds: float = 60.0,
) -> dict[str, Any]:
    """The model's table for a job of `rows` rows at the rate that one worker was measured to have, in shards
    of about a minute."""
    rate = one.rows / one.shards / one.shard  # of a worker at work
    size = max(1, min(round(rate * shard_seconds), rows))
    count = -(-rows // size)
    table = []
    for number in workers:
        plain = Cluster(number, size / rate, start=one.start, driver=driver)
        slow = replace(plain, **_SLOW)
        with_slow = simulate_cluster(slow, count, seed)
        failing = simulate_cluster(replace(slow, **_FAILING), count, seed)
        table.append(
            {
                "workers": number,
                "ideal_h": ideal_seconds(plain, count) / 3600.0,
                "stragglers_h": with_slow.seconds / 3600.0,
                "failures_h": failing.seconds / 3600.0,
                "lost_shards": failing.lost,
                "worker_hours": failing.busy / 3600.0,
                "efficiency": rows / rate / (number * failing.seconds),
            }
        )
    size_bytes = rows * one.bytes_per_row
    return {
        "rows": rows,
        "rows_per_worker_second": rate,
        "rows_per_shard": size,
        "shards": count,
        "bytes": size_bytes,
        "assumed": {**_SLOW, **_FAILING, "shared_disk_bytes_per_s": _SHARED_DISK},
        "least_h_by_driver": count * driver / 3600.0,
        "least_h_by_disk": size_bytes / _SHARED_DISK / 3600.0,
        "table": table,
    }


def study_text(found: dict[str, Any]) -> str:
    """The study for a terminal."""
    lines = [f"{found['job']} of {found['robot']}, measured on this machine:"]
    for one in found["measured"]:
        lines.append(
            f"  workers: {one['workers']}, {one['rows_per_second']:,.0f} rows/s after {one['start']:.2f} s "
            f"of starting, {one['bytes_per_row']:.0f} bytes a row"
        )
    return "\n".join(
        [*lines, f"  driver: {1e3 * found['driver_s']:.1f} ms a shard", *_model_lines(found["model"])]
    )


def _model_lines(model: dict[str, Any]) -> list[str]:
    assumed = model["assumed"]
    lines = [
        f"a model of {model['rows']:,} rows, {model['shards']:,} shards of {model['rows_per_shard']:,} rows, "
        f"{model['bytes'] / 1e9:,.1f} GB; assumed, not measured:",
        f"  {assumed['slow_share']:.0%} of the shards take {assumed['slow_times']:g} times as long; a worker "
        f"fails every {1.0 / assumed['failures']:.0f} h and is back after {assumed['restart']:g} s",
        f"  at least {model['least_h_by_driver']:.3g} h by the driver, {model['least_h_by_disk']:.3g} h by a "
        f"shared disk of {assumed['shared_disk_bytes_per_s'] / 1e9:g} GB/s",
    ]
    columns = (("workers", 9), ("ideal h", 9), ("stragglers h", 14), ("and failures h", 16), ("lost", 6))
    lines.append("".join(f"{name:>{width}}" for name, width in (*columns, ("efficiency", 12))))
    for row in model["table"]:
        hours = f"{row['ideal_h']:>9.3g}{row['stragglers_h']:>14.3g}{row['failures_h']:>16.3g}"
        lines.append(f"{row['workers']:>9,}{hours}{row['lost_shards']:>6}{row['efficiency']:>12.0%}")
    return lines
