"""Plans that the planner found: certified, written down, and proven again by the second program."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.planning import Motion, Plan, load_scenario
from robomorph.tasks import Position, Posture

pytest.importorskip("flint", reason="needs the package python-flint")
from robomorph.checker import Refused, check_plan
from robomorph.cli.main import main
from robomorph.planning.certificate.plans import problem_of

FRAME = "lbr_iiwa_link_7"


@cache
def robot() -> Robot:
    return robomorph.load("iiwa14", payloads={FRAME: (3.0, (0.0, 0.0, 0.1))})


def ends() -> tuple[Any, Any]:
    return np.array([0.4, 0.6, 0.1, -1.0, 0.2, 0.5, 0.0]), np.array([-0.6, 0.9, -0.4, -0.5, 0.4, 0.2, 0.3])


@cache
def arm_plan() -> Plan:
    q0, q1 = ends()
    motion = Motion(robot(), seconds=2.0, intervals=8, start=q0, end=q1)
    motion.limits(position=True, velocity=0.9, torque=0.8, acceleration=20.0)
    height = float(robot().forward_kinematics(q0, FRAME)[2, 3])
    motion.keep(Position(FRAME), lower=(-np.inf, -np.inf, height - 0.3), during=(0.5, 1.7))
    motion.keep(Position(FRAME), lower=-1.5, upper=1.5, rate=1)
    motion.keep(Posture.of(robot().model, ["lbr_iiwa_joint_3"]), lower=-1.0, upper=1.0, during=(0.3, 0.9))
    plan = motion.solve()
    assert plan.success, plan.reason
    return plan


def saved(plan: Plan, folder: Path) -> dict[str, Any]:
    plan.save(folder / "plan.json")
    data: dict[str, Any] = json.loads((folder / "plan.json").read_text())
    return data


def test_a_plan_is_certified_and_checked(tmp_path: Path) -> None:
    plan = arm_plan()
    certificate = plan.certify()
    assert certificate.proven and plan.certificate is certificate
    report = check_plan(saved(plan, tmp_path))
    # Every bounded row: limits of seven joints thrice and of torques, a height, three speeds, one joint.
    assert len(report.rows) == len(certificate.proofs) == 28 + 1 + 3 + 1
    again = pickle.loads(pickle.dumps(plan))
    assert again.certificate.proven and saved(again, tmp_path) == saved(plan, tmp_path)


@pytest.mark.parametrize("seconds", [2.0, 0.9637999660233674, 1.2727272727272, 1e-3, 3.3333333333333335])
def test_limits_as_numbers_are_proven_for_what_they_are(seconds: float, tmp_path: Path) -> None:
    """The second is a hair longer than a fraction of small numbers: that must not be taken for its end."""
    q0, q1 = ends()
    motion = Motion(robot(), seconds=seconds, intervals=8, start=q0, end=q1)
    most = [np.full(robot().nv, size) for size in (1e3, 1e4, 1e5)] / np.array(seconds) ** [[1], [2], [3]]
    torque = np.full(robot().nv, 300.0 + 100.0 / seconds**2)
    motion.limits(velocity=most[0], acceleration=most[1], jerk=most[2], torque=torque)
    plan = motion.solve(None)
    assert plan.success, plan.reason
    certificate = plan.certify()
    assert certificate.proven
    what = [proof.obligation.name.split(" of ")[0] for proof in certificate.proofs]
    assert what == [w for w in ("position", "speed", "acceleration", "jerk", "torque") for _ in range(7)]
    whole = (Fraction(0), Fraction(seconds))
    assert all(proof.obligation.window == whole for proof in certificate.proofs)
    assert len(check_plan(saved(plan, tmp_path), problem_of(motion)).rows) == 35


def test_shares_of_a_free_duration_are_those_of_the_problem(tmp_path: Path) -> None:
    """However many digits they have: an instant's value changes with the last one."""
    q0, q1 = ends()
    first = Posture.of(robot().model, robot().velocity_names[:1])
    for share in np.random.default_rng(2).uniform(0.2, 0.8, 5):
        motion = Motion(robot(), seconds=(0.3, 7.0), intervals=8, start=q0, end=q1).limits(torque=0.7)
        motion.keep(first, lower=-30.0, upper=30.0, during=share, rate=2)
        motion.keep(Position(FRAME), lower=-2.0, upper=2.0, during=(share, 0.9))
        plan = motion.solve({"jerk": 1e-3, "time": 1.0})
        assert plan.success and plan.seconds != motion.seconds, plan.reason
        assert problem_of(plan) == problem_of(motion)
        check_plan(saved(plan, tmp_path), problem_of(motion))


def test_an_instant_of_a_very_short_motion() -> None:
    """A millionth of a millionth of a second matters here."""
    q0, q1 = ends()
    motion = Motion(robot(), seconds=4.7609447878264963e-4, intervals=5, start=q0, end=q1)
    first = Posture.of(robot().model, robot().velocity_names[:1])
    plan = motion.keep(first, lower=-0.5, upper=-0.4, during=0.0004183945813703234).solve()
    assert plan.success and plan.certify().proven


