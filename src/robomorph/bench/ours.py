"""Our kernels as contestants."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any

import numpy as np

from robomorph.bench.functions import Function
from robomorph.bench.measuring import Contestant, Results
from robomorph.bench.records import OURS
from robomorph.bench.subject import Subject
from robomorph.targets.cpu.kernel import Kernel

INTO_OUT = "out="
NEW_ARRAYS = "new arrays"
PERSISTENT = "persistent threads"
LAUNCHING = "launching threads"


def make_kernel(subject: Subject, function: Function, dtype: str = "float64", threads: int = 1) -> Kernel:
    """The kernel a user would compile for this function."""
    kernel = subject.robot.compile(
        function.name,
        dtype=dtype,
        threads=threads,
        outputs=function.outputs,
        frame=subject.frame if function.about_frame else None,
    )
    assert isinstance(kernel, Kernel)
    return kernel


def our_contestant(
    subject: Subject,
    function: Function,
    batch: int,
    *,
    dtype: str = "float64",
    threads: int = 1,
    how: str = INTO_OUT,
) -> Contestant:
    """Our kernel on row-major NumPy arrays. A batch of one is a call with plain vectors."""
    kernel = make_kernel(subject, function, dtype, threads)
    states = subject.states(batch)
    args = tuple(states[name].astype(dtype, copy=False) for name in function.arguments)
    if batch == 1:
        args = tuple(a[0] for a in args)
    lead = () if batch == 1 else (batch,)
    arrays = tuple(np.zeros((*lead, *port.shape), dtype) for port in kernel.outputs)
    out = arrays if len(arrays) > 1 else arrays[0]

    def results() -> Results:
        names = (port.name for port in kernel.outputs)
        shapes = ((batch, *port.shape) for port in kernel.outputs)
        filled = kernel(*args) if how == NEW_ARRAYS else out
        found = filled if len(arrays) > 1 else (filled,)
        return {n: a.reshape(s).astype(np.float64) for n, a, s in zip(names, found, shapes, strict=True)}

    loop = _LOOPS[how](kernel, args, out)
    return Contestant(OURS, how, loop, batch, results, dtype=dtype, threads=threads)


# Each loop is spelled out with plain arguments, as in a user's program: unpacking would cost as much as
# the smallest kernels.


def _into_out(kernel: Kernel, args: tuple[Any, ...], out: Any) -> Callable[[int], None]:
    if len(args) == 1:
        (a,) = args

        def unary(count: int) -> None:
            for _ in repeat(None, count):
                kernel(a, out=out)

        return unary
    a, b, c = args

    def ternary(count: int) -> None:
        for _ in repeat(None, count):
            kernel(a, b, c, out=out)

    return ternary


def _new_arrays(kernel: Kernel, args: tuple[Any, ...], out: Any) -> Callable[[int], None]:
    def loop(count: int) -> None:
        for _ in repeat(None, count):
            kernel(*args)

    return loop


def _persistent(kernel: Kernel, args: tuple[Any, ...], out: Any) -> Callable[[int], None]:
    def loop(count: int) -> None:
        for _ in repeat(None, count):
            kernel._run(args, out)

    return loop


def _launching(kernel: Kernel, args: tuple[Any, ...], out: Any) -> Callable[[int], None]:
    def loop(count: int) -> None:
        for _ in repeat(None, count):
            kernel._run_spawning(args, out)

    return loop


_LOOPS = {INTO_OUT: _into_out, NEW_ARRAYS: _new_arrays, PERSISTENT: _persistent, LAUNCHING: _launching}
