"""Inverse kinematics of many targets, against one call for all of them and against Pinocchio."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import robomorph
from robomorph.errors import ArgumentError
from robomorph.scaleout import Reach
from robomorph.scaleout.jobs.reach import pose_errors
from tests.scaleout.jobs.running import contents, done_here

FRAME = "lbr_iiwa_link_7"


@pytest.fixture(scope="module")
def iiwa() -> robomorph.Robot:
    return robomorph.load("iiwa14")


def rows_of(folder: Path) -> dict[str, Any]:
    parts = [np.load(path) for path in sorted(folder.glob("shard-*.npz"))]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0].files}


@pytest.mark.parametrize("poses", [False, True])
def test_shards_have_what_one_call_for_all_targets_gives(
    iiwa: robomorph.Robot, tmp_path: Path, poses: bool
) -> None:
    job = Reach(iiwa, 100, seed=3, poses=poses, shard_size=30)
    facts = done_here(job, tmp_path)
    found = rows_of(tmp_path)
    targets = job.drawn(0, 100)
    whole = iiwa.inverse_kinematics(targets, FRAME, nearest=False, threads=2)
    np.testing.assert_array_equal(found["targets"], targets)
    np.testing.assert_array_equal(found["q"], whole.q)
    np.testing.assert_array_equal(found["success"], whole.success)
    np.testing.assert_array_equal(found["position_error"], whole.position_error)
    assert facts["solved"] == int(whole.success.sum()) and 0 < facts["solved"] < 100
    assert facts["share"] == facts["solved"] / 100 and facts["disputed"] == 0


def test_what_is_called_reached_is_reached_by_pinocchio(iiwa: robomorph.Robot, tmp_path: Path) -> None:
    import pinocchio

    from robomorph.model.robots import builtin_urdf

    done_here(Reach(iiwa, 60, poses=True), tmp_path)
    found = rows_of(tmp_path)
    model = pinocchio.buildModelFromXML((builtin_urdf("iiwa14") or b"").decode())
    data, frame = model.createData(), model.getFrameId(FRAME)
    assert found["success"].any()
    for q, target in zip(found["q"][found["success"]], found["targets"][found["success"]], strict=True):
        pinocchio.framesForwardKinematics(model, data, q)
        error = pinocchio.log6(data.oMf[frame].inverse() * pinocchio.SE3(target))
        assert np.linalg.norm(error.linear) < 2e-5 and np.linalg.norm(error.angular) < 2e-5
        assert (model.lowerPositionLimit <= q + 1e-9).all() and (q <= model.upperPositionLimit + 1e-9).all()


def test_targets_do_not_depend_on_how_they_are_cut(iiwa: robomorph.Robot) -> None:
    job = Reach(iiwa, 50, seed=7, poses=True)
    whole = job.drawn(0, 50)
    cut = [job.drawn(start, rows) for start, rows in ((0, 1), (1, 16), (17, 33))]
    np.testing.assert_array_equal(np.concatenate(cut), whole)
    assert not np.array_equal(Reach(iiwa, 50, seed=8, poses=True).drawn(0, 50), whole)
    turns = whole[:, :3, :3]
    np.testing.assert_allclose(turns @ np.swapaxes(turns, 1, 2), np.tile(np.eye(3), (50, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(turns), 1.0)


def test_more_targets_keep_the_shards_that_were_full(iiwa: robomorph.Robot) -> None:
    few, many = (Reach(iiwa, n, shard_size=10) for n in (25, 47))
    assert few.describe() == many.describe()
    assert many.shards()[:2] == few.shards()[:2] and few.shards()[2].rows == 5


def test_a_claim_that_does_not_hold_is_disputed(
    iiwa: robomorph.Robot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A solver that says it is there when it is not must not reach the map."""
    solve = type(iiwa).inverse_kinematics

    def boasting(self: Any, *args: Any, **more: Any) -> Any:
        result = solve(self, *args, **more)
        result.success[...] = True
        return result

    honest = done_here(Reach(iiwa, 40), tmp_path / "honest")
    monkeypatch.setattr(type(iiwa), "inverse_kinematics", boasting)
    facts = done_here(Reach(iiwa, 40), tmp_path / "boasting")
    assert facts["solved"] == honest["solved"] and facts["disputed"] == 40 - honest["solved"] > 0


def test_the_map_counts_every_target_once_and_where_it_is(iiwa: robomorph.Robot, tmp_path: Path) -> None:
    job = Reach(iiwa, 80, shard_size=33, grid=3, box=((-1.0, -1.0, 0.0), (1.0, 1.0, 1.5)))
    done_here(job, tmp_path)
    found, grid = rows_of(tmp_path), np.load(tmp_path / "reach-map.npz")
    for name, weights in (("tried", None), ("solved", found["success"].astype(float))):
        counts, _ = np.histogramdd(found["targets"], bins=list(grid["edges"]), weights=weights)
        np.testing.assert_array_equal(grid[name], counts)
    assert grid["tried"].sum() == 80
    assert (tmp_path / "reach-map.svg").read_text(encoding="utf-8").startswith("<svg")


def test_errors_between_poses() -> None:
    turned = np.tile(np.eye(4), (3, 1, 1))
    for k, angle in enumerate((1e-9, 0.7, np.pi)):
        c, s = np.cos(angle), np.sin(angle)
        turned[k, :2, :2] = ((c, -s), (s, c))
    turned[1, :3, 3] = (0.3, 0.0, 0.4)
    far, angles = pose_errors(turned, np.tile(np.eye(4), (3, 1, 1)))
    np.testing.assert_allclose(far, (0.0, 0.5, 0.0))
    np.testing.assert_allclose(angles, (1e-9, 0.7, np.pi), rtol=1e-7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"targets": 0}, "targets: expected a whole number from 1"),
        ({"frame": "nowhere"}, "nowhere"),
        ({"box": ((0, 0, 0), (1, 1, 0))}, "box: expected a lower corner below the upper one"),
        ({"box": ((0, 0, 0), (1, 1, np.nan))}, "box: expected two corners"),
        ({"box": 3}, "box: expected two corners"),
        ({"seed": -1}, "seed: expected a whole number"),
        ({"shard_size": 0}, "shard_size: expected"),
        ({"tolerance": -1.0}, "tolerance"),
    ],
)
def test_odd_input_is_refused(iiwa: robomorph.Robot, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        Reach(iiwa, **{"targets": 10, **options})


def test_a_frame_that_does_not_move_has_no_box(iiwa: robomorph.Robot) -> None:
    with pytest.raises(ArgumentError, match="does not move along x, y, z"):
        Reach(iiwa, 5, frame=iiwa.frame_names[0])


def test_the_same_files_again(iiwa: robomorph.Robot, tmp_path: Path) -> None:
    for name in ("a", "b"):
        done_here(Reach(robomorph.load("iiwa14"), 30, shard_size=20), tmp_path / name)
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
