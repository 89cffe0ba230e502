"""The sections about inverse kinematics: the independent check, KDL's contestants, notes and goals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.bench.arms import ARMS, pose_problems
from robomorph.bench.chain_problems import CHAINS, EXPECTED_ITERATIONS, chain_problems
from robomorph.bench.functions import INVERSE_KINEMATICS
from robomorph.bench.ik_chip_tables import CHIP, CPU, DERIVED, microseconds
from robomorph.bench.peers import PEERS
from robomorph.bench.peers.ik_peer import Answers, IkPeer
from robomorph.bench.peers.kdl import Kdl, kdl_interpreter, solve_with_kdl
from robomorph.bench.records import OURS, REFUSED, Record
from robomorph.bench.run import Outcome, run_bench
from robomorph.bench.sections import IK
from robomorph.bench.sections.ik import arms, chip, devices, paper, single
from robomorph.bench.session import Session
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.ik import IKResult
from tests.bench.samples import Silent


class Away(Kdl):
    """KDL on a machine that has none."""

    @classmethod
    def absence(cls) -> str | None:
        return "not on this machine"


class Cheating(IkPeer):
    """A solver that knows the answers, off by what it is told."""

    name = "cheating"
    package = "numpy"
    modules = ("numpy",)
    title = "cheating (0 steps)"
    off = 0.0

    @classmethod
    def solve(cls, problems: Any) -> Answers:
        q = problems.robot.random_state(2015, 10_000 if len(problems.poses) > 500 else 500).q
        return Answers(q[: len(problems.poses)] + cls.off, np.full(len(problems.poses), 1e-3))


class Failing(Cheating):
    name = "failing"
    title = "failing (always)"

    @classmethod
    def solve(cls, problems: Any) -> Answers:
        raise ValueError("it does not like arms")


class Beside(Cheating):
    name = "beside"
    title = "beside (a little)"
    off = 1e-3


def run(section: str, *peers: type[IkPeer]) -> Outcome:
    return run_bench(Session((), peers, quick=True), "ik", IK.choose([section]), Silent)


def claim(q: Any) -> IKResult:
    """A result that claims to have solved everything."""
    n = len(q)
    zeros, ones = np.zeros(n), np.ones(n, int)
    fields = (q, np.ones(n, bool), zeros, zeros, ones, ones)
    return IKResult(fields, (np.full(q.shape[1], -9.0), np.full(q.shape[1], 9.0)), lambda result: zeros)


def test_the_check_refuses_what_does_not_hold() -> None:
    robot = robomorph.load("iiwa14")
    check, frame = PinocchioCheck(robot, "iiwa14"), "lbr_iiwa_link_7"
    q = robot.random_state(0, 6).q
    poses = robot.forward_kinematics(q, frame)
    assert check.holds(q, frame, poses, 1e-9).all() and check.holds(q, frame, poses[:, :3, 3], 1e-9).all()
    bad = q.copy()
    bad[0, 1] += 1e-3  # elsewhere
    bad[1, 6] += 1e-3  # turned in place: no matter for a position
    bad[2, 0] = robot.limits.upper[0] + 0.1
    bad[3, 0] = np.nan
    assert check.holds(bad, frame, poses, 1e-5).tolist() == [False] * 4 + [True] * 2
    assert check.holds(bad, frame, poses[:, :3, 3], 1e-5).tolist() == [False, True, False, False, True, True]
    session = Session((), (), quick=True)
    assert check.refused(session, "iiwa14", claim(bad), check.holds(bad, frame, poses, 1e-5)) == 4
    assert "4 claimed solutions were refused" in session.notes[0]


def test_unsolved_poses_are_all_named_by_cause() -> None:
    robot = robomorph.load("iiwa14")
    points = np.array([[0.4, 0.2, 0.6], [5.0, 0.0, 0.0], [0.4, 0.1, 0.6], [0.0, 7.0, 0.0]])
    result = robot.inverse_kinematics(points, "lbr_iiwa_link_7", nearest=False, starts=2)
    session = Session((), (), quick=True)
    arms.explain(session, ARMS[0], result)
    assert len(session.notes) == 1
    assert session.notes[0].startswith(
        "iiwa14: 2 unsolved, out of reach: poses 1, 3; the first: out of reach"
    )


def test_nearest_without_kdl_says_so() -> None:
    outcome = run("nearest", Away)
    assert "nearest was not measured. KDL is absent: not on this machine" in outcome.notes[0]
    assert [verdict.reached for verdict in outcome.verdicts] == [None, None]
    assert outcome.machine["absent"] == {"kdl": "not on this machine"}
    assert outcome.tables() == []


def test_solvers_of_others_are_checked_and_those_that_fail_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pinocchio")
    monkeypatch.setattr(arms, "ARMS", ARMS[:1])
    outcome = run("arms", Failing, Cheating, Beside)
    solved = {r.who: r.figures["solved"] for r in outcome.records}
    assert solved == {OURS: 1.0, "cheating": 1.0, "beside": 0.0}
    assert "failing (always) on iiwa14: ValueError: it does not like arms" in outcome.notes
    (table,) = outcome.tables()
    theirs = next(row for row in table.rows if row[1] == "cheating (0 steps)")
    assert theirs[:5] == ("iiwa14", "cheating (0 steps)", "100", "100.00%", "1000.0")
    assert outcome.refused == 0
    solved_goal = next(v for v in outcome.verdicts if v.what == "iiwa14, solved")
    assert solved_goal.reached is True


def test_one_solve_at_a_time_runs_without_kdl(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pinocchio")
    monkeypatch.setattr(single, "_SOURCE", "chain:12")
    outcome = run("single", Away)
    assert [(r.who, r.case, r.figures["solved"]) for r in outcome.records] == [
        (OURS, "0.01 m", 1.0),
        (OURS, "1e-05 m", 1.0),
    ]
    assert all(r.timing is not None and r.timing.rounds == single.REPEATS for r in outcome.records)
    assert [verdict.reached for verdict in outcome.verdicts] == [None] * 4


def iterations(factor: float, targets: int) -> list[Record]:
    """The paper's set B with `factor` times the expected iterations."""
    return [
        Record(
            paper.NAME, f"chain:{n}", INVERSE_KINEMATICS, OURS, method,
            figures={"joints": n, "problems": targets, "iterations": factor * value[n], REFUSED: 0.0},
            case="set B",
        )
        for method, value in EXPECTED_ITERATIONS.items()
        for n in CHAINS
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("factor", "targets", "reached"), [(1.1, 1000, True), (0.8, 1000, False), (1.0, 100, None)]
)
def test_the_papers_goal_is_the_largest_difference_of_many_targets(
    factor: float, targets: int, reached: bool | None
) -> None:
    (goal,) = paper.SECTION.goals
    found = goal.measure(iterations(factor, targets))
    assert (None if found is None else found <= goal.value) is reached
    assert found is None or found == pytest.approx(100.0 * abs(factor - 1.0))


