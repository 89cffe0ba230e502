"""Groups and sections: every file is registered, and a section needs nothing but its file and its line."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from robomorph.bench import sections
from robomorph.bench.goals import Goal
from robomorph.bench.peers import PEERS
from robomorph.bench.records import OURS, REFUSED, Record
from robomorph.bench.sections import DYNAMICS, GROUPS, Group
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session
from robomorph.cli.main import main
from robomorph.report.figures import Bars, Figure, Panel


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_files_and_lines_are_the_same_names(group: Group) -> None:
    assert sections.__file__ is not None
    folder = Path(sections.__file__).parent / group.name
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(group.sections)
    assert [section.name for section in group.choose(None)] == list(group.sections)
    assert group.name in PEERS


def test_naming_the_sections_imports_none_of_them() -> None:
    code = (
        "import sys; from robomorph.bench.sections import GROUPS; [g.abouts() for g in GROUPS.values()]; "
        "print([m for m in sys.modules if m.startswith('robomorph.bench.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['robomorph.bench.sections']"


def made_up(refused: float) -> Section:
    """A section whose only record says what it is told."""

    def jobs(session: Session) -> list[Job]:
        found = Record("made-up", "none", "nothing", OURS, "idle", figures={"rate": 3.0, REFUSED: refused})
        return [Job("nothing", lambda: [found])]

    def tables(records: Records) -> list[TableData]:
        rows = [(r.who, f"{r.figures['rate']:g}") for r in records]
        return [TableData("a made-up table", ("who", "rate"), rows, caption="[bold] words")]

    def figures(records: Records) -> list[Figure]:
        bars = Bars([r.figures["rate"] for r in records])
        return [Figure("made_up", [Panel([bars], categories=[r.who for r in records])], (3, 3))]

    goal = Goal("made-up rate", 2.0, "x", lambda records: records[0].figures["rate"])
    return Section("made-up", jobs, tables, (goal,), figures, about="a section of a test")


@pytest.mark.parametrize("group", ["dynamics", "ik"])
@pytest.mark.parametrize("refused", [0, 1])
def test_a_new_section_shows_all_it_has_and_a_refused_claim_is_the_exit_code(
    group: str,
    refused: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setitem(GROUPS[group].sections, "made-up", made_up(refused))
    path, plots = tmp_path / "bench.json", tmp_path / "plots"
    robots = ["chain:2"] if group == "dynamics" else []
    command = ["bench", group, *robots, "--quick", "--only", "made-up"]
    assert main([*command, "--json", str(path), "--plots", str(plots)]) == refused
    printed = capsys.readouterr()
    verdict = "3x with wrong results" if refused else "3x reached"
    for words in (
        "a made-up table",
        "[bold] words",
        f"goal 2x: {verdict}",
        f"1 goals: {refused} missed",
        "machine:",
    ):
        assert words in printed.out
    assert "measuring 1/1: made-up: nothing" in printed.err
    document: dict[str, Any] = json.loads(path.read_text())
    assert document["settings"]["group"] == group and document["settings"]["robots"] == robots
    assert ("rounds" in document["settings"]) == bool(robots)
    assert document["records"][0]["figures"] == {"rate": 3.0, "refused": refused}
    assert document["tables"][0]["rows"] == [["robomorph", "3"]]
    assert [p.name for p in plots.iterdir()] == ["made_up.png"]


def test_records_under_another_name_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DYNAMICS.sections, "other", replace(made_up(0), name="other"))
    assert main(["bench", "chain:2", "--quick", "--only", "other"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "section 'other': expected records of its own, found one of 'made-up'" in said


def test_a_group_with_robots_of_its_own_refuses_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "ik", "iiwa14"]) == 2
    assert "expected no robot after 'ik', found 'iiwa14'" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("group", GROUPS)
def test_sections_of_another_group_are_unknown(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    other = next(name for g in GROUPS.values() if g.name != group for name in g.sections)
    assert main(["bench", group, "--only", other]) == 2
    assert f"unknown section {other!r}" in " ".join(capsys.readouterr().err.split())


def test_sections_run_in_the_order_of_the_group() -> None:
    chosen = DYNAMICS.choose(["peak", "gradients"])
    assert [section.name for section in chosen] == ["gradients", "peak"]
