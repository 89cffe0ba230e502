"""Contests of control: who needs how many iterations, what is compared, tables and goals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from robomorph.bench.goals import judge
from robomorph.bench.mpc import rows
from robomorph.bench.mpc.contest import Rules, compete
from robomorph.bench.mpc.horizons import longest
from robomorph.bench.mpc.ours import OurSolver
from robomorph.bench.mpc.problem import ProblemSet
from robomorph.bench.mpc.referee import Judgement, Referee
from robomorph.bench.peers.control_peer import ControlPeer
from robomorph.bench.peers.crocoddyl import Crocoddyl, MimSolvers
from robomorph.bench.peers.peer import PeerError
from robomorph.bench.records import OURS, REFUSED, Record, Timing
from robomorph.bench.sections import MPC
from robomorph.bench.sections.mpc import bounded, free
from robomorph.bench.session import Session
from tests.bench.mpc_samples import Scripted, small_problem, write_arm

pytest.importorskip("pinocchio")


@pytest.fixture(scope="module")
def problems(tmp_path_factory: pytest.TempPathFactory) -> ProblemSet:
    source = write_arm(tmp_path_factory.mktemp("arm"))
    return ProblemSet("a set", (small_problem(source), small_problem(source, 6)))


def found(cost: float, **more: float) -> Judgement:
    given = {"driven": cost, "gap": 0.0, "torque_error": 0.0, "violation": 0.0, "newtons": 0.0, **more}
    return Judgement(cost, **given, active=(0, 0, 0))


def test_rules_of_free_problems_take_any_lower_cost() -> None:
    rules = Rules()
    assert rules.good(found(1.0 + 9e-7), 1.0) and not rules.good(found(1.0 + 2e-6), 1.0)
    assert rules.good(found(0.9), 1.0)
    assert not rules.good(found(0.9, driven=0.91), 1.0)  # gaps make a plan cheap
    assert not rules.good(found(1.0, driven=np.nan), 1.0) and not rules.good(found(np.nan), 1.0)
    assert not rules.good(found(1.0), np.nan)


def test_rules_of_limits_count_both_ways() -> None:
    rules = Rules(1e-4, newtons=1e-3, violation=1e-6, both_ways=True)
    assert rules.good(found(1.0 - 9e-5), 1.0) and not rules.good(found(1.0 - 2e-4), 1.0)
    assert not rules.good(found(1.0, newtons=2e-3), 1.0) and not rules.good(found(1.0, violation=2e-6), 1.0)
    assert not rules.good(found(1.0, violation=np.nan), 1.0)


def closing_in(rate: float) -> Any:
    """Torques that come closer to the same with every iteration."""
    return lambda iterations: rate**iterations


def test_the_least_iterations_are_found_and_timed(problems: ProblemSet) -> None:
    fast, slow = (
        Scripted(problems.problems, closing_in(rate), seconds=s) for rate, s in ((0.01, 1.0), (0.1, 2.0))
    )
    result = compete(problems, [("fast", fast), ("slow", slow)], Rules(tolerance=1e-6, most=40), rounds=3)
    assert result.chosen == [0, 1]
    first, second = result.entries
    assert all(second.iterations[k] == pytest.approx(2 * first.iterations[k], abs=1) for k in (0, 1))
    best = min(e.converged[0].cost for e in result.entries)
    for entry, side in ((first, fast), (second, slow)):
        k = entry.iterations[0]
        assert entry.solved[0].cost <= best * (1 + 1e-6)
        before, _, _ = side.solve(0, k - 1)
        assert not Rules().good(judge_first(problems, before), best)
    assert fast.asked == [(0, first.iterations[0]), (1, first.iterations[1])] * 3
    figures = result.figures(second)
    mean = 2.0 * np.mean(list(second.iterations.values()))
    assert figures["cpu_median_ns"] == pytest.approx(0.5e9 * mean) and figures["agreed"] == 2.0
    assert figures["misreported"] == 0.0 and figures["excess"] <= 1e-6 and figures["lower"] == 0.0


def judge_first(problems: ProblemSet, plan: Any) -> Judgement:
    return Referee(problems.problems[0]).judge(plan)


def test_other_optima_are_counted_and_never_timed(problems: ProblemSet) -> None:
    low, high = Scripted(problems.problems, lambda k: 0.0), Scripted(problems.problems, lambda k: 1.0)
    result = compete(problems, [("low", low), ("high", high)], Rules(most=5), rounds=2)
    costs = [entry.converged[0].cost for entry in result.entries]
    better = result.entries[int(np.argmin(costs))]
    assert result.chosen == [] and low.asked == high.asked == []
    assert [result.lower(entry) for entry in result.entries] == [2 * (e is better) for e in result.entries]
    assert "cpu_median_ns" not in result.figures(better)


# --- records, tables, goals ----------------------------------------------------------------------------


class MadeUp(ControlPeer):
    """A peer that is a script of the test's."""

    name, package, title, script, solver = "made-up", "numpy", "made-up solver", "", ""
    modules = ("numpy",)
    side: Any = None

    @classmethod
    def absence(cls) -> str | None:
        return None

    @classmethod
    def start(cls, problems: ProblemSet) -> Any:
        if cls.side is None:
            raise PeerError("it is not in the mood")
        return cls.side


