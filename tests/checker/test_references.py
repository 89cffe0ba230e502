"""References that are no directions and no rotations: through them any motion would seem to hold an angle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("flint", reason="needs the package python-flint")
pytest.importorskip("scipy", reason="needs SciPy")
from robomorph.checker import Refused, check_plan
from robomorph.planning import Motion
from robomorph.tasks import Axis, Orientation, Tilt
from tests.planning.motions import FRAME, arm

Q0 = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
TASKS = {
    "tilt": (Tilt(FRAME, (0, 0, 1)), -0.7, 0.7),
    "axis": (Axis(FRAME, (0, 0, 1)), None, 1.7),
    "orientation": (Orientation(FRAME), -0.7, 0.7),
}


def _plan(kind: str, folder: Path) -> dict[str, Any]:
    task, lower, upper = TASKS[kind]
    motion = Motion(arm(), 2.0, 6, start=Q0, end=Q0 + 0.05).keep(task, lower, upper, "start")
    plan = motion.solve()
    assert plan.success, plan.reason
    plan.save(folder / "plan.json")
    found: dict[str, Any] = json.loads((folder / "plan.json").read_text())
    return found


def _scaled(numbers: list[str], factor: float) -> list[str]:
    return [(float.fromhex(x) * factor).hex() for x in numbers]


@pytest.mark.parametrize("kind", TASKS)
@pytest.mark.parametrize("factor", [0.01, -1.0, 1.0 + 1e-9])
def test_a_reference_that_is_none_is_refused(kind: str, factor: float, tmp_path: Path) -> None:
    plan = _plan(kind, tmp_path)
    check_plan(plan)
    asked = plan["problem"]["constraints"][0]
    asked["reference"] = _scaled(asked["reference"], factor)
    for row in plan["proof"][
        "rows"
    ]:  # the claim is no tighter than the bounds, so it cannot be what is wrong
        row["low"], row["high"] = row["lower"], row["upper"]
    with pytest.raises(Refused, match="reference: expected a rotation"):
        check_plan(plan)


@pytest.mark.parametrize("kind", ["tilt", "axis"])
def test_an_axis_that_is_no_direction_is_refused(kind: str, tmp_path: Path) -> None:
    plan = _plan(kind, tmp_path)
    task = plan["problem"]["constraints"][0]["task"]
    task["axis"] = _scaled(task["axis"], 0.01)
    with pytest.raises(Refused, match="axis: expected length one"):
        check_plan(plan)
