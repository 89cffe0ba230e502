"""The two sweeps of the chip as templates: one joint's step, traced once for all joints of a chain.

What all joints have in common folds; what differs becomes an operand, a column of the chip's constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from robomorph.accelerators.ik.chain import Chain, ChainJoint
from robomorph.algorithms.reach import column, reach
from robomorph.algorithms.world_pose import WorldPose
from robomorph.ir.fixed import FixedProgram, Format
from robomorph.ir.lower import Numbers, lower
from robomorph.ir.program import Port, Program
from robomorph.ir.trace import Expr, Tracer
from robomorph.passes.balance import balance
from robomorph.passes.dce import dce
from robomorph.spatial import Motion, Transform, Translation, Turn


@dataclass
class _Constants:
    """A chain's constants as scalars: a number where all joints agree, else an operand."""

    joints: Sequence[ChainJoint]
    length: float  # m of a unit
    tracer: Tracer
    first: int  # slot of the first operand
    columns: list[list[float]] = field(default_factory=list)

    def scalar(self, values: list[float]) -> Any:
        if len(set(values)) == 1:
            return values[0]
        if values not in self.columns:
            self.columns.append(values)
        return self.tracer.input(self.first + self.columns.index(values))

    def moves(self, turn: Sequence[Any], slide: Any) -> Transform:
        along = () if slide is None else (Translation((0.0, 0.0, slide)),)
        return Transform((self.offset(), self.twist(), Turn(2, turn[0], turn[1]), *along))

    def offset(self) -> Translation:
        x, y, z = (self.scalar([j.offset[k] / self.length for j in self.joints]) for k in range(3))
        return Translation((x, y, z))

    def twist(self) -> Turn:
        c, s = (self.scalar([j.twist[k] for j in self.joints]) for k in range(2))
        return Turn(0, c, s)


@dataclass(frozen=True)
class Template:
    """A step in fixed point, and its constants: a row of numbers per joint."""

    fixed: FixedProgram
    constants: tuple[tuple[float, ...], ...]


def reach_template(chain: Chain, length: float, bits: int) -> Template:
    """(tip 3, cos, sin[, slide], constants) -> (tip 3), in words of `bits` bits; positions in units of
    `length` m."""
    tracer, ports = Tracer(), _ports(chain, (("tip", 3),))
    values = tracer.inputs(ports)
    constants = _Constants(chain.joints, length, tracer, sum(p.size for p in ports))
    moves = constants.moves(values["turn"], values["slide"][0] if "slide" in values else None)
    x, y, z = values["tip"]
    tip = reach(moves, (x, y, z))
    return _template("reach", tracer, ports, constants, {"tip": list(tip)}, bits)


def turned_template(chain: Chain, length: float, bits: int, *, twisted: bool) -> Template:
    """(tip 3, slid and turned, constants) -> (tip 3): what is left of a joint once CORDIC has turned the
    position, its offset and, if it is not `twisted` already, its twist."""
    tracer, ports = Tracer(), (Port("tip", (3,)),)
    x, y, z = tracer.inputs(ports)["tip"]
    constants = _Constants(chain.joints, length, tracer, 3)
    moves = (constants.offset(),) if twisted else (constants.offset(), constants.twist())
    tip = reach(Transform(moves), (x, y, z))
    return _template("reach", tracer, ports, constants, {"tip": list(tip)}, bits)


def columns_template(chain: Chain, length: float, bits: int) -> Template:
    """(axes 9, origin 3, tip 3, cos, sin[, slide], constants) -> (axes 9, origin 3, column 3)."""
    tracer, ports = Tracer(), _ports(chain, (("axes", 9), ("origin", 3), ("tip", 3)))
    values = tracer.inputs(ports)
    constants = _Constants(chain.joints, length, tracer, sum(p.size for p in ports))
    moves = constants.moves(values["turn"], values["slide"][0] if "slide" in values else None)
    a, (ox, oy, oz), (px, py, pz) = values["axes"], values["origin"], values["tip"]
    pose = WorldPose(((a[0], a[1], a[2]), (a[3], a[4], a[5]), (a[6], a[7], a[8])), (ox, oy, oz)).then(moves)
    turned = column(pose, Motion((0.0, 0.0, 1.0)), (px, py, pz)).linear
    results = {"axes": [x for axis in pose.axes for x in axis], "origin": list(pose.origin), "column": turned}
    return _template("columns", tracer, ports, constants, results, bits)


def _ports(chain: Chain, first: Sequence[tuple[str, int]]) -> tuple[Port, ...]:
    slide = [("slide", 1)] if any(joint.slides for joint in chain.joints) else []
    return tuple(Port(name, (size,)) for name, size in (*first, ("turn", 2), *slide))


def _template(
    name: str,
    tracer: Tracer,
    ports: tuple[Port, ...],
    constants: _Constants,
    results: dict[str, Any],
    bits: int,
) -> Template:
    found = constants.columns
    every = (*ports, Port("constants", (len(found),))) if found else ports
    opaque = {key: [x if isinstance(x, Expr) else float(x) for x in value] for key, value in results.items()}
    program: Program = balance(dce(tracer.program(name, every, opaque)))
    # One format for all: nothing on a chain is farther than two units, and sines are below one.
    fixed = lower(program, Numbers(bits, Format(bits, bits - 2)), [0.0] * len(program.nodes))
    return Template(fixed, tuple(zip(*found, strict=True)) if found else ((),) * len(constants.joints))
