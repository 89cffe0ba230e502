"""The second program agrees with sound plans and refuses what was tampered with."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flint", reason="needs the package python-flint")
pytest.importorskip("scipy", reason="needs SciPy")
from robomorph.checker import Refused, check_plan
from robomorph.checker.balls import ORDER, arithmetic, flint
from robomorph.checker.mechanics import State, gravity_of
from robomorph.checker.robot import read_robot
from robomorph.cli.main import main
from robomorph.planning.certificate import Limits
from robomorph.planning.certificate.document import robot_data, save_document
from tests.model.oracle import example_robot

from .plans import arm_plan, motion, quiet, statements_of, written

Plan = dict[str, Any]


def test_a_sound_plan_is_proven() -> None:
    report = check_plan(arm_plan())
    assert report.joints == 7 and len(report.rows) == len(arm_plan()["proof"]["rows"]) > 50


# --- tampering ----------------------------------------------------------------------------------------------


def moved(x: str, by: float) -> str:
    return (float.fromhex(x) + by).hex()


def _control(plan: Plan, point: int, by: float) -> None:
    plan["motion"]["control"][point][2] = moved(plan["motion"]["control"][point][2], by)


def _constraint(plan: Plan, kind: str, what: str) -> Plan:
    for one in plan["problem"]["constraints"]:
        if one["kind"] == kind and what in (one.get("what"), (one.get("task") or {}).get("name")):
            found: Plan = one
            return found
    raise KeyError(what)


def _row(plan: Plan, name: str) -> Plan:
    found: Plan = next(row for row in plan["proof"]["rows"] if name in row["name"])
    return found


def _text(plan: Plan, old: str, new: str) -> None:
    text = plan["problem"]["robot"]["text"]
    assert old in text
    plan["problem"]["robot"]["text"] = text.replace(old, new, 1)


def _widen_both(plan: Plan) -> None:
    """The limit in the problem and in the proof, but the robot's text stays what it is."""
    one = plan["problem"]["constraints"][0]
    one["share"] = (2.0).hex()


def _drop(plan: Plan) -> None:
    plan["problem"]["constraints"].pop()


def _drop_rows(plan: Plan) -> None:
    plan["proof"]["rows"] = [row for row in plan["proof"]["rows"] if "torque" not in row["name"]]


def _swap_rows(plan: Plan) -> None:
    rows = plan["proof"]["rows"]
    rows[0], rows[1] = rows[1], rows[0]


TAMPERED: dict[str, Callable[[Plan], Any]] = {
    "a control point in the middle moved far": lambda p: _control(p, 4, 2.0),
    "a control point in the middle moved until a claim is false": lambda p: _control(p, 4, 0.3),
    "the first control point moved": lambda p: _control(p, 0, 1e-3),
    "two joints exchanged": lambda p: p["motion"]["joints"].reverse(),
    "faster": lambda p: p["motion"].update(knots=[str(Fraction(k) / 3) for k in p["motion"]["knots"]]),
    "slower": lambda p: p["motion"].update(knots=[str(Fraction(k) * 3) for k in p["motion"]["knots"]]),
    "a knot moved": lambda p: p["motion"]["knots"].__setitem__(5, "3/2"),
    "a point left out": lambda p: p["motion"]["control"].pop(4),
    "a limit widened in the proof": lambda p: _row(p, "position of").update(upper=(9.0).hex()),
    "a limit widened in the problem": _widen_both,
    "a torque bound widened in the problem": lambda p: _constraint(p, "limits", "torque")[
        "upper"
    ].__setitem__(1, (1e4).hex()),
    "a torque bound narrowed in the problem": lambda p: _constraint(p, "limits", "torque")[
        "upper"
    ].__setitem__(1, (1e-4).hex()),
    "a limit widened in the robot's text": lambda p: _text(p, 'upper="2.96705972839"', 'upper="9.9"'),
    "a mass changed in the robot's text": lambda p: _text(p, '<mass value="4"/>', '<mass value="40"/>'),
    "a length changed in the robot's text": lambda p: _text(p, 'xyz="0 0 0.2155"', 'xyz="0 0 0.9155"'),
    "gravity changed": lambda p: p["problem"]["robot"]["options"].update(
        gravity=[(0.0).hex(), (0.0).hex(), (-98.1).hex()]
    ),
    "the payload changed": lambda p: p["problem"]["robot"]["options"]["payloads"]["lbr_iiwa_link_7"].update(
        mass=(60.0).hex()
    ),
    "a tool frame moved": lambda p: p["problem"]["robot"]["options"]["tool_frames"]["tool"]["pose"][
        2
    ].__setitem__(3, (3.0).hex()),
    "a joint locked": lambda p: p["problem"]["robot"]["options"]["locked"].update(
        lbr_iiwa_joint_3=[(0.0).hex()]
    ),
    "another root": lambda p: p["problem"]["robot"]["options"].update(root="lbr_iiwa_link_7"),
    "a constraint dropped from the problem": _drop,
    "rows dropped from the proof": _drop_rows,
    "rows of the proof exchanged": _swap_rows,
    "a window shortened": lambda p: _constraint(p, "task", "position").update(during=["0", "9"]),
    "a reference moved": lambda p: _constraint(p, "task", "position")["reference"].__setitem__(
        0, (0.5).hex()
    ),
    "a margin faked": lambda p: _row(p, "torque of lbr_iiwa_joint_2").update(
        low=(-1e-3).hex(), high=(1e-3).hex()
    ),
    "a margin faked for a joint": lambda p: _row(p, "position of").update(low=(2.9).hex(), high=(2.95).hex()),
    "a claim beyond its bounds": lambda p: _row(p, "torque of").update(high=(1e6).hex()),
    "not proven": lambda p: _row(p, "torque of").update(proven=False),
    "proven by word": lambda p: _row(p, "torque of").update(proven="yes"),
    "the start moved": lambda p: p["problem"]["start"]["q"].__setitem__(0, (0.7).hex()),
    "a start that moves": lambda p: p["problem"]["start"]["qd"].__setitem__(0, (0.7).hex()),
    "a longer motion asked for": lambda p: p["problem"].update(seconds=[(4.0).hex(), (5.0).hex()]),
    "periodic": lambda p: p["problem"].update(periodic=True),
    "NaN": lambda p: p["motion"]["control"][4].__setitem__(0, "nan"),
    "a task that nobody knows": lambda p: _constraint(p, "task", "position")["task"].update(name="wish"),
    "a field that nobody knows": lambda p: p["problem"].update(but="not really"),
    "another version": lambda p: p.update(version=2),
    "an endless fraction": lambda p: p["motion"]["knots"].__setitem__(0, "1e999999999"),
    "a bomb": lambda p: _text(p, "<robot", "<!DOCTYPE robot [<!ENTITY a 'b'>]><robot"),
}


