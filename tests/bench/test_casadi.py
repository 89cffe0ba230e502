"""The section about optimal control in CasADi: checked motions, the peer's optimum, goals, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robomorph.bench.goals import judge
from robomorph.bench.interop import reach
from robomorph.bench.peers import PEERS
from robomorph.bench.peers.adam import Adam
from robomorph.bench.records import OURS, REFUSED, Record, Timing, first
from robomorph.bench.run import Outcome, run_bench
from robomorph.bench.sections.interop import casadi as section
from robomorph.bench.session import Session
from tests.bench.samples import Silent

pytest.importorskip("casadi")
pytest.importorskip("pinocchio")


def made(monkeypatch: pytest.MonkeyPatch) -> Outcome:
    """A quick run without adam, which takes the longest."""
    monkeypatch.setattr(Adam, "absence", classmethod(lambda cls: "not here"))
    session = Session([], PEERS["interop"], quick=True)
    return run_bench(session, "interop", [section.SECTION], Silent)


def test_a_run_without_the_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = made(monkeypatch)
    records = [r for r in outcome.records if r.section == section.NAME]
    assert {(r.how, r.case) for r in records} == {
        (how, case)
        for how in (section.MACHINE, section.EXPRESSIONS)
        for case in (section.EXACT, section.APPROXIMATE)
    }
    assert all(r.who == OURS and r.figures[REFUSED] == 0.0 for r in records)
    found = first(records, how=section.MACHINE, case=section.EXACT)
    assert found is not None and found.error is not None and found.error < 1e-9
    assert any("adam was not measured: not here" in note for note in outcome.notes)
    verdicts = judge(section.NAME, section.SECTION.goals, records, [])
    assert [verdict.found for verdict in verdicts] == [None, None], "both are about adam"
    (table,) = section.SECTION.tables(records)
    assert len(table.rows) == 4
    assert table.caption and "with our expressions" in table.caption and "adam" not in table.caption


def test_a_motion_that_pinocchio_does_not_follow_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    right = reach.Reach.solve

    def wrong(self: reach.Reach) -> reach.Solved:
        found = right(self)
        return replace(found, tau=found.tau + 0.01)

    monkeypatch.setattr(reach.Reach, "solve", wrong)
    outcome = made(monkeypatch)
    assert outcome.refused and any("Pinocchio's velocities differ" in note for note in outcome.notes)


def record(how: str, best_ns: float, error: float | None) -> Record:
    who = "casadi/adam" if how == section.ADAM else OURS
    figures = {"cost": 1.0, "iterations": 9.0, "derivatives_ns": 1.0, REFUSED: 0.0}
    timing = Timing(best_ns, best_ns, 1, 0.0)
    reference = None if error is None else section.ADAM
    return Record(
        section.NAME, "iiwa14", "forward_dynamics", who, how, case=section.EXACT, timing=timing,
        error=error, reference=reference, figures=figures,
    )  # fmt: skip


@pytest.mark.parametrize("error", [1e-12, 1e-6, np.nan])
def test_goals(error: float) -> None:
    records = [record(section.MACHINE, 1e8, error), record(section.ADAM, 9e8, None)]
    same, gain = judge(section.NAME, section.SECTION.goals, records, [])
    assert same.reached is (error == 1e-12)
    assert gain.found == pytest.approx(9.0) and gain.reached is (error == 1e-12)
