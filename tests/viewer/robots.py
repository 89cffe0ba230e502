"""Robots of these tests, each beside Pinocchio's model of it, and a session without a page."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph import Robot
from robomorph.model.robots import builtin_urdf
from robomorph.viewer.session import Session
from robomorph.viewer.shown import make_shown
from tests.oracle.reference import Reference, build

Array = npt.NDArray[np.float64]
FLOATING = {"iiwa14": False, "hyq": True, "atlas": True}
TOOL = {"iiwa14": "lbr_iiwa_link_7", "hyq": "lf_foot", "atlas": "r_hand"}
_FOOT = np.eye(4)
_FOOT[0, 3] = 0.33  # m, below the knee
TOOLS: dict[str, dict[str, tuple[str, Array]]] = {"hyq": {"lf_foot": ("lf_lowerleg", _FOOT)}}


@cache
def loaded(name: str) -> Robot:
    return robomorph.load(name, floating_base=FLOATING[name], tool_frames=TOOLS.get(name))


@cache
def reference(name: str) -> Reference:
    text = (builtin_urdf(name) or b"").decode()
    return Reference(loaded(name), build(text, floating=FLOATING[name]), TOOLS.get(name))


def pose_by_pinocchio(name: str, q: Any, frame: str) -> Array:
    """(4, 4)."""
    return np.asarray(reference(name).forward_kinematics(np.asarray(q, float), frame))


def bent(name: str) -> Array:
    """(nq,) inside the limits and away from singularities."""
    robot = loaded(name)
    limits = robot.limits
    q = robot.neutral.copy()
    free = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    q[free] = 0.35 * limits.lower[free] + 0.65 * limits.upper[free]
    return np.asarray(q)


def session_of(*names: str, **more: Any) -> Session:
    robots = [make_shown(loaded(name), bent(name), **more) for name in names]
    return Session(robots, lambda: {"version": 1, "title": ", ".join(names), "robots": []})
