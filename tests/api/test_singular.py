"""Robots whose mass matrix cannot be inverted are refused by name, not answered with NaN."""

from __future__ import annotations

import numpy as np
import pytest

import robomorph


@pytest.mark.filterwarnings("ignore::robomorph.ModelWarning")
@pytest.mark.parametrize("function", ["forward_dynamics", "forward_dynamics_gradient"])
@pytest.mark.parametrize(("name", "joint"), [("chain:2", "joint_1"), ("iiwa14", "lbr_iiwa_joint_1")])
def test_a_massless_floating_base_is_refused(name: str, joint: str, function: str) -> None:
    robot = robomorph.load(name, floating_base=True)
    q, qd = robot.random_state(0)
    with pytest.raises(robomorph.ModelError, match=f"singular: .*'root_joint', '{joint}'"):
        getattr(robot, function)(q, qd, qd)
    with pytest.raises(robomorph.ModelError, match="singular"):
        robot.mass_matrix_inverse(q)


@pytest.mark.filterwarnings("ignore::robomorph.ModelWarning")
def test_what_needs_no_inverse_still_answers() -> None:
    robot = robomorph.load("iiwa14", floating_base=True)
    q, qd = robot.random_state(0)
    assert np.all(np.isfinite(robot.inverse_dynamics(q, qd, qd)))
    assert abs(np.linalg.eigvalsh(robot.mass_matrix(q))[0]) < 1e-12
