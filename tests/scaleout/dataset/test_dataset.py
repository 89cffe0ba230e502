"""Whole data sets: made, extended, read, verified; and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.cli.main import main
from robomorph.errors import RobomorphError
from robomorph.scaleout import Dataset, open_dataset
from robomorph.scaleout.dataset.check import check_dataset
from robomorph.scaleout.dataset.read import verify_folder
from robomorph.scaleout.drive import run

pytest.importorskip("pyarrow", reason="the extra dataset is not installed")


def made(folder: Path, states: int = 250, **settings: Any) -> Dataset:
    settings = {"functions": ["inverse_dynamics", "mass_matrix"], "rows_per_shard": 100, **settings}
    job = Dataset(robomorph.load("chain:3"), states=states, **settings)
    run(job, folder, engine="serial")
    return job


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


@pytest.mark.parametrize("format", ["parquet", "zarr"])
def test_read_back_with_shapes(format: str, tmp_path: Path) -> None:
    made(tmp_path / "d", format=format)
    data = open_dataset(tmp_path / "d")
    assert (data.rows, len(data)) == (250, 3)
    assert data.columns == ("q", "qd", "qdd", "inverse_dynamics", "mass_matrix")
    assert [len(arrays["q"]) for arrays in data] == [100, 100, 50]
    whole = data.load()
    robot = robomorph.load("chain:3")
    np.testing.assert_allclose(whole["mass_matrix"], robot.mass_matrix(whole["q"]), atol=1e-12)


def test_schema_says_what_is_there(tmp_path: Path) -> None:
    job = made(tmp_path / "d")
    about = json.loads((tmp_path / "d" / "schema.json").read_text())
    columns = {column["name"]: column for column in about["columns"]}
    assert columns["mass_matrix"]["shape"] == [3, 3] and "rad" in columns["q"]["about"]
    assert about["states"] == 250 and about["law"]["name"] == "uniform"
    assert about["robot"]["model_sha256"] == job.robot.model.digest
    assert about["robot"]["coordinates"] == list(job.robot.coordinate_names)


def test_a_robot_of_another_library_has_no_source_to_sum(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    text = "<mujoco><worldbody><body><joint/><geom size='0.1'/></body></worldbody></mujoco>"
    for source, known in ((text, True), (mujoco.MjModel.from_xml_string(text), False)):
        about = Dataset(robomorph.load(source), "mass_matrix", 10).describe()
        assert (about["robot"]["source_sha256"] is not None) == known


def test_more_states_extend_it_to_what_one_run_makes(tmp_path: Path) -> None:
    made(tmp_path / "a", 250)
    before = files(tmp_path / "a")
    made(tmp_path / "a", 430)
    made(tmp_path / "b", 430)
    assert files(tmp_path / "a") == files(tmp_path / "b")
    after = files(tmp_path / "a")
    assert before["shard-000001.parquet"] == after["shard-000001.parquet"]
    assert before["shard-000002.parquet"] != after["shard-000002.parquet"]


def test_processes_write_the_same_bytes(tmp_path: Path) -> None:
    made(tmp_path / "a")
    run(
        Dataset(robomorph.load("chain:3"), ["inverse_dynamics", "mass_matrix"], 250, rows_per_shard=100),
        tmp_path / "b",
        workers=2,
    )
    assert files(tmp_path / "a") == files(tmp_path / "b")


@pytest.mark.parametrize(
    "settings", [{"seed": 1}, {"law": "gaussian"}, {"dtype": "float32"}, {"functions": ["energy"]}]
)
def test_a_folder_of_another_data_set_is_refused(settings: dict[str, Any], tmp_path: Path) -> None:
    made(tmp_path / "d")
    before = files(tmp_path / "d")
    with pytest.raises(RobomorphError, match=next(iter(settings))):
        made(tmp_path / "d", **settings)
    assert files(tmp_path / "d") == before


def test_damage_is_named_refused_and_mended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "d"
    made(folder)
    before = files(folder)
    assert main(["dataset", "--verify", str(folder)]) == 0
    data = bytearray(before["shard-000001.parquet"])
    data[len(data) // 2] ^= 1
    (folder / "shard-000001.parquet").write_bytes(data)
    (folder / "shard-000002.parquet").unlink()
    capsys.readouterr()
    assert main(["dataset", "--verify", str(folder)]) == 1
    told = capsys.readouterr().out
    assert "shard-000001.parquet: damaged" in told and "shard-000002.parquet: missing" in told
    assert "shard-000000" not in told
    assert set(verify_folder(folder).wrong) == {"shard-000001.parquet", "shard-000002.parquet"}
    with pytest.raises(RobomorphError, match=r"shard-000001.parquet: damaged"):
        open_dataset(folder).shard(1)
    made(folder)
    assert files(folder) == before


def test_check_finds_a_wrong_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    job = made(tmp_path / "d")
    assert check_dataset(job, tmp_path / "d", 20).passed
    from robomorph.scaleout.dataset.read import OpenDataset

    real = OpenDataset.shard

    def wrong(self: OpenDataset, index: int) -> Any:
        arrays = real(self, index)
        arrays["mass_matrix"] = arrays["mass_matrix"] * (1 + 1e-6)
        return arrays

    monkeypatch.setattr(OpenDataset, "shard", wrong)
    found = check_dataset(job, tmp_path / "d", 20)
    assert not found.passed and found.errors["mass_matrix"] > 1e-7 and found.errors["inverse_dynamics"] < 1e-9


@pytest.mark.parametrize("what", ["nothing", "empty", "other", "text"])
def test_folders_that_are_no_data_set(what: str, tmp_path: Path) -> None:
    folder = tmp_path / "d"
    if what != "nothing":
        folder.mkdir()
    if what == "other":
        (folder / "manifest.json").write_text('{"name": "something else"}')
    if what == "text":
        (folder / "manifest.json").write_text("hello")
    for ask in (open_dataset, verify_folder):
        with pytest.raises(RobomorphError, match="d"):
            ask(folder)
    assert main(["dataset", "--verify", str(folder)]) == 2


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["dataset", "chain:3", "--function", "energy,", "jacobian:tool", "--states", "300", "--seed", "4"]
    line += ["--rows-per-shard", "128", "--engine", "serial", "--check", "10", "-o", str(tmp_path / "d")]
    events = tmp_path / "events.jsonl"
    assert main([*line, "--events", str(events), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["shards"], told["check"]["rows"]) == (300, 3, 10)
    assert set(told["parts"]["seconds"]) == {"sampling", "kernel", "writing"}
    assert all(json.loads(text)["event"] for text in events.read_text().splitlines())
    assert main(line) == 0  # all is there
    told_text = capsys.readouterr().out
    assert "3 kept" in told_text and "10 rows computed anew" in told_text
    assert open_dataset(tmp_path / "d").rows == 300


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--function", "inverse_dynamcs"], "did you mean 'inverse_dynamics'"),
        (["--function", "jacobian"], "frame"),
        (["--function", "jacobian:tol"], "did you mean 'tool'"),
        (["--function", "energy=knetic"], "kinetic"),
        (["--function", "energy", "energy"], "twice"),
        (["--states", "0"], "states: expected a whole number from 1"),
        (["--states", "-5"], "states: expected a whole number from 1"),
        (["--rows-per-shard", "0"], "rows_per_shard"),
        (["--seed", "-1"], "seed"),
        (["--law", "unifrm"], "did you mean 'uniform'"),
        (["--law", "file:gone.npz"], "gone.npz"),
        (["--format", "hdf5"], "known are 'parquet', 'zarr'"),
        (["--check", "-1"], "--check"),
        (["--engine", "dsk"], "dsk"),
        (["--verify", "elsewhere"], "--verify"),
    ],
)
def test_odd_input_is_named(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["dataset", "chain:2", "--function", "energy", "--states", "10", "-o", str(tmp_path / "d"), *words]
    assert main(line) == 2
    told = capsys.readouterr().err
    assert message in told and "Traceback" not in told and "defect" not in told


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("x")
    line = [
        "dataset",
        "chain:2",
        "--function",
        "energy",
        "--states",
        "10",
        "-o",
        str(tmp_path / "file" / "d"),
    ]
    assert main([*line, "--engine", "serial"]) == 2
    assert "file" in capsys.readouterr().err
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "shard-000000.parquet").write_text("of somebody else")
    assert (
        main(["dataset", "chain:2", "--function", "energy", "--states", "10", "-o", str(tmp_path / "d")]) == 2
    )
    assert (tmp_path / "d" / "shard-000000.parquet").read_text() == "of somebody else"
