"""A data set's results computed anew on a sample, by the interpreter: it shares no code with the kernels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robomorph.export.package import FunctionSpec
from robomorph.scaleout.dataset.job import Dataset
from robomorph.scaleout.dataset.read import open_dataset

# Largest error that passes, as a part of the largest entry of the result.
TOLERANCE = {"float64": 1e-8, "float32": 1e-2}


@dataclass(frozen=True)
class Checked:
    """rows: how many were computed anew. errors: the largest by column, as a part of the column's largest."""

    rows: int
    errors: dict[str, float]
    tolerance: float

    @property
    def passed(self) -> bool:
        return all(error <= self.tolerance for error in self.errors.values())


def check_dataset(job: Dataset, folder: str | Path, rows: int) -> Checked:
    """`rows` rows, spread evenly over the finished data set, against the interpreter in float64."""
    data = open_dataset(folder)
    places = np.unique(np.linspace(0, data.rows - 1, min(rows, data.rows)).astype(np.int64))
    errors = dict.fromkeys((c.name for c in job.columns if c.role == "result"), 0.0)
    for receipt in data.shards:
        start, stop = receipt.shard.start, receipt.shard.start + receipt.shard.rows
        mine = places[(places >= start) & (places < stop)] - start
        if not len(mine):
            continue
        arrays = {name: x[mine].astype(np.float64) for name, x in data.shard(receipt.shard.index).items()}
        for name, error in _errors(job, arrays).items():
            errors[name] = max(errors[name], error)
    return Checked(len(places), errors, TOLERANCE[job.dtype])


def _errors(job: Dataset, arrays: dict[str, np.ndarray]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in job.functions:
        spec = FunctionSpec.parse(text)
        kernel = job.robot.compile(
            spec.algorithm,
            frame=spec.frame,
            outputs=spec.outputs,
            target="interpreter",
            # Orientations that were rounded to float32 are units to within that only.
            check_finite=job.dtype == "float64",
        )
        results = kernel(*(arrays[port.name] for port in kernel.inputs))
        columns = [column for column in job.columns if column.function == text]
        for column, wanted in zip(columns, [results] if len(columns) == 1 else results, strict=True):
            scale = max(float(np.max(np.abs(wanted), initial=0.0)), 1e-12)
            error = float(np.max(np.abs(arrays[column.name] - wanted), initial=0.0))
            found[column.name] = error / scale
    return found
