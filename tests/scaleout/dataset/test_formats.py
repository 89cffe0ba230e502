"""Files that other programs read: pandas, DuckDB, pyarrow and zarr know nothing of robomorph."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.errors import RobomorphError
from robomorph.scaleout.dataset.job import BLOCK, Dataset
from robomorph.scaleout.formats import FORMATS, Column, Layout
from robomorph.scaleout.formats.parquet import GROUP_BYTES

pytest.importorskip("pyarrow", reason="the extra dataset is not installed")
FUNCTIONS = ["mass_matrix", "energy"]
ROWS = BLOCK + 77


@pytest.fixture(scope="module")
def robot() -> robomorph.Robot:
    return robomorph.load("chain:3")


def shard(robot: robomorph.Robot, folder: Path, format: str = "parquet") -> Path:
    job = Dataset(robot, FUNCTIONS, ROWS, format=format)
    path = folder / f"shard-000000{job.suffix}"
    job.write(job.shards()[0], path)
    return path


def check(robot: robomorph.Robot, q: Any, qd: Any, matrix: Any, kinetic: Any) -> None:
    """Values of another reader, by the robot itself."""
    q, qd = np.asarray(q), np.asarray(qd)
    assert q.shape == qd.shape == (ROWS, 3)
    wanted = robot.mass_matrix(q)
    np.testing.assert_allclose(np.asarray(matrix).reshape(ROWS, 3, 3), wanted, atol=1e-12)
    np.testing.assert_allclose(kinetic, 0.5 * np.einsum("ni,nij,nj->n", qd, wanted, qd), atol=1e-12)


def test_pandas_reads_parquet(robot: robomorph.Robot, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.read_parquet(shard(robot, tmp_path))
    stacked = [np.stack(frame[name].to_numpy()) for name in ("q", "qd", "mass_matrix")]
    q, qd, matrix = stacked
    check(robot, q, qd, matrix, frame["energy_kinetic"].to_numpy())


def test_duckdb_reads_parquet(robot: robomorph.Robot, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
    shard(robot, tmp_path)
    names = "q, qd, mass_matrix, energy_kinetic"
    rows = duckdb.sql(f"SELECT {names} FROM '{tmp_path}/*.parquet'").fetchall()
    check(robot, *(np.array([row[k] for row in rows]) for k in range(4)))


def test_zarr_reads_zarr(robot: robomorph.Robot, tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr", minversion="3", reason="zarr 3 is not installed")
    path = shard(robot, tmp_path, "zarr")
    group = zarr.open_group(zarr.storage.ZipStore(path, mode="r"), mode="r")
    assert group["mass_matrix"].shape == (ROWS, 3, 3)
    check(robot, *(group[name][:] for name in ("q", "qd", "mass_matrix", "energy_kinetic")))
    assert "law" in group.attrs["robomorph"]


@pytest.mark.parametrize("format", FORMATS)
def test_our_reader_restores_shapes(format: str, robot: robomorph.Robot, tmp_path: Path) -> None:
    found = FORMATS[format].read(shard(robot, tmp_path, format))
    assert found["mass_matrix"].shape == (ROWS, 3, 3) and found["energy_kinetic"].shape == (ROWS,)
    check(robot, *(found[name] for name in ("q", "qd", "mass_matrix", "energy_kinetic")))


def test_zip_entries_have_no_time_of_their_own(robot: robomorph.Robot, tmp_path: Path) -> None:
    with zipfile.ZipFile(shard(robot, tmp_path, "zarr")) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_parquet_is_written_in_groups(tmp_path: Path) -> None:
    """So that a shard of any size takes no more memory than a group."""
    from pyarrow import parquet

    column = Column("x", (64,), "numbers", "state")
    layout = Layout((column,), "float64", 40_000, {})
    values = np.arange(40_000 * 64.0).reshape(-1, 64)
    with FORMATS["parquet"].writer(tmp_path / "x", layout) as append:
        for start in range(0, 40_000, 1000):
            buffer = values[start : start + 1000].copy()
            append({"x": buffer})
            buffer[:] = np.nan  # the caller's again
    meta = parquet.ParquetFile(tmp_path / "x").metadata
    assert meta.num_row_groups == 3
    assert meta.row_group(0).total_byte_size < 1.3 * GROUP_BYTES
    np.testing.assert_array_equal(FORMATS["parquet"].read(tmp_path / "x")["x"], values)


def test_a_missing_package_is_named_with_its_extra(
    robot: robomorph.Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(RobomorphError, match=r"pyarrow.*robomorph\[dataset\]"):
        Dataset(robot, FUNCTIONS, 10)
    Dataset(robot, FUNCTIONS, 10, format="zarr")


@pytest.mark.parametrize("format", FORMATS)
def test_something_else_is_refused(format: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"PAR1 but no more")
    with pytest.raises((RobomorphError, OSError, ValueError)):
        FORMATS[format].read(tmp_path / "x")