@pytest.mark.parametrize("how", TAMPERED)
def test_tampered_plans_are_refused(how: str) -> None:
    plan = arm_plan()
    TAMPERED[how](plan)
    assert plan != arm_plan()
    with pytest.raises(Refused) as refused:
        check_plan(plan)
    if how not in ("two joints exchanged",):
        assert "not understood" not in str(refused.value)


def test_problems_are_compared_but_for_their_last_digits() -> None:
    problem = arm_plan()["problem"]
    reference = _constraint({"problem": problem}, "task", "orientation")["reference"]
    reference[0] = moved(reference[0], 1e-15)
    check_plan(arm_plan(), problem=problem)
    reference[0] = moved(reference[0], 1e-9)
    with pytest.raises(Refused, match="'constraints' of the plan is not"):
        check_plan(arm_plan(), problem=problem)


def test_windows_are_compared_but_for_their_last_digits() -> None:
    """With a free duration they are shares of it, which plan and problem compute each on their own."""
    for off, same in ((Fraction(1, 10**15), True), (Fraction(1, 10**6), False)):
        problem = arm_plan()["problem"]
        during = _constraint({"problem": problem}, "task", "position")["during"]
        during[:] = [str(Fraction(t) + off * (1 - 2 * k)) for k, t in enumerate(during)]
        if same:
            check_plan(arm_plan(), problem=problem)
            continue
        with pytest.raises(Refused, match="'constraints' of the plan is not"):
            check_plan(arm_plan(), problem=problem)
    during.pop()
    with pytest.raises(Refused):
        check_plan(arm_plan(), problem=problem)


def test_a_consistent_lie_needs_the_problem_from_elsewhere() -> None:
    """Problem and proof changed alike make a sound plan for another problem; the real one shows it."""
    plan = arm_plan()
    last = len(plan["problem"]["constraints"]) - 1
    plan["problem"]["constraints"].pop()
    plan["proof"]["rows"] = [row for row in plan["proof"]["rows"] if row["constraint"] != last]
    check_plan(plan)
    with pytest.raises(Refused, match="'constraints' of the plan is not what the problem given says"):
        check_plan(plan, problem=arm_plan()["problem"])
    with pytest.raises(Refused, match="another robot"):
        check_plan(arm_plan(), robot_text="<robot/>")
    check_plan(arm_plan(), problem=arm_plan(), robot_text=arm_plan()["problem"]["robot"]["text"])


@pytest.mark.parametrize("seed", range(60))
def test_damaged_plans_are_refused_or_sound(seed: int) -> None:
    """Any value anywhere replaced by another: never a traceback, never proven what is not."""
    rng = np.random.default_rng(seed)
    plan = arm_plan()
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        for key in list(node) if isinstance(node, dict) else range(len(node)):
            places.append((node, key))
            if isinstance(node[key], (dict, list)):
                walk(node[key])

    walk(plan)
    node, key = places[int(rng.integers(len(places)))]
    odd: list[Any] = [None, -1, 0, "", "0x1p+9", "-inf", [], {}, True, "x" * 50, "1/0", [["0x0p+0"]], 1e308]
    node[key] = odd[int(rng.integers(len(odd)))]
    try:
        check_plan(plan)
    except Refused:
        return
    # What does not matter to the proof may be anything: names, degrees of models, claims that are wider.
    assert key in ("name", "degree", "low", "high", "root", 0, 1, 2, 3) or plan == arm_plan(), key


