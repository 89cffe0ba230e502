"""Scenes that several tests look at."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph.robot import Robot
from robomorph.viewer.document import encoded
from robomorph.viewer.html import page_html
from robomorph.viewer.poses import sevens
from robomorph.viewer.scene import Placing, make_scene

Array = npt.NDArray[np.float64]
RED, GREEN, BLUE = (0.9, 0.1, 0.1, 1.0), (0.1, 0.8, 0.1, 1.0), (0.1, 0.2, 0.9, 1.0)


@cache
def robot(name: str, floating: bool = False) -> Robot:
    return robomorph.load(name, floating_base=floating)


def swing(model: Robot, samples: int = 61) -> tuple[Array, Array]:
    """(times, q) of a motion of two seconds in which all joints swing, and a floating base too."""
    times = np.linspace(0.0, 2.0, samples)
    sizes = np.linspace(0.1, 0.3, model.nv)
    return times, model.integrate(Placing(model).q, sizes * np.sin(2.0 * times)[:, None])


def motion(model: Robot, samples: int = 61, index: int = 0, name: str = "swing") -> dict[str, Any]:
    """The same as a trajectory, with two plots."""
    times, q = swing(model, samples)
    lines = [
        {"name": f"c{k}", "values": np.round(q[:, k], 6).tolist(), "lower": -2.0, "upper": 2.0}
        for k in range(min(3, model.nq))
    ]
    wave = [{"name": "wave", "values": np.sin(40.0 * times).tolist(), "lower": None, "upper": None}]
    return {
        "name": name,
        "robot": index,
        "times": times.tolist(),
        "poses": encoded(sevens(model.link_poses(q)), "<f4"),
        "plots": [
            {"title": "coordinates", "unit": "rad", "lines": lines},
            {"title": "a wave", "unit": "m", "lines": wave},
        ],
    }


def block(
    colour: tuple[float, ...], place: tuple[float, ...], link: int, size: float = 0.1
) -> dict[str, Any]:
    """A cube on a link."""
    return {
        "link": link,
        "layer": "visual",
        "kind": "box",
        "size": [size, size, size],
        "position": list(place),
        "quaternion": [0.0, 0.0, 0.0, 1.0],
        "colour": list(colour),
        "name": "block",
    }


def blocks(**more: Any) -> dict[str, Any]:
    """A hand-made scene: three links, a cube on each."""
    poses = [[0.0, 0.0, 0.1, 0, 0, 0, 1.0], [0.4, 0.0, 0.3, 0, 0, 0, 1.0], [0.0, 0.4, 0.5, 0, 0, 0, 1.0]]
    shapes = [block(colour, (0.0, 0.0, 0.0), k) for k, colour in enumerate((RED, GREEN, BLUE))]
    links = ["red", "green", "blue"]
    one = {"name": "blocks", "ghost": False, "links": links, "poses": poses, "q": [], "shapes": shapes}
    return {"version": 1, "title": "blocks", "up": "z", "robots": [one], **more}


def write_scene(scene: dict[str, Any], path: Path) -> Path:
    path.write_text(page_html(scene), encoding="utf-8")
    return path


def write_robot(model: Robot, path: Path, **more: Any) -> Path:
    return write_scene(make_scene([model], **more), path)
