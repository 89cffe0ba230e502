"""Coordinates q (nq) and tangent vectors (nv) for packages whose derivatives count coordinates.

A bridge's arrays hold q as coordinates, in which quaternions and (cos, sin) pairs have length one.
Derivatives with respect to q are those of f(q with these normalised): a change of coordinates dq is first
projected to a tangent vector T(q) dq, and the kernels' derivatives are taken in the tangent space. Along a
quaternion's own length T(q) is zero. Where coordinates simply add, T(q) is the identity.

`xp` is any module with `stack` and `concatenate` along the last axis (numpy, jax.numpy, torch, ...); only
`+ - * / **` and slices of the arrays are used, so every package differentiates and batches what is here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from robomorph.algorithms.tree import coordinate_starts
from robomorph.errors import DerivativeError
from robomorph.model import Model
from robomorph.model.joints import JOINT_TYPES
from robomorph.model.manifolds.flat import Flat
from robomorph.model.manifolds.se2 import SE2
from robomorph.model.manifolds.se3 import SE3
from robomorph.model.manifolds.so3 import SO3

Numbers = Sequence[Any]  # scalars, or arrays of the batch's shape
Map = Callable[[Numbers, Numbers], list[Any]]


class Part(NamedTuple):
    """Consecutive entries of q and of a tangent vector that belong together. `space`: None where they simply
    add (several joints in one part), else SO3, SE2 or SE3."""

    space: type | None
    q: slice
    v: slice


def parts_of(model: Model) -> tuple[Part, ...]:
    """The parts of a robot's coordinates, in order."""
    parts: list[Part] = []
    for index, (iq, iv) in coordinate_starts(model).items():
        joint = JOINT_TYPES[model.bodies[index].kind]
        manifold = joint.known_manifold
        if manifold is None or type(manifold) not in (Flat, *_TANGENT):
            raise DerivativeError(
                f"joint {model.bodies[index].joint_name}: expected coordinates of a known manifold, found"
                f" joint type {type(joint).__name__} with rules of its own, so no derivative by q"
            )
        space = None if isinstance(manifold, Flat) else type(manifold)
        q, v = slice(iq, iq + joint.nq), slice(iv, iv + joint.nv)
        if parts and space is None and parts[-1].space is None:
            q, v = slice(parts[-1].q.start, q.stop), slice(parts.pop().v.start, v.stop)
        parts.append(Part(space, q, v))
    return tuple(parts)


def is_flat(model: Model) -> bool:
    """Do all coordinates simply add?"""
    return all(part.space is None for part in parts_of(model))


def tangent_of(xp: Any, model: Model, q: Any, dq: Any) -> Any:
    """T(q) dq: the tangent vector (..., nv) of a change dq (..., nq) of the coordinates q (..., nq)."""
    return _mapped(xp, model, q, dq, _TANGENT, to_tangent=True)


def tangent_transposed(xp: Any, model: Model, q: Any, g: Any) -> Any:
    """T(q)' g: the gradient (..., nq) in coordinates, from g (..., nv), the gradient in the tangent space."""
    return _mapped(xp, model, q, g, _TANGENT_TRANSPOSED, to_tangent=False)


def lift(xp: Any, model: Model, q: Any, v: Any) -> Any:
    """L(q) v: the change (..., nq) of the coordinates q along a tangent vector v (..., nv); T(q) L(q) = 1."""
    return _mapped(xp, model, q, v, _LIFT, to_tangent=False)


def lift_transposed(xp: Any, model: Model, q: Any, w: Any) -> Any:
    """L(q)' w (..., nv) for a gradient w (..., nq) in coordinates."""
    return _mapped(xp, model, q, w, _LIFT_TRANSPOSED, to_tangent=True)


def bracket_transposed(xp: Any, model: Model, u: Any, g: Any) -> Any:
    """B(u)' g (..., nv) with g . [v, u] = v . B(u)' g, where [v, u] is the bracket of the fields along
    constant v and u (..., nv): D_v D_u f = D_u D_v f + D_[v,u] f, D a derivative in the tangent space."""
    pieces = []
    for part in parts_of(model):
        own, weight = u[..., part.v], g[..., part.v]
        if part.space is None:
            pieces.append(0.0 * own)
        else:
            numbers = _BRACKET_TRANSPOSED[part.space](_entries(own), _entries(weight))
            pieces.append(xp.stack(numbers, -1))
    return pieces[0] if len(pieces) == 1 else xp.concatenate(pieces, -1)


def _mapped(xp: Any, model: Model, q: Any, x: Any, maps: dict[type, Map], *, to_tangent: bool) -> Any:
    """The maps applied part by part along the last axis."""
    parts = parts_of(model)
    if all(part.space is None for part in parts):
        return x
    pieces = []
    for part in parts:
        own = x[..., part.q if to_tangent else part.v]
        if part.space is not None:
            here = q[..., part.q]
            numbers = maps[part.space](_entries(here), _entries(own))
            own = xp.stack(numbers, -1)
        pieces.append(own)
    return pieces[0] if len(pieces) == 1 else xp.concatenate(pieces, -1)


