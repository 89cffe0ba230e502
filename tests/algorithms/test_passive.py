"""Damping, springs and friction of joints as part of the dynamics: their laws, by hand and against
others. That every algorithm and formulation knows them is seen in test_armature.py."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, ModelError, ModelWarning, Passive, TargetError
from tests.oracle.armed import resisting
from tests.targets.rtl.toolchains import needs_verilator

Array = npt.NDArray[Any]


def test_the_laws() -> None:
    """By hand: one joint of a body without weight."""
    q, qd, qdd = 0.7, -1.3, 2.0
    robot = robomorph.load(
        "chain:1",
        gravity=(0, 0, 0),
        armature=0.5,
        damping=0.25,
        friction=0.75,
        stiffness=(3.0, 0.2),
        passive=Passive(width=0.1),
    )
    plain = robomorph.load("chain:1", gravity=(0, 0, 0))
    extra = robot.inverse_dynamics([q], [qd], [qdd]) - plain.inverse_dynamics([q], [qd], [qdd])
    law = 0.5 * qdd + 0.25 * qd + 3.0 * (q - 0.2) + 0.75 * qd / np.hypot(qd, 0.1)
    assert extra == pytest.approx(law, rel=1e-14)
    assert robot.energy([q], [qd]).potential == pytest.approx(0.5 * 3.0 * (q - 0.2) ** 2, rel=1e-14)
    assert robot.gravity_torque([q]) == pytest.approx(0.0)
    assert robot.bias_torque([q], [qd]) == pytest.approx(law - 0.5 * qdd, rel=1e-13)
    kept = robomorph.load("chain:1", gravity=(0, 0, 0), damping=0.25, friction=0.75, stiffness=(3.0, 0.2))
    assert kept.inverse_dynamics([q], [qd], [qdd]) == plain.inverse_dynamics([q], [qd], [qdd])
    assert (kept.model.bodies[0].stiffness, kept.model.bodies[0].rest) == (3.0, 0.2)


def test_energy_is_lost_at_the_rate_of_drag() -> None:
    """Along a motion without motors: d energy/dt = -(damping qd^2 + friction |qd|), nearly."""
    robot = resisting(robomorph.load("iiwa14"))
    q, qd = robot.random_state(rng=2)
    qdd = robot.forward_dynamics(q, qd, np.zeros(7))
    step = 1e-5

    def energy(t: float) -> float:
        e = robot.energy(q + t * qd + 0.5 * t * t * qdd, qd + t * qdd)
        return float(e.kinetic + e.potential)

    rate = (energy(step) - energy(-step)) / (2 * step)
    bodies = robot.model.bodies
    lost = sum(
        b.damping * v**2 + b.friction * v**2 / np.hypot(v, 0.3) for b, v in zip(bodies, qd, strict=True)
    )
    assert rate == pytest.approx(-lost, rel=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_friction_at_every_speed(dtype: str) -> None:
    robot = robomorph.load("chain:2", friction=2.0, passive=Passive(width=1e-3))
    speeds = np.array([0.0, 1e-30, -1e-10, 1e-3, 1.0, -1e6, 1e12], dtype)
    qd = np.stack([speeds, -speeds], axis=-1)
    q = np.zeros_like(qd)
    plain = robomorph.load("chain:2", gravity=(0, 0, 0))
    free = robomorph.load("chain:2", friction=2.0, passive=Passive(width=1e-3), gravity=(0, 0, 0))
    found = free.bias_torque(q, qd) - plain.bias_torque(q, qd)
    law = 2.0 * qd / np.hypot(qd, 1e-3)
    assert found.dtype == dtype
    some = np.abs(qd) <= 1.0  # beyond, centrifugal torques hide it
    assert np.abs(found - law)[some].max() < (1e-4 if dtype == "float32" else 1e-12)
    slopes = robot.inverse_dynamics_gradient(q, qd, q).dtau_dqd
    assert np.isfinite(slopes).all()
    at_rest = 2.0 / 1e-3
    assert slopes[0, 0, 0] == pytest.approx(at_rest, rel=1e-4)


def test_what_was_loaded_is_kept() -> None:
    robot = robomorph.load("iiwa14", passive=Passive(0.02), damping={"lbr_iiwa_joint_2": 3.0}, armature=0.1)
    assert robot.record is not None
    assert robot.record.options["passive"] == Passive(0.02)
    assert robot.record.options["damping"] == {"lbr_iiwa_joint_2": 3.0}
    digests = {
        robomorph.load("iiwa14", **options).model.digest
        for options in (
            {},
            {"passive": True},
            {"passive": Passive(0.02)},
            {"armature": 0.1},
            {"passive": True, "friction": 1.0},
        )
    }
    assert len(digests) == 5
    again = pickle.loads(pickle.dumps(robot))
    assert again.model == robot.model and again.model.passive == Passive(0.02)
    q, qd = robot.random_state(rng=1)
    assert np.array_equal(again.bias_torque(q, qd), robot.bias_torque(q, qd))
    assert "passive" not in robomorph.load("iiwa14").record.options  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"armature": {"elbow": 1.0}}, "armature: .* has no moving joint called 'elbow'"),
        ({"damping": -1.0}, "damping: expected a finite number of 0 or more .*found -1"),
        ({"friction": {"joint_1": float("nan")}}, r"friction\['joint_1'\]: expected"),
        ({"stiffness": (1.0, 2.0, 3.0)}, "stiffness: expected a number, or"),
        ({"stiffness": (1.0, "x")}, "stiffness: expected a finite coordinate"),
        ({"armature": True}, "armature: expected"),
        ({"damping": [1.0]}, "damping: expected"),
        ({"passive": 1}, "passive: expected True, False or a robomorph.Passive"),
    ],
)
def test_refusals(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        robomorph.load("chain:2", **options)


def test_passive_refusals() -> None:
    for width in (0.0, 1e200, float("nan")):  # 1e200 has no square: gradients in float32 were NaN
        with pytest.raises(ArgumentError, match=r"Passive\.width: expected a speed from 1e-06 to 1e"):
            Passive(width)
    numbers: list[Any] = [np.float32(0.5), np.int64(1)]
    assert [Passive(number).width for number in numbers] == [0.5, 1.0]
    text = (
        '<robot name="one"><link name="a"/><link name="b"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        '<joint name="j" type="{kind}"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>'
        '<dynamics damping="{damping}"/></joint></robot>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        with pytest.raises(ModelError, match="joint 'j': expected damping of 0 or more with passive=True"):
            robomorph.load(text.format(kind="continuous", damping=-1), passive=True)
        with pytest.raises(ArgumentError, match=r"stiffness\['j'\]: expected a joint with one degree"):
            robomorph.load(text.format(kind="spherical", damping=0), stiffness={"j": 1.0})
        robot = robomorph.load(text.format(kind="spherical", damping=2), passive=True, stiffness=1.0)
    assert robot.model.bodies[0].stiffness == 0.0  # a number is for joints with one degree of freedom
    free, damped = (robot.inverse_dynamics(robot.neutral, x, np.zeros(3)) for x in (np.zeros(3), [0, 0, 1.0]))
    assert (damped - free)[2] == pytest.approx(2.0)


@pytest.mark.parametrize("target", ["fixed", pytest.param("rtl", marks=needs_verilator)])
def test_fixed_point_has_dampers_and_springs_but_no_friction(target: str) -> None:
    robot = robomorph.load("chain:2", friction={"joint_1": 1.0}, passive=True)
    with pytest.raises(TargetError, match=r"friction of .joint_1. needs"):
        kernel: Any = robot.compile("inverse_dynamics", target=target)
        kernel(np.zeros(2), np.zeros(2), np.zeros(2))
    robot = robomorph.load("chain:2", damping=0.5, stiffness=2.0, armature=0.1, passive=True)
    for structure in ("flat", "units") if target == "rtl" else (None,):
        options = {} if structure is None else {"structure": structure, "interval": 12}
        chip: Any = robot.compile("inverse_dynamics", target=target, **options)
        q, qd = robot.random_state(rng=1)
        assert np.abs(chip(q, qd, q) - robot.inverse_dynamics(q, qd, q)).max() < 1e-2


def test_locked_and_following_joints() -> None:
    """What is locked needs no value; what follows counts by its multiplier, and its square."""
    locked = robomorph.load("chain:2", locked={"joint_1": 0.0}, damping={"joint_1": 1.0}, passive=True)
    assert locked.nv == 1
