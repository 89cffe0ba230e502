"""MjModels changed by hand after they were compiled: what MuJoCo reads otherwise, or not at all, is refused;
all else agrees with it."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest

from robomorph.errors import ModelError
from robomorph.model import load_model
from tests.model.read.mjcf_passive import passive_difference
from tests.model.read.mujoco_oracle import differences, load, mj_model
from tests.model.read.mutate_mjcf import SEEDS

BALL = """<mujoco model="m"><worldbody>
  <body name="b" pos="0 0 0.3"><joint name="j" axis="0 1 0"/><geom size="0.1"/><site name="s"/></body>
  <body name="c"><joint name="k" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0" euler="9 0 0"/>
    <site name="t" pos="0.2 0 0" euler="9 0 0"/><site name="u" pos="0 1 0"/></body>
</worldbody><actuator><motor joint="j" gear="3"/><motor joint="k" gear="2" MORE/></actuator></mujoco>"""


def changed(change: Callable[[Any], None], more: str = "") -> Any:
    model = mj_model(BALL.replace("MORE", more))
    change(model)
    return model


def set_to(name: str, index: int, *values: float) -> Callable[[Any], None]:
    def change(model: Any) -> None:
        getattr(model, name)[index] = values if len(values) > 1 else values[0]

    return change


REFUSED: dict[str, tuple[Callable[[Any], None], str]] = {
    "turn of a body": (
        set_to("body_quat", 1, 1, 1, 0, 0),
        r"body_quat\[1\].*length 1, found length 1\.41421",
    ),
    "no turn of a body": (set_to("body_quat", 1, 0, 0, 0, 0), "found length 0"),
    "turn of an inertia": (set_to("body_iquat", 1, 1, 1, 0, 0), r"body_iquat\[1\]: expected a quaternion"),
    "turn of a site": (set_to("site_quat", 2, 0.9, 0, 0, 0), r"site_quat\[2\]: expected a quaternion"),
    "centre of mass": (set_to("body_ipos", 1, 0.3, 0, 0), r"body_sameframe\[1\] = 0"),
    "a centre of mass at itself": (set_to("body_sameframe", 2, 2), r"body_sameframe\[2\] = 0"),
    "main axes": (set_to("body_iquat", 1, 0.6, 0.8, 0, 0), r"body_sameframe\[1\] = 0"),
    "a site at its body": (set_to("site_pos", 0, 0.3, 0, 0), r"site_sameframe\[0\] = 0"),
    "a site turned": (set_to("site_quat", 2, 0.6, 0.8, 0, 0), r"site_sameframe\[2\] = 0"),
    "a site at the centre": (set_to("body_ipos", 2, 0.3, 0, 0), r"site_sameframe\[1\] = 0"),
    "mass": (set_to("body_mass", 1, -1.0), "body 'b': expected a mass"),
    "moments": (set_to("body_inertia", 1, 1.0, 1.0, -0.1), r"0 or more, found .*\[1\.0, 1\.0, -0\.1\]"),
    "armature of a motor": (set_to("actuator_armature", 0, 0.5), "joint 'j': expected armature of actuators"),
    "damping of a motor": (set_to("actuator_damping", 0, 0.5), "joint 'j': expected damping of actuators"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_mujoco_reads_otherwise_is_refused(case: str) -> None:
    change, found = REFUSED[case]
    if "motor" in case and not hasattr(mujoco.MjModel, "jnt_actuatorid"):
        pytest.skip("this version of MuJoCo keeps no such note")
    with pytest.raises(ModelError, match=found):
        load(changed(change))


def test_crossed_limits_are_refused() -> None:
    def crossed(model: Any) -> None:
        model.jnt_limited[0], model.jnt_range[0] = 1, (1.0, -1.0)

    with pytest.raises(ModelError, match="joint 'j': expected limits in order, found a range from 1 to -1"):
        load(changed(crossed))


@pytest.mark.parametrize(
    ("name", "value"),
    [("body_jntadr", 7), ("jnt_type", 9), ("body_parentid", 1000), ("geom_matid", 5), ("body_jntnum", 0)],
)
def test_ids_and_types_that_lead_nowhere(name: str, value: int) -> None:
    model = changed(set_to(name, 1, value))
    with pytest.raises(ModelError, match="expected ids, types and addresses that the model has"):
        load(model)


def test_notes_of_the_compiler_taken_back() -> None:
    def moved(model: Any) -> None:
        model.body_sameframe[1] = model.site_sameframe[:] = 0
        model.body_simple[1] = model.dof_simplenum[:] = 0
        model.body_ipos[1], model.body_iquat[1] = (0.3, 0.1, 0.0), (0.6, 0.8, 0.0, 0.0)
        model.site_pos[0], model.site_quat[2] = (0.3, 0.2, 0.1), (0.0, 0.6, 0.8, 0.0)

    model = changed(moved)
    assert max(differences(load(model), model, compiled=False).values()) < 1e-12


SIMPLE = {
    "ball": "<freejoint/><geom size='.1'/>",
    "top": "<joint axis='0 0 1'/><geom size='.1'/>",
    "turntable": "<joint type='ball' armature='0.1'/><geom type='box' size='.1 .2 .3'/>",
    "gantry": "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/><geom size='.1'/>",
}


def stale(model: Any) -> list[str]:
    """What is told of a model's inertias."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        load_model(model)
    messages = [str(one.message) for one in said]
    return [one for one in messages if "changed after the model was compiled" in one]