class InContext(Scripted):
    def __enter__(self) -> InContext:
        return self

    def __exit__(self, *exception: object) -> None:
        pass


class Optimal(InContext):
    """Ours once more, as another one's."""

    def solve(self, problem: int, iterations: int) -> Any:
        plan, cost, done = OurSolver(ProblemSet("", self.problems)).solve(problem, iterations)
        return plan, cost * (1.0 + self.misreports), done


def run(problems: ProblemSet, side: Any) -> tuple[list[Record], Session]:
    MadeUp.side = side
    session = Session((), (MadeUp,))
    return rows.contest(session, "free", problems, MadeUp, Rules(), rounds=2), session


def test_a_contest_shows_both_sides_and_the_ratio(problems: ProblemSet) -> None:
    records, session = run(problems, Optimal(problems.problems, lambda k: 0.0, seconds=1.0))
    ours, theirs = records
    assert (ours.who, ours.how, theirs.how) == (OURS, "beside made-up solver", "made-up solver")
    assert ours.figures[REFUSED] == 0.0 and ours.figures["agreed"] == 2.0 and not session.notes
    table = rows.contest_table("a title", "words", records)
    assert [row[2] for row in table.rows] == ["robomorph", "made-up solver"]
    ratio = rows.faster(ours.robot, "a set", MadeUp)(records)
    assert ratio is not None and ratio > 10.0  # the made-up one claims seconds
    assert table.rows[1][-1] == f"{ratio:.1f}x" and table.rows[0][-1] == ""
    assert table.rows[0][3] == "2 of 2"


def test_dishonest_peers_are_not_compared(problems: ProblemSet) -> None:
    records, session = run(problems, Optimal(problems.problems, lambda k: 0.0, misreports=1e-5))
    assert "its packages do not fit each other" in session.notes[0]
    assert rows.faster(records[0].robot, "a set", MadeUp)(records) is None
    assert rows.contest_table("", "", records).rows[1][-2:] == ("-", "-")


def test_peers_that_fail_or_are_absent_leave_ours(problems: ProblemSet) -> None:
    records, session = run(problems, None)
    assert [r.who for r in records] == [OURS] and "not in the mood" in session.notes[0]
    session = Session((), ())
    (ours,) = rows.contest(session, "free", problems, MadeUp, Rules(), rounds=2)
    assert "not measured against made-up solver" in session.notes[0] and ours.timing is not None


def test_wrong_claims_of_ours_are_refused(problems: ProblemSet, monkeypatch: pytest.MonkeyPatch) -> None:
    def lie(self: Any, problem: int, iterations: int) -> Any:
        plan, cost, done = solve(self, problem, iterations)
        return plan, 0.5 * cost, done

    solve = OurSolver.solve
    monkeypatch.setattr(OurSolver, "solve", lie)
    records, session = run(problems, None)
    assert records[0].figures[REFUSED] == 2.0 and "reported as solved, and refused" in session.notes[1]


