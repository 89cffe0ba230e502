"""A kernel as a parameter of JAX's primitives: equal if it computes the same, whatever its robot object."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from robomorph.interop.functions import function_named
from robomorph.interop.kernels import Kernels, Wanted

if TYPE_CHECKING:
    from robomorph.targets.cpu.kernel import Kernel


class Callee:
    def __init__(self, kernels: Kernels, wanted: Wanted) -> None:
        self.kernels, self.wanted = kernels, wanted

    @cached_property
    def digest(self) -> str:
        return self.kernels.digest(self.wanted)

    @cached_property
    def kernel(self) -> Kernel:
        return self.kernels.get(self.wanted)

    @property
    def label(self) -> str:
        """For people: all that `Functions(robot, threads=...).prepare` is to be told."""
        threads = "" if self.kernels.threads == 1 else f" with threads={self.kernels.threads}"
        return f"{self.wanted} of {self.kernels.robot.name}{threads}"

    @property
    def arity(self) -> int:
        """How many arguments the function has."""
        function = function_named(self.wanted.name)
        return len(function.inputs) + len(function.parameters) + bool(self.wanted.links)

    def derived(self, derivative: str) -> Callee:
        return Callee(self.kernels, replace(self.wanted, derivative=derivative))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Callee) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<{self.label}>"
