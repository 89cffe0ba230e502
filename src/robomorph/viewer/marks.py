"""What is drawn beside a robot: its centre of mass, how its tool can move, forces on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.viewer.handle import held_joints
from robomorph.viewer.poses import quaternions, rounded

if TYPE_CHECKING:
    from robomorph.viewer.shown import Shown

Array = npt.NDArray[np.float64]
Mark = dict[str, Any]
LAYERS = ("com", "manipulability", "forces")  # a page draws the others from poses and shapes
MOTION_S = 0.2  # an ellipsoid's axes are how far the frame gets in this time with joint speeds of length one
_FLAT = 1e-3  # of the longest axis: thinner ones are drawn so thick, or they could not be seen from the side
_LONGEST = 3.0  # times the robot's size: the arrow of the largest force
_COLOURS = {
    "com": [0.95, 0.75, 0.1, 1.0],
    "manipulability": [0.2, 0.6, 0.9, 0.35],
    "force": [0.85, 0.2, 0.2, 1.0],
    "moment": [0.55, 0.25, 0.75, 1.0],
    "reached": [0.15, 0.6, 0.35, 1.0],
    "missed": [0.85, 0.2, 0.2, 1.0],
}
_MOST_TARGETS = 500  # that are drawn, evenly spread


def marks_of(
    index: int, shown: Shown, q: Array, links: Array, layers: Collection[str], frame: str | None
) -> list[Mark]:
    """Marks at q (nq,) of the robot at `index` in the layers that are on. links (n_links, 4, 4): poses at q;
    frame: whose manipulability is meant."""
    out: list[Mark] = []
    if "com" in layers and shown.robot.model.mass > 0.0:
        out.append(_centre(shown, q))
    if "manipulability" in layers and frame is not None:
        out += manipulability(shown, q, frame)
    if "forces" in layers:
        out += _forces(shown, links)
    return [{**mark, "robot": index} for mark in out]


def _centre(shown: Shown, q: Array) -> Mark:
    return {
        "layer": "com",
        "kind": "point",
        "position": rounded(shown.robot.center_of_mass(q)),
        "size": [0.3 * shown.size],
        "colour": _COLOURS["com"],
        "name": "centre of mass",
    }


def manipulability(shown: Shown, q: Array, frame: str) -> list[Mark]:
    """The ellipsoid of velocities that `frame` can have with joint speeds of length one: its axes are the
    square roots of the eigenvalues of J J^T, J the linear rows of the joints that follow a drag. None where
    no joint moves the frame; where a direction is lost, it is flat there and its name says so."""
    robot = shown.robot
    moves = np.ones(robot.nv, bool)
    for joint in held_joints(robot, frame, move_base=shown.move_base):
        moves[robot.coordinates(joint)[1]] = False
    linear = robot.jacobian(q, frame)[:3, moves]
    squares, axes = np.linalg.eigh(linear @ linear.T)
    lengths = np.sqrt(np.maximum(squares, 0.0))
    if not lengths[-1] > 0.0:
        return []
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] = -axes[:, 0]
    lost = int((lengths < _FLAT * lengths[-1]).sum())
    name = (
        f"manipulability of {frame}: {', '.join(f'{x:.3g}' for x in lengths[::-1])} m/s for unit joint speed"
    )
    return [
        {
            "layer": "manipulability",
            "kind": "ellipsoid",
            "position": rounded(robot.forward_kinematics(q, frame)[:3, 3]),
            "quaternion": rounded(quaternions(axes)),
            "size": (MOTION_S * np.maximum(lengths, _FLAT * lengths[-1])).tolist(),
            "colour": _COLOURS["manipulability"],
            "name": f"{name}; singular, {lost} of 3 directions lost" if lost else name,
        }
    ]


def _forces(shown: Shown, links: Array) -> Iterator[Mark]:
    """An arrow for every force and moment; lengths are shares of the largest of its kind."""
    for kind, rows, unit in (("force", slice(0, 3), "N"), ("moment", slice(3, 6), "N m")):
        sizes = {link: float(np.linalg.norm(wrench[rows])) for link, wrench in shown.f_ext.items()}
        largest = max(sizes.values(), default=0.0)
        for link, wrench in shown.f_ext.items():
            if sizes[link] > 0.0:
                pose = links[shown.robot.link_names.index(link)]
                vector = pose[:3, :3] @ wrench[rows] * (_LONGEST * shown.size / largest)
                yield {
                    "layer": "forces",
                    "kind": "arrow",
                    "position": rounded(pose[:3, 3]),
                    "vector": rounded(vector),
                    "colour": _COLOURS[kind],
                    "name": f"{sizes[link]:.3g} {unit} on {link}",
                }


def target_marks(targets: Array, reached: npt.NDArray[np.bool_], size: float) -> list[Mark]:
    """A point for each position (T, 3) or pose (T, 4, 4) of a path, coloured by `reached` (T,)."""
    places = targets if targets.ndim == 2 else targets[:, :3, 3]
    keep = np.unique(np.linspace(0, len(places) - 1, min(len(places), _MOST_TARGETS)).round().astype(int))
    words = ["reached" if reached[k] else "missed" for k in keep]
    return [
        {"kind": "point", "position": rounded(places[k]), "size": [0.08 * size], "colour": _COLOURS[word]}
        for k, word in zip(keep, words, strict=True)
    ]
