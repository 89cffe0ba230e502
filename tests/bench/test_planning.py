"""The sections about planning: the independent check, what is refused, tables, goals, and the peers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph.bench.peers import PEERS
from robomorph.bench.peers.drake_trajectory import DrakeTrajectory
from robomorph.bench.peers.ipopt import Ipopt
from robomorph.bench.peers.toppra import Toppra
from robomorph.bench.planning import solving
from robomorph.bench.planning.motion_check import MotionCheck
from robomorph.bench.planning.pinocchio_motion import SplineMotion
from robomorph.bench.planning.problems import Case, changed, installed
from robomorph.bench.records import OURS, REFUSED, Record, Timing
from robomorph.bench.run import Outcome, run_bench
from robomorph.bench.sections import PLANNING
from robomorph.bench.sections.planning import (
    big,
    drake,
    grids,
    infeasible,
    noise,
    paper,
    reference,
    scenarios,
)
from robomorph.bench.sections.planning import time as times
from robomorph.bench.session import Session
from robomorph.cli.main import main
from robomorph.planning.spline import Spline
from tests.bench.samples import Silent

pytest.importorskip("pinocchio")
pytest.importorskip("scipy")

REACH = """
robot = "iiwa14"
cost = "jerk"

[motion]
seconds = 2.0
intervals = 6
start = "left"
end = "right"

[limits]
position = true
velocity = true

[[keep]]
task = "position"
frame = "tool"
reference = "start"
lower = [-inf, -inf, 0.02]
during = [0.9, 1.1]

[[keep]]
task = "position"
frame = "tool"
rate = 1
lower = [-2.0, -2.0, -2.0]
upper = [2.0, 2.0, 2.0]
"""


@pytest.fixture
def reach(tmp_path: Path) -> Case:
    """A small motion of an arm: its tool over a point, not too fast."""
    path = tmp_path / "reach.toml"
    path.write_text(REACH)
    return Case(str(path), "iiwa14")


def run(section: str, *peers: Any) -> Outcome:
    return run_bench(Session((), peers, quick=True), "planning", PLANNING.choose([section]), Silent)


def made(section: Any, case: str, how: str = "native", ms: float = 10.0, **more: Any) -> Record:
    """A record with known figures."""
    figures: Mapping[str, float] = {
        "solved": 1.0, "iterations": 10.0, "cost": 2.0, "seconds": 1.0, "variables": 196.0, "violation": 0.0,
        "constraints": 2772.0, "problem_s": 0.002, "nonzeros": 5.0, **more.pop("figures", {}),
    }  # fmt: skip
    timing = Timing(ms * 1e6, ms * 1e6, 20, 0.5)
    return solving.record(section.NAME, more.pop("robot", "atlas"), case, how, figures, timing, **more)


def verdict(section: Any, what: str, records: list[Record]) -> float | None:
    goal = next(goal for goal in section.SECTION.goals if what in goal.what)
    found: float | None = goal.measure(records)
    return found


# --- the check -----------------------------------------------------------------------------------------


def wild(case: Case, seed: int) -> tuple[MotionCheck, SplineMotion, Any]:
    """A scenario's check, a motion that breaks most of it, and the robot."""
    scenario = case.load()
    robot = scenario.robot.robot
    rng = np.random.default_rng(seed)
    return MotionCheck(scenario), SplineMotion(rng.normal(0.0, 0.4, (9, robot.nv)), 2.0), robot


