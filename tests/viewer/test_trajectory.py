"""Motions to be shown: what is taken, and what is refused in which words."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robomorph import ArgumentError
from robomorph.given.number_files import read_table
from robomorph.mpc.simulation import Simulation
from robomorph.planning import Motion
from robomorph.viewer.trajectory import Trajectory, as_trajectory, sample_times
from tests.viewer.robots import bent, loaded

TIMES = np.array([0.0, 0.1, 0.25])


def moved(name: str = "iiwa14", count: int = 3) -> np.ndarray[Any, Any]:
    """(count, nq): a small motion."""
    robot = loaded(name)
    steps = 0.01 * np.arange(count)[:, None] * np.ones(robot.nv)
    return robot.integrate(np.tile(bent(name), (count, 1)), steps)


def test_arrays_become_a_motion() -> None:
    motion = Trajectory([0, 1, 2], moved().tolist(), name="reach").fit(loaded("iiwa14"))
    assert motion.q.shape == (3, 7) and motion.seconds == 2.0 and motion.q.dtype == np.float64


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"times": [0.0, 0.1]}, r"q: expected \(2, n\), a row for every time, found shape \(3, 7\)"),
        ({"times": [0.0, 0.2, 0.2]}, "increasing times, found 0.2 and then 0.2 at index 2"),
        ({"times": [0.0, np.nan, 1.0]}, r"times: expected finite numbers, found nan at index \[1\]"),
        ({"times": []}, "with one time at least"),
        ({"times": 3.0}, r"times: expected shape \(T,\)"),
        ({"times": ["a", "b", "c"]}, "times: expected float32 or float64"),
        ({"q": moved()[0]}, r"found shape \(7,\)"),
        ({"q": np.full((3, 7), np.inf)}, "q: expected finite numbers, found inf"),
        ({"qd": np.zeros((2, 7))}, r"qd: expected \(3, n\)"),
        ({"tau": np.full((3, 7), np.nan)}, "tau: expected finite"),
        ({"name": 3}, "name: expected a text"),
    ],
)
def test_wrong_numbers_are_refused_by_name(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Trajectory(**{"times": TIMES, "q": moved(), **change})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"q": np.zeros((3, 6))}, r"q: expected \(3, 7\), as iiwa14 has nq = 7, found \(3, 6\)"),
        ({"qd": np.zeros((3, 8))}, r"qd: expected \(3, 7\)"),
        ({"tau": np.zeros((3, 1))}, r"tau: expected \(3, 7\)"),
    ],
)
def test_widths_are_the_robots(change: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Trajectory(**{"times": TIMES, "q": moved(), **change}).fit(loaded("iiwa14"))


def test_quaternions_must_be_of_unit_length() -> None:
    q = moved("hyq")
    Trajectory(TIMES, q).fit(loaded("hyq"))
    q[1, 3:7] *= 1.1
    with pytest.raises(ArgumentError, match=r"'root_joint' needs a vector of unit length in q\[1, 3:7\]"):
        Trajectory(TIMES, q).fit(loaded("hyq"))


def test_plans_are_sampled_with_their_speeds_and_torques() -> None:
    robot = loaded("iiwa14")
    start = bent("iiwa14")
    plan = Motion(robot, seconds=1.0, intervals=4, start=start, end=start + 0.2).solve()
    motion = as_trajectory(robot, plan)
    assert motion.qd is not None and motion.tau is not None
    assert len(motion.times) == 101 and motion.times[-1] == 1.0
    np.testing.assert_allclose(motion.q, plan.q(motion.times))
    np.testing.assert_allclose(motion.qd, plan.qd(motion.times))
    np.testing.assert_allclose(motion.tau, plan.tau(motion.times))
    with pytest.raises(ArgumentError, match="a plan of iiwa14"):
        as_trajectory(loaded("hyq"), plan)


def loop(q: Any, success: bool) -> Simulation:
    """With a motion and nothing else in it."""
    count = len(q)
    rows: dict[str, Any] = {key: np.zeros((count, 7)) for key in ("qd", "tau", "clipped", "error")}
    ticks: dict[str, Any] = {
        key: np.zeros(count)
        for key in ("solve_times", "observe_times", "cpu_times", "solved", "late", "violations")
    }
    return Simulation(
        success=success,
        reason="",
        robot=loaded("iiwa14"),
        period=0.001,
        times=np.linspace(0.0, 0.001 * (count - 1), count),
        q=q,
        reference=None,
        reasons={},
        disturbance=None,
        payload=None,
        pushes=(),
        tolerance=1e-3,
        **rows,
        **ticks,
    )


def test_simulated_loops_are_shown_as_they_went() -> None:
    motion = as_trajectory(loaded("iiwa14"), loop(moved(), success=True))
    np.testing.assert_array_equal(motion.q, moved())
    assert motion.name == "closed loop" and motion.tau is not None


def test_a_loop_that_diverged_is_shown_while_it_is_finite() -> None:
    q = moved()
    q[2] = np.nan
    motion = as_trajectory(loaded("iiwa14"), loop(q, success=False))
    assert len(motion.times) == 2 and motion.name == "closed loop (diverged)"
    with pytest.raises(ArgumentError, match="finite states, found none"):
        as_trajectory(loaded("iiwa14"), loop(np.full((2, 7), np.nan), success=False))


def test_pairs_and_rates() -> None:
    robot = loaded("iiwa14")
    assert as_trajectory(robot, (TIMES, moved())).seconds == 0.25
    np.testing.assert_allclose(as_trajectory(robot, moved(), rate=50.0).times, [0.0, 0.02, 0.04])
    with pytest.raises(ArgumentError, match="expected a Trajectory, a plan"):
        as_trajectory(robot, moved())
    for rate in (0.0, -1.0, float("nan"), "fast", True):
        with pytest.raises(ArgumentError, match="rate: expected"):
            as_trajectory(robot, moved(), rate=rate)  # type: ignore[arg-type]
    np.testing.assert_array_equal(sample_times(0, 10.0), [])


# --- files -------------------------------------------------------------------------------------------


def test_npz_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "reach.npz"
    np.savez_compressed(path, q=moved().astype(np.float32), t=TIMES, tau=np.ones((3, 7)))
    motion = Trajectory.read(path, loaded("iiwa14"))
    assert motion.name == "reach" and motion.qd is None and motion.tau is not None
    np.testing.assert_allclose(motion.q, moved(), atol=1e-6)
    np.savez(path, q=np.asfortranarray(moved()))
    np.testing.assert_array_equal(Trajectory.read(path, loaded("iiwa14"), rate=10.0).q, moved())


def test_what_a_plan_saves_is_read_back(tmp_path: Path) -> None:
    robot, start = loaded("iiwa14"), bent("iiwa14")
    plan = Motion(robot, seconds=0.5, intervals=4, start=start, end=start + 0.1).solve()
    for ending in ("npz", "csv"):
        plan.save(tmp_path / f"plan.{ending}", rate=20.0)
        motion = Trajectory.read(tmp_path / f"plan.{ending}", robot)
        np.testing.assert_array_equal(motion.q, plan.q(motion.times))
        assert motion.qd is not None and motion.tau is not None
        np.testing.assert_array_equal(motion.qd, plan.qd(motion.times))
        np.testing.assert_array_equal(motion.tau, plan.tau(motion.times))


def hostile_npz(path: Path, header: str, body: bytes = b"") -> None:
    """An NPZ whose array q has this header, true or not."""
    text = header.encode().ljust(117) + b"\n"
    member = io.BytesIO()
    member.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.npy", member.getvalue())


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"q": np.array([object()], object)}, "q: expected real numbers, found object"),
        ({"q": np.zeros((3, 7), complex), "t": TIMES}, "expected real numbers, found complex128"),
        ({"q": np.array([["a"]])}, "expected real numbers, found <U1"),
        ({"q": np.zeros((3, 7)), "t": TIMES, "times": TIMES}, "expected times or t, found both"),
        ({"q": np.zeros((3, 7))}, "it has no times: give the samples a second"),
        ({"x": np.zeros(3)}, r"expected arrays called q, .*, found \['x'\]"),
        ({"t": TIMES}, r"expected an array called q, found \['t'\]"),
        (
            {"q": np.zeros((3, 7)), "t": TIMES, "joints": np.array(list("abcdefg"))},
            "joints: expected those of",
        ),
        (
            {"q": np.full((3, 7), np.nan), "t": TIMES},
            r"q: expected finite numbers, found nan at index \[0, 0\]",
        ),
    ],
)
def test_wrong_npz_files_are_refused(tmp_path: Path, arrays: dict[str, Any], words: str) -> None:
    np.savez(tmp_path / "file.npz", **arrays)
    with pytest.raises(ArgumentError, match=words):
        Trajectory.read(tmp_path / "file.npz", loaded("iiwa14"))


def test_hostile_npz_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot, path = loaded("iiwa14"), tmp_path / "file.npz"
    hostile_npz(path, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 7), }", b"\0" * 56)
    with pytest.raises(ArgumentError, match="as many numbers as its shape"):
        Trajectory.read(path, robot)
    hostile_npz(path, "{'descr': __import__('os').getcwd()}")
    with pytest.raises(ArgumentError, match="cannot be read"):
        Trajectory.read(path, robot)
    for data in (b"", b"PK\x03\x04 nonsense", b"\x80\x04."):
        path.write_bytes(data)
        with pytest.raises(ArgumentError, match="expected an NPZ file"):
            Trajectory.read(path, robot)
    monkeypatch.setattr("robomorph.given.number_files.LARGEST_ARRAYS", 2**20)
    np.savez_compressed(path, q=np.zeros((2**15, 7)), t=np.arange(2**15))  # small, until it is unpacked
    with pytest.raises(ArgumentError, match="q: expected at most 1 MB, found more"):
        Trajectory.read(path, robot)


def csv_text(separator: str = ",", end: str = "\n", header: bool = True) -> str:
    robot = loaded("iiwa14")
    lines = [separator.join(["t", *robot.coordinate_names])] if header else []
    rows = np.column_stack([TIMES, moved()])
    return end.join(lines + [separator.join(map(repr, map(float, row))) for row in rows]) + end


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_csv_files_are_read(tmp_path: Path, separator: str, end: str, header: bool, mark: bytes) -> None:
    path = tmp_path / "file.csv"
    path.write_bytes(mark + csv_text(separator, end, header).encode())
    motion = Trajectory.read(path, loaded("iiwa14"))
    np.testing.assert_array_equal(motion.q, moved())
    np.testing.assert_array_equal(motion.times, TIMES)


def test_separators_within_names_separate_nothing(tmp_path: Path) -> None:
    """Joints of MJCF may be called anything, and `plan.save` writes what they are called."""
    path = tmp_path / "odd.csv"
    path.write_text('t,"q a; b","q c,\td"\n0,1,2\n1,2,3\n')
    table = read_table(path)
    assert table.names == ("t", "q a; b", "q c,\td")
    np.testing.assert_array_equal(table.values, [[0, 1, 2], [1, 2, 3]])


def test_columns_go_by_their_names(tmp_path: Path) -> None:
    robot, path = loaded("iiwa14"), tmp_path / "file.csv"
    names = [*reversed(robot.coordinate_names), "time"]
    rows = np.column_stack([moved()[:, ::-1], TIMES])
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]))
    np.testing.assert_array_equal(Trajectory.read(path, robot).q, moved())


NAMES = ",".join(f"lbr_iiwa_joint_{k}" for k in range(1, 8))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected lines of numbers, found none"),
        (f"t,{NAMES}\n", "found only names"),
        ("# t,q\n0,1\n", "begins with '#'"),
        ("0,1,2\n", r"expected 8 columns \(time, then q of iiwa14\), or 7 and a rate, found 3"),
        ("0,1,2,3,4,5,6\n", "it has no times"),
        ("0,1,2,3,4,5,6,7\n1,2\n", "file.csv:2: expected 8 columns, found 2"),
        ("0,1,2,3,4,5,6,7\n1,1,2,x,4,5,6,7\n", "file.csv:2: expected a finite number, found 'x'"),
        ("0,1,2,3,4,5,6,7\n1,1,2,nan,4,5,6,7\n", "file.csv:2: expected a finite number, found 'nan'"),
        ("0;1;2;3;4;5;6;7\n1;0,5;2;3;4;5;6;7\n", "write decimals with a point"),
        (f"t,{NAMES},elbow\n" + ",".join("0" * 9), "unknown column 'elbow'"),
        (f"t,{NAMES},t\n" + ",".join("0" * 9), "a column 't' once, found it twice"),
        ("t,lbr_iiwa_joint_1\n0,0\n", r"found none for \['lbr_iiwa_joint_2'"),
        (f"t,{NAMES},qd lbr_iiwa_joint_1\n" + ",".join("0" * 9), "a column of qd for every joint"),
        ('t,"a\n', "cannot be read"),
        ("0,1,2\0,3", "found a binary file"),
    ],
)
def test_wrong_csv_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "file.csv"
    path.write_text(text)
    with pytest.raises(ArgumentError, match=words):
        Trajectory.read(path, loaded("iiwa14"))


def test_files_that_are_something_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    robot = loaded("iiwa14")
    with pytest.raises(ArgumentError, match=r"ending in \.npz or \.csv, found 'plan.json'"):
        Trajectory.read(tmp_path / "plan.json", robot)
    for name in ("none.csv", "none.npz"):
        with pytest.raises(FileNotFoundError):
            Trajectory.read(tmp_path / name, robot)
    path = tmp_path / "file.csv"
    path.write_bytes("t,x".encode("utf-16"))
    with pytest.raises(ArgumentError, match="found UTF-16"):
        Trajectory.read(path, robot)
    path.write_bytes(b"t,\xff\xfe\xfd")
    with pytest.raises(ArgumentError, match="UTF-8"):
        Trajectory.read(path, robot)
    path.write_text(csv_text())
    with pytest.raises(ArgumentError, match="it has times of its own"):
        Trajectory.read(path, robot, rate=10.0)
    monkeypatch.setattr("robomorph.given.number_files.LARGEST_TEXT", 100)
    with pytest.raises(ArgumentError, match=r"file\.csv: expected at most"):
        Trajectory.read(path, robot)
