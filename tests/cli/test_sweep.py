"""`robomorph sweep`: jobs from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robomorph.cli.main import main
from robomorph.cli.sweep import KINDS
from robomorph.cli.sweep_kinds import ADD, JOB
from robomorph.scaleout.jobs import JOBS, job_class


def test_every_kind_has_options_and_a_job() -> None:
    assert set(ADD) == set(KINDS) and set(JOB) == set(KINDS) - {"scaling"} == set(JOBS)
    assert all(job_class(kind).kind == kind for kind in JOBS)


@pytest.mark.parametrize("kind", list(KINDS))
def test_every_kind_has_help(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["sweep", kind, "--help"])
    assert stop.value.code == 0 and f"robomorph sweep {kind}" in capsys.readouterr().out


def test_a_reachability_map(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "reach", "iiwa14", "--targets", "30", "--box", "-1", "-1", "0", "1", "1", "1.3"]
    words += ["--engine", "serial", "--shard-size", "20", "-o", str(tmp_path / "out")]
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["shards"], found["new"], found["kept"]) == (30, 2, 2, 0)
    assert found["finish"]["box_m"] == [[-1.0, -1.0, 0.0], [1.0, 1.0, 1.3]]
    assert (tmp_path / "out" / "reach-map.svg").is_file()
    assert main(words) == 0  # everything is there
    said = capsys.readouterr().out
    assert "0 made, 2 kept" in said and "solved: " in said


def test_a_suite_that_fails_gives_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (tmp_path / "test_it.py").write_text("def test_a(): assert False\n", encoding="utf-8")
    words = ["sweep", "suites", "test_it.py", "--root", str(tmp_path), "--engine", "serial"]
    assert main([*words, "-o", str(tmp_path / "out")]) == 1
    assert "test_it::test_a" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("reach iiwa14 --targets 0", "targets: expected a whole number from 1"),
        ("reach iiwa14 --targets 5 --frame nowhere", "no link or frame called 'nowhere'"),
        ("reach iiwa14 --targets 5 --box 0 0 0 0 0 0", "a box without volume"),
        ("reach iiwa14 --targets 5 --box 0 0 0", "--box: expected 6 numbers"),
        ("starts nowhere --starts 2", "scenario: no file 'nowhere'"),
        ("scenarios arm nowhere", "scenario: no file 'nowhere'"),
        ("mpc --runs 0", "runs: expected"),
        ("designs --algorithm nothing", "nothing"),
        ("formats --widths 1", "bits: expected"),
        ("suites nowhere.py", "no file or folder 'nowhere.py'"),
        ("reach iiwa14 --targets 5 --engine nowhere", "no engine is called 'nowhere'"),
    ],
)
def test_odd_input_is_one_line(
    words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sweep", *words.split(), "-o", str(tmp_path / "out")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert message in said and "Traceback" not in said
    assert not list(tmp_path.glob("out/shard-*"))
