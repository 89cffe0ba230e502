"""Robot models: reading URDF, checking it, and reducing it to the moving bodies."""

from .description import Description, Joint, Limits, Link, Mimic
from .geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Shape, Sphere
from .inertia import Inertia
from .load import load_model
from .model import WORLD, Body, Frame, Model
from .passive import Passive
from .pose import Pose
from .robots import builtin_robots

__all__ = [
    "WORLD",
    "Body",
    "Box",
    "Capsule",
    "Cylinder",
    "Description",
    "Ellipsoid",
    "Frame",
    "Geometry",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "Mesh",
    "Mimic",
    "Model",
    "Passive",
    "Pose",
    "Shape",
    "Sphere",
    "builtin_robots",
    "load_model",
]
