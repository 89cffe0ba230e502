"""Robots as JAX functions: see docs/arrays.md. Needs the extra 'jax'."""

from robomorph.interop.packages import require

require("jax")
