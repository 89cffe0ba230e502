"""A run gives the same bytes however it comes about, redoes nothing that is whole, and names what failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robomorph.errors import ScaleoutError
from robomorph.scaleout.drive import run
from robomorph.scaleout.engines.serial import Serial
from robomorph.scaleout.lock import only_driver
from tests.scaleout.dummy import Dummy, attempts, contents

SHARDS = 10


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


def _expected(job: Dummy) -> dict[str, bytes]:
    """The shards as the job's definition says, without any of the code under test."""
    shards = {}
    for index, start in enumerate(range(0, job.rows, job.per_shard)):
        rows = range(start, min(start + job.per_shard, job.rows))
        shards[f"shard-{index:06d}.txt"] = "".join(f"{row} {job.value(row)}\n" for row in rows).encode()
    return shards


def _counts(notes: Path) -> list[int]:
    return [attempts(notes, index) for index in range(SHARDS)]


def _serial(job: Dummy, folder: Path) -> dict[str, bytes]:
    run(job, folder, engine="serial")
    return contents(folder)


def test_serial_writes_what_the_job_says_and_nothing_else(tmp_path: Path) -> None:
    found = _serial(Dummy(), tmp_path / "a")
    expected = _expected(Dummy())
    assert {name: found[name] for name in expected} == expected
    assert set(found) == {*expected, "lines.txt", "manifest.json"}
    manifest = json.loads(found["manifest.json"])
    assert [row["file"] for row in manifest["shards"]] == sorted(expected)
    assert [row["bytes"] for row in manifest["shards"]] == [len(expected[name]) for name in sorted(expected)]
    assert manifest["rows"] == 95


@pytest.mark.parametrize("workers", [1, 2])
def test_local_processes_write_the_same_bytes(tmp_path: Path, workers: int) -> None:
    summary = run(Dummy(), tmp_path / "local", engine="local", workers=workers)
    assert contents(tmp_path / "local") == _serial(Dummy(), tmp_path / "serial")
    assert (summary.workers, summary.new, summary.new_rows, summary.kept) == (workers, SHARDS, 95, 0)
    assert summary.parts == {"seconds": {"writing": 0.5 * SHARDS}}


def test_an_extension_equals_one_go_and_keeps_full_shards(tmp_path: Path, notes: Path) -> None:
    run(Dummy(rows=45, notes=str(notes)), tmp_path / "two", engine="serial")
    summary = run(Dummy(notes=str(notes)), tmp_path / "two", engine="serial")
    assert contents(tmp_path / "two") == _serial(Dummy(), tmp_path / "one")
    assert _counts(notes) == [1, 1, 1, 1, 2, 1, 1, 1, 1, 1]  # the fifth was not full
    assert (summary.kept, summary.new, summary.remade) == (4, 6, 0)


def test_a_whole_result_is_not_touched(tmp_path: Path, notes: Path) -> None:
    before = _serial(Dummy(notes=str(notes)), tmp_path / "a")
    summary = run(Dummy(notes=str(notes)), tmp_path / "a", engine="serial")
    assert (summary.kept, summary.new) == (SHARDS, 0)
    assert contents(tmp_path / "a") == before
    assert _counts(notes) == [1] * SHARDS


def test_a_folder_of_another_job_is_refused_and_differing_keys_are_named(tmp_path: Path) -> None:
    before = _serial(Dummy(), tmp_path / "a")
    with pytest.raises(ScaleoutError) as caught:
        run(Dummy(seed=8, law="normal"), tmp_path / "a", engine="serial")
    text = str(caught.value)
    assert "seed: 7 there, 8 asked for" in text
    assert 'law.name: "uniform" there, "normal" asked for' in text
    assert "per_shard" not in text
    assert contents(tmp_path / "a") == before


def test_fewer_rows_are_refused(tmp_path: Path) -> None:
    before = _serial(Dummy(), tmp_path / "a")
    with pytest.raises(ScaleoutError, match=r"has 95 rows, more than the 94 asked for"):
        run(Dummy(rows=94), tmp_path / "a", engine="serial")
    assert contents(tmp_path / "a") == before


