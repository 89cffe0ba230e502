"""Torch and the bridge to it; without Torch the modules that import this are skipped.

With ROBOMORPH_REQUIRE_TORCH=1 they fail instead.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.interop.cases import Array, arguments, listed, load

try:
    import torch
except ImportError:
    if os.environ.get("ROBOMORPH_REQUIRE_TORCH") == "1":
        raise
    pytest.skip("Torch is not installed: pip install 'robomorph[torch]'", allow_module_level=True)

from robomorph.torch import Functions

__all__ = ["Functions", "leaves", "normal", "same", "tensors", "torch", "unit_length"]


def tensors(
    case: str, name: str = "forward_dynamics", batch: int | tuple[int, ...] = (), dtype: str = "float64"
) -> list[Any]:
    """Arguments of a function, wrenches not counted."""
    return [torch.from_numpy(x) for x in arguments(load(case), name, batch, dtype=dtype)]


def leaves(given: list[Any]) -> list[Any]:
    """Copies that require grad."""
    return [x.clone().requires_grad_() for x in given]


def normal(like: Any, seed: int) -> list[Any]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(x.shape, dtype=x.dtype, generator=generator) for x in listed(like)]


def same(found: Any, expected: Any) -> None:
    """The bits, shapes and dtypes of NumPy's results."""
    found, expected = listed(found), listed(expected)
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        array: Array = a.detach().numpy()
        assert isinstance(a, torch.Tensor) and array.dtype == b.dtype and array.shape == b.shape
        assert array.tobytes() == b.tobytes()


def unit_length(case: str, q: Any) -> Any:
    """q with its quaternions and (cos, sin) pairs normalised, in Torch's operations."""
    pieces, place = [], 0
    for unit in load(case)._units:
        own = q[..., unit.start : unit.stop]
        pieces += [q[..., place : unit.start], own / own.norm(dim=-1, keepdim=True)]
        place = unit.stop
    return torch.cat([*pieces, q[..., place:]], -1)
