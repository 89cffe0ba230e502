"""Sines and cosines taken out of a program, for a host that computes them beside its chip."""

from __future__ import annotations

from robomorph.ir.ops import COS, INPUT, SIN
from robomorph.ir.program import Node, Port, Program
from robomorph.passes.dce import dce


def split_trigonometry(program: Program) -> tuple[Program, Program]:
    """(host, chip): the host computes sines and cosines of the inputs, the chip takes them as an input port
    `trig` after its others. A program without any is its own chip, and its host gives nothing."""
    host, chip = replace_trigonometry(program)
    return host, dce(chip)


def replace_trigonometry(program: Program) -> tuple[Program, Program]:
    """The same, with every node of the chip in its place."""
    slots = [i for i, node in enumerate(program.nodes) if node.op in (SIN, COS)]
    port = Port("trig", (len(slots),))
    host = dce(Program(f"{program.name}_host", program.inputs, (port,), program.nodes, tuple(slots)))
    nodes = list(program.nodes)
    for k, i in enumerate(slots):
        nodes[i] = Node(INPUT, (), float(program.input_size + k))
    ports = (*program.inputs, port) if slots else program.inputs
    return host, Program(program.name, ports, program.outputs, tuple(nodes), program.results)
