"""`robomorph view`, and pages written by `plan`, `mpc` and `ik`."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.cli.main import main
from robomorph.given.pose_paths import read_pose_path
from tests.viewer.page import Page
from tests.viewer.robots import TOOL, bent, loaded, pose_by_pinocchio


def scene_of(path: Path) -> dict[str, Any]:
    """The scene inside a page."""
    found = re.search(r'<script[^>]*id="scene"[^>]*>(.*?)</script>', path.read_text(), re.DOTALL)
    assert found is not None
    return dict(json.loads(found[1]))


def test_a_robot_becomes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.html"
    q = ",".join(map(str, bent("iiwa14")))
    assert main(["view", "iiwa14", "--q", q, "--frame", TOOL["iiwa14"], "--html", str(path)]) == 0
    assert capsys.readouterr().out == f"written: {path}\n"
    (robot,) = scene_of(path)["robots"]
    assert robot["frames"] == [TOOL["iiwa14"]]
    np.testing.assert_allclose(robot["q"], bent("iiwa14"))
    place = robot["poses"][robot["links"].index(TOOL["iiwa14"])][:3]
    np.testing.assert_allclose(
        place, pose_by_pinocchio("iiwa14", bent("iiwa14"), TOOL["iiwa14"])[:3, 3], atol=1e-9
    )
    assert sorted(os.listdir(tmp_path)) == ["arm.html"]


def test_several_robots_and_a_motion(tmp_path: Path) -> None:
    motion, page = tmp_path / "motion.npz", tmp_path / "both.html"
    np.savez(motion, q=np.tile(bent("iiwa14"), (3, 1)), t=[0.0, 0.5, 1.0])
    assert main(["view", "iiwa14", "hyq", "--trajectory", str(motion), "--html", str(page)]) == 0
    scene = scene_of(page)
    assert [robot["name"] for robot in scene["robots"]] == ["iiwa14", "hyq"]
    (played,) = scene["trajectories"]
    assert played["times"] == [0.0, 0.5, 1.0] and played["name"] == "motion" and played["robot"] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["view"], "expected one robot at least"),
        (["view", "nobody"], "'nobody': expected a built-in robot"),
        (
            ["view", "iiwa14", "--html", "page.txt"],
            "expected a file's name ending in .html, found 'page.txt'",
        ),
        (["view", "iiwa14", "--html", "/proc/none/page.html"], "/proc/none"),
        (["view", "iiwa14", "--trajectory", "none.csv", "--html", "x.html"], "none.csv: No such file"),
        (
            ["view", "iiwa14", "--q", "1,2", "--html", "x.html"],
            "q: expected (7,) numbers for iiwa14, found (2,)",
        ),
        (
            ["view", "iiwa14", "hyq", "--q", "1", "--html", "x.html"],
            "--q: expected one robot with it, found 2",
        ),
        (["view", "iiwa14", "--frame", "tool", "--html", "x.html"], "no link or frame called 'tool'"),
        (
            ["view", "iiwa14", "--port", "70000", "--no-browser"],
            "port: expected a whole number from 0 to 65535",
        ),
        (["plan", "--html", "page.txt"], "ending in .html"),
        (["mpc", "--html", "page.txt"], "ending in .html"),
        (["ik", "iiwa14", "--position", "0", "0", "1", "--html", "page.txt"], "ending in .html"),
        (["ik", "iiwa14"], "expected --position X Y Z or --path FILE, found neither"),
        (["ik", "iiwa14", "--path", "none.csv"], "none.csv: No such file"),
        (["ik", "iiwa14", "--path", "none.csv", "--position", "0", "0", "1"], "found both"),
        (["ik", "iiwa14", "--path", "none.csv", "--rpy", "0", "0", "1"], "--rpy: not with --path"),
        (["ik", "iiwa14", "--path", "none.csv", "--solutions", "2"], "--solutions: not with --path"),
    ],
)
def test_wrong_usage_is_told_before_the_work(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("robomorph.planning.motion.Motion.solve", lambda *a, **b: pytest.fail("worked first"))
    assert main(words) == 2
    assert said in capsys.readouterr().err
    assert not os.listdir(tmp_path)


def serving(*more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "robomorph", "view", "iiwa14", "--no-browser", *more]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # who runs tests may ignore it
    )


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_it_serves_until_it_is_interrupted(number: signal.Signals, code: int) -> None:
    process = serving()
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    page = Page(url)
    assert page.ask(type="hello")["type"] == "scene"
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    page.socket.close()
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    if code == 0:
        assert errors == "Ctrl-C ends it\n"


def test_a_port_in_use_is_told() -> None:
    process = serving()
    assert process.stdout is not None
    port = process.stdout.readline().split(":")[2].split("/")[0]
    other = serving("--port", port)
    _, errors = other.communicate(timeout=60)
    assert other.returncode == 2 and f"error: port {port} is in use" in errors
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)


def test_a_plan_becomes_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plan.html"
    assert main(["plan", "arm", "--no-proof", "--html", str(path), "--json"]) == 0
    seconds = json.loads(capsys.readouterr().out)["seconds"]
    (motion,) = scene_of(path)["trajectories"]
    assert motion["name"] == "plan" and motion["times"][-1] == pytest.approx(seconds)
    assert [plot["title"] for plot in motion["plots"]] == ["joint angles", "joint speeds", "joint torques"]


def test_loops_become_a_page(tmp_path: Path) -> None:
    path = tmp_path / "loops.html"
    assert main(["mpc", "--seconds", "0.2", "--horizon", "10", "--rate", "200", "--html", str(path)]) == 0
    motions = scene_of(path)["trajectories"]
    assert [motion["name"] for motion in motions] == ["reach", "moving target"]
    assert all(len(motion["plots"]) == 3 and len(motion["times"]) == 40 for motion in motions)


def test_solutions_become_a_page(tmp_path: Path) -> None:
    path = tmp_path / "ik.html"
    words = ["ik", "iiwa14", "--position", "0.4", "0.1", "0.6", "--solutions", "3", "--html", str(path)]
    assert main(words) == 0
    scene = scene_of(path)
    assert [robot["ghost"] for robot in scene["robots"]] == [False, True, True]
    for robot in scene["robots"]:
        place = pose_by_pinocchio("iiwa14", robot["q"], TOOL["iiwa14"])[:3, 3]
        np.testing.assert_allclose(place, [0.4, 0.1, 0.6], atol=1.1e-5)
    assert any(mark["position"] == [0.4, 0.1, 0.6] for mark in scene["marks"])


# --- paths -------------------------------------------------------------------------------------------


def write_path(path: Path, poses: bool, far: bool) -> list[Any]:
    """A line of poses, or of positions, that the arm can follow; with `far` the last is out of reach."""
    robot, q = loaded("iiwa14"), bent("iiwa14")
    targets = [robot.forward_kinematics(q + 0.01 * k, TOOL["iiwa14"]) for k in range(6)]
    if far:
        targets[-1][:3, 3] = [3.0, 0.0, 0.0]
    import pinocchio

    lines = ["t,x,y,z,qx,qy,qz,qw" if poses else "t,x,y,z"]
    for k, pose in enumerate(targets):
        turn = pinocchio.Quaternion(pose[:3, :3]).coeffs() if poses else []
        lines.append(",".join(f"{x:.12g}" for x in (0.1 * k, *pose[:3, 3], *turn)))
    path.write_text("\n".join(lines))
    return targets


@pytest.mark.parametrize("poses", [False, True])
@pytest.mark.parametrize("far", [False, True])
def test_a_path_is_followed(
    poses: bool, far: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, page = tmp_path / "path.csv", tmp_path / "path.html"
    targets = write_path(path, poses, far)
    code = main(["ik", "iiwa14", "--path", str(path), "--html", str(page), "--json"])
    assert code == int(far)
    found = json.loads(capsys.readouterr().out)
    assert found["solved"] == (5 if far else 6)
    for k, (answer, target) in enumerate(zip(found["poses"], targets, strict=True)):
        assert answer["success"] is not (far and k == 5)
        assert answer["time_s"] == pytest.approx(0.1 * k)
        if answer["success"]:
            there = pose_by_pinocchio("iiwa14", answer["q"], TOOL["iiwa14"])
            assert np.linalg.norm(there[:3, 3] - target[:3, 3]) <= 1.1e-5
            assert not poses or np.abs(there[:3, :3] - target[:3, :3]).max() <= 3e-5
        else:
            assert answer["reason"].startswith("out of reach")
    (motion,) = scene_of(page)["trajectories"]
    assert motion["name"] == ("path (1 poses not reached)" if far else "path")
    assert len(motion["times"]) == 6 and motion["times"][-1] == pytest.approx(0.5)


def test_a_path_has_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_path(tmp_path / "path.csv", False, True)
    assert main(["ik", "iiwa14", "--path", str(tmp_path / "path.csv")]) == 1
    text = capsys.readouterr().out
    assert "5 of 6 poses reached" in text and "out of reach" in text and text.count("converged") == 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,2\n", "expected 3 columns"),
        ("x,y\n1,2\n", r"expected columns x, y, z, found none called \['z'\]"),
        ("x,y,z,qx\n1,2,3,1\n", r"found none called \['qy', 'qz', 'qw'\]"),
        ("x,y,w\n1,2,3\n", "unknown column 'w'"),
        ("x,y,z,x\n1,2,3,4\n", "a column 'x' once, found it twice"),
        ("0,0,1,0,0,0,2\n", "of length one, found length 2 at pose 1"),
        ("1,0,0,1\n1,0,0,2\n", "increasing times"),
    ],
)
def test_wrong_paths_are_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text(text)
    with pytest.raises(ArgumentError, match=words):
        read_pose_path(tmp_path / "path.csv")


def test_paths_of_arrays(tmp_path: Path) -> None:
    path = tmp_path / "path.npz"
    np.savez(path, poses=[[0, 0, 1, 0, 0, np.sqrt(0.5), np.sqrt(0.5)]], t=[0.0])
    found = read_pose_path(path)
    np.testing.assert_allclose(found.targets[0, :2, :2], [[0, -1], [1, 0]], atol=1e-12)
    np.savez(path, poses=np.eye(4)[None])
    assert read_pose_path(path).times is None
    np.savez(path, positions=np.zeros((2, 3)), times=[0.0, 1.0])
    assert read_pose_path(path).targets.shape == (2, 3)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"positions": np.zeros((2, 4))}, r"positions: expected shape \(T, 3\), found \(2, 4\)"),
        ({"poses": np.zeros((2, 3))}, r"poses: expected shape \(T, 7\) or \(T, 4, 4\)"),
        ({"positions": np.zeros((2, 3)), "poses": np.zeros((2, 7))}, "positions or poses, found both"),
        ({"positions": np.zeros((2, 3)), "t": [0.0]}, r"times: expected \(2,\), found \(1,\)"),
        ({"times": [0.0]}, "called positions or poses, found neither"),
    ]
    for arrays, words in wrong:
        np.savez(path, **arrays)
        with pytest.raises(ArgumentError, match=words):
            read_pose_path(path)
    with pytest.raises(ArgumentError, match="ending in"):
        read_pose_path(tmp_path / "path.txt")