@pytest.mark.parametrize(
    "case", [Case("kick-torque", "atlas"), Case("swing", "iiwa14")], ids=["atlas", "arm"]
)
def test_pinocchio_sees_the_same_robot(case: Case) -> None:
    """Another root, locked joints, a load: torques, frames and speeds are ours."""
    check, motion, robot = wild(case, 3)
    t = np.linspace(0.0, 2.0, 7)
    q, qd, qdd = (motion(t, order) for order in range(3))
    ours = robot.inverse_dynamics(q, qd, qdd)
    np.testing.assert_allclose(check.robot.torques(q, qd, qdd), ours, rtol=0, atol=1e-9 * np.abs(ours).max())
    frame = robot.link_names[-1]
    poses, _ = check.robot.kinematics(q, [frame])
    np.testing.assert_allclose(poses[frame], robot.forward_kinematics(q, frame), atol=1e-12)
    step = 1e-6
    moved = [robot.forward_kinematics(motion(t + h), frame)[:, :3, 3] for h in (-step, step)]
    slope = (moved[1] - moved[0]) / (2 * step)
    np.testing.assert_allclose(check.robot.speeds(q, qd, frame), slope, atol=1e-7)
    if check.robot.root is not None:  # elsewhere the link that stands does not count
        np.testing.assert_allclose(check.robot.kinematics(q, [])[1], robot.center_of_mass(q), atol=1e-12)


def test_splines_are_the_plans() -> None:
    control = np.random.default_rng(0).normal(size=(9, 2))
    ours, motion, t = Spline(control, 3.0), SplineMotion(control, 3.0), np.linspace(0.0, 3.0, 50)
    for order in range(4):
        np.testing.assert_allclose(motion(t, order)[:-1], ours(t, order)[:-1], atol=1e-11)


def test_what_is_broken_between_points_is_found_and_refused(reach: Case) -> None:
    scenario = reach.load()
    plan, check, session = scenario.motion().solve(), MotionCheck(scenario), Session((), ())
    assert plan.success and solving.measured(session, "reach", check, plan) == {
        "violation": 0.0,
        REFUSED: 0.0,
    }
    good = plan.control.copy()
    for row, name in ((4, "position tool"), (3, "velocity limits")):
        plan.control[:] = good
        plan.control[row] += 0.4 if name == "velocity limits" else np.array([0, 0.3, 0, 0, 0, 0, 0])
        found = check.worst(plan.control, plan.seconds)
        assert found[0].scaled > 1e-3 and name in {e.name for e in found if e.scaled > 0.0}
        assert solving.measured(session, "reach", check, plan)[REFUSED] == 1.0
    assert "a plan that claimed to hold it was refused" in session.notes[0]
    assert solving.measured(session, "grid", check, plan, claims=False)[REFUSED] == 0.0


def test_the_check_reads_changed_tables(reach: Case) -> None:
    def lower(tables: dict[str, Any]) -> None:
        tables["keep"][0]["lower"] = [-np.inf, -np.inf, 0.5]

    scenario = reach.load()
    plan = scenario.motion().solve()
    assert MotionCheck(changed(scenario, lower)).worst(plan.control, plan.seconds)[0].scaled > 10.0
    assert scenario.tables["keep"][0]["lower"][2] == 0.02


def test_robots_that_are_absent_are_noted(tmp_path: Path) -> None:
    notes: list[str] = []
    away = tmp_path / "away.toml"
    away.write_text('[robot]\nload = "nobody.urdf"\npackage = "no-such-package"\n')
    found = installed(
        [Case("squat", str(away)), Case("kick", str(away)), Case("swing", "iiwa14")], notes.append
    )
    assert found == [Case("swing", "iiwa14")] and len(notes) == 1 and "not installed" in notes[0]


# --- sections that run ---------------------------------------------------------------------------------


def test_the_machine_is_measured_with_every_run() -> None:
    outcome = run("reference")
    (table,) = outcome.tables()
    assert table.rows[0][0] == "iiwa14" and outcome.records[0].error is not None
    assert outcome.records[0].error < 1e-9