def _entries(x: Any) -> list[Any]:
    return [x[..., k] for k in range(x.shape[-1])]


# --- rotations: quaternions [x y z w] and vectors, entry by entry --------------------------------------


def _square(q: Numbers) -> Any:
    return sum(x * x for x in q[1:]) + q[0] * q[0]


def _turned(q: Numbers, v: Numbers) -> list[Any]:
    """R(q) v, for any length of q."""
    x, y, z, w = q
    two = 2.0 / _square(q)
    a, b, c = (y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0])
    return [
        v[0] + two * (w * a + y * c - z * b),
        v[1] + two * (w * b + z * a - x * c),
        v[2] + two * (w * c + x * b - y * a),
    ]


def _turned_back(q: Numbers, v: Numbers) -> list[Any]:
    x, y, z, w = q
    return _turned((-x, -y, -z, w), v)


def _half(q: Numbers, v: Numbers) -> list[Any]:
    """The quaternion q times (v / 2, 0): how q changes along the rotation vector v in the turned axes."""
    x, y, z, w = q
    a, b, c = (0.5 * k for k in v)
    return [w * a + y * c - z * b, w * b + z * a - x * c, w * c + x * b - y * a, -(x * a + y * b + z * c)]


def _half_transposed(q: Numbers, d: Numbers) -> list[Any]:
    x, y, z, w = q
    a, b, c, e = (0.5 * k for k in d)
    return [w * a + z * b - y * c - x * e, w * b + x * c - z * a - y * e, w * c + y * a - x * b - z * e]


def _so3_tangent(q: Numbers, dq: Numbers) -> list[Any]:
    scale = 4.0 / _square(q)
    return [scale * k for k in _half_transposed(q, dq)]


def _so3_tangent_transposed(q: Numbers, g: Numbers) -> list[Any]:
    scale = 4.0 / _square(q)
    return [scale * k for k in _half(q, g)]


# --- motions of space and of the plane: steps are in the moved axes --------------------------------------


def _se3(turn: Map, spin: Map) -> Map:
    def both(q: Numbers, x: Numbers) -> list[Any]:
        return [*turn(q[3:], x[:3]), *spin(q[3:], x[3:])]

    return both


def _plane(inverse: bool, spin: Map) -> Map:
    def both(q: Numbers, x: Numbers) -> list[Any]:
        c, s = q[2:]
        length = (c * c + s * s) ** 0.5
        c, s = c / length, (-s if inverse else s) / length
        return [c * x[0] - s * x[1], s * x[0] + c * x[1], *spin(q[2:], x[2:])]

    return both


def _spin(q: Numbers, dq: Numbers) -> list[Any]:
    c, s = q
    return [(c * dq[1] - s * dq[0]) / (c * c + s * s)]


def _spin_transposed(q: Numbers, g: Numbers) -> list[Any]:
    c, s = q
    rate = g[0] / (c * c + s * s)
    return [-s * rate, c * rate]


def _spin_lift(q: Numbers, v: Numbers) -> list[Any]:
    return [-q[1] * v[0], q[0] * v[0]]


def _spin_lift_transposed(q: Numbers, w: Numbers) -> list[Any]:
    return [q[0] * w[1] - q[1] * w[0]]


_TANGENT: dict[type, Map] = {
    SO3: _so3_tangent,
    SE3: _se3(_turned_back, _so3_tangent),
    SE2: _plane(True, _spin),
}
_TANGENT_TRANSPOSED: dict[type, Map] = {
    SO3: _so3_tangent_transposed,
    SE3: _se3(_turned, _so3_tangent_transposed),
    SE2: _plane(False, _spin_transposed),
}
_LIFT: dict[type, Map] = {
    SO3: _half,
    SE3: _se3(_turned, _half),
    SE2: _plane(False, _spin_lift),
}
_LIFT_TRANSPOSED: dict[type, Map] = {
    SO3: _half_transposed,
    SE3: _se3(_turned_back, _half_transposed),
    SE2: _plane(True, _spin_lift_transposed),
}


def _cross(a: Numbers, b: Numbers) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _se3_bracket_transposed(u: Numbers, g: Numbers) -> list[Any]:
    """[(l1, w1), (l2, w2)] = (w1 x l2 - w2 x l1, w1 x w2)."""
    lift, turn = _cross(u[:3], g[:3]), _cross(u[3:], g[3:])
    return [*_cross(u[3:], g[:3]), *(a + b for a, b in zip(lift, turn, strict=True))]


def _se2_bracket_transposed(u: Numbers, g: Numbers) -> list[Any]:
    return [-u[2] * g[1], u[2] * g[0], u[0] * g[1] - u[1] * g[0]]


_BRACKET_TRANSPOSED: dict[type, Map] = {
    SO3: _cross,
    SE3: _se3_bracket_transposed,
    SE2: _se2_bracket_transposed,
}