def test_the_papers_tables_and_figures_are_made_of_one_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pinocchio")
    monkeypatch.setattr(paper, "CHAINS", CHAINS[:1])
    monkeypatch.setattr(paper, "_QUICK_TARGETS", 20)
    monkeypatch.setattr(paper, "_timed", lambda method: 1)
    outcome = run("paper")
    sweep = [r for r in outcome.records if r.case == paper.SWEEP]
    assert [r.figures["speculations"] for r in sweep] == list(paper.SPECULATIONS)
    assert [len(t.rows) for t in outcome.tables()] == [7, 1, 7, 12]
    names = [figure.name for figure in outcome.figures()]
    assert names == ["ik_speculations", "ik_iterations", "ik_load", "ik_times"]


@pytest.mark.parametrize("peer", PEERS["ik"], ids=lambda peer: peer.name)
def test_solvers_that_are_installed_solve(peer: type[IkPeer]) -> None:
    absent = peer.absence()
    if absent is not None:
        pytest.skip(absent)
    problems = pose_problems("iiwa14", ARMS[0].frame, 10)
    answers = peer.solve(problems)
    check = PinocchioCheck(problems.robot, "iiwa14")
    good = check.holds(answers.q, problems.frame, problems.poses, peer.slack * problems.tolerance)
    assert good.mean() >= 0.7
    assert answers.timing.best_ns > 0.0


