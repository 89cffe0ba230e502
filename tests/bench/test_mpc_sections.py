"""The sections about our controller alone, run small: what they find, show and judge."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from robomorph.bench.goals import judge
from robomorph.bench.mpc import problems
from robomorph.bench.mpc.ours import our_problem
from robomorph.bench.mpc.steps import GRADIENT_NS, Spent, mean_of, ticks
from robomorph.bench.records import OURS, REFUSED, Record, Timing
from robomorph.bench.run import Outcome, run_bench
from robomorph.bench.sections import MPC
from robomorph.bench.sections.mpc import batch, bounded, free, horizon, iteration, limits
from robomorph.bench.session import Session
from robomorph.cli.main import main
from tests.bench.samples import Silent

pytest.importorskip("pinocchio")


def run(section: str) -> Outcome:
    return run_bench(Session((), (), quick=True), "mpc", MPC.choose([section]), Silent)


def test_random_problems_keep_their_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_QUICK_COUNT", 3)
    outcome = run("limits")
    assert [r.case for r in outcome.records] == ["joint reach", "pose"] and outcome.refused == 0
    assert all(r.figures["kept"] == 3.0 for r in outcome.records)
    assert max(r.figures["active_0"] + r.figures["active_1"] for r in outcome.records) > 20.0
    assert [v.reached for v in outcome.verdicts] == [True, True]


def test_plans_that_break_limits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "_QUICK_COUNT", 1)
    monkeypatch.setattr(limits, "KINDS", {"joint reach": problems.limited})

    def loose(problem: Any) -> Any:
        return our_problem(problems.limited("iiwa14", limits._FIRST_SEED, states=False))

    monkeypatch.setattr(limits, "our_problem", loose)
    outcome = run("limits")
    assert outcome.refused == 1 and any("and refused" in note for note in outcome.notes)
    assert outcome.verdicts[0].reached is False and outcome.tables()[0].rows[0][-2] == "1"


def test_batches_are_counted_by_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "PROBLEMS", 16)
    monkeypatch.setattr(batch, "HORIZON", 8)
    outcome = run("batch")
    assert {r.case for r in outcome.records} == {batch.FREE, batch.BOUND} and outcome.refused == 0
    assert all(1.0 <= r.figures["iterations"] <= batch.ITERATIONS for r in outcome.records)
    rows = outcome.tables()[0].rows
    assert rows[-1][0] == "GATO, RTX 5090, published" and rows[-1][4] == "37.6 us"


def test_horizons_are_found_for_both_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    timing = Timing(1e6, 1e6, 3, 0.0)

    def found(problem: Any, rounds: int, iterations: int) -> Spent:
        """Ten microseconds an iteration and step."""
        spent = 1e4 * problem.horizon * iterations
        return Spent(Timing(spent, spent, rounds, 0.0), timing, iterations)

    monkeypatch.setattr(horizon, "ticks", found)
    outcome = run("horizon")
    steps = [(r.case, r.how, r.figures["steps"]) for r in outcome.records]
    assert steps[:2] == [(horizon.FREE, "250 Hz", 40.0), (horizon.FREE, "1000 Hz", 10.0)] and len(steps) == 4
    assert [v.found for v in outcome.verdicts] == [40.0, 10.0]


def test_steps_of_a_loop_take_the_iterations_asked_for() -> None:
    for robot in ("iiwa14", "hyq"):  # hyq's problem is solved after two
        found = ticks(problems.far(robot, 0, 8), 4, 10)
        assert found.iterations == 10 and found.wall.rounds == 4 and found.cpu.best_ns > 0.0


def test_times_are_means_and_shares() -> None:
    a, b = (Spent(Timing(x, 2 * x, 4, 0.0), Timing(3 * x, 4 * x, 4, 0.0), 10) for x in (100.0, 300.0))
    wall, cpu = mean_of([a, b])
    assert (wall.best_ns, wall.median_ns, cpu.best_ns, cpu.median_ns) == (200.0, 400.0, 600.0, 800.0)
    assert a.each().cpu.median_ns == 40.0 and a.each().iterations == 1


def made(how: str, cpu_ns: float, gradient_ns: float) -> Record:
    figures = {"cpu_best_ns": cpu_ns, "cpu_median_ns": cpu_ns, "gradient_ns": gradient_ns, "iterations": 1.0}
    return Record(
        "iteration",
        "iiwa14",
        "model_predictive_control",
        OURS,
        how,
        timing=Timing(cpu_ns, cpu_ns, 3, 0.0),
        figures=figures,
    )


def test_an_iteration_is_scaled_by_the_machine() -> None:
    slow, fast = made(iteration.TICK, 150e3, 2 * GRADIENT_NS), made(iteration.TICK, 60e3, 0.5 * GRADIENT_NS)
    assert iteration.scaled_ms(slow) == pytest.approx(0.075) and iteration.scaled_ms(fast) == pytest.approx(
        0.12
    )
    for record, reached in ((slow, True), (fast, False)):
        (verdict,) = judge("iteration", iteration.SECTION.goals, [record], ())
        assert verdict.reached is reached
    rows = iteration.SECTION.tables([slow])[0].rows
    assert rows[0][-1] == "0.0750 ms" and "MPCGPU" in rows[1][0] and "published" in rows[1][0]


def test_a_step_of_one_iteration_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration, "HORIZON", 12)
    outcome = run("iteration")
    assert [r.how for r in outcome.records] == [iteration.SOLVE, iteration.TICK]
    assert outcome.records[1].figures["iterations"] == 1.0 and outcome.verdicts[0].found is not None


def test_without_peers_a_run_says_what_was_not_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROBOMORPH_MPC_PEERS", "/no/such/python")
    monkeypatch.setattr(free, "CONTESTS", ((*free.CONTESTS[0][:3], free.CONTESTS[0][3][:1]),))
    monkeypatch.setattr(bounded, "CONTESTS", bounded.CONTESTS[:1])
    path = tmp_path / "bench.json"
    assert main(["bench", "mpc", "--quick", "--only", "free,bounded", "--json", str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "not measured against crocoddyl FDDP" in printed and "pin==4.0.0" in printed
    document = json.loads(path.read_text())
    assert {r["who"] for r in document["records"]} == {OURS}
    assert all(r["figures"][REFUSED] == 0.0 and r["figures"]["agreed"] > 0 for r in document["records"])
    assert all(goal["found"] is None for goal in document["goals"] if "faster" in goal["what"])
