"""The face of the bridge: a robot's algorithms as JAX functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp

from robomorph.errors import ArgumentError
from robomorph.interop.bridge import BridgeFunctions, require_robot
from robomorph.interop.functions import ALL, function_named, wrench_links
from robomorph.interop.jax.arguments import as_array, broadcast, common_dtype, fit
from robomorph.interop.jax.callee import Callee
from robomorph.interop.jax.derivatives import define_derivatives
from robomorph.interop.jax.primitives import VALUE, bind
from robomorph.interop.jax.target import let_call, takes_handler
from robomorph.interop.kernels import Kernels, Wanted
from robomorph.ir.program import Port
from robomorph.runtime.results import result_type

if TYPE_CHECKING:
    from robomorph.robot import Robot

define_derivatives()


def _let_results_be_exported() -> None:
    """Named tuples in functions that `jax.export` writes."""
    try:
        from jax import export  # in some versions it needs packages that JAX does not bring
    except ImportError:
        return
    for function in ALL.values():
        kind = result_type(function.name, [Port(name, ()) for name in function.outputs])
        if kind is not None:
            export.register_namedtuple_serialization(kind, serialized_name=f"robomorph.{kind.__name__}")


_let_results_be_exported()


class Functions(BridgeFunctions):
    """Every algorithm of a robot as a JAX function, with the name and arguments of the robot's method: jit,
    vmap, grad, jacfwd, jacrev, scan and their like work on them, on the CPU.

    Arguments are JAX or NumPy arrays with leading batch dimensions, which broadcast; results are JAX arrays,
    or named tuples of them. float32 gives float32, float64 needs `jax_enable_x64`; mixed arguments are
    promoted as jax.numpy does, and whole numbers alone count as JAX's default floats. NaN and infinity,
    which the robot's methods refuse, go through; quaternions of another length than one give NaN.

    Derivatives are kernels, too. By q they are those of the function of q with its quaternions and (cos, sin)
    pairs normalised, so they have nq entries. threads: of one call at most; None for robomorph's default.
    """

    def __init__(self, robot: Robot, *, threads: int | None = 1) -> None:
        self.robot, self.threads = require_robot(robot), threads
        self._kernels = Kernels(robot, threads=threads)
        self._jitted: dict[Any, Any] = {}

    def prepare(
        self,
        name: str,
        *,
        frame: str | None = None,
        f_ext: Any = None,
        dtype: str = "float64",
        derivative: str | None = None,
    ) -> None:
        """Compile a function's kernel now, for every batch size, and let compiled programs of this process
        call it: those that were exported by another (docs/arrays.md). `f_ext`: any of the form it will have.
        derivative: "vjp", "jvp" or "hvp" for the kernels behind `jax.grad`, `jax.jvp` and `jax.hessian`."""
        links = wrench_links(self.robot.link_names, f_ext)
        wanted = Wanted(function_named(name).name, links, frame, str(dtype), derivative)
        if takes_handler():
            let_call(Callee(self._kernels, wanted), None)

    def _call(self, name: str, args: tuple[Any, ...], f_ext: Any = None, frame: str | None = None) -> Any:
        if frame is not None and not isinstance(frame, str):
            raise ArgumentError(f"frame: expected the name of a link or tool frame, found {frame!r}")
        links = () if f_ext is None else wrench_links(self.robot.link_names, f_ext)
        key = (name, links, isinstance(f_ext, Mapping), frame)
        known = self._jitted.get(key) or self._jit(*key)
        function = function_named(name)
        names = (*function.inputs, *function.parameters)
        arrays = [as_array(n, x) for n, x in zip(names, args, strict=True)]
        if links:
            given = [f_ext[link] for link in links] if key[2] else [f_ext]
            arrays += [as_array(n, x) for n, x in zip(_wrench_names(links, key[2]), given, strict=True)]
        return known(*arrays)

    def _jit(self, name: str, links: tuple[str, ...], by_name: bool, frame: str | None) -> Any:
        kernels, function = self._kernels, function_named(name)
        split = len(function.inputs)
        names = (*function.inputs, *function.parameters, *_wrench_names(links, by_name))

        def traced(*arrays: Any) -> Any:
            arrays = tuple(map(jnp.asarray, arrays))  # so they are already, but under jax.disable_jit
            dtype = common_dtype(names, arrays)
            given = list(arrays[: len(names) - len(_wrench_names(links, by_name))])
            if links:
                wrenches = arrays[len(given) :]
                given.insert(split, _stacked(names[len(given) :], wrenches) if by_name else wrenches[0])
            return _evaluate(Callee(kernels, Wanted(name, links, frame, str(dtype))), given, dtype)

        traced.__name__ = name
        self._jitted[name, links, by_name, frame] = jax.jit(traced)
        return self._jitted[name, links, by_name, frame]

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.robot, self.threads)

    def __repr__(self) -> str:
        return f"<JAX functions of {self.robot!r}>"


def _remake(robot: Robot, threads: int | None) -> Functions:
    return Functions(robot, threads=threads)


def _wrench_names(links: tuple[str, ...], by_name: bool) -> list[str]:
    if not links:
        return []
    return [f"f_ext[{link!r}]" for link in links] if by_name else ["f_ext"]


def _stacked(names: tuple[str, ...], wrenches: tuple[Any, ...]) -> Any:
    """Wrenches (..., 6) of several links as one array (..., n, 6)."""
    lead = broadcast(names, wrenches, [(6,)] * len(wrenches))
    return jnp.stack([jnp.broadcast_to(w, (*lead, 6)) for w in wrenches], -2)


def _evaluate(callee: Callee, arrays: list[Any], dtype: Any) -> Any:
    """The kernel's results for arguments in the order of its ports."""
    ports = callee.kernel.inputs
    fitted = fit([p.name for p in ports], arrays, [p.shape for p in ports], dtype)
    results = bind(VALUE, *fitted, callee=callee)
    kind = callee.kernel.result_type
    return results[0] if kind is None else kind(*results)
