"""The centre of mass, by Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.tasks import CenterOfMass
from tests.tasks.checks import ROBOTS, check, robot_of, states


@pytest.mark.parametrize("what", ["residual", "bounds"])
@pytest.mark.parametrize("name", ROBOTS)
def test_by_pinocchio(name: str, what: str) -> None:
    robot, reference, _ = robot_of(name)
    points = np.random.default_rng(1).normal(size=(4, 3))
    expected = [lambda q, p=p: reference.center_of_mass(q) - p for p in points]
    check(robot, CenterOfMass(), what, states(robot), points, expected)


def test_bounds_are_coordinates() -> None:
    low, high = CenterOfMass().row_bounds([-0.1, -0.1, 0.5], [0.1, 0.1, np.inf])
    assert low.tolist() == [-0.1, -0.1, 0.5] and high.tolist() == [0.1, 0.1, np.inf]


def test_wrong_numbers() -> None:
    with pytest.raises(ArgumentError, match="centre of mass: expected finite"):
        CenterOfMass().read([0.0, 0.0, np.nan])
    with pytest.raises(ArgumentError, match="bounds of center of mass: expected lower <= upper"):
        CenterOfMass().row_bounds(0.1, -0.1)
