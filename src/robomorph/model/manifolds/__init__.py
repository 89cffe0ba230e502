"""Where the configurations of a joint live: how they step, differ and are drawn."""

from robomorph.model.manifolds.base import Manifold
from robomorph.model.manifolds.flat import Flat
from robomorph.model.manifolds.se2 import SE2
from robomorph.model.manifolds.se3 import SE3
from robomorph.model.manifolds.so3 import SO3

__all__ = ["SE2", "SE3", "SO3", "Flat", "Manifold"]
