"""An accelerator: a function of one robot, the numbers it is computed in, and the design that computes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.algorithms.tree import model_sizes
from robomorph.errors import ArgumentError
from robomorph.hardware.boundary import BOUNDARIES, Boundary
from robomorph.hardware.functions import replace_trigonometry, split_trigonometry, with_minv_given
from robomorph.hardware.options import Options
from robomorph.hardware.states import input_bounds, sample_arguments
from robomorph.hardware.units.formats import lower_units
from robomorph.hardware.units.program import UnitProgram, compact, scales_agree
from robomorph.hardware.units.trace import trace_units
from robomorph.ir.fixed import FixedProgram, FixedResult
from robomorph.ir.interpret import interpret
from robomorph.ir.lower import lower, require_fixed_point
from robomorph.ir.ops import CONST, MUL
from robomorph.ir.program import Port, Program
from robomorph.ir.ranges import intervals, profile
from robomorph.specialise import Request, Specialised, Specialiser, make_request
from robomorph.targets.rtl.balance import balance
from robomorph.targets.rtl.design import Design, module_name
from robomorph.targets.rtl.units import Units

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Accelerator:
    """`real` computes the whole function in real numbers; `host` what the host contributes (sines and
    cosines, if asked for); the chip computes `fixed`."""

    specialiser: Specialiser
    request: Request
    options: Options
    made: Specialised
    real: Program
    host: Program
    chip: Program
    units: UnitProgram | None = None  # the chip's program with its calls, if it has link units

    @property
    def inputs(self) -> tuple[Port, ...]:
        """The arguments that a caller gives."""
        return self.real.inputs

    @property
    def outputs(self) -> tuple[Port, ...]:
        return self.real.outputs

    @cached_property
    def samples(self) -> dict[str, Array]:
        """Sampled arguments of the chip: what ranges were measured with."""
        return self.chip_arguments(self.sample(self.options.samples, seed=0))

    def sample(self, count: int, seed: int) -> dict[str, Array]:
        """Random arguments (count, *shape) of the function."""
        o = self.options
        return sample_arguments(
            self.specialiser,
            self.inputs,
            count,
            np.random.default_rng(seed),
            speed=o.speed,
            acceleration=o.acceleration,
        )

    def chip_arguments(self, arguments: Mapping[str, Array]) -> dict[str, Array]:
        """The function's arguments, and what the host makes of them."""
        given = dict(arguments)
        if self.host.results:
            given.update(interpret(self.host, {p.name: given[p.name] for p in self.host.inputs}))
        return {port.name: given[port.name] for port in self.chip.inputs}

    @cached_property
    def profile(self) -> list[float]:
        """The largest magnitude of every chip node over the samples."""
        return profile(self.chip, self.samples)

    @cached_property
    def proven(self) -> list[float]:
        """A magnitude that no chip node exceeds, in real numbers, for arguments inside the bounds of
        `states.input_bounds` (infinite where none is known). Those of torques, M^-1 and external wrenches are
        assumptions: a state with |q|, |qd| and |qdd| in range may exceed them, and is flagged if a signal
        saturates."""
        o = self.options
        bounds = input_bounds(
            self.specialiser, self.chip.inputs, self.samples, speed=o.speed, acceleration=o.acceleration
        )
        return [interval.size for interval in intervals(self.chip, bounds)]

    @cached_property
    def lowered(self) -> tuple[FixedProgram, Units]:
        """The chip's program in fixed point, and the calls in it."""
        sizes = self.proven if self.options.ranges == "proven" else self.profile
        if self.units is not None:
            return lower_units(self.units, self.options.numbers, sizes)
        return lower(self.chip, self.options.numbers, sizes), Units((), ())

    @property
    def fixed(self) -> FixedProgram:
        return self.lowered[0]

    @cached_property
    def design(self) -> Design:
        about = (self.specialiser.model.name, self.request.algorithm, self.request.frame)
        name = module_name("_".join(filter(None, about)))
        knobs = self.options.knobs(_multiplications(self.chip))
        o = self.options
        return Design(name, self.fixed, knobs, o.boundary, self.lowered[1], o.queue)

    @property
    def boundary(self) -> Boundary:
        """What the streams' words mean."""
        return BOUNDARIES[self.options.boundary](self.fixed)

    def words(self, arguments: Mapping[str, Array]) -> tuple[Array, Array]:
        """Stream words (n, input_size) of real arguments, and where the host had to make one fit."""
        return self.boundary.encode(self.chip_arguments(arguments))

    def interpret(self, arguments: Mapping[str, Array]) -> tuple[dict[str, Array], FixedResult]:
        """What the chip computes, by the fixed-point interpreter: real results, and the stream words."""
        words, clipped = self.words(arguments)
        result = self.boundary.run(words)
        return self.boundary.decode(result.words), FixedResult(result.words, result.overflow | clipped)

    def reference(self, arguments: Mapping[str, Array]) -> dict[str, Array]:
        """The same in float64."""
        return interpret(self.real, arguments)


