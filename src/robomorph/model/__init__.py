"""Robot models: reading URDF, checking it, and reducing it to the moving bodies."""

from .description import Description, Joint, Limits, Link, Mimic
from .inertia import Inertia
from .load import load_model
from .model import WORLD, Body, Frame, Model
from .pose import Pose
from .robots import builtin_robots

__all__ = [
    "WORLD",
    "Body",
    "Description",
    "Frame",
    "Inertia",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Model",
    "Pose",
    "builtin_robots",
    "load_model",
]