def made(
    section: str, robot: str, case: str, peer: type[ControlPeer], ours: float, theirs: float
) -> list[Record]:
    """Both records of a contest, with CPU times in ms."""
    out = []
    for who, how, ms in ((OURS, f"beside {peer.title}", ours), (peer.name, peer.title, theirs)):
        figures = {
            "problems": 10.0, "agreed": 9.0, "lower": 1.0 if who == OURS else 0.0, "misreported": 0.0,
            "iterations": 4.0, "cost": 2.0, "excess": 1e-7, "gap": 0.0, "newtons": 0.0, "violation": 1e-9,
            "active_0": 3.0, "active_1": 0.0, "active_2": 1.0, "cpu_best_ns": 0.9e6 * ms,
            "cpu_median_ns": 1e6 * ms,
        }  # fmt: skip
        timing = Timing(1e6 * ms, 1.1e6 * ms, 5, 0.0)
        out.append(
            Record(
                section,
                robot,
                "model_predictive_control",
                who,
                how,
                timing=timing,
                figures=figures,
                case=case,
            )
        )
    return out


def test_goals_are_ratios_of_medians() -> None:
    records = [
        *made("free", "iiwa14", free.REACH, Crocoddyl, 0.2, 6.0),
        *made("free", "iiwa14", free.REACH, MimSolvers, 0.2, 3.0),
    ]
    verdicts = {v.what: v for v in judge("free", free.SECTION.goals, records, ())}
    assert verdicts["iiwa14, joint reach: faster than crocoddyl"].found == pytest.approx(30.0)
    assert verdicts["iiwa14, joint reach: faster than mim-solvers"].reached is False
    assert verdicts["atlas, joint reach: faster than crocoddyl"].found is None
    (table,) = free.SECTION.tables(records)
    assert table.rows[0][3] == "9 of 10, 1 lower" and table.rows[1][-2:] == ("30.0x", "30.0x")
    assert table.rows[1][11] == "1.5 ms"  # an iteration


def test_limits_show_what_was_bound() -> None:
    _, peer, *_ = bounded.CONTESTS[1]
    records = made("bounded", "iiwa14", bounded.ALL, peer, 1.0, 60.0)
    contest, kept = bounded.SECTION.tables(records)
    assert kept.rows[0][2:5] == ("3", "0", "1") and contest.rows[1][-1] == "60.0x"
    verdicts = {v.what: v.reached for v in judge("bounded", bounded.SECTION.goals, records, ())}
    assert verdicts["all limits: faster than fatrop, compiled"] is True
    assert verdicts["all limits: worst violation, scaled"] is True
    assert verdicts["torque limits: faster than BoxFDDP"] is None


# --- horizons ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("each", [1e-6, 3.3e-5, 9e-4])
def test_the_longest_horizon_is_found(each: float) -> None:
    def seconds(steps: int) -> float:
        return 2e-5 + each * steps

    steps, spent = longest(seconds, 1e-3, 16)
    exact = int((1e-3 - 2e-5) / each)
    assert spent <= 1e-3 and 0.98 * exact - 1 <= steps <= exact


def test_what_never_fits_has_no_horizon() -> None:
    steps, spent = longest(lambda n: 1.0 + n, 1e-3, 16)
    assert steps == 0 and np.isnan(spent)


def test_one_disturbance_does_not_end_the_search() -> None:
    calls: list[int] = []

    def seconds(steps: int) -> float:
        calls.append(steps)
        return 1e-5 * steps * (50.0 if len(calls) == 2 else 1.0)

    assert longest(seconds, 1e-3, 16)[0] >= 98


def test_sections_are_those_of_the_table() -> None:
    for name in MPC.sections:
        assert MPC.load(name).name == name
