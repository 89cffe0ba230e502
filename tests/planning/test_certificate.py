"""Certificates: what is proven holds at samples computed by Pinocchio, what is false is never proven."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.planning.certificate import (
    Certificate,
    Function,
    Obligation,
    Spline,
    TaskBounds,
    certify,
    joint_obligations,
    task_obligations,
    torque_obligations,
    window_of,
)
from robomorph.planning.certificate.rates import rate_of
from robomorph.tasks import CenterOfMass, Orientation, Position
from tests.robots.test_reroot import standing

pin = pytest.importorskip("pinocchio", reason="needs the package pin")
SECONDS = 3.0
WHOLE = window_of(0, SECONDS)
ATLAS = {"root": "r_foot", "locked": {"neck_ay": 0, "l_arm_lwy": 0}}


@cache
def robot_of(name: str) -> Robot:
    return robomorph.load(name, **(ATLAS if name == "atlas" else {}))  # type: ignore[arg-type]


def spline_of(robot: Robot, noise: float = 0.1, seed: int = 0, points: int = 9) -> Spline:
    rng = np.random.default_rng(seed)
    middle = np.clip(0.0, robot.limits.lower + 0.2, robot.limits.upper - 0.2)
    return Spline.uniform(middle + noise * rng.normal(size=(points, robot.nv)), SECONDS)


def sampled(spline: Spline, order: int, count: int = 300) -> Any:
    """(count, nv) by SciPy, which knows nothing of our splines."""
    interpolate = pytest.importorskip("scipy.interpolate")
    curve = interpolate.BSpline([float(k) for k in spline.knots], spline.control, spline.degree)
    return curve(np.linspace(0.0, SECONDS, count), order)


def assert_contains(certificate: Certificate, values: Any, order: int = 0) -> None:
    """values (count, rows) over the whole motion, in the order of the proofs."""
    times = np.linspace(0.0, SECONDS, len(values))
    for k, proof in enumerate(certificate.proofs):
        begin, end = (float(t) for t in proof.obligation.window)
        for piece in proof.pieces:
            inside = (
                (times >= float(piece.begin))
                & (times <= float(piece.end))
                & (begin <= times)
                & (times <= end)
            )
            own = values[inside, k]
            slack = 1e-9 * max(1.0, np.abs(values).max())
            assert (own >= piece.low - slack).all() and (own <= piece.high + slack).all(), proof


@pytest.mark.parametrize("order", range(4))
def test_joints(order: int) -> None:
    robot = robot_of("iiwa14")
    spline = spline_of(robot)
    values = sampled(spline, order)
    most = np.abs(values).max()
    wide = certify(spline, joint_obligations(robot.velocity_names, order, -2 * most, 2 * most, WHOLE))
    assert wide.proven and len(wide.proofs) == 7
    assert_contains(wide, values)
    narrow = certify(spline, joint_obligations(robot.velocity_names, order, -0.7 * most, 0.7 * most, WHOLE))
    assert not narrow.proven
    for proof in narrow.failed:
        at = proof.worst
        assert max(abs(at.low), abs(at.high)) > 0.7 * most and float(at.end - at.begin) <= SECONDS / 6


def test_a_bound_that_is_just_touched() -> None:
    """A motion that rests exactly at its limit is within it; a rational proof, since floats would not do."""
    spline = Spline.uniform(np.full((6, 1), 0.1), SECONDS)
    assert certify(spline, [Obligation("at rest", None, 0, 0, 0.1, 0.1, WHOLE)]).proven
    below = float(np.nextafter(0.1, 0.0))
    assert not certify(spline, [Obligation("at rest", None, 0, 0, 0.0, below, WHOLE)]).proven


@pytest.mark.parametrize("name", ["iiwa14", "atlas"])
def test_torques_against_pinocchio(name: str) -> None:
    robot = robot_of(name)
    spline = spline_of(robot, 0.1)
    q, qd, qdd = (sampled(spline, order, 60) for order in range(3))
    tau = np.array([_torque(name, robot, *state) for state in zip(q, qd, qdd, strict=True)])
    most = np.abs(tau).max(axis=0)
    certificate = certify(spline, torque_obligations(robot, -1.5 * most - 1.0, 1.5 * most + 1.0, WHOLE))
    assert_contains(certificate, tau)
    false = certify(spline, torque_obligations(robot, -0.9 * most, 0.9 * most, WHOLE), deepest=2)
    assert len(false.failed) == robot.nv


def _torque(name: str, robot: Robot, q: Any, qd: Any, qdd: Any) -> Any:
    from robomorph.model.robots import builtin_urdf
    from tests.robots import test_reroot

    if name == "iiwa14":
        model = pin.buildModelFromXML((builtin_urdf(name) or b"").decode())
        return pin.rnea(model, model.createData(), q, qd, qdd)
    text = (builtin_urdf(name) or b"").decode()
    return test_reroot._torque(robot, standing(text, robot, "r_foot", q, qd), qdd)


def test_wild_motions_are_bisected() -> None:
    robot = robot_of("iiwa14")
    spline = spline_of(robot, 1.0, seed=4)
    tau = robot.inverse_dynamics(*(sampled(spline, order, 3000) for order in range(3)))
    most = 1.02 * np.abs(tau).max(axis=0)
    certificate = certify(spline, torque_obligations(robot, -most, most, WHOLE))
    assert certificate.proven and certificate.runs > len(spline.pieces())
    assert_contains(certificate, tau)


def test_tasks_and_their_rates() -> None:
    robot = robot_of("atlas")
    spline = spline_of(robot, 0.1)
    window = window_of(0.7, 2.2)  # not at knots
    none = (0.0, 0.0, 0.0)
    level = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    given = [
        TaskBounds("foot", Position("l_foot"), none, 0, -2.0, 2.0, window, ("x", "y", "z")),
        TaskBounds("foot speed", Position("l_foot"), none, 1, -9.0, 9.0, window, ("x", "y", "z")),
        TaskBounds("com acceleration", CenterOfMass(), none, 2, -60.0, 60.0, window, ("x", "y", "z")),
        TaskBounds("hand", Orientation("r_hand"), level, 0, -2.0, 2.0, WHOLE, ("x", "y", "z", "angle")),
    ]
    certificate = certify(spline, task_obligations(robot, given))
    q, qd, qdd = (sampled(spline, order) for order in range(3))
    foot = robot.forward_kinematics(q, "l_foot")[:, :3, 3]
    speed = robot.frame_velocity(q, qd, "l_foot")[:, :3]
    step = 1e-4
    com = [robot.center_of_mass(q + k * step * qd + 0.5 * (k * step) ** 2 * qdd) for k in (-1, 0, 1)]
    acceleration = (com[0] - 2 * com[1] + com[2]) / step**2
    turn = robot.forward_kinematics(q, "r_hand")[:, :3, :3]
    sines = 0.5 * np.stack([turn[:, i, j] - turn[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=1)
    cosine = 0.5 * (np.trace(turn, axis1=1, axis2=2) - 1.0)
    values = np.concatenate([foot, speed, acceleration, sines, cosine[:, None]], axis=1)
    for k, proof in enumerate(certificate.proofs):
        assert proof.proven, proof
        assert proof.pieces[0].begin == proof.obligation.window[0]
        assert proof.pieces[-1].end == proof.obligation.window[1]
        one = Certificate(spline, (proof,), 7)
        assert_contains(one, values[:, k : k + 1] if k < 6 or k > 8 else values[:, k : k + 1] / (1 + 1e-9))


def test_rates_of_torques_against_differences() -> None:
    robot = robot_of("iiwa14")
    from robomorph.compiler.specialise import make_request
    from robomorph.ir.interpret import interpret

    program = robot.specialiser.specialise(make_request(robot.model, "inverse_dynamics")).program
    rate = rate_of(program)
    assert {port.name for port in rate.inputs} == {"q", "qd", "qdd", "qddd"}
    rng = np.random.default_rng(0)
    q, qd, qdd, qddd = rng.normal(size=(4, robot.nv))
    h = 1e-5

    def tau(t: float) -> Any:
        state = (
            q + t * qd + t * t / 2 * qdd + t**3 / 6 * qddd,
            qd + t * qdd + t * t / 2 * qddd,
            qdd + t * qddd,
        )
        return interpret(program, dict(zip(("q", "qd", "qdd"), state, strict=True)))["tau"]

    found = interpret(rate, {"q": q, "qd": qd, "qdd": qdd, "qddd": qddd})["rates"]
    assert np.abs(found - (tau(h) - tau(-h)) / (2 * h)).max() < 1e-6 * np.abs(found).max()


def test_instants() -> None:
    robot = robot_of("iiwa14")
    spline = spline_of(robot)
    instant = window_of(1.3, 1.3)
    at = sampled(spline, 0, 31)[13]
    near = [Obligation("there", None, j, 0, at[j] - 1e-12, at[j] + 1e-12, instant) for j in range(7)]
    assert certify(spline, near).proven
    place = robot.forward_kinematics(at, "lbr_iiwa_link_7")[:3, 3]
    for off, holds in ((1e-9, True), (-1e-9, False)):
        given = TaskBounds(
            "tool",
            Position("lbr_iiwa_link_7"),
            tuple(float(x) for x in place),
            0,
            -off if holds else 1e-9,
            1.0,
            instant,
            ("x", "y", "z"),
        )
        assert certify(spline, task_obligations(robot, [given])).proven is holds


def test_what_is_asked_for_must_make_sense() -> None:
    robot = robot_of("iiwa14")
    spline = spline_of(robot)
    with pytest.raises(ArgumentError, match="within the motion, 0 to 3 s, found 0 to 4"):
        certify(spline, joint_obligations(robot.velocity_names, 0, -9, 9, window_of(0, 4)))
    with pytest.raises(ArgumentError, match="NaN"):
        Obligation("x", None, 0, 0, float("nan"), 1.0, WHOLE)
    with pytest.raises(ArgumentError, match="first to last"):
        Obligation("x", None, 0, 0, 0.0, 1.0, (Fraction(1), Fraction(0)))
    with pytest.raises(ArgumentError, match="order 3"):
        program = torque_obligations(robot, -1, 1, WHOLE)[0].function
        assert isinstance(program, Function)
        Obligation("x", program, 0, 3, 0.0, 1.0, WHOLE)
    with pytest.raises(ArgumentError, match="expected 10 for 6 control points"):
        Spline(np.zeros((6, 1)), tuple(map(Fraction, range(9))))
    with pytest.raises(ArgumentError, match="finite"):
        Spline.uniform(np.full((6, 1), np.nan), 1.0)


def test_splines_of_other_knots_and_degrees() -> None:
    interpolate = pytest.importorskip("scipy.interpolate")
    rng = np.random.default_rng(2)
    for degree in (2, 3, 5):
        inner = sorted(Fraction(int(k), 97) for k in rng.choice(97, 6, replace=False))
        knots = (*[inner[0]] * degree, *inner, *[inner[-1]] * degree)
        spline = Spline(rng.normal(size=(len(knots) - degree - 1, 2)), knots, degree)
        curve = interpolate.BSpline([float(k) for k in knots], spline.control, degree)
        for piece in spline.pieces([inner[2] + Fraction(1, 500)]):
            middle = (float(piece.begin) + float(piece.end)) / 2
            for order in range(3):
                model = spline.models([piece], order)
                ours = np.polynomial.chebyshev.chebval(0.0, model.coefficients[:, :, 0])
                assert ours == pytest.approx(curve(middle, order), rel=1e-9, abs=1e-9)
