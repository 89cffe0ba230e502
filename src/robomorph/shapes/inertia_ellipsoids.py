"""Masses made visible: for every body, the solid ellipsoid that has its mass and its inertia."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robomorph.model import WORLD, Ellipsoid, Inertia, Model, Pose, Shape

COLOR = (0.25, 0.55, 0.95, 0.45)
# Squares of semi-axes below this share of the largest are rounding.
_FLAT = 1e-9


class InertiaShapes(NamedTuple):
    """The ellipsoids, and for every body with inertia that has none its link's name and the reason."""

    shapes: tuple[Shape, ...]
    skipped: dict[str, str]


def inertia_shapes(model: Model) -> InertiaShapes:
    """One ellipsoid for each body: about its centre of mass, along its principal axes, of uniform density,
    with the mass and principal moments of all that the body is made of. Bodies without mass have none."""
    carried = [(i, body.name, body.inertia) for i, body in enumerate(model.bodies)]
    shapes, skipped = [], {}
    for body, link, inertia in [(WORLD, model.link_names[0], model.standing), *carried]:
        if inertia.is_zero:
            continue
        found = _ellipsoid(inertia)
        if isinstance(found, str):
            skipped[link] = found
        else:
            pose, ellipsoid = found
            shapes.append(Shape("inertia", f"{link}_inertia", link, body, pose, ellipsoid, COLOR))
    return InertiaShapes(tuple(shapes), skipped)


def _ellipsoid(inertia: Inertia) -> tuple[Pose, Ellipsoid] | str:
    """The ellipsoid and its pose, or why there is none.

    Semi-axes a, b, c of mass m have the moments m (b^2 + c^2) / 5 and so on, so that a^2 is 5 / (2 m) times
    the other two moments less its own.
    """
    if inertia.mass <= 0.0:
        return "it has rotational inertia, but no mass"
    moments, axes = np.linalg.eigh(inertia.tensor)
    squares = 5.0 / (2.0 * inertia.mass) * (moments.sum() - 2.0 * moments)
    found = "principal moments " + ", ".join(f"{moment:.4g}" for moment in moments)
    if squares.min() <= _FLAT * np.abs(squares).max():
        whole = squares.min() >= -_FLAT * np.abs(squares).max()
        return f"{found}: {'a point, a line or a plate' if whole else 'no real body has them'}"
    if np.linalg.det(axes) < 0.0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    a, b, c = (float(radius) for radius in np.sqrt(squares))
    return Pose(axes, inertia.com), Ellipsoid((a, b, c))
