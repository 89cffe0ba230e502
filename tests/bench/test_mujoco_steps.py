"""The section about derivatives of MuJoCo's step: tables, goals, and that it runs."""

from __future__ import annotations

import pytest

from robomorph.bench.goals import judge
from robomorph.bench.ours import INTO_OUT
from robomorph.bench.peers import PEERS
from robomorph.bench.records import OURS, Record, Timing
from robomorph.bench.run import run_bench
from robomorph.bench.sections.interop import mujoco as section
from robomorph.bench.session import Session
from tests.bench.samples import Silent


def records() -> list[Record]:
    def of(who: str, how: str, microseconds: float, error: float | None = None) -> Record:
        timing = Timing(microseconds * 1e3, microseconds * 1e3, 10, 0.0)
        figures, batch = {"dofs": 23.0, "error_of_b": 2e-9}, section.BATCH
        return Record(
            section.NAME, "gymnasium humanoid", section.FUNCTION, who, how, batch=batch, timing=timing,
            error=error, reference=section.CENTRED, figures=figures,
        )  # fmt: skip

    return [
        of(OURS, INTO_OUT, 2.0),
        of(OURS, section.IN_THEIRS, 10.0, 1e-9),
        of("mujoco", section.CENTRED, 200.0),
        of("mujoco", section.ALONE, 150.0),
        of("mujoco", section.FORWARD, 100.0, 1e-6),
    ]


def test_tables_and_goals() -> None:
    (table,) = section.SECTION.tables(records())
    assert table.rows == [
        (
            *("gymnasium humanoid", "23", "2 us", "10 us", "200 us", "150 us", "100 us"),
            *("100.0x", "20.0x", "15.0x", "10.0x", "1.0e-09", "2.0e-09", "1.0e-06"),
        )
    ]
    verdicts = judge(section.NAME, section.SECTION.goals, records(), [])
    assert [v.text.rpartition(" ")[2] for v in verdicts] == ["reached", "missed", "reached"]
    assert all(v.found is None for v in judge(section.NAME, section.SECTION.goals, [], []))


def test_a_quick_run() -> None:
    pytest.importorskip("mujoco")
    session = Session([], PEERS["interop"], quick=True)
    outcome = run_bench(session, "interop", [section.SECTION], Silent)
    found = {r.how: r for r in outcome.records if r.section == section.NAME}
    if not found:
        pytest.skip("; ".join(session.notes))
    ours = found[section.IN_THEIRS]
    assert ours.error is not None and ours.error < 1e-6 and ours.figures["error_of_b"] < 1e-6


def test_packages_that_are_not_here_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.setattr(section, "MODELS", {"gymnasium": ("no_such_model",)})
    monkeypatch.setattr(section, "_QUICK", ("gymnasium no_such_model",))
    session = Session([], PEERS["interop"], quick=True)
    outcome = run_bench(session, "interop", [section.SECTION], Silent)
    assert not outcome.records and any("pip install gymnasium" in note for note in session.notes)
