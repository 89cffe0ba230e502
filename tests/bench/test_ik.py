"""The benchmark of inverse kinematics: its independent check, KDL's contestants, its notes and exit code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.bench.chain_problems import chain_problems
from robomorph.bench.peers.kdl import kdl_interpreter, solve_with_kdl
from robomorph.bench.sections.ik import arms as ik_arms
from robomorph.bench.sections.ik import run as ik_run
from robomorph.bench.solution_check import IkOutcome, PinocchioCheck
from robomorph.cli.main import main
from robomorph.ik import IKResult


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
    outcome = IkOutcome(quick=True)
    check.confirm(outcome, "iiwa14", claim(bad), check.holds(bad, frame, poses, 1e-5))
    assert outcome.refused == 4 and "4 claimed solutions were refused" in outcome.notes[0]


@pytest.mark.parametrize("refused", [0, 1])
def test_a_refused_claim_is_the_exit_code(refused: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ik_run, "IK_SECTIONS", {"arms": lambda outcome, step: count(outcome)})

    def count(outcome: IkOutcome) -> None:
        outcome.refused += refused

    assert main(["bench", "ik", "--quick"]) == refused


def test_unsolved_poses_are_all_named_by_cause() -> None:
    robot = robomorph.load("iiwa14")
    points = np.array([[0.4, 0.2, 0.6], [5.0, 0.0, 0.0], [0.4, 0.1, 0.6], [0.0, 7.0, 0.0]])
    result = robot.inverse_kinematics(points, "lbr_iiwa_link_7", nearest=False, starts=2)
    outcome = IkOutcome(quick=True)
    ik_arms._explain(outcome, ik_arms.ARMS[0], result)
    assert len(outcome.notes) == 1
    assert outcome.notes[0].startswith(
        "iiwa14: 2 unsolved, out of reach: poses 1, 3; the first: out of reach"
    )


def test_nearest_without_kdl_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ik_arms, "kdl_interpreter", lambda: None)
    outcome = IkOutcome(quick=True)
    ik_arms.run_nearest(outcome, print)
    assert "nearest was not measured. KDL is absent" in outcome.notes[0]
    assert [verdict.reached for verdict in outcome.verdicts] == [None, None]


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
