"""The yardstick that `robomorph compile` trusts: it must know right from wrong by itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ArgumentError
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.verify.differences import Differences
from robomorph.verify.reference import Reference
from robomorph.verify.states import checkable, random_states
from robomorph.verify.verdict import error
from robomorph.verify.yardstick import Yardstick, check_kernel

# Every joint type, a mimic joint among them, about axes that are not along a coordinate axis.
ZOO = """
<robot name="zoo">
  <link name="base"/>
  {joints}
</robot>
"""


def zoo() -> robomorph.Robot:
    kinds = ["revolute", "prismatic", "planar", "continuous", "floating", "revolute"]
    parts = []
    for i, kind in enumerate(kinds):
        axis = "0 0 1" if kind == "planar" else "0.48 -0.6 0.64"
        mimic = '<mimic joint="j0" multiplier="-0.7" offset="0.3"/>' if i == 5 else ""
        parts.append(
            f'<joint name="j{i}" type="{kind}"><parent link="{f"l{i - 1}" if i else "base"}"/>'
            f'<child link="l{i}"/><origin xyz="0.1 -0.2 0.3" rpy="0.4 {0.2 * i} -0.5"/><axis xyz="{axis}"/>'
            f'<limit lower="-2" upper="2" velocity="1" effort="9"/>{mimic}</joint>'
            f'<link name="l{i}"><inertial><mass value="{1 + i}"/><origin xyz="0.1 0 -0.1" rpy="0.3 0 0.1"/>'
            '<inertia ixx="0.03" iyy="0.04" izz="0.05" ixy="0.003" ixz="-0.002" iyz="0.001"/>'
            "</inertial></link>"
        )
    return robomorph.load(ZOO.format(joints="".join(parts)))


@pytest.mark.parametrize("algorithm", checkable())
def test_textbook_and_compiler_agree_for_every_joint_type(algorithm: str) -> None:
    robot = zoo()
    yardstick = Yardstick(robot, random_states(robot, 4), "l5")
    expected = yardstick.expected(algorithm)
    assert expected is not None and set(expected) == set(ALGORITHMS[algorithm].outputs)
    frame = "l5" if ALGORITHMS[algorithm].frame else None
    kernel = robot.compile(algorithm, target="interpreter", frame=frame)
    found = kernel(*yardstick.states.of(kernel.inputs).values())
    values = found if isinstance(found, tuple) else (found,)
    for output, value in zip(ALGORITHMS[algorithm].outputs, values, strict=True):
        differenced = output in ALGORITHMS[algorithm].derivatives
        allowed = 1e-7 if differenced else yardstick.textbook_allowance(algorithm, "float64")
        assert error(value, expected[output], "float64") < allowed, output


def test_textbook_agrees_with_pinocchio() -> None:
    pinocchio = pytest.importorskip("pinocchio")
    from robomorph.model.robots import builtin_urdf

    text = builtin_urdf("iiwa14")
    assert text is not None
    model = pinocchio.buildModelFromXML(text.decode())
    data = model.createData()
    robot = robomorph.load("iiwa14")
    s = random_states(robot, 3)
    found = Reference(robot).inverse_dynamics(s.q, s.qd, s.qdd)
    for i in range(3):
        assert np.abs(found[i] - pinocchio.rnea(model, data, s.q[i], s.qd[i], s.qdd[i])).max() < 1e-12


@pytest.mark.parametrize(
    "algorithm", ["inverse_dynamics", "mass_matrix", "forward_dynamics_gradient", "energy"]
)
def test_a_kernel_of_a_slightly_different_robot_fails(algorithm: str) -> None:
    robot = robomorph.load("iiwa14")
    other = robomorph.load("iiwa14", payloads={"lbr_iiwa_link_7": (1e-3, [0.0, 0.0, 0.1])})
    yardstick = Yardstick(robot, random_states(robot, 2), "lbr_iiwa_link_7")
    kernel = other.compile(algorithm)
    verdict = check_kernel(robot, algorithm, kernel, yardstick, dtype="float64", frame=None)
    assert not verdict.passed
    assert verdict.interpreter > 1e-6
    assert verdict.independent is not None and verdict.independent > 1e-6


def test_error_refuses_nan_and_measures_relative_to_the_largest_entry() -> None:
    assert error(np.array([np.nan]), np.array([1.0]), "float64") == np.inf
    assert error(np.array([10.0, 1.0]), np.array([10.0, 2.0]), "float64") == pytest.approx(0.1)
    assert error(np.zeros(2), np.array([1e-13, 0.0]), "float64") == 0.0  # noise of differences
    assert error(np.array([1e-13, 0.0]), np.array([2e-13, 0.0]), "float64") == pytest.approx(0.5)
    assert error(np.array([3.0, 4.0]), np.array([3.0, 0.0]), "float32") == pytest.approx(4 / 3)


def test_differences_are_of_fourth_order() -> None:
    at = {"x": np.array([[0.3, -0.2]])}
    do = Differences(robomorph.load("chain:2"))

    def function(given: dict[str, Any]) -> dict[str, Any]:
        x = given["x"]
        return {"y": np.stack([np.sin(x[:, 0]) * x[:, 1], x[:, 0] ** 3], axis=-1)}

    found = do.by_entries(function, at, "x")["y"]
    exact = np.array([[[-0.2 * np.cos(0.3), np.sin(0.3)], [3 * 0.3**2, 0.0]]])
    assert np.abs(found - exact).max() < 1e-12


# --- what an algorithm's entry says -------------------------------------------------------------------------


def changed(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> Yardstick:
    """A yardstick of a robot whose algorithm `mass_matrix` says otherwise."""
    monkeypatch.setitem(ALGORITHMS, "mass_matrix", replace(ALGORITHMS["mass_matrix"], **fields))
    robot = robomorph.load("chain:2")
    return Yardstick(robot, random_states(robot, 2), "tool")


def test_an_algorithm_without_a_textbook_is_compared_with_the_interpreter_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    yardstick = changed(monkeypatch, textbook=None)
    assert yardstick.expected("mass_matrix") is None
    verdict = yardstick.robot.verify(["mass_matrix"]).checked[0].verdict
    assert verdict.checked_against == "the interpreter only" and verdict.independent is None


def test_a_textbook_that_says_otherwise_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    yardstick = changed(monkeypatch, textbook=lambda known: {"mass": known.mass_matrix() * (1 + 1e-9)})
    assert not yardstick.robot.verify(["mass_matrix"]).passed


def test_a_textbook_must_tell_every_result(monkeypatch: pytest.MonkeyPatch) -> None:
    yardstick = changed(monkeypatch, textbook=lambda known: {"masses": known.mass_matrix()})
    with pytest.raises(
        ArgumentError, match=r"mass_matrix: its textbook .*expected all results, mass, found mas"
    ):
        yardstick.expected("mass_matrix")


@pytest.mark.parametrize("what", ["notes", "derivatives"])
def test_words_about_unknown_results_are_refused(what: str) -> None:
    fields: dict[str, Any] = {what: {"mess": ("energy", "q")}}
    with pytest.raises(ArgumentError, match=f"mass_matrix: {what}: expected names among mass, found 'mess'"):
        replace(ALGORITHMS["mass_matrix"], **fields)
