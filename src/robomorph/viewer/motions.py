"""A motion as the page takes it: poses of all links at its samples, marks along it, and its plots."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.viewer.curves import plots
from robomorph.viewer.marks import LAYERS, marks_of
from robomorph.viewer.poses import sevens

if TYPE_CHECKING:
    from robomorph.viewer.shown import Shown
    from robomorph.viewer.trajectory import Trajectory

MOST_SAMPLES = 1200  # a motion with more is thinned out, and its plots say so
_MOST_POSES = 200_000  # links times samples: some 7 MB of text


def motion_document(shown: Shown, motion: Trajectory, index: int = 0) -> dict[str, Any]:
    """An entry of `trajectories` for the robot at `index` of the scene."""
    robot = shown.robot
    most = max(2, min(MOST_SAMPLES, _MOST_POSES // max(1, len(robot.link_names))))
    keep = kept(len(motion.times), most)
    note = "" if len(keep) == len(motion.times) else f"{len(keep)} of {len(motion.times)} samples"
    q = motion.q[keep]
    links = robot.link_poses(q)
    frame = shown.frames[0] if shown.frames else None
    return {
        "name": motion.name or "motion",
        "robot": index,
        "times": motion.times[keep].tolist(),
        "poses": base64.b64encode(np.ascontiguousarray(sevens(links), "<f4").tobytes()).decode("ascii"),
        "marks": [marks_of(index, shown, q[k], links[k], LAYERS, frame) for k in range(len(q))],
        "plots": plots(robot, motion, keep, note),
    }


def kept(count: int, most: int) -> npt.NDArray[np.int64]:
    """Which of `count` samples are shown, at most `most`: evenly spread, from the first to the last."""
    if count <= most:
        return np.arange(count)
    return np.unique(np.round(np.linspace(0, count - 1, most)).astype(np.int64))
