"""The face of the bridge: a robot's algorithms as JAX functions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from robomorph.errors import ArgumentError
from robomorph.interop.functions import Function, function_named, wrench_links
from robomorph.interop.jax.callee import Callee
from robomorph.interop.jax.derivatives import define_derivatives
from robomorph.interop.jax.primitives import VALUE
from robomorph.interop.jax.target import let_call, takes_handler
from robomorph.interop.kernels import Kernels, Wanted
from robomorph.robot_functions import RobotFunctions
from robomorph.runtime.arguments import check_shape

if TYPE_CHECKING:
    from robomorph.robot import Robot

define_derivatives()


class Functions(RobotFunctions):
    """Every algorithm of a robot as a JAX function with the name and arguments of the robot's method: jit, vmap,
    grad, jacfwd, jacrev, scan and their like work on them, on the CPU.

    Arguments are JAX or NumPy arrays with leading batch dimensions, which broadcast; results are JAX arrays, or
    named tuples of them. float32 gives float32, float64 needs `jax_enable_x64`, mixed arguments are promoted as
    jax.numpy does; whole numbers count as JAX's default floats. Numbers that the robot's methods refuse
    (NaN, infinity, quaternions of another length than one) give NaN.

    Derivatives are kernels of their own. By q they are those of the function of q with its quaternions and (cos, sin)
    pairs normalised, so they have nq entries. threads: of one call; None for robomorph's default.
    """

    def __init__(self, robot: Robot, *, threads: int | None = 1) -> None:
        self.robot, self.threads = robot, threads
        self._kernels = Kernels(robot, threads=threads)
        self._jitted: dict[tuple[str, str | None], Any] = {}

    def _call(self, name: str, args: tuple[Any, ...], f_ext: Any = None, frame: str | None = None) -> Any:
        function = function_named(name)
        names = (*function.inputs, *function.parameters)
        arrays = tuple(_array(n, x) for n, x in zip(names, args, strict=True))
        links = wrench_links(self.robot.link_names, f_ext)
        wrenches: Any = None
        if isinstance(f_ext, Mapping):
            wrenches = tuple(_array(f"f_ext[{link!r}]", f_ext[link]) for link in links)
        elif links:
            wrenches = _array("f_ext", f_ext)
        return self._function(name, links, frame)(arrays, wrenches)

    def _function(self, name: str, links: tuple[str, ...], frame: str | None) -> Any:
        known = self._jitted.get((name, links, frame))
        if known is None:
            if frame is not None and not isinstance(frame, str):
                raise ArgumentError(f"frame: expected the name of a link or tool frame, found {frame!r}")
            traced = partial(_evaluate, self._kernels, Wanted(name, links, frame))
            traced.__name__ = name  # type: ignore[attr-defined]
            known = self._jitted[name, links, frame] = jax.jit(traced)
        return known

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.robot, self.threads)

    def __repr__(self) -> str:
        return f"<JAX functions of {self.robot!r}>"


def _remake(robot: Robot, threads: int | None) -> Functions:
    return Functions(robot, threads=threads)
