"""Verdicts: what is reached, missed and not measured."""

from __future__ import annotations

from dataclasses import replace

import pytest

from robomorph.bench.goals import Verdict, judge
from robomorph.bench.peers.pinocchio import CALLS, COPIES, PINOCCHIO
from robomorph.bench.records import REFUSED, Record
from robomorph.bench.run import disturbances
from robomorph.bench.sections import DYNAMICS, GROUPS, Group
from tests.bench.samples import record

_BATCH = "iiwa14, forward-dynamics gradient over Pinocchio, batch of 128"


def _verdict(records: list[Record], what: str, section: str = "gradients") -> Verdict:
    return next(v for v in _judged(records, section) if v.what == what)


def _judged(records: list[Record], section: str) -> list[Verdict]:
    return judge(section, DYNAMICS.load(section).goals, records, ["iiwa14"])


def test_a_win_and_a_loss_say_so() -> None:
    ours = record(best_ns=100.0, batch=128)
    win = _verdict([ours, record(PINOCCHIO, 3100.0, batch=128, how=CALLS)], _BATCH)
    assert (win.reached, win.text) == (True, "goal 26x: 31x reached")
    loss = _verdict([ours, record(PINOCCHIO, 2000.0, batch=128, how=CALLS)], _BATCH)
    assert (loss.reached, loss.text) == (False, "goal 26x: 20x missed")


@pytest.mark.parametrize("error", [1e-3, float("nan")])
def test_wrong_results_reach_nothing(error: float) -> None:
    records = [record(best_ns=100.0, batch=128), record(PINOCCHIO, 3100.0, batch=128, how=CALLS)]
    wrong = replace(records[0], error=error)
    verdict = _verdict([wrong, records[1]], _BATCH)
    assert (verdict.reached, verdict.text) == (False, "goal 26x: 31x with wrong results")


def test_the_headline_takes_their_calls_alone() -> None:
    """The dearer way of calling Pinocchio, with copies, must never decide a goal."""
    theirs = [
        record(PINOCCHIO, 9000.0, batch=128, how=COPIES),
        record(PINOCCHIO, 2700.0, batch=128, how=CALLS),
    ]
    assert _verdict([record(best_ns=100.0, batch=128), *theirs], _BATCH).found == pytest.approx(27.0)


def test_what_was_not_measured_is_neither_reached_nor_missed() -> None:
    verdict = _verdict([record(batch=128)], _BATCH)
    assert (verdict.found, verdict.reached, verdict.text) == (None, None, "goal 26x: not measured")


def test_a_goal_may_be_a_most() -> None:
    figures = {"total_s": 1.5}
    found = record(best_ns=None, section="compile", how="nothing cached", batch=1, figures=figures)
    verdict = _verdict([found], "iiwa14, from load to the first gradient, nothing cached", "compile")
    assert verdict.text == "goal at most 1 s: 1.5 s missed"


def test_goals_of_other_robots_and_sections_are_not_judged() -> None:
    assert all(v.what.startswith("iiwa14") for v in _judged([], "gradients"))
    elsewhere = record(section="export", best_ns=1.0, batch=128)
    assert _verdict([elsewhere, record(PINOCCHIO, 3100.0, batch=128, how=CALLS)], _BATCH).found is None


def test_one_refused_result_spoils_the_goals_of_its_section() -> None:
    records = [record(best_ns=100.0, batch=128), record(PINOCCHIO, 3100.0, batch=128, how=CALLS)]
    spoiled = record(best_ns=None, batch=1, figures={REFUSED: 1.0})
    assert _verdict([*records, spoiled], _BATCH).reached is False
    assert _verdict([*records, replace(spoiled, section="export")], _BATCH).reached is True
    assert _verdict([*records, replace(spoiled, who=PINOCCHIO)], _BATCH).reached is True


@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_every_goal_stands_without_records(group: Group) -> None:
    goals = [goal for name in group.sections for goal in group.load(name).goals]
    assert len({goal.what for goal in goals}) == len(goals) >= 2
    assert all(goal.measure([]) is None for goal in goals)


def test_a_busy_machine_is_told() -> None:
    assert disturbances(0.1, []) == []
    assert disturbances(None, []) == []
    assert "4.2" in disturbances(4.2, [])[0]


def test_threads_that_lose_are_told() -> None:
    one, two = record(best_ns=100.0, threads=1), record(best_ns=150.0, threads=2)
    (note,) = disturbances(None, [one, two])
    assert "0.67x" in note
    assert disturbances(None, [one, record(best_ns=60.0, threads=2)]) == []
