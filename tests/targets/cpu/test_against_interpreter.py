"""Compiled code against the interpreter, and against itself: a row's bits depend on nothing but the row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import robomorph
from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.ir.program import Program
from tests.model.samples import MENAGERIE
from tests.oracle.calls import sample
from tests.oracle.compare import assert_close, assert_same_bits
from tests.oracle.crane import CRANE
from tests.oracle.kernels import kernel_of
from tests.oracle.random_programs import arguments, random_programs, run, tame_rows

Array = npt.NDArray[Any]
SIZES = (0, 1, 2, 7, 8, 9, 16, 17, 33)
LARGEST = max(SIZES)
ROBOTS = {"chain": ("chain:3", False), "crane-floating": (CRANE, True), "menagerie": (MENAGERIE, False)}
# Of the largest entry: sums rounded in another order, and fused multiply-adds.
TOLERANCE = {"float64": 1e-13, "float32": 1e-5}
# What solves with the mass matrix multiplies rounding by its condition, up to 1e3 for these robots.
SOLVES = ("forward_dynamics", "forward_dynamics_gradient", "mass_matrix_inverse")
CASES = [
    pytest.param(robot, name, dtype, id=f"{robot}-{name}-{dtype}")
    for robot in ROBOTS
    for name in state_algorithms()
    for dtype in ("float32", "float64")
    if not (robot == "menagerie" and "gradient" in name and dtype == "float32")  # the longest to compile
]


@cache
def load(name: str) -> Robot:
    source, floating = ROBOTS[name]
    return robomorph.load(source, floating_base=floating)


@cache
def kernel_and_inputs(case: str, name: str, dtype: str) -> tuple[Any, Any, tuple[Array, ...]]:
    """Compiled and interpreted kernels, with external forces where they exist, and LARGEST rows of inputs."""
    robot = load(case)
    algorithm = ALGORITHMS[name]
    options: dict[str, Any] = {"frame": robot.link_names[-1] if algorithm.frame else None}
    args = sample(robot, 5, LARGEST).astype(dtype).arguments(name)
    if algorithm.wrenches:
        options["f_ext"] = robot.link_names[-2:]
        args.append(np.random.default_rng(6).normal(size=(LARGEST, 2, 6)).astype(dtype))
    compiled = robot.compile(name, dtype=dtype, **options)
    interpreted = robot.compile(name, dtype=dtype, target="interpreter", **options)
    return compiled, interpreted, tuple(args)


def outputs(result: Any) -> list[Array]:
    return list(result) if isinstance(result, tuple) else [result]


def pairs(a: Any, b: Any) -> Iterator[tuple[Array, Array]]:
    yield from zip(outputs(a), outputs(b), strict=True)


@pytest.mark.parametrize(("case", "name", "dtype"), CASES)
def test_agrees_with_the_interpreter(case: str, name: str, dtype: str) -> None:
    compiled, interpreted, args = kernel_and_inputs(case, name, dtype)
    tolerance = TOLERANCE[dtype] * (1e2 if name in SOLVES else 1.0)
    for ours, theirs in pairs(compiled(*args), interpreted(*args)):
        assert ours.dtype == dtype
        assert_close(ours, theirs, f"{case} {name} {dtype}", tolerance)


@pytest.mark.parametrize(("case", "name", "dtype"), CASES)
def test_bits_do_not_depend_on_batch_or_position(case: str, name: str, dtype: str) -> None:
    compiled, _, args = kernel_and_inputs(case, name, dtype)
    whole = compiled(*args)
    for size in SIZES:
        start = (LARGEST - size) // 2
        part = compiled(*(a[start : start + size] for a in args))
        for some, every in pairs(part, whole):
            assert_same_bits(some, every[start : start + size], f"{name}, {size} rows from {start}")
    single = compiled(*(a[3] for a in args))
    for one, every in pairs(single, whole):
        assert_same_bits(one, every[3], f"{name}, a single state")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics_gradient", "forward_kinematics"])
def test_bits_do_not_depend_on_threads(name: str, dtype: str) -> None:
    compiled, _, args = kernel_and_inputs("chain", name, dtype)
    many = [np.concatenate([a] * 40) for a in args]
    results = []
    before = compiled.threads
    try:
        for threads in (1, 2, 3, 8):
            compiled.threads = threads
            results.append(compiled(*many))
    finally:
        compiled.threads = before
    for other in results[1:]:
        for ours, theirs in pairs(other, results[0]):
            assert_same_bits(ours, theirs, f"{name} with other threads")


def shifted(array: Array, items: int) -> Array:
    """A contiguous copy that starts `items` elements into a 64-byte line."""
    raw = np.empty(array.size + 64, array.dtype)
    start = (-raw.ctypes.data % 64) // array.itemsize + items
    view = raw[start : start + array.size].reshape(array.shape)
    view[...] = array
    return view


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "energy"])
def test_bits_do_not_depend_on_alignment(name: str, dtype: str) -> None:
    compiled, _, args = kernel_and_inputs("chain", name, dtype)
    whole = outputs(compiled(*args))
    for items in range(1, 8):
        moved = tuple(shifted(np.empty_like(w), items) for w in whole)
        compiled(*(shifted(a, items) for a in args), out=moved if len(moved) > 1 else moved[0])
        for ours, theirs in zip(moved, whole, strict=True):
            assert_same_bits(ours, theirs, f"{name}, {items} elements off")


def test_arguments_are_not_written() -> None:
    compiled, _, args = kernel_and_inputs("chain", "forward_dynamics", "float64")
    copies = [a.copy() for a in args]
    compiled(*args)
    for before, after in zip(copies, args, strict=True):
        assert_same_bits(after, before, "an argument")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_programs(dtype: str) -> None:
    """Every operation in any combination, through the scheduling passes and LLVM."""

    @settings(max_examples=25, deadline=None, derandomize=True, database=None)
    @given(random_programs(longest=25, fused=False), st.integers(0, 99))
    def check(program: Program, seed: int) -> None:
        values = arguments(seed, 19, dtype)
        tame = tame_rows(program, {k: v.astype("float64") for k, v in values.items()}, 100.0)
        kernel = kernel_of(program, dtype)
        found = kernel(values["a"], values["b"])
        ours = np.concatenate([found.y.reshape(19, -1), found.z[:, None]], axis=1)[tame]
        theirs = run(program, values, dtype)[tame]
        # Cancellation may magnify rounding: judge against the largest value of any node, which is below 100.
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e5 * float(np.finfo(dtype).eps))

    check()
