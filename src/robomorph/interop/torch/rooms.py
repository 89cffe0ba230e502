"""The kernels of a robot under a name that Torch can keep: a string.

What Torch records (compiled functions, exported programs) holds no Python objects, so a kernel is called by
strings: the robot's digest, a function with its frame and links, and which derivative of it.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import torch
from torch import Tensor

from robomorph.algorithms.configuration import lifted
from robomorph.compiler.fingerprint import source_fingerprint
from robomorph.compiler.program import compile_program
from robomorph.compiler.unit_parts import unit_parts
from robomorph.errors import ArgumentError
from robomorph.interop.coordinates import is_flat
from robomorph.interop.kernels import Kernels, Wanted
from robomorph.interop.torch.lengths import check_lengths
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.robot import Robot
from robomorph.runtime.array_kinds import Array
from robomorph.targets.cpu.kernel import Kernel

PLAIN = (torch.Tensor, torch.nn.Parameter)
DTYPES = {torch.float64: "float64", torch.float32: "float32"}
PULL = "pull"  # the vjp, with the derivative by q by coordinates (nq)
CONSTANT = "constant"  # the tensors themselves, of which nothing has derivatives
_SEPARATOR = "\x1f"


def described(name: str, frame: str | None, links: Sequence[str]) -> str:
    """A function as a string; "" is no frame's name."""
    return _SEPARATOR.join((name, frame or "", *links))


def name_of(function: str) -> str:
    return function.split(_SEPARATOR, 1)[0]


class Room:
    """The kernels of one robot. Whoever may call them keeps it alive."""

    def __init__(self, key: str, kernels: Kernels) -> None:
        self.key, self.kernels = key, kernels
        self.model = kernels.robot.model
        self.flat = is_flat(self.model)
        self._units = kernels.units
        self._found: dict[tuple[str, str, Any], Kernel] = {}
        self._lifts: dict[str, Any] = {}

    def kernel(self, function: str, derivative: str, dtype: Any) -> Kernel:
        found = self._found.get((function, derivative, dtype))
        if found is None:
            name, frame, *links = function.split(_SEPARATOR)
            kind = "vjp" if derivative == PULL else derivative
            wanted = Wanted(name, tuple(links), frame or None, DTYPES[dtype], kind or None)
            found = self._found[function, derivative, dtype] = self.kernels.get(wanted)
        return found

    def shapes(self, function: str, derivative: str, dtype: Any) -> list[tuple[int, ...]]:
        """Of the results of one state."""
        shapes = [port.shape for port in self.kernel(function, derivative, dtype).outputs]
        return [(self.kernels.robot.nq,), *shapes[1:]] if derivative == PULL else shapes

    def run(self, function: str, derivative: str, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """The kernel's results. All tensors have one dtype and the same batch dimensions; q is the first."""
        if derivative == CONSTANT:
            return tuple(tensor.clone() for tensor in tensors)
        kernel = self.kernel(function, derivative, tensors[0].dtype)
        arrays = [_read(tensor) for tensor in tensors]
        if self._units and arrays[0].shape[-1:] == (self.kernels.robot.nq,):  # else the kernel refuses it
            check_lengths(arrays[0], self._units)
        results = kernel(*arrays)
        if len(kernel.outputs) == 1:
            results = (results,)
        if derivative == PULL and not self.flat:
            results = (self._lift(kernel.dtype)(arrays[0], results[0]), *results[1:])
        return tuple(map(torch.from_numpy, results))

    def _lift(self, dtype: str) -> Callable[[Array, Array], Array]:
        if dtype not in self._lifts:
            self._lifts[dtype] = compile_program(
                _by_coordinates(self.kernels), dtype=dtype, threads=1, check_finite=False
            )
        found: Callable[[Array, Array], Array] = self._lifts[dtype]
        return found


def _read(tensor: Tensor) -> Array:
    try:
        array: Array = tensor.numpy(force=True)  # the same memory, but for views that stand for other numbers
    except (RuntimeError, TypeError) as error:
        raise ArgumentError(
            f"robomorph.torch: expected a tensor with memory of its own, found one that has none ({error});"
            " to batch derivatives take torch.func.vmap, jacrev or jacfwd instead of is_grads_batched"
            " or vectorize"
        ) from error
    return array


def _by_coordinates(kernels: Kernels) -> Program:
    """The transpose of `tangent_of`: g (nv), a derivative by tangent steps, as one by coordinates (nq). Of
    unit quaternions it is four times the rate of coordinates along g, of (cos, sin) pairs that rate."""
    nq, nv = kernels.robot.nq, kernels.robot.nv
    tracer = Tracer()
    values = tracer.inputs((Port("q", (nq,)), Port("g", (nv,))))
    out = lifted(kernels.robot.model, values["q"], values["g"])
    for unit in unit_parts(kernels.robot.model):
        if unit.stop - unit.start == 4:
            out[unit.start : unit.stop] = [4.0 * x for x in out[unit.start : unit.stop]]
    return tracer.program("by_coordinates", (Port("q", (nq,)), Port("g", (nv,))), {"dq": out}, {"dq": (nq,)})


_rooms: WeakValueDictionary[str, Room] = WeakValueDictionary()
_recorded: dict[str, Room] = {}
_lock = threading.Lock()


def room_of(robot: Robot, threads: int | None) -> Room:
    """The room of this robot, and of all that are equal to it."""
    # The source, too: Torch keeps on disk what it made of the derivatives here.
    content = repr((source_fingerprint(), robot.model.digest, robot.check_finite, threads))
    key = hashlib.sha256(content.encode()).hexdigest()
    with _lock:
        room = _rooms.get(key)
        if room is None:
            room = _rooms[key] = Room(key, Kernels(robot, threads=threads))
    return room


def find_room(key: str) -> Room:
    room = _rooms.get(key)
    if room is None:
        raise ArgumentError(
            f"robomorph.torch: a recorded computation calls a robot ({key[:12]}...) that this process has not"
            " met: make robomorph.torch.Functions of the same robot, with the same threads, before it runs,"
            " by the version of robomorph that recorded it"
        )
    return room


def keep_room(key: str) -> Room:
    """The same, never to be dropped: what Torch has recorded may run at any time."""
    room = _recorded[key] = find_room(key)
    return room
