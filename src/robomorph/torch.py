"""Robots as functions of Torch tensors: autograd, torch.func, torch.compile on kernels (docs/arrays.md).

functions = robomorph.torch.Functions(robomorph.load("iiwa14"))
functions.forward_dynamics(q, qd, tau).square().sum().backward()
"""

from robomorph.interop.packages import require

require("torch", at_least=(2, 6))  # 2.5 cannot nest its own vmap around an operator

from robomorph.interop.torch.functions import Functions  # noqa: E402

__all__ = ["Functions"]
