"""Every function of the API against Pinocchio, in float64, on real robots at random states.

The ordinary run has 22 robots; `pytest tests/robots -m "slow or not slow"` runs all, the large ones both
interpreted and compiled.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from tests.oracle.calls import call, sample, some_wrenches
from tests.oracle.compare import assert_close, assert_same_bits

pytest.importorskip("pinocchio", reason="needs the package pin")

from tests.oracle.checks import CHECKS, Subject
from tests.oracle.real_robots import ROBOTS, RealRobot, load_pair
from tests.oracle.reference import OwnMimics, Reference, build

STATES = 5
# External forces in gradients: on these in the ordinary run, on all in the long one.
WRENCHES_IN_GRADIENTS = {"panda-fixed", "ur5_robot-floating", "bolt-floating", "baxter-fixed"}


def cases() -> Iterator[Any]:
    for entry in ROBOTS:
        for base in entry.bases:
            for check in CHECKS:
                extra = (
                    check.endswith("gradient_f_ext") and f"{entry.label}-{base}" not in WRENCHES_IN_GRADIENTS
                )
                marks = [pytest.mark.slow] if entry.slow or extra else []
                yield pytest.param(entry, base, check, id=f"{entry.label}-{base}-{check}", marks=marks)


LARGE = [
    pytest.param(entry, base, id=f"{entry.label}-{base}")
    for entry in ROBOTS
    for base in entry.bases
    if entry.target == "interpreter"
]
MIMICKING = [  # fingers of grippers that move together
    pytest.param(RealRobot("panda"), "fixed", id="panda-fixed"),
    pytest.param(RealRobot("panda"), "floating", id="panda-floating"),
    pytest.param(RealRobot("baxter", target="interpreter"), "fixed", id="baxter-fixed"),
    pytest.param(RealRobot("pr2", target="interpreter"), "fixed", id="pr2-fixed", marks=pytest.mark.slow),
    pytest.param(
        RealRobot("tiago_pro", target="interpreter"), "fixed", id="tiago_pro-fixed", marks=pytest.mark.slow
    ),
]


def subject(entry: RealRobot, base: str, target: str, *, mimic: bool = False) -> Subject:
    robot, reference = load_pair(entry.path, base == "floating", mimic)
    return Subject(robot, reference, sample(robot, 1, STATES), target)


def test_there_are_enough_real_robots() -> None:
    ordinary = [entry for entry in ROBOTS if not entry.slow]
    assert len({entry.path for entry in ordinary}) == len(ordinary) >= 14
    assert sum("floating" in entry.bases for entry in ordinary) >= 10


@pytest.mark.parametrize(("entry", "base", "check"), list(cases()))
def test_agrees_with_pinocchio(entry: RealRobot, base: str, check: str) -> None:
    CHECKS[check](subject(entry, base, entry.target))


@pytest.mark.slow
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("entry", "base"), LARGE)
def test_large_robot_compiled_agrees_with_pinocchio(entry: RealRobot, base: str, check: str) -> None:
    CHECKS[check](subject(entry, base, "cpu"))


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("entry", "base"), MIMICKING)
def test_mimic_joints_agree_with_pinocchio(entry: RealRobot, base: str, check: str) -> None:
    """Pinocchio's free joints through the chain rule: it has no gradients of its own with mimics."""
    tested = subject(entry, base, entry.target, mimic=True)
    assert tested.reference.coupled
    CHECKS[check](tested)


@pytest.mark.parametrize(("entry", "base"), MIMICKING)
def test_mimic_joints_agree_with_pinocchios_own(entry: RealRobot, base: str) -> None:
    """Pinocchio's mimic joints know inverse dynamics and the mass matrix."""
    robot, _ = load_pair(entry.path, base == "floating", True)
    model = build(entry.path, floating=base == "floating", mimic=True)
    assert model.nv == robot.nv
    reference = OwnMimics(robot, model)
    states = sample(robot, 2, STATES)
    for name in ("inverse_dynamics", "mass_matrix"):
        ours = call(robot, entry.target, name, states.arguments(name))
        method = getattr(reference, name)
        theirs = [method(*states.row(i).arguments(name)) for i in range(STATES)]
        assert_close(ours, theirs, f"{robot.name} {name}")


SINGLE = [("panda", "fixed"), ("solo12", "floating")]


@pytest.mark.parametrize(("stem", "base"), SINGLE)
@pytest.mark.parametrize(
    "name", ["inverse_dynamics", "forward_dynamics", "mass_matrix", "forward_dynamics_gradient", "energy"]
)
def test_a_single_state_gives_the_bits_of_its_batch(stem: str, base: str, name: str) -> None:
    robot, _ = load_pair(RealRobot(stem).path, base == "floating", False)
    states = sample(robot, 1, STATES)
    batched = call(robot, "cpu", name, states.arguments(name))
    for i in range(STATES):
        single = call(robot, "cpu", name, states.row(i).arguments(name))
        pairs: list[tuple[Any, Any]] = (
            list(zip(single, batched, strict=True)) if isinstance(single, tuple) else [(single, batched)]
        )
        for ours, whole in pairs:
            assert_same_bits(ours, whole[i], f"{name} of state {i}")


def test_wrenches_on_every_link_as_an_array() -> None:
    """An array (..., n_links, 6) is a wrench on every link, those merged by fixed joints among them."""
    robot, reference = load_pair(RealRobot("panda").path, True, False)
    states = sample(robot, 3, 4)
    wrenches = np.random.default_rng(5).normal(size=(4, len(robot.link_names), 6))
    ours = robot.inverse_dynamics(states.q, states.qd, states.qdd, f_ext=wrenches)
    for i in range(4):
        by_name = dict(zip(robot.link_names, wrenches[i], strict=True))
        theirs = reference.inverse_dynamics(states.q[i], states.qd[i], states.qdd[i], by_name)
        np.testing.assert_allclose(ours[i], theirs, rtol=0, atol=1e-9 * np.abs(theirs).max())
    assert some_wrenches(robot, 0, 1).keys() < set(robot.link_names)
    with pytest.raises(ArgumentError, match="f_ext"):
        robot.inverse_dynamics(states.q, states.qd, states.qdd, f_ext=wrenches[:, 1:])


def test_gravity_from_the_side() -> None:
    """Gravity is an argument like any other, and zero is allowed."""
    path = RealRobot("ur5_robot").path
    for gravity in ((1.0, -2.0, 3.0), (0.0, 0.0, 0.0)):
        robot = robomorph.load(path, gravity=gravity)
        reference = Reference(robot, build(path))
        states = sample(robot, 4, 3)
        ours = robot.inverse_dynamics(*states.arguments("inverse_dynamics"))
        rows = zip(states.q, states.qd, states.qdd, strict=True)
        theirs = [reference.inverse_dynamics(q, qd, qdd) for q, qd, qdd in rows]
        assert_close(ours, theirs, f"gravity {gravity}")
