"""Roots, choices and the arc tangent: compiled code, interpreter and NumPy, intervals and samples,
derivatives against differences, and refusals by name."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from robomorph.errors import TargetError
from robomorph.ir.interpret import interpret
from robomorph.ir.lower import Numbers, lower
from robomorph.ir.ops import OPS
from robomorph.ir.program import Port, Program
from robomorph.ir.ranges import Interval, intervals
from robomorph.ir.sensitivity import answers
from robomorph.ir.trace import Tracer
from robomorph.spatial import absolute, atan2, maximum, minimum, select, sqrt
from robomorph.targets.gpu.schedule import schedule
from robomorph.targets.gpu.tables import make_tables
from tests.oracle.kernels import kernel_of

Array = npt.NDArray[Any]
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sqrt": (lambda x, y, z: sqrt(x), lambda x, y, z: np.sqrt(x)),
    "min": (lambda x, y, z: minimum(x, y), lambda x, y, z: np.minimum(x, y)),
    "max": (lambda x, y, z: maximum(x, y), lambda x, y, z: np.maximum(x, y)),
    "select": (lambda x, y, z: select(x, y, z), lambda x, y, z: np.where(x >= 0, y, z)),
    "absolute": (lambda x, y, z: absolute(x), lambda x, y, z: np.abs(x)),
    "atan2": (lambda x, y, z: atan2(y, x), lambda x, y, z: np.arctan2(y + 0.0, x + 0.0)),
    "clamp": (lambda x, y, z: maximum(minimum(x, 1.0), -1.0), lambda x, y, z: np.clip(x, -1.0, 1.0)),
    "constants": (
        lambda x, y, z: select(x, 2.0, minimum(0.5, y)),
        lambda x, y, z: np.where(x >= 0, 2, np.minimum(0.5, y)),
    ),
}
PLAIN = ("sqrt", "min", "max", "select")


def traced(name: str) -> Program:
    tracer = Tracer()
    ports = (Port("x", ()), Port("y", ()), Port("z", ()))
    values = tracer.inputs(ports)
    arguments = [values[port.name][0] for port in ports]
    return tracer.program(name, ports, {"value": FUNCTIONS[name][0](*arguments)})


def numbers(dtype: str) -> list[Array]:
    """Triples over many sizes, with zeros, equal values, both signs, and the largest and smallest numbers."""
    rng = np.random.default_rng(4)
    special = np.array([0.0, 1.0, -1.0, 1e-30, -1e-30, 3e30, -3e30, 0.41421356, math.pi])
    some = np.array(np.meshgrid(special, special, special)).reshape(3, -1)
    many = rng.normal(size=(3, 4000)) * 10.0 ** rng.uniform(-12, 12, (3, 4000))
    return [np.concatenate([a, b]).astype(dtype) for a, b in zip(some, many, strict=True)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_interpreted_and_numpy_agree(name: str, dtype: str) -> None:
    args = numbers(dtype)
    program = traced(name)
    with np.errstate(invalid="ignore"):
        expected = FUNCTIONS[name][1](*args)
        meant = interpret(program, dict(zip("xyz", args, strict=True)), dtype)["value"]
        found = kernel_of(program, dtype)(*args)
    tolerance = 3.0 * float(np.finfo(dtype).eps) if name == "atan2" else 0.0
    for ours in (meant, found):
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=0)
    single = np.array([kernel_of(program, dtype)(*(a[k] for a in args)) for k in range(0, 900, 7)])
    np.testing.assert_array_equal(single, found[0:900:7])


@pytest.mark.parametrize("name", ["min", "max", "absolute", "atan2", "clamp"])
def test_nan_is_not_lost(name: str) -> None:
    program = traced(name)
    nan, one = np.full(9, np.nan), np.ones(9)
    for x, y in ((nan, one), (one, nan), (nan, nan)):
        if name in ("absolute", "clamp") and not np.isnan(x).all():
            continue
        assert np.isnan(kernel_of(program, "float64")(x, y, one)).all()
        assert np.isnan(interpret(program, {"x": x, "y": y, "z": one})["value"]).all()


def test_plain_numbers_need_no_tracer() -> None:
    assert atan2(1.0, -1.0) == pytest.approx(math.atan2(1.0, -1.0), rel=1e-15)
    assert atan2(0.0, 0.0) == 0.0
    assert atan2(-0.0, -1.0) == pytest.approx(math.pi)  # the sign of a zero does not count
    assert (sqrt(4.0), minimum(1.0, 2.0), maximum(1.0, 2.0), select(-1.0, 3.0, 4.0)) == (2.0, 1.0, 2.0, 4.0)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_intervals_hold_every_sample(name: str) -> None:
    rng = np.random.default_rng(5)
    program = traced(name)
    for _ in range(50):
        ends = np.sort(rng.normal(size=(3, 2)) * 3.0, axis=1)
        if name == "sqrt":
            ends = np.abs(ends[:, ::-1]) if (ends < 0).any() else ends
            ends = np.sort(ends, axis=1)
        proven = intervals(program, [Interval(*map(float, e)) for e in ends])[program.results[0]]
        sample = [rng.uniform(low, high, 200) for low, high in ends]
        found = interpret(program, dict(zip("xyz", sample, strict=True)))["value"]
        assert proven.low - 1e-12 <= found.min() <= found.max() <= proven.high + 1e-12


def test_a_root_of_what_may_be_negative_has_no_bound() -> None:
    program = traced("sqrt")
    assert not math.isfinite(intervals(program, [Interval(-1e-9, 1.0)] * 3)[program.results[0]].size)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_against_differences(name: str) -> None:
    program = traced(name)
    at = {"x": np.array([1.3]), "y": np.array([-0.4]), "z": np.array([2.0])}
    h = 1e-6
    for slot, key in enumerate("xyz"):
        up, down = ({**at, key: at[key] + step} for step in (h, -h))
        numeric = (interpret(program, up)["value"] - interpret(program, down)["value"]) / (2 * h)
        node = next(i for i, n in enumerate(program.nodes) if n.op is OPS["input"] and n.value == slot)
        assert answers(program, at, node)[0] == pytest.approx(abs(float(numeric[0])), abs=1e-8)


@pytest.mark.parametrize("name", PLAIN)
def test_fixed_point_and_thread_groups_refuse_by_name(name: str) -> None:
    program = traced(name)
    with pytest.raises(TargetError, match=rf"fixed point.*{name}"):
        lower(program, Numbers(), [1.0] * len(program.nodes))
    with pytest.raises(TargetError, match=rf"no instruction for {name}.*thread"):
        make_tables(schedule(program, 4))
