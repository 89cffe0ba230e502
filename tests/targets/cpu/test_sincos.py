"""Sine and cosine of compiled code: an ulp or two of one, to a billion radians and beyond; then NaN."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.ir.program import Port
from robomorph.ir.trace import Tracer
from robomorph.targets.cpu.kernel import Kernel
from robomorph.targets.cpu.sincos import _LARGEST
from tests.oracle.kernels import kernel_of

Array = npt.NDArray[Any]
LIMIT = {dtype: float(_LARGEST[dtype]) for dtype in ("float32", "float64")}
REACH = {"float32": 2.0**18, "float64": 1e9}


@cache
def sincos(dtype: str) -> Kernel:
    tracer = Tracer()
    x = tracer.input(0)
    program = tracer.program("sincos", (Port("x", ()),), {"sin": x.sin(), "cos": x.cos()})
    return kernel_of(program, dtype)


def both(x: Array) -> tuple[Array, Array]:
    """Lane code, checked to give the bits of the single-state code at a few places."""
    kernel = sincos(x.dtype.name)
    s, c = kernel(x)
    for i in range(0, len(x), max(1, len(x) // 7)):
        one_s, one_c = kernel(x[i])
        assert one_s.tobytes() == s[i].tobytes() and one_c.tobytes() == c[i].tobytes()
    return s, c


def worst_error(x: Array) -> float:
    """In ulps of one, against NumPy in float64 (its own error is below one ulp of the result)."""
    s, c = both(x)
    wide = x.astype(np.float64)
    errors = np.maximum(np.abs(s - np.sin(wide)), np.abs(c - np.cos(wide)))
    return float(errors.max() / np.finfo(x.dtype).eps)


SCALES = [
    (dtype, s) for dtype in REACH for s in (1e-8, 1e-3, 1.0, 10.0, 1e3, 1e5, 1e7, 1e9) if s <= REACH[dtype]
]


@pytest.mark.parametrize(("dtype", "scale"), SCALES)
def test_accuracy(dtype: str, scale: float) -> None:
    x = np.random.default_rng(1).uniform(-scale, scale, 20_000).astype(dtype)
    assert worst_error(x) <= 2.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_near_multiples_of_a_quarter_turn(dtype: str) -> None:
    """Where the reduced angle is tiny and most digits cancel."""
    k = np.concatenate([np.arange(-2000, 2001), np.random.default_rng(2).integers(-100_000, 100_000, 4000)])
    x = (k * (np.pi / 2)).astype(dtype)
    around = np.concatenate([x, np.nextafter(x, np.inf, dtype=dtype), np.nextafter(x, -np.inf, dtype=dtype)])
    assert worst_error(around) <= 2.0


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values(dtype: str) -> None:
    s, c = both(np.array([0.0, -0.0, 1e-30], dtype))
    np.testing.assert_array_equal(s, np.array([0.0, 0.0, 1e-30], dtype))
    np.testing.assert_array_equal(c, 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_limit(dtype: str) -> None:
    """At the limit a number, right to some ulps; beyond it NaN, never a wrong number."""
    limit = np.array([LIMIT[dtype], -LIMIT[dtype]] * 8, dtype)
    assert worst_error(limit) <= 2.0
    beyond = np.concatenate([np.nextafter(limit, limit * 2), limit * 4, limit * np.inf, limit * np.nan])
    for values in both(beyond.astype(dtype)):
        assert np.all(np.isnan(values))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pythagoras(dtype: str) -> None:
    x = np.random.default_rng(3).uniform(-100, 100, 5000).astype(dtype)
    s, c = (v.astype(np.float64) for v in both(x))
    np.testing.assert_allclose(s * s + c * c, 1.0, rtol=0, atol=4 * float(np.finfo(dtype).eps))
