"""Derivative kernels are checked: products with differences, which know nothing of how they are made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.algorithms.derived import DERIVATIVES
from robomorph.verify.report import chosen_subjects
from robomorph.verify.states import random_states
from robomorph.verify.yardstick import Yardstick, check_kernel
from tests.hostile.test_exports import idle_robot
from tests.verify.mutants import broken
from tests.verify.robots import serial

PRODUCTS = ("vjp", "jvp", "hvp")


def verdict(robot: Robot, name: str, derivative: str, states: int = 3) -> Any:
    """Of the interpreter: it is what a kernel is compiled from."""
    yardstick = Yardstick(robot, random_states(robot, states), robot.link_names[-1])
    kernel = robot.compile(name, derivative=derivative, target="interpreter")
    full = f"{name}.{derivative}"
    return check_kernel(robot, full, kernel, yardstick, dtype="float64", frame=None)


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "step", "mass_matrix"])
@pytest.mark.parametrize("kinds", [("revolute", "prismatic", "mimic"), ("ball",), ("planar", "revolute")])
def test_derivatives_of_every_joint_with_drag(kinds: tuple[str, ...], name: str, derivative: str) -> None:
    found = verdict(serial(*kinds), name, derivative)
    assert found.passed and found.textbook is None
    assert found.differences < 1e-7
    assert found.checked_against == "the interpreter, and finite differences or textbook formulas"


@pytest.mark.parametrize("derivative", PRODUCTS)
def test_derivatives_of_a_floating_base(derivative: str) -> None:
    assert verdict(serial("revolute", floating_base=True), "inverse_dynamics", derivative).passed


def test_all_derivatives_of_a_robot() -> None:
    """Compiled, in both formats; gradients are derivatives already and have none of their own."""
    robot = robomorph.load("chain:1")
    heard: list[str] = []
    found = robot.verify(derivatives=True, progress=heard.append)
    assert found.passed and not found.refused and list(found.as_data()) == heard
    for name in ("inverse_dynamics", "step", "jacobian", "energy"):
        assert [n for n in heard if n.partition(".")[0] == name] == [name, *(f"{name}.{d}" for d in PRODUCTS)]
    assert "step_gradient" in heard and "step_gradient.vjp" not in heard
    row = found.as_data()["step.hvp"]
    assert row["error_vs_textbook"] is None and row["error_vs_finite_differences"] < 1e-8 and row["passed"]
    again = robot.verify(["step", "energy.vjp"], derivatives="second", dtype="float32")
    assert again.passed and list(again.as_data()) == ["step", "step.second", "energy.vjp"]


@pytest.mark.parametrize(
    ("source", "base"),
    [
        pytest.param("iiwa14", False),
        pytest.param("hyq", True, marks=pytest.mark.slow),
        pytest.param("atlas", False, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("passive", [False, True])
def test_real_robots(source: str, base: bool, passive: bool) -> None:
    forces: dict[str, Any] = {"damping": 0.5, "friction": 1.0, "passive": True} if passive else {}
    robot = robomorph.load(source, floating_base=base, **forces)
    names = ["step", "semi_implicit_step"] if passive else ["inverse_dynamics", "forward_dynamics"]
    for name in names:
        for derivative in PRODUCTS if source != "iiwa14" else ("vjp", "jvp"):
            assert verdict(robot, name, derivative).passed, (name, derivative)


def test_robots_without_joints_or_masses() -> None:
    alone = robomorph.load('<robot name="rock"><link name="a"/></robot>')
    found = alone.verify(derivatives=DERIVATIVES)
    assert found.passed and "step.second" in found.as_data()
    idle = robomorph.load(idle_robot()).verify(derivatives="vjp")
    assert idle.passed and {"step", "step.vjp", "forward_dynamics.vjp"} <= set(idle.refused)


# --- what is asked ----------------------------------------------------------------------------------------


def test_what_is_checked_by_default() -> None:
    free, damped = robomorph.load("chain:2"), serial("revolute")
    names = [subject.name for subject in chosen_subjects(free)]
    assert "step_gradient" in names and not any(name.startswith("semi") for name in names)
    assert "semi_implicit_step_gradient" in [subject.name for subject in chosen_subjects(damped)]
    assert [s.name for s in chosen_subjects(free, ["step.jvp", "step"], ["jvp"])] == ["step.jvp", "step"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {"derivatives": ["hvpp"]},
            "derivatives: unknown derivative 'hvpp': expected one of vjp, jvp",
        ),
        ({"derivatives": 3}, "derivatives: expected True, False or names among vjp, .* found 3"),
        ({"derivatives": [3]}, "derivatives: unknown derivative 3"),
        ({"algorithms": ["energy.grad"]}, "algorithms: energy.grad: unknown derivative 'grad'"),
        ({"algorithms": ["energy."]}, "unknown derivative ''"),
        ({"algorithms": ["enrgy.vjp"]}, "unknown name 'enrgy'.*'energy'"),
    ],
)
def test_what_does_not_exist_is_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        robomorph.load("chain:1").verify(**asked)


# --- what is wrong is found -------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.4, 0.7, 1.0])
@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "step"])
def test_a_flipped_sign_is_found(
    name: str, derivative: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = serial("revolute", "prismatic", passive=robomorph.Passive(width=1.0))
    broken(monkeypatch, name, derivative, share)
    found = verdict(robot, name, derivative)
    assert not found.passed and found.distrust is None


@pytest.mark.parametrize(
    ("derivative", "source"), [("vjp", None), ("jvp", None), ("hvp", "vjp"), ("second", "jvp")]
)
def test_what_is_made_of_something_wrong_is_not_trusted(
    derivative: str, source: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = serial("revolute", "prismatic")
    broken(monkeypatch, "inverse_dynamics", source, 0.5)
    found = verdict(robot, "inverse_dynamics", derivative)
    wrong = "inverse_dynamics" if source is None else f"inverse_dynamics.{source}"
    assert not found.passed and found.distrust is not None and f"{wrong} itself" in found.distrust


@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_a_wrong_kernel_of_a_right_program_is_found(derivative: str) -> None:
    """One entry of one result, in the path for single states alone."""
    robot = serial("revolute", "prismatic")
    right = robot.compile("inverse_dynamics", derivative=derivative, target="interpreter")

    class Wrong:
        inputs, outputs = right.inputs, right.outputs

        def __call__(self, *args: Any) -> Any:
            values = right(*args)
            results = [np.array(v) for v in (values if isinstance(values, tuple) else (values,))]
            if args[0].ndim == 1:
                results[0].flat[0] += 1e-6 * np.abs(results[0]).max()
            return tuple(results)

    yardstick = Yardstick(robot, random_states(robot, 3), "l1")
    name = f"inverse_dynamics.{derivative}"
    assert check_kernel(robot, name, right, yardstick, dtype="float64", frame=None).passed
    found = check_kernel(robot, name, Wrong(), yardstick, dtype="float64", frame=None)
    assert not found.passed and found.interpreter > 1e-8


def test_a_wrong_derivative_kernel_fails_the_robot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROBOMORPH_CACHE", "off")
    broken(monkeypatch, "forward_dynamics", "vjp", 0.5)
    found = robomorph.load("chain:2").verify(["forward_dynamics"], derivatives=PRODUCTS)
    passed = {row.algorithm: row.passed for row in found.checked}
    assert not found.passed and passed == {
        "forward_dynamics": True,
        "forward_dynamics.vjp": False,
        "forward_dynamics.jvp": True,
        "forward_dynamics.hvp": False,
    }
