"""Spatial (6-D) vector algebra over a generic scalar.

A scalar is anything with ``+ - *`` (a float, a traced expression, a NumPy array). Zeros and
ones that are plain floats fold away when the other operand is a traced expression, which is
how structural sparsity reaches the generated code. Spatial vectors are angular first.
"""

from robomorph.spatial.inertia import BodyInertia, Symmetric
from robomorph.spatial.quaternion import quaternion_turn
from robomorph.spatial.rotation_vector import RotationVector, unit, unit_product
from robomorph.spatial.scalar import (
    Scalar,
    absolute,
    atan2,
    cos,
    maximum,
    minimum,
    reciprocal,
    select,
    sin,
    sqrt,
)
from robomorph.spatial.transform import Matrix3, Move, Rotation, Transform, Translation, Turn
from robomorph.spatial.vectors import ZERO3, Force, Motion, Vec3, add3, cross3, dot3, neg3, scale3, sub3

__all__ = [
    "ZERO3",
    "BodyInertia",
    "Force",
    "Matrix3",
    "Motion",
    "Move",
    "Rotation",
    "RotationVector",
    "Scalar",
    "Symmetric",
    "Transform",
    "Translation",
    "Turn",
    "Vec3",
    "absolute",
    "add3",
    "atan2",
    "cos",
    "cross3",
    "dot3",
    "maximum",
    "minimum",
    "neg3",
    "quaternion_turn",
    "reciprocal",
    "scale3",
    "select",
    "sin",
    "sqrt",
    "sub3",
    "unit",
    "unit_product",
]