def test_shards_without_a_manifest_are_refused(tmp_path: Path) -> None:
    (tmp_path / "shard-000003.txt").write_text("mine\n")
    with pytest.raises(ScaleoutError, match=r"has shard-000003\.txt but no manifest"):
        run(Dummy(), tmp_path, engine="serial")
    assert contents(tmp_path) == {"shard-000003.txt": b"mine\n"}


def test_damaged_truncated_and_missing_shards_are_made_again(tmp_path: Path, notes: Path) -> None:
    folder = tmp_path / "a"
    before = _serial(Dummy(notes=str(notes)), folder)
    damaged = bytearray(before["shard-000002.txt"])
    damaged[5] ^= 1
    (folder / "shard-000002.txt").write_bytes(damaged)
    (folder / "shard-000004.txt").write_bytes(before["shard-000004.txt"][:-1])
    (folder / "shard-000009.txt").unlink()
    events = tmp_path / "events"
    summary = run(Dummy(notes=str(notes)), folder, engine="serial", events=events)
    assert contents(folder) == before
    assert _counts(notes) == [1, 1, 2, 1, 2, 1, 1, 1, 1, 2]
    assert (summary.kept, summary.new, summary.remade) == (7, 3, 3)
    told = [line for line in map(json.loads, events.read_text().splitlines()) if line["event"] == "damaged"]
    assert [line["shard"] for line in told] == [2, 4, 9]
    assert ["checksum" in told[0]["text"], "bytes instead of" in told[1]["text"]] == [True, True]
    assert "is missing" in told[2]["text"]


@pytest.mark.parametrize("engine", ["serial", "local"])
def test_a_failing_shard_is_named_after_all_others_are_done(tmp_path: Path, notes: Path, engine: str) -> None:
    folder, options = tmp_path / "a", {"engine": engine, "workers": 1, "retries": 1}
    with pytest.raises(ScaleoutError) as caught:
        run(Dummy(notes=str(notes), raises={3: "value"}), folder, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "1 of 10 shards failed, 9 are finished and kept" in text
    assert "shard 3 (rows 30 to 40, seed 7): ValueError: the dummy was told to fail (tried 2 times)" in text
    assert _counts(notes) == [1, 1, 1, 2, 1, 1, 1, 1, 1, 1]
    assert not (folder / "manifest.json").exists()
    summary = run(Dummy(notes=str(notes)), folder, **options)  # type: ignore[arg-type]
    assert (summary.kept, summary.new) == (9, 1)
    assert _counts(notes) == [1, 1, 1, 3, 1, 1, 1, 1, 1, 1]
    assert contents(folder) == _serial(Dummy(), tmp_path / "b")


@pytest.mark.parametrize("how", ["value", "exit"])
def test_what_passes_on_a_second_try_is_tried_again(tmp_path: Path, notes: Path, how: str) -> None:
    job = Dummy(notes=str(notes), raises={0: how, 7: how}, always=False)
    summary = run(job, tmp_path / "a", engine="serial")
    assert (summary.retries, summary.failures, summary.new) == (2, [], SHARDS)
    assert contents(tmp_path / "a") == _serial(Dummy(), tmp_path / "b")


def test_without_retries_the_first_failure_counts(tmp_path: Path, notes: Path) -> None:
    job = Dummy(notes=str(notes), raises={0: "value"}, always=False)
    with pytest.raises(ScaleoutError, match=r"shard 0 .*tried 1 times"):
        run(job, tmp_path / "a", engine="serial", retries=0)
    assert attempts(notes, 0) == 1


@pytest.mark.parametrize("engine", ["serial", "local"])
def test_a_full_disk_stops_the_run_and_it_goes_on_later(tmp_path: Path, notes: Path, engine: str) -> None:
    folder = tmp_path / "a"
    with pytest.raises(ScaleoutError) as caught:
        run(Dummy(notes=str(notes), raises={3: "full"}), folder, engine=engine, workers=1)
    text = str(caught.value)
    assert str(folder) in text
    assert "no space left on the disk; 7 of 10 shards are missing, about " in text
    assert "what is finished is kept: to go on, run the same command" in text
    assert _counts(notes) == [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    summary = run(Dummy(notes=str(notes)), folder, engine="serial")
    assert (summary.kept, summary.new) == (3, 7)
    assert contents(folder) == _serial(Dummy(), tmp_path / "b")


def test_a_second_driver_is_refused(tmp_path: Path, notes: Path) -> None:
    refused = pytest.raises(ScaleoutError, match=r"process \d+ on .* is working on this folder")
    with only_driver(tmp_path), refused:
        run(Dummy(notes=str(notes)), tmp_path, engine="serial")
    assert _counts(notes) == [0] * SHARDS
    run(Dummy(), tmp_path, engine="serial")
    assert not (tmp_path / ".lock").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": "lokal"}, r"no engine is called 'lokal'.*local"),
        ({"engine": "local://host:1"}, r"no engine is called 'local://host:1'"),
        ({"engine": "dask://"}, r"an address is written dask://host:port"),
        ({"engine": "dask://host:1", "workers": 2}, r"the cluster says how many"),
        ({"engine": 3}, r"no engine is called 3"),
        *(({"retries": bad}, rf"retries: .*found {bad!r}") for bad in (-1, 1.5, True, None, "2")),
        *(({"workers": bad}, rf"workers: .*found {bad!r}") for bad in (0, -1, 1.5, True, "2")),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_written(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ScaleoutError, match=message):
        run(Dummy(), tmp_path / "a", **options)
    assert not (tmp_path / "a").exists()


class _Unsendable(Dummy):
    """Has what no pickle takes."""

    def __reduce__(self) -> Any:
        raise TypeError("a lock cannot be sent")


@pytest.mark.parametrize("engine", ["local", "slurm", "dask"])
def test_a_job_that_cannot_be_pickled_is_refused_before_anything_is_written(
    tmp_path: Path, engine: str
) -> None:
    if engine == "dask":
        pytest.importorskip("distributed")
    with pytest.raises(ScaleoutError, match=rf"'dummy' cannot be sent .*'{engine}'.*a lock cannot be sent"):
        run(_Unsendable(), tmp_path / "a", engine=engine)
    assert not (tmp_path / "a").exists()


def test_serial_needs_no_pickle(tmp_path: Path) -> None:
    run(_Unsendable(), tmp_path / "a", engine="serial")
    assert contents(tmp_path / "a") == _serial(Dummy(), tmp_path / "b")


class _Described(Dummy):
    """Says more of itself than the dummy."""

    def describe(self) -> dict[str, Any]:
        return {**super().describe(), "payload": "nothing"}


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (Dummy(), _Described(), 'payload: nothing there, "nothing" asked for'),
        (_Described(), Dummy(), 'payload: "nothing" there, nothing asked for'),
    ],
)
def test_a_missing_key_differs_from_the_word_nothing(
    tmp_path: Path, first: Dummy, second: Dummy, message: str
) -> None:
    run(first, tmp_path / "a", engine="serial")
    with pytest.raises(ScaleoutError, match=message):
        run(second, tmp_path / "a", engine="serial")


