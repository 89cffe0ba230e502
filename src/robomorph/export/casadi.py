"""Export for CasADi: functions with their derivatives, as sources of one shared library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import robomorph
from robomorph.compiler.specialise import make_request
from robomorph.errors import ArgumentError, ModelError
from robomorph.export.package import FunctionSpec, check_names, default_functions, robot_data
from robomorph.interop.casadi.programs import make_callees
from robomorph.interop.functions import function_named
from robomorph.ir.interpret import interpret
from robomorph.passes.chunk import chunk
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.targets.casadi.callee import Callee
from robomorph.targets.casadi.sources import CasadiPackage, check_functions
from robomorph.targets.cpp.package import (
    CppFunction,
    CppPackage,
    check_identifier,
    comment_text,
    identifier,
)

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[Any]
_WHOLE, _PIECE, _STATES = 450, 300, 2  # nodes of a block, as for C++; states of the self-check
_TITLES = {
    "jac_adj1_": "The Hessian of weighted results, and the transposed Jacobian. Of: ",
    "adj1_": "The derivative of weighted results by every argument. Of: ",
    "jac_": "The derivative of every result by every argument. Of: ",
}


def casadi_package(
    robot: Robot,
    functions: Iterable[str | FunctionSpec] | None,
    *,
    dtypes: Sequence[str] | None,
    name: str | None,
    f_ext: bool | Sequence[str],
    derivatives: int,
) -> CasadiPackage:
    """The functions with their derivatives, traced and scheduled, before any file is written."""
    if dtypes is not None and tuple(dtypes) != ("float64",):
        raise ArgumentError(f"dtypes: CasADi computes in float64 alone, found {', '.join(dtypes)}")
    if robot.nv == 0:
        raise ArgumentError("export: expected a robot with a moving joint")
    if functions is None:
        functions = default_functions(target="casadi")
    specs = [FunctionSpec.parse(f) if isinstance(f, str) else f for f in functions]
    check_names(specs)
    check_functions([spec.name for spec in specs])
    package_name = identifier(robot.name) if name is None else check_identifier("name", name)
    made: list[CppFunction] = []
    mains: list[Callee] = []
    callees: list[Callee] = []
    left_out: dict[str, str] = {}
    for spec in specs:
        try:
            own, title = _callees(robot, spec, f_ext, f"{package_name}_{spec.name}", derivatives)
        except ModelError as error:
            if not spec.optional:
                raise
            left_out[spec.name] = str(error)
            continue
        mains.append(own[0])
        callees += own
        made += [_function(robot, callee, title) for callee in own]
    if not made:
        raise ModelError("; ".join(left_out.values()) or "functions: expected at least one, found none")
    package = CppPackage(
        name=package_name,
        robot=comment_text(robot.name),
        version=robomorph.__version__,
        functions=tuple(made),
        dtypes=("float64",),
        constants={"nq": robot.nq, "nv": robot.nv},
        data=robot_data(robot),
        left_out=left_out,
    )
    return CasadiPackage(package, tuple(callees), tuple(mains), derivatives)


def _callees(
    robot: Robot, spec: FunctionSpec, f_ext: bool | Sequence[str], name: str, order: int
) -> tuple[tuple[Callee, ...], str]:
    if spec.derivative is not None:
        raise ArgumentError(
            f"functions: {spec.algorithm}.{spec.derivative}: CasADi asks for derivatives by itself: expected "
            f"{spec.algorithm}, with --derivatives for their order"
        )
    wrenches = f_ext if function_named(spec.algorithm).wrenches else False
    request = make_request(
        robot.model, spec.algorithm, outputs=spec.outputs, frame=spec.frame, f_ext=wrenches
    )
    entry = request.entry
    title = (entry.title or f"{entry.name}.").replace("{frame}", comment_text(spec.frame or ""))
    return make_callees(robot.specialiser, request, name, order), title


def _function(robot: Robot, callee: Callee, title: str) -> CppFunction:
    """The callee's program for the printer of C++, and states with its results."""
    about = next((text for start, text in _TITLES.items() if callee.name.startswith(start)), "")
    blocks = chunk(run_passes(callee.program, SCHEDULE), _WHOLE, _PIECE)
    ports = (*blocks.inputs, *blocks.outputs)
    notes = {port.name: "entries of its pattern, column by column" for port in ports}
    return CppFunction(callee.name, about + title, blocks, notes, _reference(robot, callee))


def _reference(robot: Robot, callee: Callee) -> dict[str, Array]:
    rng = np.random.default_rng(0)
    q, qd = robot.random_state(rng, _STATES)
    known = {"q": q, "qd": qd}
    arguments = {
        port.name: known.get(port.name, rng.uniform(-1.0, 1.0, (_STATES, *port.shape)))
        for port in callee.program.inputs
    }
    return arguments | interpret(callee.program, arguments)
