"""What a robot looks like and what it may touch: shapes fixed to its bodies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from .exact import Exact
from .pose import Pose

Triple: TypeAlias = tuple[float, float, float]
Color: TypeAlias = tuple[float, float, float, float]
# Of a file: visual, collision. Drawn from the tree and the masses (robomorph.shapes): skeleton, inertia.
ShapeKind: TypeAlias = Literal["visual", "collision", "skeleton", "inertia"]


@dataclass(frozen=True)
class Box:
    """A box about its origin; `size` is its whole length along x, y and z, m."""

    size: Triple


@dataclass(frozen=True)
class Cylinder:
    """A cylinder along z about its origin, m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """A ball about its origin, m."""

    radius: float


@dataclass(frozen=True)
class Capsule:
    """A cylinder along z about its origin, with half a ball at both ends, m.

    `length` is the cylinder's alone: from end to end it is length + 2 radius.
    """

    radius: float
    length: float


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid about its origin; `radii` are its semi-axes along x, y and z, m."""

    radii: Triple


@dataclass(frozen=True)
class Mesh:
    """Triangles in a file, which `robomorph.shapes.read_mesh(path, scale)` reads.

    uri: as the description names it. scale: along the mesh's own x, y and z; negative ones mirror.
    path: the file, found when the robot was loaded; None if there was none.
    """

    uri: str
    scale: Triple = (1.0, 1.0, 1.0)
    path: Path | None = None


Geometry: TypeAlias = Box | Cylinder | Sphere | Capsule | Ellipsoid | Mesh


@dataclass(frozen=True, eq=False)
class Shape(Exact):
    """A geometry fixed to a body.

    kind: what it is for. name: as in the file, or made from the link's; several shapes may share one.
    link: the link of the file that it belongs to. body: index of the body that carries the link, or WORLD
    (-1). placement: the geometry's pose in the body's frame (not the link's, as fixed joints are merged): its
    pose in the world is the body's composed with it. color: red, green, blue and opacity from 0 to 1, or None
    where the file gives none.
    """

    kind: ShapeKind
    name: str
    link: str
    body: int
    placement: Pose
    geometry: Geometry
    color: Color | None = None

    @property
    def is_missing(self) -> bool:
        """Whether this is a mesh whose file was not found."""
        return isinstance(self.geometry, Mesh) and self.geometry.path is None
