"""The section about fixed point: its table, its goals, and that it runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from robomorph.bench.goals import judge
from robomorph.bench.records import REFUSED, Record
from robomorph.bench.sections.dynamics.fixed import DESIGNS, FLOAT, INTERPRETER, MACHINE, NAME, SECTION
from robomorph.cli.main import main
from tests.bench.samples import record

DESIGN = next(iter(DESIGNS))


def made(how: str, nanoseconds: float, threads: int = 1, differ: float = 0.0) -> Record:
    figures = {REFUSED: differ, "saturated": 0.0}
    return record(
        best_ns=nanoseconds, section=NAME, how=how, threads=threads, case=DESIGN, figures=figures, error=None
    )


def some(differ: float = 0.0) -> list[Record]:
    ways = [(INTERPRETER, 30_000.0, 1), (MACHINE, 200.0, 1), (MACHINE, 100.0, 2), (FLOAT, 50.0, 1)]
    return [made(how, ns, threads, differ) for how, ns, threads in ways]


def test_table_and_goal() -> None:
    (table,) = SECTION.tables(some())
    times = ("200 ns", "100 ns", "30 us", "50 ns")
    assert table.rows == [("iiwa14", DESIGN, *times, "150.0x", "300.0x", "4.00x", "0")]
    (verdict,) = judge(NAME, SECTION.goals, some(), ["iiwa14"])
    assert verdict.text == "goal 100x: 150x reached"


def test_a_bit_that_differs_reaches_nothing() -> None:
    (verdict,) = judge(NAME, SECTION.goals, some(differ=1.0), ["iiwa14"])
    assert verdict.reached is False


def test_one_thread_alone() -> None:
    few = [r for r in some() if r.threads == 1]
    (table,) = SECTION.tables(few)
    assert table.rows[0][3] == "-" and table.rows[0][7] == "-"


def test_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "chain:2", "--quick", "--only", NAME, "--json", str(tmp_path / "r.json")]) == 0
    said = capsys.readouterr().out
    assert all(design in said for design in DESIGNS)
    found = json.loads((tmp_path / "r.json").read_text())["records"]
    assert {r["figures"][REFUSED] for r in found} == {0.0} and len(found) >= 3 * len(DESIGNS)
