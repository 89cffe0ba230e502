"""The functions of a data set: kernels, the states that they take and the columns that they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.errors import ArgumentError, RobomorphError
from robomorph.export.package import FunctionSpec, check_names
from robomorph.naming import unknown_name
from robomorph.robot import Robot
from robomorph.runtime.kernel import AnyKernel
from robomorph.scaleout.formats import Column
from robomorph.scaleout.laws import STATES

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Function:
    """A kernel of the data set and the columns of its results, in their order."""

    text: str
    kernel: AnyKernel
    columns: tuple[Column, ...]

    def evaluate(self, states: Mapping[str, Array], out: Sequence[Array], first: int) -> None:
        """Results into `out`; ArgumentError that names the row (of all) where there is none."""
        arguments = [states[port.name] for port in self.kernel.inputs]
        places = tuple(out) if len(out) > 1 else out[0]
        try:
            self.kernel(*arguments, out=places)
        except RobomorphError as error:
            raise ArgumentError(f"{self.text}: row {first + self._bad_row(arguments)}: {error}") from error
        for column, values in zip(self.columns, out, strict=True):
            if not np.isfinite(values).all():
                row = int(np.argwhere(~np.isfinite(values))[0][0])
                state = {port.name: states[port.name][row].tolist() for port in self.kernel.inputs}
                raise ArgumentError(
                    f"{self.text}: row {first + row}: expected finite results, found {column.name} that is "
                    f"not, at "
                    f"{state}: take another law, or leave the function out"
                )

    def _bad_row(self, arguments: Sequence[Array]) -> int:
        """The first row that alone is refused, too; the first of all if none is."""
        for row in range(len(arguments[0])):
            try:
                self.kernel(*(array[row] for array in arguments))
            except RobomorphError:
                return row
        return 0


def read_functions(functions: str | Sequence[str]) -> tuple[str, ...]:
    """Texts algorithm[:frame][=output+output], each of another function."""
    texts = (functions,) if isinstance(functions, str) else tuple(functions)
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ArgumentError(f"functions: expected names such as 'inverse_dynamics', found {functions!r}")
    specs = [FunctionSpec.parse(text) for text in texts]
    for spec in specs:
        if spec.algorithm not in ALGORITHMS:
            raise ArgumentError(
                unknown_name("functions: robomorph", "algorithm", spec.algorithm, list(ALGORITHMS))
            )
    check_names(specs)
    return texts


def make_functions(robot: Robot, texts: Sequence[str], dtype: str, threads: int) -> tuple[Function, ...]:
    """Kernels, compiled on first use, and their columns; ArgumentError where two would have one name."""
    functions = tuple(_function(robot, FunctionSpec.parse(text), text, dtype, threads) for text in texts)
    names = [*STATES, *(column.name for f in functions for column in f.columns)]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"functions: two columns would be called {name!r}: make two data sets")
    return functions


def _function(robot: Robot, spec: FunctionSpec, text: str, dtype: str, threads: int) -> Function:
    algorithm = ALGORITHMS[spec.algorithm]
    if (
        spec.derivative is not None
        or not algorithm.takes_states_alone
        or not set(algorithm.inputs) <= set(STATES)
    ):
        raise ArgumentError(f"functions: {text}: expected one that takes {', '.join(STATES)} alone")
    kernel = robot.compile(
        spec.algorithm, frame=spec.frame, outputs=spec.outputs, dtype=dtype, threads=threads, target="cpu"
    )
    columns = tuple(
        Column(
            # One result is the function's; what has several says which.
            name=spec.name if len(algorithm.outputs) == 1 else f"{spec.name}_{port.name}",
            shape=port.shape,
            about=algorithm.note(port.name),
            role="result",
            function=text,
        )
        for port in kernel.outputs
    )
    return Function(text, kernel, columns)
