"""States to measure an accelerator's numbers with: random arguments of a function, and their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.step import SECONDS
from robomorph.algorithms.tree import model_sizes
from robomorph.compiler.specialise import Specialiser, make_request
from robomorph.errors import ArgumentError
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Port
from robomorph.ir.ranges import Interval
from robomorph.model.joints import JOINT_TYPES

Array = npt.NDArray[Any]
FORCE = 100.0  # external wrenches sampled: N, N m
LONGEST = 0.1  # s, steps in time: backwards in time, dampers that count for the step divide by zero
# What derivatives take besides: weights, changes and directions, sampled within 1.
_DIRECTIONS = ("w_", "v_", "d")


def sample_arguments(
    specialiser: Specialiser,
    ports: Sequence[Port],
    count: int,
    rng: np.random.Generator,
    *,
    speed: float,
    acceleration: float,
) -> dict[str, Array]:
    """Random states (count, *shape) inside the joints' limits. Torques are those of a random motion,
    M^-1 is the true one."""
    model = specialiser.model
    nv = model_sizes(model).nv
    names = {port.name for port in ports}
    parts = [
        JOINT_TYPES[b.kind].random(rng, b.limits.lower, b.limits.upper, (count,))
        for b in model.bodies
        if b.mimic is None
    ]
    values: dict[str, Array] = {
        "q": np.concatenate(parts, axis=-1),
        "qd": rng.uniform(-speed, speed, (count, nv)),
        "qdd": rng.uniform(-acceleration, acceleration, (count, nv)),
    }
    if "tau" in names:
        values["tau"] = _evaluate(specialiser, "inverse_dynamics", values)["tau"]
    if "minv" in names:
        values["minv"] = _evaluate(specialiser, "mass_matrix_inverse", values)["minv"]
    for port in ports:
        if port.name == "f_ext":
            values["f_ext"] = rng.uniform(-FORCE, FORCE, (count, *port.shape))
        elif port.name == SECONDS:
            values[SECONDS] = rng.uniform(0.0, LONGEST, (count, *port.shape))
        elif port.name.startswith(_DIRECTIONS) and port.name not in values:
            values[port.name] = rng.uniform(-1.0, 1.0, (count, *port.shape))
    for port in ports:
        if port.name not in values:
            raise ArgumentError(
                f"formats per signal: no states are known of the argument {port.name}: expected q, qd, qdd,"
                " tau, minv or f_ext; give one format for all (format='Q16.16')"
            )
    return {port.name: values[port.name] for port in ports}


def _evaluate(specialiser: Specialiser, algorithm: str, values: dict[str, Array]) -> dict[str, Array]:
    program = specialiser.specialise(make_request(specialiser.model, algorithm)).program
    return interpret(program, {port.name: values[port.name] for port in program.inputs})


def input_bounds(
    specialiser: Specialiser,
    ports: Sequence[Port],
    samples: dict[str, Array],
    *,
    speed: float,
    acceleration: float,
) -> list[Interval]:
    """An interval per input entry. Positions take the joints' limits (within pi where there is none; within a
    metre for joints of several coordinates), rates the bounds asked for, sines and cosines 1, each as if
    it were independent of the others. Nothing else has a bound of its own: external wrenches are assumed to
    stay within `FORCE`, steps in time from 0 to `LONGEST`, torques and M^-1 within twice their sampled range,
    weights and directions of a derivative within 1. `described_bounds` says so."""
    bounds: list[Interval] = []
    for port in ports:
        flat = samples[port.name].reshape(-1, port.size)
        for k in range(port.size):
            if port.name in ("qd", "qdd"):
                size = speed if port.name == "qd" else acceleration
            elif port.name == "trig" or port.name.startswith(_DIRECTIONS):
                size = 1.0
            elif port.name == "f_ext":
                size = FORCE
            else:
                size = 2.0 * float(np.max(np.abs(flat[:, k])))
            bounds.append(Interval(0.0, LONGEST) if port.name == SECONDS else Interval(-size, size))
    if ports and ports[0].name == "q":
        bounds[: ports[0].size] = _position_bounds(specialiser)
    return bounds


def described_bounds(
    ports: Sequence[Port], *, speed: float, acceleration: float
) -> tuple[list[str], list[str]]:
    """(stated, assumed): the bounds above in words. Proven ranges hold for arguments within the stated ones;
    the assumed ones are not implied by those, and an argument may well exceed them."""
    stated = {
        "q": "positions within the joints' limits (within pi where there is none, 1 m for a floating base)",
        "qd": f"|qd| <= {speed:g}",
        "qdd": f"|qdd| <= {acceleration:g}",
        "trig": "any sines and cosines",
    }
    assumed = {
        "tau": "tau within twice its sampled range",
        "minv": "M^-1 within twice its sampled range",
        "f_ext": f"external wrenches within {FORCE:g} N and N m",
        SECONDS: f"{SECONDS} from 0 to {LONGEST:g} s",
    }
    names = [port.name for port in ports]
    known = {**stated, **assumed}
    assumed |= {n: f"|{n}| <= 1" for n in names if n not in known and n.startswith(_DIRECTIONS)}
    return [stated[n] for n in names if n in stated], [assumed[n] for n in names if n in assumed]


def _position_bounds(specialiser: Specialiser) -> list[Interval]:
    bounds: list[Interval] = []
    for body in specialiser.model.bodies:
        if body.mimic is not None:
            continue
        joint = JOINT_TYPES[body.kind]
        if joint.nq == 1:  # what has no limit is taken as far as states are sampled
            ends = (body.limits.lower, body.limits.upper)
            low, high = (e if np.isfinite(e) else float(np.copysign(np.pi, e)) for e in ends)
            bounds.append(Interval(min(low, high), max(low, high)))
        else:  # positions within a metre, directions within the unit sphere
            bounds += [Interval(-1.0, 1.0)] * joint.nq
    return bounds
