"""The verifier accepts legal programs and names what is wrong with each illegal one."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings

from robomorph.errors import ProgramError
from robomorph.ir.ops import ADD, CONST, INPUT, NEG, OPS, SIN, Op
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.verify import verify
from tests.oracle.random_programs import random_programs

SOUND = Program(
    "sound",
    (Port("x", (2,)),),
    (Port("y", (1,)),),
    (Node(INPUT, (), 0.0), Node(INPUT, (), 1.0), Node(ADD, (0, 1)), Node(NEG, (2,))),
    (3,),
    cuts=(2, 4),
)
FOREIGN = Op("add", 2, True, 1, None)  # the name of a known operation, but not that operation


def with_node(index: int, node: Node) -> Program:
    nodes = list(SOUND.nodes)
    nodes[index] = node
    return replace(SOUND, nodes=tuple(nodes))


ILLEGAL = {
    "unknown operation": (with_node(2, Node(FOREIGN, (0, 1))), "%2 .*unknown operation"),
    "too few arguments": (with_node(2, Node(ADD, (0,))), "%2 .*takes 2 arguments, found 1"),
    "too many arguments": (with_node(3, Node(SIN, (0, 1))), "%3 .*takes 1 arguments, found 2"),
    "constant with arguments": (with_node(2, Node(CONST, (0,), 1.0)), "%2 .*takes 0 arguments"),
    "argument is itself": (with_node(2, Node(ADD, (0, 2))), "%2 .*%2 does not come before"),
    "argument is later": (with_node(2, Node(ADD, (3, 1))), "%2 .*%3 does not come before"),
    "argument is negative": (with_node(2, Node(ADD, (-1, 1))), "%2 .*%-1 does not come before"),
    "constant is NaN": (with_node(0, Node(CONST, (), float("nan"))), "%0 .*not finite"),
    "constant is infinite": (with_node(0, Node(CONST, (), float("inf"))), "%0 .*not finite"),
    "input beyond the ports": (with_node(1, Node(INPUT, (), 2.0)), r"%1 .*slot 2.0 outside 0\.\.1"),
    "input is negative": (with_node(1, Node(INPUT, (), -1.0)), "%1 .*slot -1.0"),
    "input is between slots": (with_node(1, Node(INPUT, (), 0.5)), "%1 .*slot 0.5"),
    "too few results": (replace(SOUND, results=()), "0 results for 1 output entries"),
    "too many results": (replace(SOUND, results=(3, 3)), "2 results for 1"),
    "result does not exist": (replace(SOUND, results=(4,)), "result 0 names node %4"),
    "result is negative": (replace(SOUND, results=(-1,)), "result 0 names node %-1"),
    "cuts fall": (replace(SOUND, cuts=(3, 2, 4)), "cuts must rise from above 0"),
    "cuts repeat": (replace(SOUND, cuts=(2, 2, 4)), "cuts must rise from above 0"),
    "cuts start too early": (replace(SOUND, cuts=(0, 4)), "cuts must rise from above 0"),
    "cuts stop early": (replace(SOUND, cuts=(2, 3)), "last cut must end"),
    "cuts go on": (replace(SOUND, cuts=(2, 5)), "last cut must end"),
    "inputs share a name": (replace(SOUND, inputs=(Port("x", ()), Port("x", ()))), "ports .*'x'"),
    "outputs share a name": (
        replace(SOUND, outputs=(Port("y", ()), Port("y", ())), results=(3, 3)),
        "ports .*'y'",
    ),
}


def test_a_sound_program_passes() -> None:
    verify(SOUND)


@pytest.mark.parametrize("case", ILLEGAL)
def test_illegal_program(case: str) -> None:
    program, message = ILLEGAL[case]
    with pytest.raises(ProgramError, match=message) as caught:
        verify(program)
    assert "sound" in str(caught.value)


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(random_programs())
def test_random_programs_are_legal(program: Program) -> None:
    verify(program)


def test_the_table_of_operations_is_sound() -> None:
    for name, op in OPS.items():
        assert name == op.name
        assert (op.evaluate is None) == (op in (CONST, INPUT))
        assert (op.cost > 0) == (op.arity > 0)
        if op.commutative:
            assert op.evaluate is not None and op.evaluate(2.0, 5.0) == op.evaluate(5.0, 2.0)