def test_scenarios_run_against_ipopt(reach: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "HUMANOIDS", ("iiwa14",))
    monkeypatch.setattr(scenarios, "SCENARIOS", (reach.scenario,))
    monkeypatch.setattr(scenarios, "TORQUES", "swing")
    monkeypatch.setattr(scenarios, "ROUNDS", 2)
    peers = [Ipopt] if Ipopt.absence() is None else []
    outcome = run("scenarios", *peers)
    ours = [r for r in outcome.records if r.who == OURS]
    assert [r.figures["solved"] for r in ours] == [1.0] * 3 and outcome.refused == 0
    assert all(r.figures["certified"] == 1.0 and r.timing is not None and r.timing.rounds == 2 for r in ours)
    assert len(outcome.tables()[0].rows) == 3
    if peers:
        assert abs(verdict(scenarios, "objective", outcome.records) or 0.0) < 0.1
    assert verdict(scenarios, "certified", outcome.records) == 100.0


def test_grids_break_the_torque_limit_of_a_swing_and_ours_does_not() -> None:
    outcome = run("grids")
    assert [r.how for r in outcome.records] == [*map(grids.how, grids.POINTS), grids.EVERY_INSTANT]
    assert all(r.figures["solved"] for r in outcome.records)
    verdicts = {v.what: v.reached for v in outcome.verdicts}
    assert list(verdicts.values()) == [True, True]
    assert outcome.tables()[0].rows[-1][-2:] == ("none", "none")


def test_arms_are_timed_beside_toppra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "ARMS", ("iiwa14",))
    monkeypatch.setattr(times, "INTERVALS", (24,))
    monkeypatch.setattr(times, "_ROUNDS", 1)
    present = Toppra.absence() is None
    outcome = run("time", *([Toppra] if present else []))
    assert len(outcome.records) == (1 + len(times.GRIDS) if present else 1)
    assert [v.reached for v in outcome.verdicts] == [True, True]
    ours, *theirs = outcome.records
    for r in theirs:
        assert 0.8 < r.figures["seconds"] / ours.figures["seconds"] < 1.05
    if not present:
        assert any("toppra is absent" in note for note in outcome.notes)


