"""What can be done with a plan: asking, saving, copying."""

from __future__ import annotations

import csv
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.planning import Motion, Plan
from robomorph.tasks import Position
from tests.planning.motions import FRAME, arm

Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])


@pytest.fixture(scope="module")
def plan() -> Plan:
    motion = Motion(arm(), 4.0, 8, start=Q0, end=-Q0).limits(torque=True)
    return motion.keep(Position(FRAME), -2, 2, during=(0.5, 1.0)).solve()


def test_derivatives(plan: Plan) -> None:
    t, h = np.linspace(0.11, 3.87, 37).reshape(37, 1), 1e-5
    for low, high in ((plan.q, plan.qd), (plan.qd, plan.qdd)):
        assert np.allclose((low(t + h) - low(t - h)) / (2 * h), high(t), rtol=0, atol=1e-4)
    assert plan.tau(t).shape == (37, 1, 7)
    assert np.allclose(plan.tau(t), arm().inverse_dynamics(plan.q(t), plan.qd(t), plan.qdd(t)))


def test_margins_name_the_nearest(plan: Plan) -> None:
    names = [m.name for m in plan.margins]
    assert names == ["position limits", "velocity limits", "torque limits", f"position of '{FRAME}'"]
    limits = arm().limits
    t = np.linspace(0, 4, 8 * 20 + 1)
    slack = np.minimum(plan.q(t) - limits.lower, limits.upper - plan.q(t))
    assert np.isclose(plan.margins[0].slack, slack.min()) and plan.margins[0].unit == "rad or m"
    assert 0.5 <= plan.margins[3].time <= 1.0 and plan.violations() == ()


def test_violations_of_a_motion_that_was_bent(plan: Plan) -> None:
    broken = pickle.loads(pickle.dumps(plan))
    broken.control[5] += 4.0
    found = {m.name for m in broken.violations(1000)}
    assert "position limits" in found and all(m.slack < 0.0 for m in broken.violations(1000))


def test_pickles(plan: Plan) -> None:
    same = pickle.loads(pickle.dumps(plan))
    assert (
        np.array_equal(same.control, plan.control)
        and same.sizes == plan.sizes
        and same.margins == plan.margins
    )
    assert np.array_equal(same.tau(0.7), plan.tau(0.7)) and repr(same) == repr(plan)


def test_samples(plan: Plan, tmp_path: Path) -> None:
    plan.save(tmp_path / "plan.npz", rate=100)
    with np.load(tmp_path / "plan.npz") as file:
        assert file["t"].shape == (401,) and np.array_equal(file["q"], plan.q(file["t"]))
        assert np.array_equal(file["control"], plan.control)
        assert list(file["joints"]) == list(arm().velocity_names)
    plan.save(tmp_path / "plan.csv", rate=10)
    with (tmp_path / "plan.csv").open() as file:
        rows = list(csv.reader(file))
    assert len(rows) == 42 and rows[0][1] == f"q {arm().velocity_names[0]}" and len(rows[0]) == 1 + 4 * 7
    assert np.array_equal([float(x) for x in rows[4][1:8]], plan.q(float(rows[4][0])))
    with pytest.raises(ArgumentError, match=r"ending in .json, .npz or .csv, found 'plan.txt'"):
        plan.save(tmp_path / "plan.txt")


def test_wrong_times(plan: Plan) -> None:
    for t in ("soon", np.nan, None):
        with pytest.raises(ArgumentError, match="t: expected"):
            plan.q(t)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="sample_rate"):
        plan.violations(0)


def test_violations_of_a_long_motion_take_little_memory() -> None:
    """Samples in blocks: the worst of all of them, as of one block."""
    q0, q1 = Q0, -Q0
    plan = Motion(arm(), 60.0, 6, start=q0, end=q1).limits(velocity=None, position=(-9, 9)).solve()
    broken = replace(plan, requirements=(replace(plan.requirements[0], upper=np.full(7, -8.0)),))
    (found,) = broken.violations(1e4)
    assert found.slack == pytest.approx(broken.margins[0].slack, rel=1e-3)
    tracemalloc.start()
    broken.violations(1e5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3e8


def test_what_a_callback_raises_comes_through() -> None:
    def stumble(state: object) -> bool:
        raise TypeError("mine")

    q0, q1 = Q0, -Q0
    with pytest.raises(TypeError, match="mine"):
        Motion(arm(), 2.0, 6, start=q0, end=q1).limits(torque=2.0).solve(callback=stumble)
    with pytest.raises(ArgumentError, match="callback: expected a function"):
        Motion(arm(), 2.0, 6, start=q0, end=q1).limits().solve(callback="x")  # type: ignore[arg-type]