@pytest.mark.parametrize(("solver", "position_only"), [("lma", True), ("svd", True), ("nr", False)])
def test_kdl_solves_what_its_row_says(solver: str, position_only: bool) -> None:
    if kdl_interpreter() is None:
        pytest.skip("needs PyKDL in some interpreter")
    robot = robomorph.load("chain:12")
    problems = chain_problems(robot, "B", 5)
    targets = np.concatenate([problems.targets, np.tile(np.eye(3).ravel(), (5, 1))], axis=1)
    answers = solve_with_kdl(
        robot, "tool", targets, problems.starts, solver=solver, tolerance=1e-4, position_only=position_only
    )
    solved = np.isfinite(answers.q).all(axis=-1)
    assert solved.sum() >= (5 if position_only else 3) and (answers.seconds > 0.0).all()
    found = robot.forward_kinematics(answers.q[solved], "tool")
    assert np.linalg.norm(found[:, :3, 3] - problems.targets[solved], axis=-1).max() <= 1e-4 * 3**0.5
    turned = np.abs(found[:, :3, :3] - np.eye(3)).max(axis=(1, 2))
    assert (turned > 0.1).all() if position_only else (turned < 1e-3).all()


def test_devices_are_held_against_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """With OpenCL, the same search; a device that is not there is a note."""
    pytest.importorskip("pinocchio")
    monkeypatch.setattr(devices, "CHAINS", (12,))
    outcome = run("devices", Away)
    cpu, nudged, *others = outcome.records
    assert (cpu.how, cpu.figures["same_iterations"], cpu.figures["away_all"]) == ("cpu", 1.0, 0.0)
    assert nudged.figures["away_all"] > 0.0
    noted = [on for on in devices.DEVICES if any(f"{on} was not measured" in n for n in outcome.notes)]
    assert [r.how.split(",")[0] for r in others] == [on for on in devices.DEVICES if on not in noted]
    for record in others:
        assert record.figures["solved"] == 1.0 and record.figures["same_iterations"] >= 0.9
    (table,) = outcome.tables()
    assert [row[1] for row in table.rows] == [r.how for r in outcome.records] and outcome.refused == 0


def test_the_chip_stands_beside_the_paper_and_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pinocchio")
    monkeypatch.setattr(chip, "CHAINS", (12,))
    monkeypatch.setattr(chip, "_QUICK_TARGETS", 3)
    outcome = run("chip", Away)
    assert outcome.refused == 0
    chips = [record for record in outcome.records if record.case == CHIP]
    assert [record.how for record in chips] == [way.name for way in chip.WAYS]
    assert all(record.figures["solved"] == 1.0 for record in outcome.records)
    cycles, iterations, times = outcome.tables()
    assert cycles.rows[-1][1] == f"{DERIVED[12]:,}" and "derived" in cycles.rows[-1][0]
    quick = chips[0]
    whole = quick.figures["outside"] + quick.figures["iterations"] * quick.figures["cycles"]
    assert microseconds(quick) == pytest.approx(whole / 400.0)
    shown = {row[0] for row in times.rows}
    assert {f"{CPU}: lm", f"{CPU}: lm, in a batch", "IKAcc (65 nm chip), the paper's"} <= shown
    assert not any("batch" in row[0] for row in iterations.rows)
