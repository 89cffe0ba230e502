"""Robots as JAX functions: jit, vmap, grad and the rest of JAX on compiled kernels (docs/arrays.md).

functions = robomorph.jax.Functions(robomorph.load("iiwa14"))
jax.jit(jax.vmap(functions.forward_dynamics))(q, qd, tau)
"""

from robomorph.interop.packages import require

require("jax", at_least=(0, 5))

from robomorph.interop.jax.functions import Functions  # noqa: E402

__all__ = ["Functions"]
