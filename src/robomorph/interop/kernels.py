"""The kernels behind a bridge: of functions and their derivatives, each with a name that tells all of it."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from robomorph.compiler.unit_parts import unit_parts
from robomorph.errors import ArgumentError, DerivativeError
from robomorph.interop.functions import function_named

if TYPE_CHECKING:
    from robomorph.robot import Robot
    from robomorph.targets.cpu.kernel import Kernel

# Raise when a call's arguments, or what is done with them, change: compiled functions of others name kernels.
_VERSION = "robomorph-bridge-1"


@dataclass(frozen=True)
class Wanted:
    """A kernel of a robot: a function, or its derivative ("vjp", "jvp", "hvp": see `robot.compile`)."""

    name: str
    links: tuple[str, ...] = ()
    frame: str | None = None
    dtype: str = "float64"
    derivative: str | None = None

    def __str__(self) -> str:
        what = f"{self.derivative} of {self.name}" if self.derivative else self.name
        about = f" of {self.frame}" if self.frame else ""
        links = ", ".join(self.links) if len(self.links) <= 3 else f"{len(self.links)} links"
        return f"{what}{about}{links and f' with f_ext on {links}'} ({self.dtype})"


class Kernels:
    """Kernels of one robot, made when they are first asked for. Any thread may ask.

    check_finite: False for packages in which NaN is a number like any other."""

    def __init__(self, robot: Robot, *, threads: int | None = 1, check_finite: bool = False) -> None:
        self.robot, self.threads, self.check_finite = robot, threads, check_finite
        # Parts of q that must have length one; none for a robot whose numbers are not to be looked at.
        self.units = unit_parts(robot.model) if robot.check_finite else ()
        self._made: dict[Wanted, Kernel] = {}
        self._lock = threading.Lock()

    def get(self, wanted: Wanted) -> Kernel:
        """The kernel; machine code is made when a call first needs it, or by its `prepare(batch)`."""
        kernel = self._made.get(wanted)
        if kernel is None:
            with self._lock:
                kernel = self._made.get(wanted) or self._made.setdefault(wanted, self._make(wanted))
        return kernel

    def _make(self, wanted: Wanted) -> Kernel:
        if wanted.derivative is None:
            return self._compile(wanted)
        function_named(wanted.name).require_derivative()
        try:
            return self._compile(wanted, derivative=wanted.derivative)
        except ArgumentError as error:
            order = "second derivatives" if wanted.derivative == "hvp" else "derivatives"
            raise DerivativeError(f"{order} of {wanted.name} are not available: {error}") from error

    def _compile(self, wanted: Wanted, **options: Any) -> Kernel:
        kernel: Kernel = self.robot.compile(
            wanted.name,
            dtype=wanted.dtype,
            threads=self.threads,
            frame=wanted.frame,
            f_ext=wanted.links or False,
            check_finite=self.check_finite,
            **options,
        )
        return kernel

    def digest(self, wanted: Wanted) -> str:
        """Names the kernel by all that it is made from: equal robots have equal digests, in every process."""
        content = (self.robot.model.digest, wanted, self.threads, self.check_finite, len(self.units))
        return hashlib.sha256(repr((_VERSION, content)).encode("utf-8", "surrogatepass")).hexdigest()
