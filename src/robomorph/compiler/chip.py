"""What hardware asks about a function of a robot: its program, its link units, states and their bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from robomorph.algorithms.registry import ALGORITHMS
from robomorph.algorithms.tree import model_sizes
from robomorph.compiler.given_minv import with_minv_given
from robomorph.compiler.specialise import Request, Specialised, Specialiser, make_request
from robomorph.compiler.states import input_bounds, sample_arguments
from robomorph.compiler.units.trace import trace_units
from robomorph.errors import ArgumentError, TargetError
from robomorph.ir.ops import SQRT
from robomorph.ir.program import Port, Program
from robomorph.ir.ranges import Interval
from robomorph.ir.unit_program import UnitProgram, scales_agree
from robomorph.model import Model
from robomorph.naming import listed
from robomorph.targets.fixed_point.function import ChipFunction
from robomorph.targets.fixed_point.options import NumberOptions
from robomorph.targets.rtl.accelerator import Accelerator
from robomorph.targets.rtl.accelerator import make_accelerator as make_chip
from robomorph.targets.rtl.options import Options

Array = npt.NDArray[Any]
_ALL = 1_000_000  # operations at a time: as many as there are


@dataclass(frozen=True)
class RobotChip:
    """The answers for one robot and one request (a `ChipSource`)."""

    specialiser: Specialiser
    request: Request

    @property
    def names(self) -> tuple[str, ...]:
        about = (self.specialiser.model.name, self.request.name, self.request.frame)
        return tuple(name for name in about if name)

    def function(self, options: NumberOptions, *, all_at_once: bool) -> ChipFunction:
        model = self.specialiser.model
        if model_sizes(model).nv == 0:
            raise ArgumentError(f"{model.name}: no joint moves: there is nothing for a chip to compute")
        request = self._request(options, all_at_once)
        if options.minv == "given":
            inner = _gradient_request(self.specialiser, request)
            self.specialiser.require_masses(ALGORITHMS[request.algorithm])  # no M^-1 to give of a singular M
            made = self.specialiser.specialise(inner)
            _refuse_friction(model, made.program)
            return _chosen(made, replace(made, program=with_minv_given(made.program, model_sizes(model).nv)))
        made = self.specialiser.specialise(request)
        _refuse_friction(model, made.program)
        return _chosen(made, made)

    def unit_program(self, options: NumberOptions, formulation: str) -> UnitProgram:
        _refuse_derivative(self.request, "structure='units'")
        given, request = options.minv == "given", self._request(options, False)
        inner = _gradient_request(self.specialiser, request) if given else request
        tree = self.specialiser.tree(regroup=ALGORITHMS[inner.algorithm].regroup)
        step = options.link_scale if options.format is None else 0
        units = trace_units(tree, inner, formulation, minv_given=given, step=step)
        if not scales_agree(units):
            units = trace_units(tree, inner, formulation, minv_given=given)
        return units

    def _request(self, options: NumberOptions, all_at_once: bool) -> Request:
        """With link units, gradients by columns, the formulation that is all sweeps, unless another was
        asked for."""
        if options.structure != "units":
            return replace(self.request, parallel=_ALL if all_at_once else 1)
        _refuse_derivative(self.request, "structure='units'")
        known = ALGORITHMS[self.request.algorithm].formulations
        chosen = self.request.formulation or ("columns" if "columns" in known else None)
        if chosen is not None and chosen not in known:
            raise ArgumentError(
                f"formulation: {chosen!r} of {self.request.algorithm} has no link units: expected one of "
                f"{', '.join(known)}, or structure='flat'"
            )
        return replace(self.request, formulation=chosen)

    def sample(
        self, ports: Sequence[Port], count: int, rng: np.random.Generator, speed: float, acceleration: float
    ) -> dict[str, Array]:
        return sample_arguments(self.specialiser, ports, count, rng, speed=speed, acceleration=acceleration)

    def bounds(
        self, ports: Sequence[Port], samples: dict[str, Array], speed: float, acceleration: float
    ) -> list[Interval]:
        return input_bounds(self.specialiser, ports, samples, speed=speed, acceleration=acceleration)


def make_accelerator(specialiser: Specialiser, request: Request, options: Options) -> Accelerator:
    """An accelerator of a robot's function."""
    return make_chip(RobotChip(specialiser, request), options)


def _refuse_friction(model: Model, program: Program) -> None:
    """Its law has a square root."""
    rubbing = [body.joint_name for body in model.bodies if body.friction]
    if model.passive is None or not rubbing or all(node.op is not SQRT for node in program.nodes):
        return
    raise TargetError(
        f"{model.name}: {program.name}: fixed point, and so hardware, has no square root, which friction of "
        f"{listed(rubbing)} needs: load the robot with friction=0 (damping and springs work) or passive=False"
    )


def _chosen(made: Specialised, computed: Specialised) -> ChipFunction:
    return ChipFunction(computed.program, made.formulation, made.candidates)


def _refuse_derivative(request: Request, option: str) -> None:
    if request.derivative is not None:
        raise ArgumentError(
            f"{option}: not for derivatives of an algorithm, found {request.derivative!r} of "
            f"{request.algorithm}: leave the option out"
        )


def _gradient_request(specialiser: Specialiser, request: Request) -> Request:
    """The gradient of inverse dynamics that a gradient of forward dynamics with M^-1 given is made of."""
    _refuse_derivative(request, "minv='given'")
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
