"""One program in several orders and cuts: what the passes `order` and `chunk` are measured against."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any

from robomorph.bench.functions import FORWARD_DYNAMICS_GRADIENT
from robomorph.bench.measuring import Contestant
from robomorph.bench.records import OURS
from robomorph.bench.subject import Subject
from robomorph.compiler.specialise import make_request
from robomorph.ir.ops import COS, SIN
from robomorph.ir.program import Node, Program
from robomorph.passes.chunk import chunk
from robomorph.passes.fuse import fuse
from robomorph.passes.order import order
from robomorph.runtime import NativeKernel
from robomorph.targets.cpu.build import LoadedCode, compile_object
from robomorph.targets.cpu.emit import emit
from robomorph.targets.cpu.host import host

PIECES = (100, 300, 1000, None)  # nodes in a piece; None: not cut


def from_the_results(program: Program) -> Program:
    """Trigonometry first, then each result with what it needs, depth first."""
    trig = [i for i, node in enumerate(program.nodes) if node.op is SIN or node.op is COS]
    return _placed(program, [*trig, *program.results])


def _placed(program: Program, roots: Iterable[int]) -> Program:
    new: dict[int, int] = {}
    out: list[Node] = []
    stack = list(roots)[::-1]
    while stack:
        node = program.nodes[stack[-1]]
        waiting = [a for a in node.args if a not in new]
        if waiting and stack[-1] not in new:
            stack += waiting[::-1]
            continue
        index = stack.pop()
        if index not in new:
            new[index] = len(out)
            out.append(Node(node.op, tuple(new[a] for a in node.args), node.value))
    return program.with_nodes(out, [new[r] for r in program.results])


ORDERS: dict[str, Callable[[Program], Program]] = {"as traced": order, "from the results": from_the_results}


def schedule_contestants(subject: Subject, batch: int) -> list[Contestant]:
    """The forward-dynamics gradient (float64, one thread) in every order and cut."""
    function = FORWARD_DYNAMICS_GRADIENT
    request = make_request(subject.robot.model, function.name, outputs=function.outputs)
    program = fuse(subject.robot.specialiser.specialise(request).program)
    contestants = []
    for name, arrange in ORDERS.items():
        arranged = arrange(program)
        for piece in PIECES:
            cut = chunk(arranged, whole=10**9 if piece is None else 0, piece=piece or 1)
            how = f"{name}, {'whole' if piece is None else f'pieces of {piece}'}"
            contestants.append(_contestant(subject, cut, how, batch))
    return contestants


def _contestant(subject: Subject, program: Program, how: str, batch: int) -> Contestant:
    cpu = host()
    emitted = emit(program, "float64", cpu.lanes("float64"), fma=cpu.fma, vector_bits=cpu.vector_bits)
    code = LoadedCode(compile_object(emitted.text), emitted.symbol)
    kernel = NativeKernel(
        in_shapes=tuple(p.shape for p in program.inputs),
        out_shapes=tuple(p.shape for p in program.outputs),
        dtype="float64",
        lane_fn=code.address,
        lanes=cpu.lanes("float64"),
        workspace=emitted.workspace,
        threads=1,
        result_type=namedtuple("Results", [p.name for p in program.outputs]),
    )
    states = subject.states(batch)
    args: tuple[Any, ...] = (states["q"], states["qd"], states["tau"])
    out = kernel(*args)

    def loop(count: int, keep_alive: LoadedCode = code) -> None:
        for _ in repeat(None, count):
            kernel(*args, out=out)

    return Contestant(OURS, how, loop, batch)
