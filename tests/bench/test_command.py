"""The command itself on a small part of the work: what it prints, writes and refuses."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from robomorph.bench.cold_start import cold_start, measure_in_child
from robomorph.bench.run import Outcome
from robomorph.bench.sections import DYNAMICS, GROUPS
from robomorph.bench.sections.section import show_ns
from robomorph.cli.main import main
from robomorph.cli.outputs import check_outputs
from robomorph.report.png import write_figures
from tests.bench.samples import record

_RECORD_KEYS = {
    "section", "robot", "function", "who", "how", "dtype", "batch", "threads", "error", "reference",
    "figures", "case", "best_ns", "median_ns", "rounds", "warmup_s",
}  # fmt: skip


def test_a_quick_run_prints_tables_and_goals_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "made" / "bench.json"
    assert main(["bench", "iiwa14", "--quick", "--only", "peak,gradients", "--json", str(path)]) == 0
    printed = capsys.readouterr()
    for words in ("machine:", "fraction of peak", "one call", "goal 26x:", "error"):
        assert words in printed.out
    assert "peak: iiwa14, float64" in printed.err  # progress, away from the results
    document = json.loads(path.read_text())
    assert document["schema"] == 1
    assert set(document) == {"schema", "machine", "settings", "records", "goals", "notes", "tables"}
    assert document["settings"]["sections"] == ["gradients", "peak"]
    assert {"cpu", "cores", "vector_bits", "versions", "absent"} <= set(document["machine"])
    assert all(set(entry) == _RECORD_KEYS for entry in document["records"])
    for entry in document["records"]:
        assert 0.0 < entry["best_ns"] <= entry["median_ns"]
    ours = [e for e in document["records"] if e["who"] == "robomorph" and e["section"] == "gradients"]
    assert len(ours) == 5
    for entry in ours:
        assert entry["error"] < (1e-9 if entry["dtype"] == "float64" else 2e-3)
    assert {goal["reached"] for goal in document["goals"]} <= {True, False, None}
    assert len(document["goals"]) == 4


@pytest.fixture
def nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(*args: object, **options: object) -> None:
        raise AssertionError("measured before the outputs were checked")

    monkeypatch.setattr("robomorph.bench.run.run_bench", measure)


@pytest.mark.usefixtures("nothing_is_measured")
@pytest.mark.parametrize("what", [[], ["ik"]])
def test_outputs_that_cannot_be_written_are_refused_first(
    what: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*options: str) -> str:
        assert main(["bench", *what, *options]) == 2
        return " ".join(capsys.readouterr().err.split())

    taken = tmp_path / "taken"
    taken.write_text("a file")
    assert "taken" in refused("--json", str(taken / "bench.json"))
    assert "directory" in refused("--json", str(tmp_path))
    assert "Name robots before --json" in refused("--json", "iiwa14")
    assert taken.read_text() == "a file"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.figure", None)
        assert "--plots needs matplotlib" in refused("--plots", str(tmp_path / "plots"))
    monkeypatch.setattr("robomorph.report.guard.matplotlib_figure", lambda: None)
    assert "taken" in refused("--plots", str(taken))


def test_a_check_of_outputs_leaves_nothing_behind(tmp_path: Path) -> None:
    check_outputs(str(tmp_path / "new.json"), None)
    assert not list(tmp_path.iterdir())
    old = tmp_path / "old.json"
    old.write_text("{}")
    check_outputs(str(old), None)
    assert old.read_text() == "{}"


def test_json_without_a_file_is_printed_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "iiwa14", "--quick", "--only", "peak", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["settings"]["sections"] == ["peak"] and document["records"]


def test_unknown_sections_are_refused_with_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--only", "gradient"]) == 2
    assert "did you mean 'gradients'" in " ".join(capsys.readouterr().err.split())


def test_no_section_at_all_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--only", " , "])
    assert "separated by commas" in capsys.readouterr().err


def test_a_robot_that_cannot_move_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stone = tmp_path / "stone.urdf"
    stone.write_text('<robot name="stone"><link name="base"/></robot>')
    assert main(["bench", str(stone), "--quick", "--only", "peak"]) == 2
    assert "moving joint" in " ".join(capsys.readouterr().err.split())


def test_the_help_names_every_section(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["bench", "--help"])
    printed = capsys.readouterr().out
    for group in GROUPS.values():
        for name, about in group.abouts().items():
            assert f"\n  {name} " in printed and about in printed


def test_a_fresh_process_compiles_and_the_next_one_finds_it_cached(tmp_path: Path) -> None:
    fresh, cached = (measure_in_child("chain:2", "inverse_dynamics", 128, tmp_path) for _ in range(2))
    assert (fresh["cached"], cached["cached"]) == (0.0, 1.0)
    assert fresh["total_s"] == pytest.approx(fresh["load_s"] + fresh["first_s"])
    assert 20.0 < fresh["peak_mb"] < 4096.0


def test_cold_start_takes_single_states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOMORPH_CACHE_DIR", str(tmp_path))
    assert cold_start("chain:2", "mass_matrix", 1)["first_s"] > 0.0


@pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="matplotlib is not installed")
def test_figures_are_drawn_for_the_sections_that_ran(tmp_path: Path) -> None:
    figures = {"dofs": 7.0, "total_s": 0.3, "peak_mb": 100.0}
    records = [
        *(record(who, section="timesteps", batch=n) for who in ("robomorph", "pinocchio") for n in (16, 128)),
        *(record(section="chains", robot=f"chain:{n}", figures={**figures, "dofs": n}) for n in (7, 15)),
    ]
    outcome = Outcome({}, {}, DYNAMICS.choose(None), records, [], [])
    written = write_figures(outcome.figures(), tmp_path / "plots")
    assert [path.name for path in written] == ["timesteps.png", "chains.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (120.4, "120 ns"),
        (62.44, "62.4 ns"),
        (6890.0, "6.89 us"),
        (2.5e6, "2.5 ms"),
        (3e9, "3 s"),
        (None, "-"),
    ],
)
def test_times_are_shown_with_three_digits(nanoseconds: float | None, text: str) -> None:
    assert show_ns(nanoseconds) == text
