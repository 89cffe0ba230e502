"""Workers and drivers that are killed by SIGKILL: nothing is lost, and nothing finished is done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from robomorph.errors import ScaleoutError
from robomorph.scaleout import plan
from robomorph.scaleout.__main__ import main
from robomorph.scaleout.dispatch import DEATHS
from robomorph.scaleout.drive import run
from robomorph.scaleout.folder import sha256
from tests.scaleout.dummy import Dummy, attempts, contents

SHARDS = 10
_DRIVER = """
import sys
from robomorph.scaleout import run
from tests.scaleout.dummy import Dummy
if __name__ == "__main__":
    run(Dummy(notes=sys.argv[2], hold=int(sys.argv[3])), sys.argv[1], engine=sys.argv[4], workers=2)
"""


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def serial(tmp_path: Path) -> dict[str, bytes]:
    run(Dummy(), tmp_path / "serial", engine="serial")
    return contents(tmp_path / "serial")


def _counts(notes: Path) -> list[int]:
    return [attempts(notes, index) for index in range(SHARDS)]


# Ray takes long to start, and to replace a worker.
ENGINES = ["local", "dask", pytest.param("ray", marks=pytest.mark.slow)]
_PACKAGES = {"dask": "distributed", "ray": "ray"}


@pytest.mark.parametrize("engine", ENGINES)
def test_ten_killed_workers_change_nothing(
    tmp_path: Path, notes: Path, serial: dict[str, bytes], engine: str
) -> None:
    if engine in _PACKAGES:
        pytest.importorskip(_PACKAGES[engine])
    summary = run(Dummy(notes=str(notes), kills=10), tmp_path / "a", engine=engine, workers=2)
    assert contents(tmp_path / "a") == serial
    assert len(list(notes.glob("killed.*"))) == 10
    assert (summary.new, summary.failures, summary.retries) == (SHARDS, [], 0)
    # Dask may have handed a second shard to a worker that dies; it counts as lost without having begun.
    assert summary.deaths == 10 or (engine == "dask" and summary.deaths > 10)
    assert sum(_counts(notes)) == SHARDS + 10


def test_a_shard_that_always_kills_its_worker_is_named(tmp_path: Path, notes: Path) -> None:
    job = Dummy(rows=20, notes=str(notes), raises={1: "die"})
    with pytest.raises(ScaleoutError, match=r"shard 1 \(rows 10 to 20, seed 7\): its worker died .*SIGKILL"):
        run(job, tmp_path / "a", engine="local", workers=1)
    assert (attempts(notes, 0), attempts(notes, 1)) == (1, DEATHS)
    summary = run(Dummy(rows=20), tmp_path / "a", engine="serial")
    assert (summary.kept, summary.new) == (1, 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_driver_is_run_again(
    tmp_path: Path, notes: Path, serial: dict[str, bytes], engine: str
) -> None:
    if engine in _PACKAGES:
        pytest.importorskip(_PACKAGES[engine])
    folder, script = tmp_path / "a", tmp_path / "driver.py"
    script.write_text(_DRIVER)
    command = [sys.executable, str(script), str(folder), str(notes)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    first = subprocess.Popen([*command, "4", engine], env=environment)
    try:  # two more are held in the middle then
        _until(lambda: _counts(notes)[:6] == [1] * 6, first)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    (notes / "go").touch()
    workers = {int(path.name.split(".")[2]) for path in notes.glob("*.*.*")}
    _until(lambda: not any(_runs(worker) for worker in workers))
    assert not (folder / "manifest.json").exists()
    finished = {int(path.stem.removeprefix("shard-")) for path in folder.glob("progress/shard-*.json")}
    assert {0, 1, 2, 3} <= finished <= set(range(6))
    before = _counts(notes)
    subprocess.run([*command, "0", engine], env=environment, check=True)
    assert contents(folder) == serial
    assert _counts(notes) == [before[index] + (index not in finished) for index in range(SHARDS)]


def _until(reached: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    """Waits for something that must come; the limit only keeps a broken test from hanging."""
    limit = time.monotonic() + 120
    while not reached():
        assert process is None or process.poll() is None, "the driver ended before it was killed"
        assert time.monotonic() < limit
        time.sleep(0.01)


def _runs(process: int) -> bool:
    """Whether a process is there and is more than an entry that nobody has fetched."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_tasks_of_an_array_run_by_hand_equal_serial(
    tmp_path: Path, notes: Path, serial: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a"
    summary = run(Dummy(notes=str(notes)), folder, engine="slurm")
    assert summary.new == 0
    assert "#SBATCH --array=0-9\n" in (folder / "progress" / "array.sbatch").read_text()
    for task in (9, 3, 4, 0, 1, 2, 8, 7, 5):
        assert main([str(folder), "--shard", str(task)]) == 0
    assert main([str(folder), "--finish"]) == 1
    assert "1 of 10 shards are missing or damaged" in (text := capsys.readouterr().err)
    assert "--array=6 " in text
    assert main([str(folder), "--shard", "3"]) == 0  # whole: not done again
    assert main([str(folder), "--shard", "6"]) == 0
    assert main([str(folder), "--finish"]) == 0
    assert contents(folder) == serial
    assert _counts(notes) == [1] * SHARDS


def test_the_script_itself_runs_a_task(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    run(Dummy(), folder, engine="slurm")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    environment["SLURM_ARRAY_TASK_ID"] = "4"
    subprocess.run(["sh", str(folder / "progress" / "array.sbatch")], env=environment, check=True)
    assert [path.name for path in folder.glob("shard-*")] == ["shard-000004.txt"]


def test_a_task_that_is_not_there_or_fails_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(Dummy(raises={2: "value"}), tmp_path / "a", engine="slurm")
    for task, message in ((10, "there is no task 10"), (-1, "there is no task -1"), (2, "told to fail")):
        assert main([str(tmp_path / "a"), f"--shard={task}"]) == 1
        assert message in capsys.readouterr().err


def test_a_task_reads_no_shards_but_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "a"
    run(Dummy(), folder, engine="slurm")
    for task in range(SHARDS):
        assert main([str(folder), "--shard", str(task)]) == 0
    read: list[str] = []

    def noted(path: Path) -> str:
        read.append(path.name)
        return sha256(path)

    monkeypatch.setattr(plan, "sha256", noted)
    assert main([str(folder), "--shard", "4"]) == 0
    assert read == ["shard-000004.txt"]
    (folder / "shard-000004.txt").write_text("damaged\n")
    (folder / "shard-000005.txt").write_text("damaged\n")
    assert main([str(folder), "--shard", "4"]) == 0
    assert (folder / "shard-000004.txt").read_text() != "damaged\n"
    assert main([str(folder), "--finish"]) == 1  # this one looks at all
