"""Robots that lack masses: kinematics work, what needs a mass that is not there is refused by name."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.cli.main import main
from robomorph.ik import CenterOfMassTarget

from ..model.samples import joint, link, robot

pytestmark = pytest.mark.filterwarnings("ignore::robomorph.ModelWarning")

POINT = '<inertial><mass value="1"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
SPINNING = POINT.replace('value="1"', 'value="0"').replace('izz="0"', 'izz="0.2"')
WIDE = '<limit lower="-2" upper="2" velocity="3" effort="4"/>'
INVERTING = {name for name, entry in state_algorithms().items() if entry.inverts}


def chain(*inertials: str | None) -> str:
    """Joints j1, j2, ... about z, y, z, ..., each 0.3 m along x; None for a sound inertial."""
    sound = [
        link(f"l{i + 1}") if text is None else link(f"l{i + 1}", text) for i, text in enumerate(inertials)
    ]
    joints = [
        joint(
            f"j{i + 1}",
            f"l{i}",
            f"l{i + 1}",
            axis=("0 0 1", "0 1 0")[i % 2],
            origin='<origin xyz="0.3 0 0"/>',
            limit=WIDE,
        )
        for i in range(len(inertials))
    ]
    return robot(link("l0", ""), *sound, *joints, name="bare")


def call(machine: robomorph.Robot, name: str, target: str = "interpreter") -> list[np.ndarray[Any, Any]]:
    """All results of an algorithm at a random state."""
    entry = ALGORITHMS[name]
    kernel = machine.compile(name, target=target, frame=machine.link_names[-1] if entry.frame else None)
    rng = np.random.default_rng(1)
    state = {"q": machine.random_state(rng).q}
    results = kernel(*(state.get(n, rng.uniform(-1, 1, machine.nv)) for n in entry.inputs))
    return [np.asarray(r) for r in (results if isinstance(results, tuple) else (results,))]


def load_counting(text: str, **options: Any) -> tuple[robomorph.Robot, list[str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        machine = robomorph.load(text, **options)
    return machine, [str(item.message) for item in caught]


def test_one_warning_names_the_joints_and_is_cut_short() -> None:
    _, messages = load_counting(chain("", "", ""))
    assert len(messages) == 1
    for name in ("'j1'", "'j2'", "'j3'", "payloads", "locked"):
        assert name in messages[0]
    _, messages = load_counting(chain(*[""] * 40))
    assert len(messages) == 1 and "and 32 more" in messages[0] and len(messages[0]) < 1500
    _, messages = load_counting(chain("", ""), floating_base=True)
    assert len(messages) == 1, messages


@pytest.mark.parametrize("floating", [False, True])
@pytest.mark.parametrize("target", ["interpreter", "cpu"])
def test_without_any_mass_dynamics_are_refused_and_kinematics_answer(target: str, floating: bool) -> None:
    machine = robomorph.load(chain("", "", ""), floating_base=floating)
    for name, entry in state_algorithms().items():
        if entry.masses:
            with pytest.raises(robomorph.ModelError) as caught:
                call(machine, name, target)
            for part in ("bare", name, "'j1'", "payloads=", "--payload", "locked=", "--locked"):
                assert part in str(caught.value)
        else:
            assert all(np.isfinite(r).all() for r in call(machine, name, target))
    assert not ALGORITHMS["jacobian"].masses and not ALGORITHMS["forward_kinematics"].masses


def test_inverse_kinematics_need_no_mass_but_a_centre_of_mass_does() -> None:
    machine = robomorph.load(chain("", "", "", ""))
    q = machine.random_state(2).q
    goal = machine.forward_kinematics(q, "l4")[:3, 3]
    found = machine.inverse_kinematics(goal, "l4")
    assert found.success
    assert np.allclose(machine.forward_kinematics(found.q, "l4")[:3, 3], goal, atol=1e-4)
    with pytest.raises(robomorph.ModelError, match="mass"):
        machine.inverse_kinematics([CenterOfMassTarget([0.1, 0.1, 0.1])])


@pytest.mark.parametrize(
    ("text", "options", "named"),
    [
        (chain(None, None, ""), {}, "joint 'j3' moves no mass"),
        (chain(None, "", ""), {}, "joints 'j2', 'j3' move no mass"),
        (chain(None, POINT), {}, "joint 'j2' moves 1 kg that does not resist it"),
        (chain("", None), {"floating_base": True}, "'root_joint', 'j1'"),
        (chain(None, None, ""), {"locked": {"j2": 0.4}}, "joint 'j3' moves no mass"),
        (chain("", POINT.replace('izz="0"', 'izz="-0.1"')), {}, "not positive definite|negative"),
    ],
)
def test_where_some_joints_move_none_only_division_is_refused(text: str, options: Any, named: str) -> None:
    machine = robomorph.load(text, **options)
    for name in state_algorithms():
        if name in INVERTING:
            with pytest.raises(robomorph.ModelError, match=named) as caught:
                call(machine, name)
            assert name in str(caught.value) and "payloads=" in str(caught.value)
        else:
            assert all(np.isfinite(r).all() for r in call(machine, name)), name


def test_a_massless_link_in_the_middle_hides_nothing() -> None:
    machine = robomorph.load(chain("", None))
    for name in state_algorithms():
        assert all(np.isfinite(r).all() for r in call(machine, name)), name


def test_rotational_inertia_without_mass_serves_dynamics_but_has_no_centre() -> None:
    machine = robomorph.load(chain(SPINNING))
    assert machine.mass_matrix(np.zeros(1)) == pytest.approx(0.2)
    assert machine.forward_dynamics(np.zeros(1), np.zeros(1), np.ones(1)) == pytest.approx(5.0)
    with pytest.raises(robomorph.ModelError, match=r"no centre of mass.*payloads"):
        machine.center_of_mass(np.zeros(1))


def test_a_mass_on_a_tilted_axis_is_not_taken_for_an_inertia_by_rounding() -> None:
    axis = np.array([1.0, 2.0, 3.0]) / np.sqrt(14.0)
    inertial = POINT.replace("<mass", '<origin xyz="{} {} {}"/><mass'.format(*(7.0 * axis)))
    text = robot(
        link("base"), link("tip", inertial), joint("j", "base", "tip", axis="{} {} {}".format(*axis))
    )
    machine = robomorph.load(text)
    with pytest.raises(robomorph.ModelError, match="'j' moves 1 kg that does not resist it"):
        machine.forward_dynamics(np.zeros(1), np.zeros(1), np.ones(1))
    # The same one joint further out, where only the mass matrix tells.
    far = robot(
        link("base"),
        link("mid", ""),
        link("tip", inertial),
        joint("i", "base", "mid", axis="{} {} {}".format(*axis), origin=""),
        joint("j", "mid", "tip", axis="{} {} {}".format(*axis), origin=""),
    )
    with pytest.raises(robomorph.ModelError, match="'i', 'j'"):
        robomorph.load(far).mass_matrix_inverse(np.zeros(2))


def test_mimics_share_their_masses() -> None:
    mimic = '<mimic joint="a"/>'
    lines = [link("base"), link("x", ""), link("y"), joint("a", "base", "x")]
    together = robomorph.load(robot(*lines, joint("b", "base", "y", extra=mimic)))
    assert np.isfinite(together.forward_dynamics(np.zeros(1), np.zeros(1), np.ones(1))).all()
    apart = robomorph.load(robot(*lines, joint("b", "base", "y", extra=mimic)), mimic=False)
    with pytest.raises(robomorph.ModelError, match="joint 'a' moves no mass"):
        apart.forward_dynamics(np.zeros(2), np.zeros(2), np.ones(2))


def test_what_the_message_says_to_do_helps() -> None:
    bare = chain("", "", "")
    loaded = robomorph.load(bare, payloads={"l3": (1.0, [0.1, 0.0, 0.2], 0.01 * np.eye(3))})
    for name in state_algorithms():
        assert all(np.isfinite(r).all() for r in call(loaded, name)), name
    held = robomorph.load(chain(None, None, ""), locked={"j3": 0.1})
    assert np.isfinite(held.forward_dynamics(np.zeros(2), np.zeros(2), np.ones(2))).all()


def test_locking_may_leave_joints_without_mass() -> None:
    heavy_first = robot(
        link("base"), link("a"), link("b", ""), joint("j1", "base", "a"), joint("j2", "a", "b"), name="bare"
    )
    machine, messages = load_counting(heavy_first, locked={"j1": 0.5})
    assert len(messages) == 1 and "'j2'" in messages[0]
    with pytest.raises(robomorph.ModelError, match="nothing that moves has any"):
        machine.inverse_dynamics(np.zeros(1), np.zeros(1), np.zeros(1))
    assert np.isfinite(machine.jacobian(np.zeros(1), "b")).all()


@pytest.mark.parametrize("target", ["cpp", "cuda", "opencl", "rtl"])
def test_exports_refuse_with_the_same_words(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bare.urdf"
    file.write_text(chain(None, ""))
    out = tmp_path / "out"
    argv = ["export", str(file), "--target", target, "--functions", "forward_dynamics", "-o", str(out)]
    assert main(argv) == 2
    assert "joint 'j2' moves no mass" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("inertials", [("", ""), (None, "")])
def test_compile_serves_what_can_be_served(
    inertials: tuple[str | None, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = {"step", "step_gradient"}
    massive = {n for n, entry in state_algorithms().items() if entry.masses} | steps
    refused = INVERTING | steps if None in inertials else massive
    file = tmp_path / "bare.urdf"
    file.write_text(chain(*inertials))
    assert main(["compile", str(file), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["ok"] and set(data["refused"]) == refused
    assert set(data["algorithms"]) == {*state_algorithms(), *steps} - refused
    assert all("payloads" in reason for reason in data["refused"].values())
    assert data["load_to_first_gradient_seconds"] is None
    assert main(["compile", str(file), "--algorithms", "jacobian"]) == 0
    capsys.readouterr()
    assert main(["compile", str(file), "--algorithms", "forward_dynamics"]) == 2
    assert "forward_dynamics" in capsys.readouterr().err
    assert main(["info", str(file)]) == 0
    assert main(["ik", str(file), "--position", "0.5", "0.2", "0.05"]) in (0, 1)
    assert "defect" not in capsys.readouterr().err


@pytest.mark.parametrize("inertials", [("", ""), (None, "")])
@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("opencl", {"partitioning": "split"}),
        ("opencl", {"partitioning": "fused"}),
        ("opencl", {"partitioning": "completely_fused"}),
        ("rtl", {"minv": "given"}),
        ("rtl", {"minv": "given", "structure": "units"}),
    ],
)
def test_gradients_made_in_parts_are_refused_as_a_whole(
    target: str, options: Any, inertials: tuple[str | None, ...]
) -> None:
    """By the name of what was asked for, whichever part of it would divide."""
    if target == "opencl":
        pytest.importorskip("pyopencl")
    machine = robomorph.load(chain(*inertials))
    with pytest.raises(robomorph.ModelError, match=r"bare: forward_dynamics_gradient .* 'j2'"):
        machine.compile(
            "forward_dynamics_gradient", target=target, outputs=("dqdd_dq", "dqdd_dqd"), **options
        )


def test_the_gpu_report_is_refused_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bare.urdf").write_text(chain(None, ""))
    assert main(["gpu-report", str(tmp_path / "bare.urdf")]) == 2
    assert "error: bare: forward_dynamics_gradient divides by" in capsys.readouterr().err
