"""Labelled states in files: made by two processes, read by Parquet's readers, confirmed by Pinocchio."""

import importlib.util
import tempfile

import numpy as np

import robomorph
from robomorph.scaleout import Dataset, open_dataset, run


def main() -> None:
    robot = robomorph.load("iiwa14")
    job = Dataset(
        robot, ["inverse_dynamics", "mass_matrix"], 20_000, law="splines", seed=7, rows_per_shard=8192
    )
    with tempfile.TemporaryDirectory() as folder:
        summary = run(job, folder, workers=2)
        print(f"{summary.rows} rows in {summary.shards} files")
        shards = open_dataset(folder)  # checks every file against its checksum, restores shapes
        first = next(iter(shards))
        print({name: array.shape for name, array in first.items()})
        read_elsewhere(folder)
        confirm(first)


def read_elsewhere(folder: str) -> None:
    """By programs that know nothing of robomorph, those that are installed."""
    if importlib.util.find_spec("pandas"):
        import pandas

        frame = pandas.read_parquet(f"{folder}/shard-000000.parquet")
        print("pandas:", len(frame), "rows with", ", ".join(frame.columns))
    if importlib.util.find_spec("duckdb"):
        import duckdb

        query = f"SELECT count(*), max(abs(inverse_dynamics[2])) FROM '{folder}/*.parquet'"
        rows, torque = duckdb.connect().execute(query).fetchall()[0]
        print(f"DuckDB: {rows} rows, at most {torque:.0f} N m in the second joint")


def confirm(arrays: dict[str, np.ndarray]) -> None:
    """Some rows against another library, if it is installed."""
    if not importlib.util.find_spec("pinocchio"):
        print("Pinocchio is not installed: nothing confirmed")
        return
    import pinocchio

    from robomorph.model.robots import builtin_urdf

    model = pinocchio.buildModelFromXML((builtin_urdf("iiwa14") or b"").decode())
    data, worst = model.createData(), 0.0
    for row in range(0, len(arrays["q"]), 500):
        tau = pinocchio.rnea(model, data, *(arrays[name][row] for name in ("q", "qd", "qdd")))
        worst = max(worst, float(np.abs(tau - arrays["inverse_dynamics"][row]).max()))
    print("Pinocchio agrees to within 1e-10 N m:", worst < 1e-10)


if __name__ == "__main__":  # workers import this file: the work must not begin there
    main()
