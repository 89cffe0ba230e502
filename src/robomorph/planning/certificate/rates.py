"""Programs of time derivatives: a remainder cannot be differentiated, so the program is, before it runs."""

from __future__ import annotations

from collections.abc import Sequence

from robomorph.errors import ProgramError
from robomorph.ir.derivatives import Run, slots_of
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Tracer
from robomorph.passes.pipeline import SIMPLIFY, run_passes

# A motion and its time derivatives, as ports.
MOTION = ("q", "qd", "qdd", "qddd", "qdddd")


def rate_of(program: Program, order: int = 1) -> Program:
    """The `order`-th time derivative of every result, along a motion: forward mode with qd as the rate of q,
    qdd as that of qd and so on. Ports that are none of these stand still."""
    for _ in range(order):
        program = _rate(program)
    return program


def _rate(program: Program) -> Program:
    moving = [port for port in program.inputs if port.name in MOTION]
    ports = [*program.inputs]
    for port in moving:
        if port.name == MOTION[-1]:
            raise ProgramError(f"{program.name}: no rate of {port.name!r} is known")
        after = MOTION[MOTION.index(port.name) + 1]
        if all(other.name != after for other in ports):
            ports.append(Port(after, port.shape))
    tracer = Tracer()
    values = tracer.inputs(ports)
    flat = [x for port in program.inputs for x in values[port.name]]
    seeds = {
        slot: {"t": rate}
        for port in moving
        for slot, rate in zip(
            slots_of(program, [port.name]), values[MOTION[MOTION.index(port.name) + 1]], strict=True
        )
    }
    rates: Sequence[dict[str, object]] = Run(tracer, program, flat).push(seeds)
    results = {"rates": [own.get("t", 0.0) for own in rates]}
    return run_passes(tracer.program(f"{program.name}_rate", ports, results), SIMPLIFY)
