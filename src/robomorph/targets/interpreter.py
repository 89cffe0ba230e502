"""The interpreter as a target: the same call as any kernel, answered by NumPy; slow, and the definition."""

from __future__ import annotations

from typing import Any

from robomorph.ir.interpret import interpret
from robomorph.runtime.kernel import HostKernel, Recipe, Settings


class InterpreterKernel(HostKernel):
    """Evaluates the program node by node."""

    def __call__(self, *args: Any, out: Any = None) -> Any:
        call = self._begin(args, out)
        named = {port.name: a for port, a in zip(self.inputs, call.arguments, strict=True)}
        return self._finish(call, list(interpret(self.program, named, self.dtype).values()))


def make_kernel(recipe: Recipe, target: str, settings: Settings) -> InterpreterKernel:
    settings.refuse_options(target)
    return InterpreterKernel(recipe, check_finite=settings.check_finite)
