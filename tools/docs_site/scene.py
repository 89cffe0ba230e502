"""Robots as line drawings, seen from a corner without perspective: SVG for light and dark pages."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph import Robot

Array = npt.NDArray[np.float64]
_GROUND = "#8a94a055"
_JOINT = "#e6853b"
_SIZE, _MARGIN = 360.0, 24.0


@dataclass
class Scene:
    """What is drawn, in metres; z is up. `turn` and `tilt` (degrees) say where it is looked at from."""

    turn: float = 35.0
    tilt: float = 18.0
    _lines: list[tuple[Array, str, float, float]] = field(default_factory=list)
    _dots: list[tuple[Array, str, float, str]] = field(default_factory=list)

    def robot(self, robot: Robot, q: npt.ArrayLike, colour: str = "#3b8ec2", opacity: float = 1.0) -> Scene:
        """Lines from every body to its parent, dots at the joints."""
        model = robot.model
        poses = dict(zip(robot.link_names, np.asarray(robot.link_poses(q), dtype=float), strict=True))
        for body in model.bodies:
            here = poses[body.name][:3, 3]
            if body.parent >= 0:
                self._bone(poses[model.bodies[body.parent].name][:3, 3], here, colour, opacity)
            elif body.kind != "floating":
                self._bone(np.array([here[0], here[1], min(here[2], 0.0)]), here, colour, opacity)
            if opacity == 1.0:
                self._dots.append((here, _JOINT, 4.0, body.joint_name))
        for frame in model.frames:  # links that do not move in their body, and tool frames
            if frame.body >= 0:
                pose = poses[model.bodies[frame.body].name]
                there = pose[:3, :3] @ frame.placement.translation + pose[:3, 3]
                self._bone(pose[:3, 3], there, colour, opacity)
        return self

    def _bone(self, start: Array, end: Array, colour: str, opacity: float) -> None:
        if not np.array_equal(start, end):
            self._lines.append((np.stack([start, end]), colour, 7.0, opacity))

    def path(self, points: Array, colour: str = _JOINT) -> Scene:
        """A line (n, 3) through the world."""
        self._lines.append((points, colour, 2.5, 1.0))
        return self

    def mark(self, point: npt.ArrayLike, colour: str, words: str) -> Scene:
        """A target."""
        self._dots.append((np.asarray(point, dtype=float), colour, 5.5, words))
        return self

    def svg(self) -> str:
        points = np.concatenate([*(line[0] for line in self._lines), *(dot[0][None] for dot in self._dots)])
        ground = _ground_lines(points)
        flat = self._flat(np.concatenate([points, *ground]))
        low, high = flat.min(axis=0), flat.max(axis=0)
        scale = (_SIZE - 2 * _MARGIN) / float((high - low).max())
        width, height = (high - low) * scale + 2 * _MARGIN

        def place(at: Array) -> Array:
            return np.asarray((self._flat(at) - low) * scale + _MARGIN)

        parts = [_polyline(place(line), _GROUND, 1.0, 1.0) for line in ground]
        parts += [_polyline(place(at), colour, wide, ink) for at, colour, wide, ink in self._lines]
        parts += [_dot(place(at[None])[0], colour, size, words) for at, colour, size, words in self._dots]
        box = f"viewBox='0 0 {width:.0f} {height:.0f}' width='{width:.0f}' height='{height:.0f}'"
        return "\n".join([f"<svg xmlns='http://www.w3.org/2000/svg' {box}>", *parts, "</svg>", ""])

    def _flat(self, points: Array) -> Array:
        """(n, 2) to the right and down."""
        turn, tilt = np.deg2rad(self.turn), np.deg2rad(self.tilt)
        x, y, z = points.T
        right = -np.sin(turn) * x + np.cos(turn) * y
        back = -(np.cos(turn) * x + np.sin(turn) * y)
        return np.stack([right, -(np.cos(tilt) * z + np.sin(tilt) * back)], axis=-1)


def _ground_lines(points: Array) -> list[Array]:
    """A grid of 0.25 m at the height of the lowest point, around everything and the origin."""
    height = float(min(points[:, 2].min(), 0.0))
    step = 0.25
    flat = np.concatenate([points[:, :2], np.zeros((1, 2))])
    (left, front), (right, back) = (
        step * (np.floor(flat.min(axis=0) / step) - 1),
        step * (np.ceil(flat.max(axis=0) / step) + 1),
    )
    across = np.arange(left, right + step / 2, step)
    along = np.arange(front, back + step / 2, step)
    lines = [np.array([[x, front, height], [x, back, height]]) for x in across]
    return lines + [np.array([[left, y, height], [right, y, height]]) for y in along]


def _polyline(points: Array, colour: str, width: float, opacity: float) -> str:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    style = f"stroke='{colour}' stroke-width='{width:g}' stroke-opacity='{opacity:g}'"
    return f"<polyline points='{places}' fill='none' {style} stroke-linecap='round' stroke-linejoin='round'/>"


def _dot(at: Array, colour: str, radius: float, words: Any) -> str:
    title = f"<title>{escape(str(words))}</title>"
    return f"<circle cx='{at[0]:.1f}' cy='{at[1]:.1f}' r='{radius:g}' fill='{colour}'>{title}</circle>"
