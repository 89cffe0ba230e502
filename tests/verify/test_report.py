"""`robot.verify()`: the main job's table as data."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

import robomorph
from robomorph.algorithms.registry import state_algorithms
from robomorph.errors import ArgumentError, ModelError
from robomorph.verify import report
from robomorph.verify.verdict import Verdict
from robomorph.verify.yardstick import check_kernel
from tests.hostile.test_exports import idle_robot


def test_every_algorithm_is_checked() -> None:
    found = robomorph.load("chain:2").verify()
    assert found.passed and not found.refused
    assert {row.algorithm for row in found.checked} == {*state_algorithms(), "step", "step_gradient"}
    data = found.as_data()
    assert data["inverse_dynamics"]["error_vs_textbook"] < 1e-13
    assert data["inverse_dynamics_gradient"]["error_vs_finite_differences"] < 1e-8
    assert data["energy"]["error_vs_finite_differences"] is None


def test_some_in_float32_with_progress() -> None:
    heard: list[str] = []
    found = robomorph.load("chain:2").verify(["energy", "jacobian"], dtype="float32", progress=heard.append)
    assert found.passed and heard == ["energy", "jacobian"] and found.frame == "tool"
    assert found.checked[0].kernel.dtype == "float32"


def test_a_wrong_kernel_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict is the yardstick's, whatever the kernel claims."""

    def wrong(*args: Any, **settings: Any) -> Verdict:
        return dataclasses.replace(check_kernel(*args, **settings), textbook=1.0)

    monkeypatch.setattr(report, "check_kernel", wrong)
    found = robomorph.load("chain:2").verify(["energy"])
    assert not found.passed and not found.as_data()["energy"]["passed"]


def test_what_a_robot_has_not_is_refused_by_name() -> None:
    robot = robomorph.load(idle_robot())
    found = robot.verify()
    assert found.passed and "forward_dynamics" in found.refused
    with pytest.raises(ModelError, match="singular"):
        robot.verify(["forward_dynamics"])
    with pytest.raises(ArgumentError, match="unknown name"):
        robot.verify(["energi"])
