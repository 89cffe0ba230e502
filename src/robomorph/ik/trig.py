"""Sines and cosines taken out of a program, so that one lane's joints can fill the lanes of a vector.

With many problems in lanes every joint's sine is a vector operation already. A single problem would compute
them one by one; its coordinates lie next to each other, so a small program in as many lanes as the machine
has computes them for several joints at once. Time per solve of chain:100 falls by a quarter.
"""

from __future__ import annotations

from robomorph.ir.ops import COS, INPUT, SIN
from robomorph.ir.program import Node, Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.dce import dce


def without_trig(program: Program) -> Program:
    """The same program with two more inputs, the sines and cosines of all of `q` (its first input); those of
    other values are still computed inside."""
    nq, base = program.inputs[0].size, program.input_size
    nodes = []
    for node in program.nodes:
        place = _coordinate(program, node, nq)
        if place is None:
            nodes.append(node)
        else:
            nodes.append(Node(INPUT, (), float(base + place + (nq if node.op is COS else 0))))
    ports = (*program.inputs, Port("sin", (nq,)), Port("cos", (nq,)))
    return dce(Program(program.name, ports, program.outputs, tuple(nodes), program.results))


def _coordinate(program: Program, node: Node, nq: int) -> int | None:
    """The coordinate whose sine or cosine this node is, or None."""
    if node.op is not SIN and node.op is not COS:
        return None
    angle = program.nodes[node.args[0]]
    return int(angle.value) if angle.op is INPUT and angle.value < nq else None


def trace_trig() -> Program:
    """angle -> (sin, cos)."""
    tracer = Tracer()
    port = Port("angle", (1,))
    angle = tracer.inputs([port])["angle"][0]
    return tracer.program("ik_trig", [port], {"sin": [angle.sin()], "cos": [angle.cos()]})