class _NoEnd(Dummy):
    """Its end looks for a file that is not there."""

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        return {"text": Path("/not/there").read_text()}


def test_an_error_of_the_jobs_end_is_not_one_of_the_folder(tmp_path: Path, notes: Path) -> None:
    with pytest.raises(ScaleoutError) as caught:
        run(_NoEnd(notes=str(notes)), tmp_path / "a", engine="serial")
    assert "could not sum them up: FileNotFoundError: " in str(caught.value)
    assert "/not/there" in str(caught.value)
    assert "can be written" not in str(caught.value)
    assert run(Dummy(notes=str(notes)), tmp_path / "a", engine="serial").kept == SHARDS
    assert _counts(notes) == [1] * SHARDS


@pytest.mark.parametrize("when", ["__init__", "submit", "wait", "close"])
def test_an_error_of_an_engine_is_not_one_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def fails(*_: object) -> None:
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(Serial, when, fails)
    with pytest.raises(ScaleoutError, match=r"the engine 'serial' failed: ConnectionResetError") as caught:
        run(Dummy(), tmp_path / "a", engine="serial")
    assert "can be written" not in str(caught.value)
    monkeypatch.undo()
    run(Dummy(), tmp_path / "a", engine="serial")
    assert contents(tmp_path / "a") == _serial(Dummy(), tmp_path / "b")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ScaleoutError, match=r"file/a.*See to it that the folder can be written to"):
        run(Dummy(), tmp_path / "file" / "a", engine="serial")