def test_enclosures_hold_the_samples() -> None:
    plan = arm_plan()
    t = np.linspace(0.0, plan.seconds, 5001)
    tau = plan.tau(t)
    for proof in plan.certify().proofs:
        if proof.obligation.name.startswith("torque"):
            own = tau[:, proof.obligation.index]
            assert proof.low - 1e-9 <= own.min() and own.max() <= proof.high + 1e-9
            assert proof.high - proof.low < 1.3 * np.ptp(own) + 1.0


def test_limits_come_from_the_robot(tmp_path: Path) -> None:
    """The document says 'of the robot's own': whoever widens those in the text does not get away with it."""
    data = saved(arm_plan(), tmp_path)
    whats = [(c["what"], c["share"]) for c in data["problem"]["constraints"] if c["kind"] == "limits"]
    assert whats == [
        ("position", (1.0).hex()),
        ("velocity", (0.9).hex()),
        ("acceleration", None),
        ("torque", (0.8).hex()),
    ]
    text = data["problem"]["robot"]["text"]
    data["problem"]["robot"]["text"] = text.replace('effort="176"', 'effort="999"', 1)
    with pytest.raises(Refused, match="torque of lbr_iiwa_joint_3: lower bound"):
        check_plan(data)


def test_a_free_duration(tmp_path: Path) -> None:
    q0, q1 = ends()
    motion = Motion(robot(), seconds=(0.5, 6.0), intervals=8, start=q0, end=q1)
    motion.limits(position=True, velocity=True, torque=0.7)
    motion.keep(Position(FRAME), lower=(-2, -2, 0.1), during=(0.25, 0.75))
    plan = motion.solve(cost="time")
    assert plan.success, plan.reason
    assert plan.certify().proven, plan.certificate and plan.certificate.failed
    data = saved(plan, tmp_path)
    assert data["problem"]["constraints"][-1]["during"] == ["1/4", "3/4"]
    check_plan(data)
    data["problem"]["seconds"] = [(0.5).hex(), (0.6).hex()]
    with pytest.raises(Refused, match=r"at most 0\.6 s"):
        check_plan(data)


def test_a_grid_that_breaks_a_limit_is_not_proven(tmp_path: Path) -> None:
    """Constraints at two points of every interval hold there, and not between."""
    q0, q1 = ends()
    motion = Motion(robot(), seconds=(0.5, 6.0), intervals=6, start=q0, end=q1)
    motion.limits(position=True, velocity=True, torque=0.5)
    plan = motion.solve(cost="time", method="grid", points=1)
    certificate = plan.certify()
    worst = {name for margin in plan.violations() for name in [margin.row]}
    assert worst and not certificate.proven
    named = " ".join(str(proof) for proof in certificate.failed)
    assert all(name in named for name in worst) and " s: [" in named and "short" in named
    with pytest.raises(Refused, match="not proven"):
        check_plan(saved(plan, tmp_path))


def test_scenarios_that_are_built_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = load_scenario("arm")
    plan = scenario.motion().solve(scenario.cost)
    assert plan.success and plan.certify().proven
    data = saved(plan, tmp_path)
    check_plan(data)
    assert main(["check", str(tmp_path / "plan.json"), "--scenario", "arm"]) == 0
    # A constraint dropped from the problem and from the proof: the scenario knows better.
    dropped = len(data["problem"]["constraints"]) - 1
    data["problem"]["constraints"].pop()
    data["proof"]["rows"] = [row for row in data["proof"]["rows"] if row["constraint"] != dropped]
    check_plan(data)
    (tmp_path / "plan.json").write_text(json.dumps(data))
    assert main(["check", str(tmp_path / "plan.json"), "--scenario", "arm"]) == 1
    assert "'constraints' of the plan is not what the problem given says" in capsys.readouterr().out


def test_a_motion_states_the_same_problem_as_its_plan() -> None:
    q0, q1 = ends()
    for seconds in (2.0, (0.5, 6.0)):
        motion = Motion(robot(), seconds=seconds, intervals=8, start=q0, end=q1).limits(torque=True)
        motion.keep(Position(FRAME), lower=(-2, -2, -2), during=(0.1, 0.3))
        assert problem_of(motion) == problem_of(motion.solve())


def test_files_of_other_kinds(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"\.json, \.npz or \.csv"):
        arm_plan().save(tmp_path / "plan.txt")
    without = robomorph.Robot(robot().model)
    q0, q1 = ends()
    plan = Motion(without, 2.0, 8, q0, q1).limits().solve()
    with pytest.raises(ArgumentError, match=r"one that robomorph\.load made"):
        plan.save(tmp_path / "plan.json")