@pytest.mark.parametrize("case", SIMPLE)
@pytest.mark.parametrize("name", ["body_mass", "body_inertia", "dof_armature", "jnt_pos"])
def test_diagonals_that_mujoco_keeps_are_told(case: str, name: str) -> None:
    """Mass matrices of simple bodies are to MuJoCo what they were until mj_setConst is called."""
    model = mj_model(f"<mujoco><worldbody><body name='b'>{SIMPLE[case]}</body></worldbody></mujoco>")
    assert (model.dof_simplenum > 0).all() and not stale(model)
    before = np.array(model.dof_M0)
    if name == "jnt_pos":
        model.jnt_pos[:] = (0.1, 0.2, 0.0)
    else:
        getattr(model, name)[-model.nv :] += 0.25
    robot, told = load(model), stale(model)
    assert set_const(model)
    assert len(told) == (not np.array_equal(before, model.dof_M0))
    assert all('<body name="b">: inertias [' in one for one in told)
    if (case, name) == ("turntable", "jnt_pos"):  # no diagonal any longer, which MuJoCo never sees
        assert stale(model)
    else:
        assert not stale(model)
        assert max(differences(robot, model, compiled=False).values()) < 1e-12


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "jnt_actuatorid"), reason="of later versions of MuJoCo")
def test_armature_that_mujoco_counts_may_change() -> None:
    model = changed(set_to("actuator_armature", 1, 0.7), "armature='0.1'")
    robot = load(model)
    assert robot.model.bodies[1].armature == pytest.approx(4 * 0.7)
    assert max(differences(robot, model, compiled=False).values()) < 1e-12


# Arrays with one row for each of many things, and how to change a row.
_SCALED = ("body_pos", "body_ipos", "body_mass", "body_inertia", "jnt_pos", "jnt_range", "jnt_stiffness")
_ADDED = ("qpos0", "qpos_spring", "dof_damping", "dof_armature", "dof_frictionloss", "site_pos", "body_pos")
_TURNED = ("body_quat", "body_iquat", "site_quat", "jnt_axis")
_SWITCHED = ("jnt_limited", "body_sameframe", "site_sameframe", "body_gravcomp", "jnt_actfrclimited")
_REASONS = (
    *("a quaternion of length 1", "an axis of length 1", "_sameframe", "limits in order", "0 or more"),
    *("actuators that MuJoCo counts", "a tree of rigid bodies and no more"),
)


def _change(model: Any, rng: random.Random) -> None:
    kind, name = rng.choice(
        [(kind, name) for kind, names in enumerate((_SCALED, _ADDED, _TURNED, _SWITCHED)) for name in names]
    )
    array = getattr(model, name)
    rows = [i for i in range(len(array)) if not (name.startswith("body") and i == 0)]
    if not rows:
        return
    row = rng.choice(rows)
    if kind == 0:
        array[row] = np.array(array[row]) * rng.choice((0.5, 2.0, 1.001, -1.0))
    elif kind == 1:
        array[row] = np.array(array[row]) + rng.choice((0.3, 1e-4, 10.0))
    elif kind == 2:
        values = np.array([rng.gauss(0, 1) for _ in array[row]])
        array[row] = values / (np.linalg.norm(values) if rng.random() < 0.8 else 1.0)
    else:
        array[row] = rng.choice((0, 1)) if name != "body_sameframe" else 0


def set_const(model: Any) -> bool:
    """Let MuJoCo note anew what it keeps beside the arrays, as it asks for, where it can."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda message: None)
    try:
        mujoco.mj_setConst(model, mujoco.MjData(model))
    except Exception:
        return False
    finally:
        mujoco.set_mju_user_warning(before)
    return True


def outcome(seed: int) -> str:
    """Change one model and load it; how it ended: "agrees", "refused" by us, or "senseless" to MuJoCo."""
    rng = random.Random(seed)
    model = mj_model(rng.choice(SEEDS))
    for _ in range(rng.choice((1, 2, 4))):
        _change(model, rng)
    model.opt.gravity[:] = rng.choice(((0, 0, -9.81), (1, 2, 3)))
    model.opt.disableflags = rng.choice((0, 0, rng.getrandbits(16)))
    model.dof_simplenum[:] = 0  # or else the mass matrix is that of before
    if rng.random() < 0.5 and not set_const(model):
        return "senseless"
    try:
        robot = load(model)
    except ModelError as error:
        assert any(reason in str(error) for reason in _REASONS), f"seed {seed}: {error}"
        return "refused"
    found = differences(robot, model, seed, 1, compiled=False)
    found["passive"] = passive_difference(robot, model, seed)
    assert max(found.values()) < 1e-9, f"seed {seed}: {found}"
    off = bool(model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY))
    assert np.array_equal(robot.gravity, np.zeros(3) if off else model.opt.gravity), f"seed {seed}"
    return "agrees"


def test_sample_of_changes_agrees_or_is_refused() -> None:
    found = [outcome(seed) for seed in range(60)]
    assert 15 < found.count("agrees") < 55, found


@pytest.mark.fuzz
@pytest.mark.parametrize("block", range(10))
def test_many_changes_agree_or_are_refused(block: int) -> None:
    for seed in range(1000 + 200 * block, 1200 + 200 * block):
        outcome(seed)
