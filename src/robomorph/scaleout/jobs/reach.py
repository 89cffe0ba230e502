"""Inverse kinematics of many targets: which places can a frame of a robot reach?"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.given.numbers import whole_number
from robomorph.ik.options import DEFAULT_STARTS
from robomorph.ik.problem import only_tip, read_tolerance
from robomorph.robot import Robot
from robomorph.scaleout.job import Shard
from robomorph.scaleout.jobs.files import (
    check_count,
    check_seed,
    described,
    replaced,
    robot_facts,
    shards_of,
    write_arrays,
    write_document,
)
from robomorph.scaleout.jobs.reach_map import ReachMap

Array = npt.NDArray[Any]
Box = tuple[tuple[float, float, float], tuple[float, float, float]]

_SAMPLES = 4096  # configurations whose positions span the box, if none is given
_DRAWS = 8  # numbers of a target: 3 for its place, 3 for its orientation, 2 unused
_COUNTERS = _DRAWS // 4  # steps of Philox's counter, each of which gives four numbers
_ROUNDING = 1e-9  # m and rad by which a second judge may find more than the first
_MOST_GRID = 1000
_DISPUTES_NAMED = 10


@dataclass(frozen=True, eq=False)
class Reach:
    """Targets of a frame drawn uniformly in a box, each solved by `robot.inverse_kinematics`.

    targets: how many. frame: None for the end, if the robot has one. box: two corners (3,) in m; None for the
    smallest around the frame's positions in random configurations. poses: with a random orientation too.
    tolerance: (m, rad). starts: tried at most for a target. nearest: as in `robot.inverse_kinematics`. grid:
    voxels along each side of the map. A shard is an NPZ file: targets (n, 3) or (n, 4, 4), q (n, nq),
    success, position_error (m), rotation_error (rad), disputed (n,).
    """

    robot: Robot
    targets: int
    frame: str | None = None
    seed: int = 0
    box: Box | Sequence[Sequence[float]] | None = None
    poses: bool = False
    tolerance: Any = (1e-5, 1e-5)
    starts: int = DEFAULT_STARTS
    nearest: bool = False
    shard_size: int = 4096
    grid: int = 20

    kind = "reach"
    suffix = ".npz"

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "targets", check_count("targets", self.targets))
        set_(self, "shard_size", check_count("shard_size", self.shard_size))
        set_(self, "seed", check_seed(self.seed))
        set_(self, "grid", whole_number("grid", self.grid, 1, _MOST_GRID))
        set_(self, "starts", whole_number("starts", self.starts, 1, 65_536))
        set_(self, "tolerance", tuple(float(x) for x in read_tolerance(self.tolerance)))
        frame = only_tip(self.robot) if self.frame is None else self.frame
        self.robot.model.frame_index(frame)  # an unknown one is told with the names that there are
        set_(self, "frame", frame)
        set_(self, "box", _spanned(self.robot, frame, self.seed) if self.box is None else _read_box(self.box))

    def describe(self) -> dict[str, Any]:
        return described(
            **{
                "robot": robot_facts(self.robot),
                "frame": self.frame,
                "seed": self.seed,
                "box_m": self.box,
                "poses": self.poses,
                "tolerance": self.tolerance,
                "starts": self.starts,
                "nearest": self.nearest,
                "shard_size": self.shard_size,
            }
        )

    def shards(self) -> tuple[Shard, ...]:
        return shards_of(self.targets, self.shard_size)

    def drawn(self, start: int, rows: int) -> Array:
        """Targets `start` to `start + rows`: (rows, 3) m or (rows, 4, 4). Each follows from the seed and its
        own number, however they are cut."""
        assert self.box is not None
        bits = np.random.Philox(self.seed)
        bits.advance(_COUNTERS * start)
        draws = np.random.Generator(bits).random((rows, _DRAWS))
        lower, upper = (np.array(corner) for corner in self.box)
        places = lower + draws[:, :3] * (upper - lower)
        if not self.poses:
            return np.asarray(places)
        out = np.tile(np.eye(4), (rows, 1, 1))
        out[:, :3, :3], out[:, :3, 3] = _rotations(draws[:, 3:6]), places
        return out

    def write(self, shard: Shard, path: Path) -> dict[str, Any]:
        targets = self.drawn(shard.start, shard.rows)
        begin = time.perf_counter()
        found = self.robot.inverse_kinematics(
            targets,
            self.frame,
            tolerance=self.tolerance,
            starts=self.starts,
            nearest=self.nearest,
            threads=1,
        )
        solved = time.perf_counter()
        held = self._judged(targets, found.q)
        write_arrays(
            path,
            {
                "targets": targets,
                "q": found.q,
                "success": found.success & held,
                "position_error": found.position_error,
                "rotation_error": found.rotation_error,
                "disputed": found.success & ~held,
            },
        )
        end = time.perf_counter()
        return {"seconds": {"solving": solved - begin, "judging and writing": end - solved}}

    def _judged(self, targets: Array, q: Array) -> npt.NDArray[np.bool_]:
        """(n,) whether forward kinematics of q says that it is inside the limits and at its target."""
        assert self.frame is not None
        found = self.robot.forward_kinematics(q, self.frame)
        far, turned = pose_errors(found, targets)
        metres, radians = self.tolerance
        limits = self.robot.limits
        good = (far <= metres + _ROUNDING) & (turned <= radians + _ROUNDING)
        if self.robot.nq == self.robot.nv:  # elsewhere a limit is not on a coordinate
            good &= ((q >= limits.lower - _ROUNDING) & (q <= limits.upper + _ROUNDING)).all(axis=-1)
        return np.asarray(good)

    def finish(self, folder: Path, shards: tuple[Path, ...]) -> dict[str, Any]:
        """Writes `reach-map.npz` (edges, tried, solved), `reach-map.svg` and `reach.json`."""
        assert self.box is not None
        there = ReachMap(self.box, self.grid)
        solved, worst, disputed = 0, 0.0, []
        for k, path in enumerate(shards):
            with np.load(path) as part:
                targets, success = part["targets"], part["success"]
                places = targets[:, :3, 3] if self.poses else targets
                there.add(places, success)
                solved += int(success.sum())
                worst = max(worst, float(part["position_error"][success].max(initial=0.0)))
                disputed += [k * self.shard_size + int(i) for i in np.flatnonzero(part["disputed"])]
        facts = {
            "targets": self.targets,
            "solved": solved,
            "share": solved / self.targets,
            "worst_error_m": worst,
            "disputed": len(disputed),
            "disputed_targets": disputed[:_DISPUTES_NAMED],
            "frame": self.frame,
            "box_m": self.box,
        }
        replaced(folder / "reach-map.npz", lambda aside: write_arrays(aside, there.arrays()))
        title = f"{self.robot.name}, {self.frame}: {facts['share']:.1%} of {self.targets} targets"
        replaced(folder / "reach-map.svg", lambda aside: aside.write_bytes(there.svg(title).encode()))
        write_document(folder / "reach.json", facts)
        return facts


def pose_errors(found: Array, targets: Array) -> tuple[Array, Array]:
    """(n,) m and (n,) rad between poses (n, 4, 4) and targets (n, 3), for which the turn is 0, or (n, 4,
    4)."""
    if targets.ndim == 2:
        return np.linalg.norm(found[:, :3, 3] - targets, axis=-1), np.zeros(len(found))
    far = np.linalg.norm(found[:, :3, 3] - targets[:, :3, 3], axis=-1)
    turn = np.swapaxes(targets[:, :3, :3], 1, 2) @ found[:, :3, :3]
    skew = np.stack([turn[:, i, j] - turn[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0))], axis=-1)
    cosine = np.trace(turn, axis1=1, axis2=2) - 1.0
    return far, np.arctan2(np.linalg.norm(skew, axis=-1), cosine)


def _rotations(draws: Array) -> Array:
    """(n, 3, 3), uniform over all orientations, of (n, 3) uniform numbers: Shoemake's quaternions."""
    u, a, b = draws[:, 0], 2.0 * np.pi * draws[:, 1], 2.0 * np.pi * draws[:, 2]
    small, large = np.sqrt(1.0 - u), np.sqrt(u)
    x, y, z, w = small * np.sin(a), small * np.cos(a), large * np.sin(b), large * np.cos(b)
    rows = (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
        (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
        (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
    )
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _spanned(robot: Robot, frame: str, seed: int) -> Box:
    """The smallest box around the frame's positions in random configurations."""
    q = robot.random_state(np.random.default_rng(seed), _SAMPLES).q
    places = robot.forward_kinematics(q, frame)[:, :3, 3]
    lower, upper = places.min(axis=0), places.max(axis=0)
    flat = [axis for axis, low, high in zip("xyz", lower, upper, strict=True) if not low < high]
    if flat:
        raise ArgumentError(
            f"box: frame {frame!r} of {robot.name!r} does not move along {', '.join(flat)}: give a box "
            "with room along every axis, or another frame"
        )
    return _corners(lower, upper)


def _read_box(box: Any) -> Box:
    try:
        corners = np.asarray(box, dtype=np.float64)
    except (TypeError, ValueError):
        corners = np.zeros(())
    if corners.shape != (2, 3) or not np.isfinite(corners).all():
        raise ArgumentError(f"box: expected two corners of three finite numbers (m), found {box!r}")
    if not (corners[0] < corners[1]).all():
        raise ArgumentError(
            f"box: expected a lower corner below the upper one along every axis, found "
            f"{corners[0].tolist()} and {corners[1].tolist()}: a box without volume holds no targets"
        )
    return _corners(*corners)


def _corners(lower: Array, upper: Array) -> Box:
    return tuple(map(float, lower)), tuple(map(float, upper))  # type: ignore[return-value]
