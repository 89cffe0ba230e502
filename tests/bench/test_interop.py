"""The sections about other packages' arrays: tables, goals, and that they run."""

from __future__ import annotations

import pytest

from robomorph.bench.goals import judge
from robomorph.bench.records import OURS, Record, Timing
from robomorph.bench.sections import INTEROP
from robomorph.bench.sections.interop import jax as section
from robomorph.bench.sections.interop import torch as torch_section
from robomorph.cli.main import main


def record(how: str, microseconds: float, batch: int, who: str = OURS) -> Record:
    timing = Timing(microseconds * 1e3, microseconds * 1e3, 10, 0.0)
    return Record("jax", "iiwa14", section.FUNCTIONS[1], who, how, batch=batch, timing=timing, error=0.0)


def test_tables_and_goals_of_jax() -> None:
    records = [
        record(section.NUMPY, 2.0, 1),
        record(section.TRIVIAL, 10.0, 1, "jax"),
        record(section.JITTED, 21.0, 1),
        record(section.NUMPY, 100.0, 1024),
        record(section.JITTED, 120.0, 1024),
    ]
    (table,) = section.SECTION.tables(records)
    assert [row[1:5] for row in table.rows] == [
        ("1", "2 us", "10 us", "21 us"),
        ("1,024", "100 us", "-", "120 us"),
    ]
    assert table.rows[1][7] == "1.20x"
    verdicts = judge("jax", section.GOALS, records, [])
    assert [v.text for v in verdicts] == [
        "goal at most 10 us: 11 us missed",
        "goal at most 1.25x: 1.2x reached",
    ]
    assert all(v.found is None for v in judge("jax", section.GOALS, [], []))


def test_the_group_knows_it_and_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("jax")
    assert "jax" in INTEROP.sections
    main(["bench", "interop", "--quick", "--only", "jax"])  # its times are not judged here
    assert "forward_dynamics_gradient" in capsys.readouterr().out


def test_tables_and_goals_of_torch() -> None:
    def of(how: str, microseconds: float, batch: int) -> Record:
        timing = Timing(microseconds * 1e3, microseconds * 1e3, 10, 0.0)
        return Record("torch", "iiwa14", "forward_dynamics", OURS, how, batch=batch, timing=timing, error=0.0)

    records = [
        of(torch_section.BOTH, 100.0, 1),
        of(torch_section.BOTH, 300.0, 1024),
        of(torch_section.MATRICES, 900.0, 1024),
    ]
    (table,) = torch_section.SECTION.tables(records)
    assert [(row[0], row[4], row[5], row[6]) for row in table.rows] == [
        ("1", "100 us", "-", "-"),
        ("1,024", "300 us", "900 us", "3.00x"),
    ]
    (verdict,) = judge("torch", torch_section.GOALS, records, [])
    assert verdict.text == "goal 2x: 3x reached"
    assert judge("torch", torch_section.GOALS, [], [])[0].found is None


def test_the_section_of_torch_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    assert "torch" in INTEROP.sections
    main(["bench", "interop", "--quick", "--only", "torch"])  # its times are not judged here
    assert "by matrices" in capsys.readouterr().out
