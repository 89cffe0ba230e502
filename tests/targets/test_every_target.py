"""One suite over all targets: robots and bare programs, batches, results in place, refusals."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import robomorph
from robomorph import ArgumentError, Robot
from robomorph.compiler.program import compile_program
from robomorph.export import FunctionSpec, build_shared
from tests.ir.test_choices import FUNCTIONS, numbers, traced
from tests.targets.gpu.toolchains import needs_gxx, needs_opencl
from tests.targets.rtl.toolchains import needs_verilator

Array = npt.NDArray[Any]
# By target, or a way to use it: options, and the error allowed against the interpreter, relative to the
# largest entry.
TARGETS: dict[str, tuple[dict[str, Any], float]] = {
    "interpreter": ({}, 0.0),
    "cpu": ({}, 1e-13),
    "fixed": ({}, 1e-4),
    "opencl": ({"mapping": "thread"}, 1e-13),
    "opencl-group": ({"mapping": "group"}, 1e-13),
    "rtl": ({"interval": 16}, 1e-4),
}
NEEDS = {"opencl": needs_opencl, "rtl": needs_verilator}
# What these can do not: CUDA is compiled here, but not run; a chip takes no empty batch and no bare program;
# fixed point has no roots and no choices.
NOT_RUN, CHIPS, NO_CHOICES = {"cuda"}, {"rtl"}, {"fixed"}
EVERY = [
    pytest.param(target, marks=NEEDS[name] if (name := target.partition("-")[0]) in NEEDS else ())
    for target in TARGETS
]
FLEXIBLE = [param for param in EVERY if param.values[0] not in CHIPS]
ALGORITHMS = ("inverse_dynamics", "energy", "jacobian", "inverse_dynamics.vjp", "forward_dynamics.jvp")


@cache
def robot() -> Robot:
    return robomorph.load("chain:2")


@cache
def compiled(target: str, algorithm: str) -> Any:
    frame = "tool" if algorithm == "jacobian" else None
    name, _, derivative = algorithm.partition(".")
    wishes = {"frame": frame, "derivative": derivative or None, **TARGETS[target][0]}
    return robot().compile(name, target=target.partition("-")[0], **wishes)


def arguments(kernel: Any, batch: tuple[int, ...]) -> list[Array]:
    rng = np.random.default_rng(3)
    return [rng.uniform(-1.0, 1.0, (*batch, *port.shape)) for port in kernel.inputs]


def listed(result: Any) -> list[Array]:
    return list(result) if isinstance(result, tuple) else [result]


def test_every_target_is_here() -> None:
    assert {target.partition("-")[0] for target in TARGETS} == set(robomorph.targets.TARGETS) - NOT_RUN


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("target", EVERY)
def test_agrees_with_the_interpreter(target: str, algorithm: str) -> None:
    kernel, defined = compiled(target, algorithm), compiled("interpreter", algorithm)
    for batch in ((), (1,), (2, 3), (17,)):
        args = arguments(kernel, batch)
        found, expected = listed(kernel(*args)), listed(defined(*args))
        place = [np.full_like(x, np.nan) for x in expected]
        kernel(*args, out=tuple(place) if len(place) > 1 else place[0])
        for ours, theirs, inside in zip(found, expected, place, strict=True):
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
            assert np.abs(ours - theirs).max() <= TARGETS[target][1] * max(1.0, np.abs(theirs).max())
            np.testing.assert_array_equal(ours, inside)


@pytest.mark.parametrize("target", FLEXIBLE)
def test_an_empty_batch_gives_empty_results(target: str) -> None:
    kernel = compiled(target, "inverse_dynamics")
    assert kernel(*arguments(kernel, (0,))).shape == (0, 2)


@pytest.mark.parametrize("target", EVERY)
def test_bad_calls_are_refused_alike(target: str) -> None:
    kernel = compiled(target, "inverse_dynamics")
    q, qd, qdd = arguments(kernel, (3,))
    with pytest.raises(ArgumentError, match=r"^qd: expected shape"):
        kernel(q, qd[:, :1], qdd)
    with pytest.raises(ArgumentError, match=r"^q: expected finite numbers, found nan"):
        kernel(np.full_like(q, np.nan), qd, qdd)
    with pytest.raises(ArgumentError, match="expected 3 arguments"):
        kernel(q, qd)
    with pytest.raises(ArgumentError, match="out"):
        kernel(q, qd, qdd, out=np.empty((2, 2)))


@needs_gxx
def test_exported_code_agrees_too(tmp_path: Path) -> None:
    """C++ is a target without calls from Python: compiled by the user, compared here."""
    texts = ("inverse_dynamics", "inverse_dynamics.vjp", "forward_dynamics.jvp")
    specs = [FunctionSpec.parse(text) for text in texts]
    library = build_shared(robot(), specs, directory=tmp_path / "code")
    for text, spec in zip(texts, specs, strict=True):
        kernel = compiled("interpreter", text)
        args = arguments(kernel, (17,))
        found = library[spec.name].batch(*args)
        for port, expected in zip(kernel.outputs, listed(kernel(*args)), strict=True):
            np.testing.assert_allclose(found[port.name], expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "target",
    [p for p in FLEXIBLE if "-" not in str(p.values[0]) and p.values[0] not in NO_CHOICES],
)
def test_bare_programs(target: str, name: str) -> None:
    """Every operation, also those that no algorithm uses yet."""
    kernel = compile_program(traced(name), target, check_finite=False)
    args = numbers("float64")
    with np.errstate(invalid="ignore"):
        expected, found = FUNCTIONS[name][1](*args), kernel(*args)
    np.testing.assert_allclose(found, expected, rtol=1e-15 if name == "atan2" else 0, atol=0)


def test_a_chip_needs_a_robot() -> None:
    with pytest.raises(ArgumentError, match="bare program"):
        compile_program(traced("clamp"), "rtl")