def make_accelerator(specialiser: Specialiser, request: Request, options: Options) -> Accelerator:
    """From a request to an accelerator; nothing is scheduled before it is asked for."""
    if model_sizes(specialiser.model).nv == 0:
        raise ArgumentError(
            f"{specialiser.model.name}: no joint moves: there is nothing for a chip to compute"
        )
    if options.structure == "units":
        request = _by_columns(request)
    if options.minv == "given":
        made, real = _minv_given(specialiser, request)
    else:
        made = specialiser.specialise(request)
        real = made.program
    require_fixed_point(real)
    if options.structure == "units":
        return _with_units(specialiser, request, options, made, real)
    if options.trig == "host":
        host, chip = split_trigonometry(real)
    else:
        host, chip = Program("host", real.inputs, (), (), ()), real
    return Accelerator(specialiser, request, options, made, real, host, balance(chip))


def _by_columns(request: Request) -> Request:
    """Gradients by columns, the formulation that is all sweeps, unless another was asked for."""
    known = ALGORITHMS[request.algorithm].formulations
    chosen = request.formulation or ("columns" if "columns" in known else None)
    return replace(request, formulation=chosen)


def _with_units(
    specialiser: Specialiser, request: Request, options: Options, made: Specialised, real: Program
) -> Accelerator:
    """The same function as calls of link units."""
    given = options.minv == "given"
    inner = _gradient_request(specialiser, request) if given else request
    tree = specialiser.tree(regroup=ALGORITHMS[inner.algorithm].regroup)
    step = options.link_scale if options.format is None else 0
    units = trace_units(tree, inner, made.formulation, minv_given=given, step=step)
    if not scales_agree(units):
        units = trace_units(tree, inner, made.formulation, minv_given=given)
    host = Program("host", real.inputs, (), (), ())
    if options.trig == "host":
        host, chip = replace_trigonometry(units.program)
        units = compact(replace(units, program=chip))
    return Accelerator(specialiser, request, options, made, real, host, units.program, units)


def _minv_given(specialiser: Specialiser, request: Request) -> tuple[Specialised, Program]:
    inner = _gradient_request(specialiser, request)
    specialiser.require_masses(ALGORITHMS[request.algorithm])  # no M^-1 to give of a singular M
    made = specialiser.specialise(inner)
    return made, with_minv_given(made.program, model_sizes(specialiser.model).nv)


def _gradient_request(specialiser: Specialiser, request: Request) -> Request:
    """The gradient of inverse dynamics that a gradient of forward dynamics with M^-1 given is made of."""
    if request.algorithm != "forward_dynamics_gradient":
        raise ArgumentError(f"minv='given': only for forward_dynamics_gradient, found {request.algorithm}")
    wanted = [name for name in ("dqdd_dq", "dqdd_dqd") if name in request.outputs]
    if not wanted:
        raise ArgumentError("minv='given': expected dqdd_dq or dqdd_dqd among the outputs")
    return make_request(
        specialiser.model,
        "inverse_dynamics_gradient",
        outputs=[name.replace("dqdd", "dtau") for name in wanted],
        f_ext=request.wrench_links or False,
        formulation=request.formulation,
    )


def _multiplications(program: Program) -> int:
    nodes = program.nodes
    return sum(n.op is MUL and not any(nodes[a].op is CONST for a in n.args) for n in nodes)
