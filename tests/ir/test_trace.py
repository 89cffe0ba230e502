"""Tracing folds constants away, interns nodes and refuses to branch."""

from __future__ import annotations

from collections.abc import Callable
from operator import neg
from typing import Any

import numpy as np
import pytest

from robomorph.ir.interpret import interpret
from robomorph.ir.ops import INPUT
from robomorph.ir.program import Port, Program
from robomorph.ir.text import to_text
from robomorph.ir.trace import Expr, Tracer
from robomorph.ir.verify import verify
from robomorph.passes.dce import dce
from robomorph.spatial.scalar import cos, reciprocal, sin

Function = Callable[[Any, Any], Any]


def traced(function: Function) -> Program:
    tracer = Tracer()
    ports = (Port("x", (2,)),)
    x = tracer.inputs(ports)["x"]
    program = tracer.program("traced", ports, {"y": function(*x)})
    verify(program)
    return dce(program)


VANISH: dict[str, tuple[Function, Any]] = {
    "x + 0": (lambda x, _: x + 0.0, 0),
    "0 + x": (lambda x, _: 0.0 + x, 0),
    "x - 0": (lambda x, _: x - 0.0, 0),
    "x * 1": (lambda x, _: x * 1.0, 0),
    "1 * x": (lambda x, _: 1.0 * x, 0),
    "--x": (lambda x, _: neg(neg(x)), 0),
    "x * 0": (lambda x, _: x * 0.0, 0.0),
    "0 * x": (lambda x, _: 0.0 * x, 0.0),
    "x - x": (lambda x, _: x - x, 0.0),
    "y + 0 * x": (lambda x, y: y + 0.0 * x, 1),
}


@pytest.mark.parametrize("case", VANISH)
def test_nothing_is_left_to_compute(case: str) -> None:
    function, expected = VANISH[case]
    program = traced(function)
    assert program.cost() == 0
    [result] = program.results
    node = program.nodes[result]
    assert (node.op is INPUT) == isinstance(expected, int)
    assert node.value == expected


def test_the_same_operation_is_one_node() -> None:
    assert traced(lambda x, y: [x * y + 1.0, y * x + 1.0]).counts() == {"mul": 1, "add": 1}
    assert traced(lambda x, y: [x + y, y + x, x - y]).counts() == {"add": 1, "sub": 1}


def test_signs_become_negations_not_products() -> None:
    assert traced(lambda x, _: -1.0 * x).counts() == {"neg": 1}
    assert traced(lambda x, _: 0.0 - x).counts() == {"neg": 1}


def test_every_operation_means_what_python_means() -> None:
    def function(x: Any, y: Any) -> list[Any]:
        return [x + y, x - y, x * y, -x, sin(x), cos(y), reciprocal(x), 2.0 - x, 2.0 + x, 2.0 * x, x - 2.0]

    x, y = np.array([0.3, -1.2]), np.array([0.7, 2.5])
    found = interpret(traced(function), {"x": np.stack([x, y], axis=-1)})["y"]
    np.testing.assert_array_equal(found, np.stack(function(x, y), axis=-1))


def test_results_keep_their_nesting() -> None:
    tracer = Tracer()
    x = tracer.input(0)
    ports = (Port("x", ()),)
    program = tracer.program("p", ports, {"m": [[x, 0.0, 1.0], [x, x, 2.0]], "s": x})
    assert [port.shape for port in program.outputs] == [(2, 3), ()]
    out = interpret(program, {"x": np.array([5.0])})
    np.testing.assert_array_equal(out["m"], [[[5, 0, 1], [5, 5, 2]]])
    np.testing.assert_array_equal(out["s"], [5.0])
    assert program.nonzeros() == {"m": 5, "s": 1}


def test_a_branch_on_a_traced_value_is_an_error() -> None:
    x = Tracer().input(0)
    assert isinstance(x, Expr)
    with pytest.raises(TypeError, match="must not branch"):
        bool(x)


def test_the_text_form() -> None:
    program = traced(lambda x, y: [[sin(x) * y - 0.1, 2.5 * x], [0.0, reciprocal(y)]])
    assert (
        to_text(program)
        == """\
program traced
input x (2)
%0 = input x[0]
%1 = input x[1]
%2 = sin %0
%3 = mul %1 %2
%4 = const 0.1
%5 = sub %3 %4
%6 = const 2.5
%7 = mul %0 %6
%8 = recip %1
%9 = const 0.0
output y (2, 2)
y[0,0] = %5
y[0,1] = %7
y[1,0] = %9
y[1,1] = %8
"""
    )


def test_depth_and_cost() -> None:
    program = traced(lambda x, y: [sin(x) * y + x, y])
    assert (program.depth(), program.cost()) == (3, 3)
