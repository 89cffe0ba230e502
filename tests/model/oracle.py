"""Pinocchio as the independent opinion on what a URDF file says."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from robomorph.model import WORLD, Model


def example_robots() -> list[Path]:
    """Every URDF file of the package example-robot-data; empty if it is not installed."""
    try:
        files = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        return []
    return sorted(Path(str(file.locate())) for file in files if file.suffix == ".urdf")


def example_robot(name: str) -> Path | None:
    """The example robot in the file `name`.urdf, if installed."""
    return next((path for path in example_robots() if path.stem == name), None)


def assert_same(model: Model, other: Any, tolerance: float = 1e-9) -> None:
    """Compare joints, placements, merged inertias and link frames with a pinocchio.Model, all by name."""
    names = set(other.names) - {"universe"}
    assert set(model.joint_names) == names
    for body in model.bodies:
        index = other.getJointId(body.joint_name)
        parent = "universe" if body.parent == WORLD else model.bodies[body.parent].joint_name
        assert other.names[other.parents[index]] == parent
        _same(body.placement.matrix, other.jointPlacements[index].homogeneous, tolerance, body.joint_name)
        inertia = other.inertias[index]
        _same(np.array(body.inertia.mass), np.array(inertia.mass), tolerance, body.name)
        _same(body.inertia.first_moment, inertia.mass * inertia.lever, tolerance, body.name)
        about_origin = inertia.matrix()[3:, 3:]
        _same(body.inertia.tensor_at_origin, about_origin, tolerance, body.name)
    links = {frame.name: frame for frame in other.frames if "BODY" in str(frame.type)}
    assert set(model.link_names) == set(links)
    for frame in model.link_placements:
        theirs = links[frame.name]
        carrier = "universe" if frame.body == WORLD else model.bodies[frame.body].joint_name
        assert other.names[theirs.parentJoint] == carrier
        _same(frame.placement.matrix, theirs.placement.homogeneous, tolerance, frame.name)


def _same(ours: Any, theirs: Any, tolerance: float, what: str) -> None:
    scale = max(1e-12, float(np.abs(theirs).max()))
    worst = float(np.abs(np.asarray(ours) - np.asarray(theirs)).max())
    assert worst <= tolerance * scale, f"{what}: {worst} off, of {scale}\n{ours}\n{theirs}"
