"""The interpreter: shapes, dtypes and the meaning of every operation."""

from __future__ import annotations

import numpy as np
import pytest

from robomorph.ir.interpret import interpret
from robomorph.ir.ops import FMA, FMS, FNMA, INPUT, Op
from robomorph.ir.program import Node, Port, Program


def ternary(op: Op) -> Program:
    nodes = (*(Node(INPUT, (), float(k)) for k in range(3)), Node(op, (0, 1, 2)))
    return Program(op.name, (Port("x", (3,)),), (Port("y", ()),), nodes, (3,))


@pytest.mark.parametrize(("op", "expected"), [(FMA, 2.0 * 3 + 5), (FMS, 2.0 * 3 - 5), (FNMA, 5 - 2.0 * 3)])
def test_multiply_adds(op: Op, expected: float) -> None:
    assert interpret(ternary(op), {"x": np.array([2.0, 3.0, 5.0])})["y"] == expected


@pytest.mark.parametrize("lead", [(), (1,), (4,), (2, 3), (0,)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_leading_dimensions(lead: tuple[int, ...], dtype: str) -> None:
    x = np.arange(3 * int(np.prod(lead)), dtype=dtype).reshape(*lead, 3)
    y = interpret(ternary(FMA), {"x": x}, dtype)["y"]
    assert y.shape == lead and y.dtype == dtype
    np.testing.assert_array_equal(y, x[..., 0] * x[..., 1] + x[..., 2])
