"""Whether JAX is there, and its doubles, for these tests alone."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed: pip install 'robomorph[jax]'")


@pytest.fixture(autouse=True)
def doubles() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
