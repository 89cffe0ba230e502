"""Between the coordinates of q, which Torch differentiates by, and the tangent space, where kernels do.

In Torch's own operations, so that they differentiate and batch."""

from __future__ import annotations

import torch

from robomorph.interop.coordinates import parts_of, tangent_of, tangent_transposed
from robomorph.model import Model
from robomorph.model.manifolds.se2 import SE2
from robomorph.model.manifolds.so3 import SO3

Tensor = torch.Tensor


def to_tangent(model: Model, q: Tensor, dq: Tensor) -> Tensor:
    """A change of coordinates (..., nq) as a tangent step (..., nv)."""
    step: Tensor = tangent_of(torch, model, q, dq)
    return step


def to_coordinates(model: Model, q: Tensor, gradient: Tensor) -> Tensor:
    """A derivative by tangent steps (..., nv) as one by coordinates (..., nq)."""
    by_q: Tensor = tangent_transposed(torch, model, q, gradient)
    return by_q


def bracket(model: Model, step: Tensor, gradient: Tensor) -> Tensor:
    """(..., nv): by how much the derivatives of a function along e_i and then along `step` differ from those
    taken the other way round; `gradient` is its derivative by tangent steps. Steps are taken in moved axes,
    so their order counts: two turns differ by the turn about the product of their axes."""
    pieces = []
    for part in parts_of(model):
        u, g = step[..., part.v], gradient[..., part.v]
        if part.space is None:
            pieces.append(torch.zeros_like(u))
        elif part.space is SO3:
            pieces.append(torch.linalg.cross(u, g))
        elif part.space is SE2:
            x, y, turn = g[..., 0], g[..., 1], u[..., 2]
            pieces.append(torch.stack([-turn * y, turn * x, u[..., 0] * y - u[..., 1] * x], -1))
        else:
            turned = torch.linalg.cross(u[..., 3:], g[..., :3])
            spun = torch.linalg.cross(u[..., :3], g[..., :3]) + torch.linalg.cross(u[..., 3:], g[..., 3:])
            pieces += [turned, spun]
    return torch.cat(pieces, -1)