def test_noise_is_fresh_and_plans_are_confirmed(reach: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(noise, "_CASES", (reach,))
    monkeypatch.setattr(noise, "_QUICK_SEEDS", 2)
    first, second = (run("noise") for _ in range(2))
    (record,) = first.records
    assert record.figures["seeds"] == 2.0 and record.figures["solved"] == 1.0 and first.refused == 0
    assert record.figures["first_seed"] != second.records[0].figures["first_seed"]
    assert [v.reached for v in first.verdicts] == [None] * 4  # too few to judge


def test_what_cannot_be_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(infeasible, "PROBLEMS", infeasible.PROBLEMS[-2:])
    monkeypatch.setattr(infeasible, "_ROUNDS", 1)
    outcome = run("infeasible")
    assert all(not r.figures["solved"] and r.figures["named"] for r in outcome.records)
    assert outcome.refused == 0 and len(outcome.tables()[0].rows) == 2


def test_the_papers_method_runs_beside_ours(reach: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "SCENARIOS", (reach.scenario,))
    monkeypatch.setattr(paper, "_ROBOT", "iiwa14")
    monkeypatch.setattr(paper, "_PRINTED", {reach.scenario: "14 in 426"})
    peers = [Ipopt] if Ipopt.absence() is None else []
    outcome = run("paper", *peers)
    (table,) = outcome.tables()
    assert [row[-1] for row in table.rows] == ["-", *["14 in 426"] * len(peers)]
    for r in outcome.records:
        assert r.how != paper.PAPER or 0.0 < r.figures["polynomials"] < 1.0


def test_drake_is_asked_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    peer = DrakeTrajectory
    if peer.absence() is not None:
        outcome = run("drake", peer)
        assert outcome.records == [] and "drake was not measured" in outcome.notes[0]
        return
    monkeypatch.setattr(drake, "POINTS", (1,))
    monkeypatch.setattr(drake, "_CASES", drake._CASES[:1])
    ours, theirs = run("drake", peer).records
    assert theirs.figures["seconds"] == pytest.approx(ours.figures["seconds"], rel=0.05)
    assert theirs.figures["violation"] > ours.figures["violation"] == 0.0


def test_the_command_runs_the_group_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "planning.json"
    assert main(["bench", "planning", "--quick", "--only", "grids", "--json", str(path)]) == 0
    printed = capsys.readouterr()
    assert "every instant" in printed.out and "grids: iiwa14, swing" in printed.err
    document = json.loads(path.read_text())
    assert document["schema"] == 1 and document["settings"]["group"] == "planning"
    assert [entry["how"] for entry in document["records"]][-1] == grids.EVERY_INSTANT
    assert all(goal["reached"] for goal in document["goals"])


# --- tables and goals, from known records --------------------------------------------------------------


def test_goals_of_scenarios_are_medians_and_shares() -> None:
    ours = [
        made(scenarios, "squat, jerk", ms=25.0),
        made(scenarios, "squat, none", ms=13.0, figures={"certified": 1.0}),
        made(scenarios, "kick-torque, jerk", ms=82.0, figures={"iterations": 20.0}),
    ]
    theirs = made(scenarios, "squat, jerk", "exact Hessian", 175.0, who="ipopt", figures={"cost": 1.999})
    records = [*ours, theirs]
    assert verdict(scenarios, "squat, cost jerk", records) == pytest.approx(25.0)
    assert verdict(scenarios, "an iteration", records) == pytest.approx(4.0)
    assert verdict(scenarios, "solved", records) == 100.0
    assert verdict(scenarios, "certified", records) == pytest.approx(100.0 / 3)
    assert verdict(scenarios, "objective", records) == pytest.approx(100.0 * (2.0 / 1.999 - 1.0))
    failed = made(scenarios, "feet, jerk", figures={"solved": 0.0, "violation": 0.3})
    assert verdict(scenarios, "feet, cost jerk", [failed]) is None
    assert verdict(scenarios, "violation", [*records, failed]) == 0.3
    rows = scenarios.SECTION.tables([*records, failed])[0].rows
    assert rows[0][4:10] == ("10", "25.0", "2.3", "175.0", "10", "+0.0500%")
    assert rows[-1][4] == "failed" and rows[-1][10] == "3.0e-01"


def test_big_counts_settings_that_are_solved_in_time() -> None:
    records = [made(big, s.label, ms=3000.0) for s in big.SETTINGS]
    assert verdict(big, "settings", records) == 10.0
    slow = [made(big, big.SETTINGS[0].label, ms=6000.0), *records[1:]]
    assert verdict(big, "settings", slow) == 9.0
    assert verdict(big, "settings", records[:1]) is None
    assert len(big.SECTION.tables(records)[0].rows) == 10


def test_settings_change_what_they_say() -> None:
    scenario = changed(Case("squats", "atlas").load(), big.Setting(0.2, 0.03, 2.0, 14.0).change)
    motion = scenario.motion()
    assert motion.duration.nominal == 14.0 and len({s.label for s in big.SETTINGS}) == 10
    tables = [table for table in scenario.tables["keep"] if table["task"] == "center of mass"]
    drops = [table["upper"][2] for table in tables if "upper" in table]
    assert drops == [-0.2] * 7
    windows = [table["during"] for table in scenario.tables["keep"] if "during" in table]
    assert windows[0] == pytest.approx([0.8, 1.2]) and max(w[1] for w in windows) == pytest.approx(13.2)


def test_every_peer_of_planning_says_whether_it_is_here() -> None:
    assert [peer.name for peer in PEERS["planning"]] == ["ipopt", "toppra", "drake"]
    for peer in PEERS["planning"]:
        absence = peer.absence()
        assert absence is None or "pip install" in absence


def test_sections_of_planning_are_those_of_the_table() -> None:
    assert next(iter(PLANNING.sections)) == reference.NAME
    for name in PLANNING.sections:
        assert PLANNING.load(name).name == name
