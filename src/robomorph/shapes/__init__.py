"""What is done with the shapes of a model: drawing robots that have none, and reading mesh files."""

from .inertia_ellipsoids import InertiaShapes, inertia_shapes
from .mesh_files import Triangles, read_mesh
from .skeleton import shapes_to_draw, skeleton_shapes

__all__ = [
    "InertiaShapes",
    "Triangles",
    "inertia_shapes",
    "read_mesh",
    "shapes_to_draw",
    "skeleton_shapes",
]
