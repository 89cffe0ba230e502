"""The face of the bridge: a robot's algorithms as functions of Torch's tensors."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.algorithms.tree import model_sizes
from robomorph.errors import ArgumentError
from robomorph.interop.bridge import BridgeFunctions, require_robot
from robomorph.interop.functions import ALL, Function, function_named, wrench_links
from robomorph.interop.torch.operator import call
from robomorph.interop.torch.private import register_namedtuple
from robomorph.interop.torch.rooms import DTYPES, described, room_of
from robomorph.interop.torch.tensors import are_ready, as_tensor, fit

if TYPE_CHECKING:
    from robomorph.robot import Robot

    class _Methods:
        """Those of `BridgeFunctions`, which says that they are of NumPy's arrays."""

        def __getattr__(self, name: str) -> Callable[..., Any]: ...
else:
    _Methods = BridgeFunctions


def _results(function: Function) -> Any:
    """A named tuple for several results, of a class that Torch's transforms know to take apart."""
    words = "".join(word.capitalize() for word in function.name.split("_"))
    return namedtuple(words, function.outputs)


_RESULTS = {name: _results(f) for name, f in ALL.items() if len(f.outputs) > 1}
_WITH_NUMBERS = {name for name, f in ALL.items() if f.parameters}
globals().update({kind.__name__: kind for kind in _RESULTS.values()})  # where pickle looks for them
for kind in _RESULTS.values():  # and torch.export.save
    register_namedtuple(kind, serialized_type_name=f"robomorph.torch.{kind.__name__}")


class Functions(_Methods):
    """Every algorithm of a robot as a function of Torch tensors, with the name and arguments of the robot's
    method: autograd, forward mode, torch.func, torch.compile work on them, on the CPU.

    Arguments have leading batch dimensions, which broadcast; results are tensors, or named tuples of them.
    float32 comes out if every tensor is float32, else float64. NaN and infinity go through and give NaN;
    quaternions and (cos, sin) pairs of another length than one are refused.

    Derivatives are kernels, too, of first and second order. By q they are those of the function of q with its
    quaternions and (cos, sin) pairs normalised, so they have nq entries. threads: of one call at most; None
    for robomorph's default.
    """

    def __init__(self, robot: Robot, *, threads: int | None = 1) -> None:
        self.robot, self.threads = require_robot(robot), threads
        self._room = room_of(robot, threads)
        self._links = robot.link_names
        self._arguments = {name: _arguments(robot, function) for name, function in ALL.items()}

    def prepare(
        self,
        name: str,
        *,
        frame: str | None = None,
        f_ext: Any = None,
        dtype: Any = torch.float64,
        derivative: str | None = None,
    ) -> None:
        """Compile a function's kernel now, for every batch size. `f_ext`: any of the form it will have.
        derivative: "vjp", "jvp" or "hvp" for the kernels behind backward, forward mode and second order."""
        if dtype not in DTYPES:
            raise ArgumentError(f"dtype: expected torch.float32 or torch.float64, found {dtype}")
        links = wrench_links(self.robot.link_names, f_ext)
        kernel = self._room.kernel(
            described(function_named(name).name, frame, links), derivative or "", dtype
        )
        kernel.prepare(1)
        kernel.prepare(kernel.lanes)

    def _call(self, name: str, args: tuple[Any, ...], f_ext: Any = None, frame: str | None = None) -> Any:
        if frame is not None and not isinstance(frame, str):
            raise ArgumentError(f"frame: expected the name of a link or tool frame, found {frame!r}")
        simple = f_ext is None and name not in _WITH_NUMBERS and not torch.compiler.is_compiling()
        if simple and are_ready(args):
            results = call(self._room, described(name, frame, ()), "", *args)
        else:
            links = () if f_ext is None else wrench_links(self._links, f_ext)
            fitted = self._fitted(name, args, links, f_ext)
            results = call(self._room, described(name, frame, links), "", *fitted)
        return results[0] if len(results) == 1 else _RESULTS[name](*results)

    def _fitted(self, name: str, args: tuple[Any, ...], links: tuple[str, ...], f_ext: Any) -> list[Tensor]:
        """The kernel's arguments, checked, of one dtype and with the same batch dimensions."""
        names, shapes, parameters = self._arguments[name]
        given = [as_tensor(n, x, number=n in parameters) for n, x in zip(names, args, strict=True)]
        if links:
            place = len(names) - len(parameters)
            given.insert(place, _stacked(links, f_ext))
            names = (*names[:place], "f_ext", *names[place:])
            shapes = (*shapes[:place], (len(links), 6), *shapes[place:])
        return fit(names, given, shapes)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remake, (self.robot, self.threads)

    def __repr__(self) -> str:
        return f"<Torch functions of {self.robot!r}>"


def _arguments(robot: Robot, function: Function) -> tuple[Any, Any, tuple[str, ...]]:
    """Names and shapes of a function's arguments without wrenches, and which of them are parameters."""
    ports = ALGORITHMS[function.name].input_ports(model_sizes(robot.model), ())
    return tuple(port.name for port in ports), tuple(port.shape for port in ports), function.parameters


def _stacked(links: tuple[str, ...], f_ext: Any) -> Tensor:
    """Wrenches (..., n, 6) of an array or a mapping."""
    if not isinstance(f_ext, Mapping):
        return as_tensor("f_ext", f_ext)
    names = [f"f_ext[{link!r}]" for link in links]
    wrenches = [as_tensor(name, f_ext[link]) for name, link in zip(names, links, strict=True)]
    return torch.stack(fit(names, wrenches, [(6,)] * len(links)), -2)


def _remake(robot: Robot, threads: int | None) -> Functions:
    return Functions(robot, threads=threads)
