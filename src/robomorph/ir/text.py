"""The one text form of a program: used by `Kernel.source`, tests and bug reports."""

from __future__ import annotations

from robomorph.ir.ops import CONST, INPUT
from robomorph.ir.program import Node, Port, Program


def to_text(program: Program) -> str:
    """Canonical text: ports, one line per node, then one line per result."""
    names = entry_names(program.inputs)
    lines = [f"program {program.name}"]
    lines += [f"input {_port(port)}" for port in program.inputs]
    lines += [f"%{i} = {_node(node, names)}" for i, node in enumerate(program.nodes)]
    outs = entry_names(program.outputs)
    lines += [f"output {_port(port)}" for port in program.outputs]
    lines += [f"{name} = %{r}" for name, r in zip(outs, program.results, strict=True)]
    return "\n".join(lines) + "\n"


def entry_names(ports: tuple[Port, ...]) -> list[str]:
    """A name such as ``dtau_dq[2,3]`` for every flat entry of the ports."""
    names: list[str] = []
    for port in ports:
        for flat in range(port.size):
            index = []
            for extent in reversed(port.shape):
                flat, k = divmod(flat, extent)
                index.append(str(k))
            names.append(f"{port.name}[{','.join(reversed(index))}]" if index else port.name)
    return names


def _port(port: Port) -> str:
    return f"{port.name} ({', '.join(map(str, port.shape))})"


def _node(node: Node, names: list[str]) -> str:
    if node.op is CONST:
        return f"const {node.value!r}"
    if node.op is INPUT:
        return f"input {names[int(node.value)]}"
    return f"{node.op.name} " + " ".join(f"%{a}" for a in node.args)
