"""The bridge to JAX; its face is `robomorph.jax`."""