# --- the mechanics, and agreement on other robots --------------------------------------------------------


ROBOTS: dict[str, dict[str, Any]] = {
    "iiwa14": {},
    "hyq": {"root": "lf_lowerleg"},
    "chain:5": {},
    "atlas": {"root": "l_hand", "locked": {"neck_ay": 0.3}, "gravity": (1.0, -2.0, -9.0)},
    "panda": {"root": "panda_hand"},
    "ur5_robot": {"payloads": {"wrist_3_link": (2.0, (0.1, 0.0, 0.1), np.diag([0.1, 0.2, 0.3]))}},
    "talos_reduced": {"root": "right_sole_link"},
    "tiago": {"mimic": True},
    "kinova": {},
}


def source_of(name: str) -> Any:
    return example_robot(name) or name


@pytest.mark.parametrize("name", ROBOTS)
def test_textbook_mechanics_agree(name: str) -> None:
    """Two programs that share nothing: poses, centre of mass, torques, at random states."""
    robot = quiet(source_of(name), **ROBOTS[name])
    rng = np.random.default_rng(1)
    q = robot.random_state(rng).q
    qd, qdd = rng.normal(size=(2, robot.nv))
    with arithmetic():
        other = read_robot(json.loads(json.dumps(robot_data(robot))))
        assert [joint.name for joint in other.joints] == list(robot.velocity_names)
        series = [flint().arb_series([a, b, c / 2], ORDER + 3) for a, b, c in zip(q, qd, qdd, strict=True)]
        state = State(other, series, gravity_of(other))
        tau, com = (_numbers(values) for values in (state.torques, state.center_of_mass))
        links = {link: _numbers(frame.origin) for link, frame in state.links.items()}
    ours = robot.compile("inverse_dynamics", target="interpreter")(q, qd, qdd)
    assert np.abs(ours - tau).max() < 1e-9 * max(1.0, np.abs(tau).max())
    assert np.abs(robot.compile("center_of_mass", target="interpreter")(q) - com).max() < 1e-9
    poses = robot.compile("link_poses", target="interpreter")(q)
    for link, pose in zip(robot.link_names, poses, strict=True):
        assert np.abs(pose[:3, 3] - links[link]).max() < 1e-9, link


def _numbers(values: Any) -> Any:
    return np.array(
        [
            float(x.coeffs()[0].mid())
            if hasattr(x, "coeffs") and x.coeffs()
            else 0.0
            if hasattr(x, "coeffs")
            else float(x)
            for x in values
        ]
    )


@pytest.mark.parametrize(
    ("name", "frame"),
    [("panda", "panda_hand"), ("ur5_robot", "ee_link"), ("kinova", "j2s6s200_end_effector")],
)
@pytest.mark.parametrize("seed", range(2))
def test_both_programs_prove_plans_of_arms(name: str, frame: str, seed: int) -> None:
    robot = quiet(source_of(name))
    spline = motion(robot, 0.1, seed)
    data, proven = written(robot, spline, statements_of(robot, spline, frame))
    assert proven
    assert check_plan(data).joints == robot.nv


def test_both_programs_prove_a_plan_of_a_humanoid() -> None:
    robot = quiet("atlas", root="r_foot", locked={"neck_ay": 0, "l_arm_lwy": 0})
    spline = motion(robot, 0.05, intervals=4)
    data, proven = written(robot, spline, statements_of(robot, spline, "l_hand"))
    assert proven and check_plan(data).joints == 28


def test_what_is_false_is_proven_by_neither() -> None:
    robot = quiet("iiwa14")
    spline = motion(robot, 0.2)
    statements = statements_of(robot, spline, "lbr_iiwa_link_7")
    sound, _ = written(robot, spline, statements)
    for row in sound["proof"]["rows"]:
        if "torque of lbr_iiwa_joint_2" in row["name"]:
            most = float.fromhex(row["high"])
    torque = statements[3]
    assert isinstance(torque, Limits) and torque.upper is not None
    upper = list(torque.upper)
    upper[1] = most - 1.0
    statements[3] = Limits("torque", None, torque.lower, tuple(upper))
    data, proven = written(robot, spline, statements)
    assert not proven
    with pytest.raises(Refused, match="says that it is not proven"):
        check_plan(data)
    for row in data["proof"]["rows"]:  # and if it says otherwise
        row.update(proven=True, high=min(row["high"], row["upper"], key=float.fromhex))
    with pytest.raises(Refused, match=r"torque of lbr_iiwa_joint_2"):
        check_plan(data)


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    save_document(arm_plan(), good)
    plan = arm_plan()
    _control(plan, 4, 2.0)
    save_document(plan, bad)
    assert main(["check", str(good), "--problem", str(good), "--robot", "iiwa14"]) == 0
    assert "proven" in capsys.readouterr().out
    assert main(["check", str(bad)]) == 1
    assert "refused" in capsys.readouterr().out
    assert main(["check", str(bad), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["proven"] is False
    assert main(["check", str(tmp_path / "none.json")]) != 0
