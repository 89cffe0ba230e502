"""Numbers that are nearly others: what MuJoCo takes for the same is the same here, and what is off by more
than rounding is refused."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import mujoco
import numpy as np
import pytest

import robomorph
from robomorph.errors import ModelError
from robomorph.robot import Robot
from tests.model.read.mujoco_oracle import differences, load, mj_model

OFF = (1e-12, 1e-9, 4e-7, 9e-7, 3e-6, 2e-5)
FRAME = {"place": "pos='{0} 0 -{0}'", "turn": "quat='1 {0} 0 {0}'"}
BODY = """<mujoco><worldbody><body name='b' pos='1 2 3'><joint name='j' axis='1 1 0'/>
  <inertial mass='2' diaginertia='0.1 0.2 0.25' pos='0 0 0' INERTIAL/>
  <site name='s' SITE/><geom name='g' type='box' size='.1 .2 .3' GEOM/>
</body></worldbody></mujoco>"""


def body(**frames: str) -> str:
    text = BODY
    for key in ("INERTIAL", "SITE", "GEOM"):
        text = text.replace(key, frames.get(key.lower(), ""))
    return text.replace("pos='0 0 0' pos=", "pos=")


def shape_difference(robot: Robot, model: Any) -> float:
    """Between the places of shapes and of geoms, where all joints are at zero."""
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    body, worst = robot.forward_kinematics(np.zeros(robot.nq), "b"), 0.0
    for shape in robot.shapes:
        pose, geom = body @ shape.placement.matrix, data.geom(shape.name)
        worst = max(worst, np.abs(pose[:3, 3] - geom.xpos).max())
        worst = max(worst, np.abs(pose[:3, :3].ravel() - geom.xmat).max())
    return worst


@pytest.mark.parametrize(("what", "off"), [*itertools.product(FRAME, OFF)])
def test_frames_that_are_nearly_others(what: str, off: float) -> None:
    """The compiler takes frames for the same that are 1e-6 apart, and then reads one of them."""
    near = FRAME[what].format(off)
    far = "pos='0.3 0 0.1' quat='1 0.2 0.3 0'"
    beside = f"pos='{0.3 + off} 0 0.1' quat='1 0.2 0.3 0'"
    for text in (
        body(inertial=near, site=near, geom=near),
        body(site=near, geom=near, inertial=far),
        body(site=beside, geom=beside, inertial=far),
    ):
        robot, model = load(text, snap=0.0), mj_model(text)
        assert robot.shapes
        assert max(differences(robot, model, compiled=False).values()) < 1e-13
        assert shape_difference(robot, model) < 1e-13


@pytest.mark.parametrize("name", ["jnt_axis", "body_iquat", "body_quat", "site_quat", "geom_quat"])
def test_lengths_that_are_nearly_one(name: str) -> None:
    """MuJoCo turns by an axis of any length and by what most quaternions say, without normalising."""
    model = mj_model(body(site="quat='1 2 0 0'", geom="quat='1 2 0 0'", inertial="quat='1 2 0 0'"))
    row = 1 if name.startswith("body") else 0
    rows = getattr(model, name)
    before = np.array(rows[row])
    rows[row] = before * (1.0 + 1e-13)
    assert max(differences(load(model), model, compiled=False).values()) < 1e-12
    rows[row] = before * (1.0 + 3e-7)
    with pytest.raises(ModelError, match=rf"length 1, found length 1\.0000003. To mend it: normalise {name}"):
        load(model)


def test_geoms_moved_by_hand_are_where_mujoco_has_them() -> None:
    """It does not read their places as long as it takes them for another frame's."""
    model = mj_model(body(inertial="pos='0.3 0 0'", geom="pos='0.3 0 0'"))
    model.geom_pos[0] = (0.3, 0.2, 0.0)
    assert shape_difference(load(model), model) < 1e-13
    model.geom_sameframe[0] = 0
    assert shape_difference(load(model), model) < 1e-13


@pytest.mark.skipif(not hasattr(mujoco.mjtIntegrator, "mjINT_DISCRETE"), reason="of later versions of MuJoCo")
def test_the_integrator_that_changes_accelerations_is_told() -> None:
    def acceleration(integrator: str) -> float:
        text = body().replace("<worldbody>", f"<option integrator='{integrator}'/><worldbody>")
        text = text.replace("axis=", "stiffness='50' springref='60' damping='3' axis=")
        model = mj_model(text)
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            robot = robomorph.load(text, passive=True)
        told = [str(one.message) for one in said]
        assert len(told) == (integrator == "discrete")
        assert all("accelerations in MuJoCo are those of its step" in one for one in told)
        ours = robot.forward_dynamics(np.zeros(1), np.zeros(1), np.zeros(1))
        return abs(float(ours[0]) / float(data.qacc[0]) - 1.0)

    assert acceleration("Euler") < 1e-12 < 1e-3 < acceleration("discrete")
