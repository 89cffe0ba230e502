"""Sources and poses as people give them: home folders, blanks before the declaration, rounded matrices."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph import ModelError, ModelWarning
from robomorph.cli.main import main
from robomorph.export import export
from robomorph.ik import OrientationTarget, PoseTarget
from robomorph.model import load_model
from robomorph.paths import user_path

from ..model.samples import MENAGERIE, arm, robot

TEXT = robot(*arm())
XML = '<?xml version="1.0" encoding="utf-8"?>\n' + TEXT


# --- paths --------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "arm.urdf").write_text(TEXT)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize("source", ["~/arm.urdf", Path("~/arm.urdf")])
def test_the_home_folder_is_found(source: Any, home: Path) -> None:
    assert robomorph.load(source).joint_names == ("shoulder", "elbow")


def test_a_file_of_that_very_name_comes_first(home: Path) -> None:
    Path("~").mkdir()
    Path("~/arm.urdf").write_text(TEXT.replace('"elbow"', '"other"'))
    assert robomorph.load("~/arm.urdf").joint_names == ("shoulder", "other")


@pytest.mark.parametrize("source", ["~nobody-of-this-name/arm.urdf", "~", "~/", "~/none.urdf", "~\0"])
def test_homes_that_lead_nowhere_are_plain_errors(source: str, home: Path) -> None:
    with pytest.raises(ModelError):
        robomorph.load(source)


def test_only_a_leading_tilde_counts(home: Path) -> None:
    assert user_path("a/~/b") == Path("a/~/b")
    assert user_path("~") == home


def test_the_command_line_knows_the_home_folder(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "~/arm.urdf", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["nq"] == 2
    assert main(["export", "~/arm.urdf", "--functions", "mass_matrix", "--output=~/kernels"]) == 0
    assert (home / "kernels").is_dir() and not Path("~").exists()
    export(robomorph.load("~/arm.urdf"), "~/more", functions=["mass_matrix"])
    assert (home / "more").is_dir() and not Path("~").exists()


# --- what comes before <?xml --------------------------------------------------------------------------------

LEADING = ["\n", " \t\r\n\n", "\r\r", "<!-- a licence\nof two lines -->\n", "\n<!-- a --> <!-- b -->"]


@pytest.mark.parametrize("leading", LEADING)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["plain", "byte-order mark"])
@pytest.mark.parametrize("binary", [False, True], ids=["text", "bytes"])
def test_blanks_and_comments_before_the_declaration(leading: str, mark: str, binary: bool) -> None:
    text = mark + leading + XML
    assert load_model(text.encode() if binary else text, strict=True).joint_names == ("shoulder", "elbow")


@pytest.mark.parametrize("leading", ["", *LEADING])
def test_line_numbers_stay_those_of_the_file(leading: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    broken = {
        '<child link="upper"/>': ("", '<joint name="shoulder">'),
        "</robot>": ("</robot", "unclosed token"),
        '<axis xyz="0 1 0"/>': ('<axis xyz="0 0 0"/>', "<axis> of"),
        '<robot name="sample">': ('<!DOCTYPE x>\n<robot name="sample">', "<!DOCTYPE>"),
    }
    for old, (new, named) in broken.items():
        text = leading + XML.replace(old, new, 1)
        path.write_bytes(text.encode())
        with pytest.raises(ModelError) as caught:
            load_model(path)
        whole = leading + XML
        number = len((whole[: whole.index(old)] + ".").splitlines())
        assert f"arm.urdf, line {number}," in str(caught.value) and named in str(caught.value)


@pytest.mark.parametrize(
    "leading", ["x\n", "<!-- never closed\n", "\x00\n", "<a/>\n", "<!-- " * 2000, "<!-- -->" * 50_000 + "x"]
)
def test_anything_else_before_it_is_refused_at_once(leading: str) -> None:
    with pytest.raises(ModelError, match="well-formed XML"):
        load_model((leading + XML).encode())


# --- rounded rotations --------------------------------------------------------------------------------------


def pose(rng: np.random.Generator) -> Any:
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = turn, rng.uniform(-0.3, 0.3, 3)
    return out


@pytest.mark.parametrize("digits", [3, 4, 6, 16])
def test_rounded_tool_frames_become_rotations(digits: int) -> None:
    rng = np.random.default_rng(digits)
    for _ in range(20):
        exact = pose(rng)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = load_model(TEXT, tool_frames={"tool": ("lower", exact.round(digits))})
        found = model.frames[-1].placement
        np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(3), rtol=0, atol=1e-14)
        assert np.abs(found.matrix - exact).max() < 2.0 * 10.0**-digits + 1e-15
        assert len(caught) == (digits < 5)
        assert all("nearly a rotation" in str(w.message) and "'tool'" in str(w.message) for w in caught)


def test_what_is_no_rotation_is_refused_as_a_tool_frame() -> None:
    for rotation in (1.02 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.zeros((3, 3)), 1e20 * np.eye(3)):
        matrix = np.eye(4)
        matrix[:3, :3] = rotation
        with pytest.raises(robomorph.ArgumentError, match="rigid motion"):
            load_model(TEXT, tool_frames={"tool": ("lower", matrix)})
    with pytest.raises(ModelError, match="nearly a rotation"):
        rounded = pose(np.random.default_rng(0)).round(3)
        load_model(TEXT, tool_frames={"tool": ("lower", rounded)}, strict=True)


@pytest.mark.parametrize("form", ["array", "list", "pose target", "orientation target"])
def test_rounded_targets_of_inverse_kinematics_are_met(form: str) -> None:
    arm7 = robomorph.load("iiwa14")
    q = arm7.random_state(3).q
    exact = arm7.forward_kinematics(q, "lbr_iiwa_link_7")
    goal: Any = exact.round(3)
    frame: str | None = "lbr_iiwa_link_7"
    if form == "list":
        goal = goal.tolist()
    elif form == "pose target":
        goal, frame = [PoseTarget("lbr_iiwa_link_7", goal)], None
    elif form == "orientation target":
        goal, frame = [OrientationTarget("lbr_iiwa_link_7", goal[:3, :3])], None
    for _ in range(2):  # the first call also makes the solver
        with pytest.warns(ModelWarning, match="of 'lbr_iiwa_link_7': .* only nearly a rotation") as caught:
            result = arm7.inverse_kinematics(goal, frame, q0=q)
        assert result.success and len(caught) == 1
    reached = arm7.forward_kinematics(result.q, "lbr_iiwa_link_7")
    assert np.abs(reached[:3, :3] - exact[:3, :3]).max() < 2e-3
    with pytest.raises(robomorph.ArgumentError, match="rotation matrix"):
        arm7.inverse_kinematics(1.02 * exact - 0.02 * np.diag([0, 0, 0, 1.0]), "lbr_iiwa_link_7")


# --- names --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("floating", [False, True])
def test_names_go_with_the_entries_of_q_and_qd(floating: bool) -> None:
    machine = robomorph.load(MENAGERIE, floating_base=floating)
    assert len(machine.coordinate_names) == machine.nq and len(machine.velocity_names) == machine.nv
    assert len(set(machine.coordinate_names)) == machine.nq
    for names, which in ((machine.coordinate_names, 0), (machine.velocity_names, 1)):
        for k, name in enumerate(names):
            place = machine.coordinates(name.split("[")[0])[which]
            assert place.start <= k < place.stop
            assert ("[" in name) == (place.stop - place.start > 1)
    # Mimic joints have no entry, and a velocity is where the joint's own is.
    assert "grip_2" in machine.joint_names and "grip_2" not in machine.coordinate_names
    rail = machine.velocity_names.index("rail")
    assert machine.coordinates("rail")[1] == slice(rail, rail + 1)


def test_moving_one_entry_moves_that_joint() -> None:
    machine = robomorph.load(MENAGERIE, mimic=False)
    q = machine.random_state(0).q
    for joint in ("rail", "slide", "grip_1"):
        moved = q.copy()
        moved[machine.coordinate_names.index(joint)] += 0.1
        child = machine.model.bodies[machine.model.joint_index(joint)].name
        before, after = (machine.forward_kinematics(x, child)[:3, 3] for x in (q, moved))
        assert np.linalg.norm(after - before) == pytest.approx(0.1)
