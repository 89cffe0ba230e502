"""The tensors that users pass: checked, of one dtype, of the same batch dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from robomorph.errors import ArgumentError
from robomorph.interop.torch.rooms import DTYPES, PLAIN


def are_ready(values: Sequence[Any]) -> bool:
    """May these go to a kernel as they are? It checks by itself how long their last dimensions are."""
    first = values[0]
    if type(first) not in PLAIN or first.dtype not in DTYPES or first.is_nested:
        return False
    dtype, lead = first.dtype, first.shape[:-1]
    for value in values:
        if type(value) not in PLAIN or value.is_nested or value.dtype is not dtype:
            return False
        if value.shape[:-1] != lead:
            return False
        if not value.is_cpu or value.layout is not torch.strided:
            return False
    return True


def as_tensor(name: str, value: Any, *, number: bool = False) -> Any:
    """`value` itself if kernels can read it. number: Python's own numbers will do, too."""
    if isinstance(value, torch.Tensor):
        if value.dtype in DTYPES and value.device.type == "cpu" and _is_dense(value):
            return value
        _refuse(name, value)
    if number and isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    kind = type(value).__name__
    raise ArgumentError(f"{name}: expected a Torch tensor, found {kind}: pass torch.as_tensor({name})")


def _is_dense(value: Tensor) -> bool:
    return value.layout is torch.strided and not value.is_nested


def _refuse(name: str, value: Tensor) -> None:
    if value.device.type != "cpu":
        raise ArgumentError(
            f"{name}: expected a tensor in the CPU's memory, found one on {value.device}: kernels run on the"
            f" CPU, so pass {name}.cpu()"
        )
    if value.is_nested:
        raise ArgumentError(
            f"{name}: expected a dense tensor, found a nested one: pass each of {name}.unbind() by itself"
        )
    if value.layout is not torch.strided:
        raise ArgumentError(
            f"{name}: expected a dense tensor, found layout {value.layout}: pass {name}.to_dense()"
        )
    mend = "convert it with .double() or .float()"
    if value.is_complex():
        mend = "pass its real part"
    raise ArgumentError(f"{name}: expected float32 or float64, found {value.dtype}: {mend}")


def fit(names: Sequence[str], given: Sequence[Any], shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Tensors (*lead, *shape) of one dtype, float32 if all of them are: views where that needs no copy."""
    dtypes = [value.dtype for value in given if isinstance(value, torch.Tensor)]
    dtype = torch.float32 if all(d is torch.float32 for d in dtypes) else torch.float64
    tensors = [
        value.to(dtype) if isinstance(value, torch.Tensor) else _number(name, value, dtype)
        for name, value in zip(names, given, strict=True)
    ]
    leads: list[Sequence[int]] = []
    for name, tensor, shape in zip(names, tensors, shapes, strict=True):
        count = tensor.dim() - len(shape)
        if count < 0 or tuple(tensor.shape[count:]) != shape:
            wanted = ", ".join(["...", *map(str, shape)])
            raise ArgumentError(f"{name}: expected shape ({wanted}), found {tuple(tensor.shape)}")
        leads.append(tensor.shape[:count])
    if all(lead == leads[0] for lead in leads):
        return tensors
    lead = _broadcast(names, leads)
    return [tensor.expand(*lead, *shape) for tensor, shape in zip(tensors, shapes, strict=True)]


def _number(name: str, value: Any, dtype: torch.dtype) -> Tensor:
    try:
        return torch.full((), value, dtype=dtype, device="cpu")
    except (OverflowError, RuntimeError) as error:  # Torch has no common type for what is too large
        raise ArgumentError(f"{name}: expected a number that {dtype} holds, found a larger one") from error


def _broadcast(names: Sequence[str], leads: Sequence[Sequence[int]]) -> Sequence[int]:
    try:
        lead: Sequence[int] = torch.broadcast_shapes(*leads)
    except RuntimeError:
        found = ", ".join(f"{name} {tuple(lead)}" for name, lead in zip(names, leads, strict=True))
        raise ArgumentError(f"batch dimensions do not broadcast together: {found}") from None
    return lead
