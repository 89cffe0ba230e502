"""Odd problems end in a clear error or an explained answer: never in a crash, a hang or silence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import RobomorphError
from robomorph.planning import Motion, Plan
from robomorph.tasks import Axis, CenterOfMass, Orientation, Pose, Position, Posture, Tilt
from tests.planning.motions import arm

NUMBERS = (
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1e-12,
    1e12,
    -1e300,
    np.nan,
    np.inf,
    -np.inf,
    "x",
    None,
    True,
    [1.0],
    (),
)
CHAIN = robomorph.load("chain:2")


def _number(rng: np.random.Generator, sane: Any, often: float = 0.97) -> Any:
    return sane if rng.random() < often else NUMBERS[rng.integers(len(NUMBERS))]


def _task(rng: np.random.Generator, robot: Any) -> Any:
    frame = robot.frame_names[-1] if rng.random() < 0.95 else "nobody"
    axis = (0.0, 0.0, 1.0)
    makers: list[Any] = [
        lambda: Position(frame),
        lambda: Orientation(frame),
        lambda: Pose(frame),
        lambda: Axis(frame, axis),
        lambda: Tilt(frame, axis),
        CenterOfMass,
        lambda: Posture.of(robot.model),
        lambda: "position",
    ]
    return makers[rng.integers(len(makers) - (rng.random() < 0.9))]()


def _keep(rng: np.random.Generator, motion: Motion) -> None:
    width = 10.0 ** rng.uniform(-4, 1)
    begin = rng.uniform(0, 1)
    during = [
        None,
        (begin, begin + rng.uniform(0, 1)),
        begin,
        (begin, begin),
        (0.4, 0.1),
        (np.nan, 1),
        (0, 1e9),
    ]
    motion.keep(
        _task(rng, motion.robot),
        _number(rng, -width),
        _number(rng, width),
        reference=["start", "start", None, np.zeros(3), np.eye(3), np.eye(4), "end"][
            rng.choice(7, p=[0.5, 0.1, 0.2, 0.05, 0.05, 0.05, 0.05])
        ],
        during=during[rng.choice(7, p=[0.4, 0.4, 0.1, 0.04, 0.02, 0.02, 0.02])],
        rate=int(rng.choice([0] * 17 + [1, 2, 3])),
    )


def odd(seed: int) -> Plan | None:
    """One problem; None if something was refused."""
    rng = np.random.default_rng(seed)
    robot = arm() if rng.random() < 0.5 else CHAIN
    q = robot.random_state(rng, 2).q
    seconds = _number(rng, (0.5, 3.0) if rng.random() < 0.2 else 10.0 ** rng.uniform(-1, 1), 0.97)
    try:
        motion = Motion(
            robot,
            seconds,
            int(rng.integers(3, 12)),
            start=[q[0], None, q, q * np.nan][rng.choice(4, p=[0.84, 0.1, 0.04, 0.02])],
            end=[q[1], q[0], None][rng.choice(3, p=[0.6, 0.3, 0.1])],
            periodic=bool(rng.random() < 0.05),
            refine=int(rng.choice([1] * 16 + [2, 2, 3, 0])),
        )
        for _ in range(rng.integers(0, 4)):
            _keep(rng, motion)
        if rng.random() < 0.7:
            motion.limits(_number(rng, True), _number(rng, True), _number(rng, 0.5), _number(rng, 10.0))
        cost = ["jerk", None, "energy", "time", {"jerk": 1, "time": 1}, "beauty"][
            rng.choice(6, p=[0.5, 0.2, 0.1, 0.08, 0.1, 0.02])
        ]
        solver = "native" if rng.random() < 0.8 else "ipopt"
        method = ["bernstein", "bernstein", "bernstein", "grid"][rng.integers(4)]
        return motion.solve(cost, solver=solver, method=method, starts=int(rng.choice([1, 1, 1, 2])))
    except RobomorphError as error:
        assert len(str(error)) > 15
        return None


def check(seed: int) -> bool:
    plan = odd(seed)
    if plan is None:
        return False
    assert np.isfinite(plan.control).all() and len(plan.reason) > 3
    if plan.success and plan.method == "bernstein":
        assert not [m for m in plan.violations(500) if m.scaled < -1e-6], f"seed {seed}"
    return plan.success


def test_a_hundred_odd_problems() -> None:
    found = [check(seed) for seed in range(100)]
    assert 5 < sum(found) < 95


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(10))
def test_a_thousand_odd_problems(block: int) -> None:
    for seed in range(1000 + 100 * block, 1100 + 100 * block):
        check(seed)
