"""The data set job: states drawn by a law, and the results of functions at them, shard by shard."""

from __future__ import annotations

import hashlib
import json
import operator
import os
import time
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

import robomorph
from robomorph.algorithms.algorithm import VECTORS
from robomorph.errors import ArgumentError
from robomorph.robot import Robot
from robomorph.scaleout.dataset.functions import Function, make_functions, read_functions
from robomorph.scaleout.formats import Column, Format, Layout, format_called
from robomorph.scaleout.job import Shard
from robomorph.scaleout.laws import STATES, Law, Streams, as_law

# Rows that are drawn and computed together. Blocks are always whole, so that a row does not depend on how
# many follow it; a shard that ends within one leaves the rest away. A multiple of the rows of a spline.
BLOCK = 4096
# A shard has about this many bytes unless somebody says otherwise.
SHARD_BYTES = 32 << 20
DTYPES = ("float64", "float32")
SCHEMA = "schema.json"
_MOST = 2**48


@dataclass(frozen=True, eq=False)
class Dataset:
    """Labelled states: a job for `robomorph.scaleout.run`.

    robot: of `robomorph.load`. functions: texts algorithm[:frame][=output+output]; all share the states.
    states: how many rows. law: a name, NAME:SETTING=VALUE,... or one of `robomorph.scaleout.laws`. seed: not
    negative; shard k draws from (seed, k) alone. rows_per_shard: None for files of about 32 MB. format:
    "parquet" or "zarr". dtype: of all numbers; states are drawn in float64 and rounded to the nearest. "
    "threads: per worker.
    """

    robot: Robot
    functions: tuple[str, ...]
    states: int
    law: Law
    seed: int = 0
    rows_per_shard: int = 0
    format: str = "parquet"
    dtype: str = "float64"
    threads: int = 1
    versions: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __init__(
        self,
        robot: Robot,
        functions: str | tuple[str, ...] | list[str],
        states: int,
        *,
        law: str | Law = "uniform",
        seed: int = 0,
        rows_per_shard: int | None = None,
        format: str = "parquet",
        dtype: str = "float64",
        threads: int = 1,
    ) -> None:
        if not isinstance(robot, Robot):
            raise ArgumentError(f"robot: expected one of robomorph.load, found {type(robot).__name__}")
        if robot.nv == 0:
            raise ArgumentError(f"robot {robot.name!r}: expected joints that move, found none")
        if dtype not in DTYPES:
            raise ArgumentError(f"dtype: expected one of {', '.join(DTYPES)}, found {dtype!r}")
        settings: dict[str, Any] = {
            "robot": robot,
            "functions": read_functions(functions),
            "states": whole("states", states, 1),
            "law": as_law(law),
            "seed": whole("seed", seed, 0, 2**63 - 1),
            "format": format_called(format).name,
            "dtype": dtype,
            "threads": whole("threads", threads, 1, 1024),
        }
        for name, value in settings.items():
            object.__setattr__(self, name, value)
        rows = self._default_rows() if rows_per_shard is None else whole("rows_per_shard", rows_per_shard, 1)
        object.__setattr__(self, "rows_per_shard", rows)
        object.__setattr__(self, "versions", self._versions())
        self.law.check(robot, self.inputs, self.states)

    # --- what a job is ---------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return "dataset"

    @property
    def suffix(self) -> str:
        return self._format.suffix

    def describe(self) -> dict[str, Any]:
        # Nothing was read of an object of another library, and the sum of nothing says nothing.
        source = b"" if self.robot.record is None else self.robot.record.document.data
        return {
            "robot": {
                "name": self.robot.name,
                "model_sha256": self.robot.model.digest,
                "source_sha256": hashlib.sha256(source).hexdigest() if source else None,
                "nq": self.robot.nq,
                "nv": self.robot.nv,
                "coordinates": list(self.robot.coordinate_names),
                "velocities": list(self.robot.velocity_names),
            },
            "functions": list(self.functions),
            "law": self.law.describe(),
            "seed": self.seed,
            "rows_per_shard": self.rows_per_shard,
            "block": BLOCK,
            "format": self.format,
            "dtype": self.dtype,
            "columns": [column.as_data() for column in self.columns],
            "versions": dict(self.versions),
        }

    def shards(self) -> tuple[Shard, ...]:
        starts = range(0, self.states, self.rows_per_shard)
        return tuple(Shard(k, s, min(self.rows_per_shard, self.states - s)) for k, s in enumerate(starts))

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        self._same_versions()
        seconds = {"sampling": 0.0, "kernel": 0.0, "writing": 0.0}
        sample = self.law.sampler(self.robot, self.inputs)
        results = {
            column.name: np.empty((BLOCK, *column.shape), self.dtype)
            for f in self._functions
            for column in f.columns
        }
        layout = Layout(self.columns, self.dtype, shard.rows, {"robomorph": json.dumps(self._words())})
        clock = time.perf_counter
        begin = clock()
        with self._format.writer(path, layout) as append:
            seconds["writing"] += clock() - begin
            for block, start in enumerate(range(0, shard.rows, BLOCK)):
                begin = clock()
                drawn = sample(self._streams(shard.index, block), shard.start + start, BLOCK)
                states = {name: x.astype(self.dtype, copy=False) for name, x in drawn.items()}
                sampled = clock()
                count = min(BLOCK, shard.rows - start)
                self._evaluate(states, results, shard, start)
                computed = clock()
                append({name: x[:count] for name, x in {**states, **results}.items()})
                seconds["sampling"] += sampled - begin
                seconds["kernel"] += computed - sampled
                seconds["writing"] += clock() - computed
            begin = clock()
        seconds["writing"] += clock() - begin
        return {"rows": shard.rows, "seconds": seconds}

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        about = {
            **self.describe(),
            "states": self.states,
            "shards": [path.name for path in shards],
            "reading": self._format.reading,
            "matrices": "row by row, of the shape that the column has here",
            "units": "SI; linear before angular; a floating base is [x y z qx qy qz qw]",
        }
        aside = folder / f".{SCHEMA}.{os.getpid()}"
        try:
            aside.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
            os.replace(aside, folder / SCHEMA)
        finally:
            aside.unlink(missing_ok=True)
        return {"schema": SCHEMA}

    # --- what it is made of ----------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[str, ...]:
        """The states that the functions take; q always, as nobody knows what to do with a row without it."""
        taken = {"q", *(port.name for f in self._functions for port in f.kernel.inputs)}
        return tuple(name for name in STATES if name in taken)

    @property
    def columns(self) -> tuple[Column, ...]:
        """States, then results in the order of the functions."""
        sizes = {name: self.robot.nq if name == "q" else self.robot.nv for name in self.inputs}
        drawn = [Column(name, (size,), VECTORS[name], "state") for name, size in sizes.items()]
        return (*drawn, *(column for f in self._functions for column in f.columns))

    @cached_property
    def _functions(self) -> tuple[Function, ...]:
        return make_functions(self.robot, self.functions, self.dtype, self.threads)

    @property
    def _format(self) -> Format:
        return format_called(self.format)

    def _default_rows(self) -> int:
        """Whole blocks of about SHARD_BYTES."""
        row = Layout(self.columns, self.dtype, 0, {}).bytes_per_row
        return max(1, SHARD_BYTES // (row * BLOCK)) * BLOCK

    def _streams(self, shard: int, block: int) -> Streams:
        """Random numbers of their own for every array of every block."""

        def stream(name: str) -> np.random.Generator:
            key = (shard, block, STATES.index(name))
            return np.random.Generator(np.random.Philox(np.random.SeedSequence(self.seed, spawn_key=key)))

        return stream

    def _evaluate(self, states: Any, results: dict[str, Any], shard: Shard, start: int) -> None:
        for function in self._functions:
            out = [results[column.name] for column in function.columns]
            function.evaluate(states, out, shard.start + start)

    def _words(self) -> dict[str, Any]:
        """What every file says of itself."""
        return {name: value for name, value in self.describe().items() if name != "columns"}

    def _versions(self) -> tuple[tuple[str, str], ...]:
        found = {"robomorph": robomorph.__version__, "numpy": np.__version__, **self._format.check()}
        return tuple(sorted(found.items()))

    def _same_versions(self) -> None:
        """A worker of other versions might write other bytes."""
        here = self._versions()
        if here != self.versions:
            wanted, found = (", ".join(f"{name} {v}" for name, v in side) for side in (self.versions, here))
            raise ArgumentError(
                f"dataset: expected a worker with {wanted}, found {found}: install the same versions"
            )

    def __getstate__(self) -> dict[str, Any]:
        # Kernels hold machine code: a worker finds its own in the cache.
        return {name: value for name, value in self.__dict__.items() if name != "_functions"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def whole(name: str, value: Any, least: int, most: int = _MOST) -> int:
    """A whole number; ArgumentError if it is none or out of range."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, (bool, np.bool_)) or not least <= number <= most:
        raise ArgumentError(f"{name}: expected a whole number from {least} to {most}, found {value!r}")
    return number
