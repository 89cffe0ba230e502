"""The interpreter as a target: the same call as any kernel, answered by NumPy; slow, and the definition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from robomorph.ir.interpret import interpret
from robomorph.runtime.array_kinds import Array
from robomorph.runtime.kernel import HostKernel, Recipe, Settings


class InterpreterKernel(HostKernel):
    """Evaluates the program node by node."""

    def _evaluate(self, arguments: Sequence[Array], lead: tuple[int, ...], **settings: Any) -> list[Array]:
        named = {port.name: a for port, a in zip(self.inputs, arguments, strict=True)}
        return list(interpret(self.program, named, self.dtype).values())


def make_kernel(recipe: Recipe, target: str, settings: Settings) -> InterpreterKernel:
    settings.refuse_options(target)
    return InterpreterKernel(recipe, check_finite=settings.check_finite)
