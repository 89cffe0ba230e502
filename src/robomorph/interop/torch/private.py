"""Parts of Torch that the bridge is made of and that Torch promises to nobody, looked up once: a Torch that
has none of that name is refused when the bridge is imported, not by a call."""

from __future__ import annotations

from typing import Any

import torch
from torch._functorch import autograd_function
from torch.autograd import forward_ad
from torch.autograd import function as autograd
from torch.utils import _pytree

from robomorph.errors import MissingPackageError


def _part(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise MissingPackageError(
            f"robomorph.torch needs {module.__name__}.{name}, which torch {torch.__version__} does not have:"
            " pip install 'torch>=2.6,<=2.15'",
            name="torch",
        )
    return getattr(module, name)


_C = torch._C
SingleLevelFunction: Any = _part(autograd, "_SingleLevelFunction")
single_levels_allowed: Any = _part(autograd_function, "enable_single_level_autograd_function")
register_namedtuple: Any = _part(_pytree, "_register_namedtuple")

transforms_are_active: Any = _part(_C, "_are_functorch_transforms_active")
count_of_dispatch_modes: Any = _part(_C, "_len_torch_dispatch_stack")
tracing_state: Any = _part(_C, "_get_tracing_state")
is_wrapped: Any = _part(_part(_C, "_functorch"), "is_functorch_wrapped_tensor")

AFTER_AUTOGRAD: Any = _part(_C, "_after_autograd_keyset")
below_autograd: Any = _part(_C, "_AutoDispatchBelowAutograd")
forward_mode_is_enabled: Any = _part(_C, "_is_fwd_grad_enabled")
forward_mode_enabled: Any = _part(forward_ad, "_set_fwd_grad_enabled")
_part(forward_ad, "_current_level")


def in_forward_mode() -> bool:
    """Is there a level of forward mode, which the whole process shares?"""
    return bool(forward_ad._current_level >= 0)
