"""Export: kernels of a robot as source code for a user's own project.

from robomorph.export import export
export(robomorph.load("iiwa14"), "out", functions=["inverse_dynamics", "jacobian:iiwa_link_ee"])
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import robomorph
from robomorph.algorithms.registry import ALGORITHMS, state_algorithms
from robomorph.compiler.provenance import step_comments
from robomorph.compiler.specialise import make_request
from robomorph.errors import ArgumentError, ModelError, ModelWarning
from robomorph.export.control_files import control_files
from robomorph.export.control_package import ControlPackage, control_package
from robomorph.export.folders import write_folder
from robomorph.export.gpu import GpuFunction, GpuPackage, package_files
from robomorph.export.manifest import source_manifest
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Port, Program
from robomorph.model import manifolds
from robomorph.model.joints import JOINT_TYPES, JointType
from robomorph.passes.chunk import chunk
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.paths import user_path
from robomorph.robot import Robot
from robomorph.targets.casadi.sources import CasadiPackage, casadi_files
from robomorph.targets.cpp.build import DEFAULT_FLAGS, SharedLibrary, compile_shared
from robomorph.targets.cpp.c_abi import check_symbols
from robomorph.targets.cpp.manifold import manifold_routines, unknown_kinds
from robomorph.targets.cpp.package import (
    Array,
    CppFunction,
    CppPackage,
    JointPlace,
    RobotData,
    check_identifier,
    comment_text,
    identifier,
)
from robomorph.targets.cpp.project import project_files

TARGETS = ("cpp", "cuda", "opencl", "casadi")
DTYPES = ("float64", "float32")
_CASADI_DEFAULTS = ("inverse_dynamics", "forward_dynamics")
# Nodes up to which a function is one block, and in each block of a longer one: in short blocks g++ keeps
# more values in registers, and people their bearings.
_WHOLE, _PIECE = 450, 300
_STATES = 2  # in the self-check that is exported with the code


@dataclass(frozen=True)
class FunctionSpec:
    """One function to export.

    Written ``algorithm[.derivative][:frame][=output+output...]``: ``mass_matrix``, ``jacobian:tool0``,
    ``forward_dynamics_gradient=qdd+dqdd_dq``, ``inverse_dynamics.vjp``. optional: left out, with a warning,
    if the robot has no such function, as one without masses has no dynamics.
    """

    algorithm: str
    frame: str | None = None
    outputs: tuple[str, ...] | None = None
    optional: bool = False
    derivative: str | None = None

    @staticmethod
    def parse(text: str) -> FunctionSpec:
        head, equals, tail = text.partition("=")
        function, colon, frame = head.partition(":")
        algorithm, dot, derivative = function.partition(".")
        outputs = tuple(name.strip() for name in tail.split("+")) if equals else None
        about = frame if colon else None
        return FunctionSpec(algorithm.strip(), about, outputs, derivative=derivative.strip() if dot else None)

    @property
    def function(self) -> str:
        """The algorithm, or its derivative."""
        return self.algorithm if self.derivative is None else f"{self.algorithm}_{self.derivative}"

    @property
    def name(self) -> str:
        """The function's identifier. A frame of which no letter can stand in one is called `frame`: results
        are named like their algorithm, and C++ would take the one for the other."""
        if self.frame is None:
            return identifier(self.function)
        name = identifier(f"{self.function}_{self.frame}")
        return f"{name}_frame" if name == self.function else name


def default_functions(frames: Sequence[str] = (), target: str = "cpp") -> list[FunctionSpec]:
    """Every algorithm that states alone decide, for CasADi the dynamics (each brings its derivatives); those
    about one frame once for each of `frames`."""
    names = [a.name for a in state_algorithms().values() if not a.frame]
    specs = [FunctionSpec(n, optional=True) for n in (_CASADI_DEFAULTS if target == "casadi" else names)]
    return specs + frame_functions(frames)


def frame_functions(frames: Sequence[str]) -> list[FunctionSpec]:
    """Every algorithm about one frame, for each of `frames`."""
    about_frames = [a.name for a in state_algorithms().values() if a.frame]
    return [FunctionSpec(name, frame, optional=True) for frame in frames for name in about_frames]


def export(
    robot: Robot,
    directory: str | Path,
    *,
    target: str = "cpp",
    functions: Iterable[str | FunctionSpec] | None = None,
    dtypes: Sequence[str] | None = None,
    name: str | None = None,
    f_ext: bool | Sequence[str] = False,
    force: bool = False,
    mpc: Any = None,
    derivatives: int = 2,
) -> CppPackage | GpuPackage | CasadiPackage:
    """Write source code for `functions` (see FunctionSpec; None: all without a frame) into `directory`, which
    stays as it was if that fails. A ModelWarning, and `left_out` of the result, say what the robot lacks.

    dtypes: number formats of the C interface and the self-check, both by default; C++ templates take both.
    name: the namespace and package; None for the robot's own. f_ext: links whose external wrenches are
    arguments of the functions that know them (True: all). force: write into a folder that holds other things.
    mpc: an mpc.Problem, an mpc.Controller or the path of a problem's TOML file: a controller for it goes with
    the kernels (C++ only; then `functions` are forward_dynamics by default, and dtypes float64).
    derivatives: for casadi, their highest order; its functions are those of the dynamics by default.
    """
    if target not in TARGETS:
        raise ArgumentError(f"target: expected one of {', '.join(TARGETS)}, found {target!r}")
    if target == "casadi" and mpc is None:
        chosen = {"dtypes": dtypes, "name": name, "f_ext": f_ext, "derivatives": derivatives}
        return _export_casadi(robot, directory, functions, force, chosen)
    control = None
    if mpc is not None:
        control, functions = _control(robot, mpc, target, functions)
        dtypes = dtypes or ("float64",)
    package = make_package(robot, functions, dtypes=dtypes or DTYPES, name=name, f_ext=f_ext)
    if control is not None:
        package = replace(package, functions=(*package.functions, *control.kernels))
    _warn_of(package.left_out)
    on_gpu = None if target == "cpp" else _gpu_package(robot, package, target)
    files = project_files(package) if on_gpu is None else package_files(on_gpu)
    about = source_manifest(target, package)
    if control is not None:
        files, about = control_files(package, control, files), {**about, "controller": control.about}
    write_folder(user_path(directory), files, about, force=force)
    return package if on_gpu is None else on_gpu


def _export_casadi(
    robot: Robot,
    directory: str | Path,
    functions: Iterable[str | FunctionSpec] | None,
    force: bool,
    chosen: Mapping[str, Any],
) -> CasadiPackage:
    from robomorph.export.casadi import casadi_package  # which names functions as is done here

    exported = casadi_package(robot, functions, **chosen)
    _warn_of(exported.package.left_out)
    about = {**source_manifest("casadi", exported.package), "derivatives": exported.order}
    write_folder(user_path(directory), casadi_files(exported), about, force=force)
    return exported


def _warn_of(left_out: Mapping[str, str]) -> None:
    for reason in dict.fromkeys(left_out.values()):
        names = [name for name, why in left_out.items() if why == reason]
        warnings.warn(f"export: left out {', '.join(names)}: {reason}", ModelWarning, stacklevel=4)


def _control(
    robot: Robot, mpc: Any, target: str, functions: Iterable[str | FunctionSpec] | None
) -> tuple[ControlPackage, list[str | FunctionSpec]]:
    """The controller, and functions with what its example simulates the robot by."""
    if target != "cpp":
        raise ArgumentError(f"mpc: a controller is exported as C++: expected target 'cpp', found {target!r}")
    specs = [FunctionSpec.parse(f) if isinstance(f, str) else f for f in functions or ()]
    plant = FunctionSpec("forward_dynamics")
    if plant.name not in [spec.name for spec in specs]:
        specs.append(plant)
    return control_package(robot, mpc, (_WHOLE, _PIECE)), [*specs]


def _gpu_package(robot: Robot, package: CppPackage, target: str) -> GpuPackage:
    """The same functions for a GPU."""
    return GpuPackage(
        target=target,
        name=package.name,
        robot=package.robot,
        version=package.version,
        links=len(robot.model.bodies),
        nq=robot.nq,
        nv=robot.nv,
        functions=tuple(GpuFunction(f.name, f.program, f.reference) for f in package.functions),
        dtypes=package.dtypes,
        left_out=package.left_out,
    )


def build_shared(
    robot: Robot,
    functions: Iterable[str | FunctionSpec] | None = None,
    *,
    directory: str | Path | None = None,
    compiler: str | None = None,
    flags: Sequence[str] = DEFAULT_FLAGS,
    dtypes: Sequence[str] = DTYPES,
    f_ext: bool | Sequence[str] = False,
) -> SharedLibrary:
    """Export, compile with a C++ compiler found here (or the one named), and load through the C interface.

    Without a directory the sources live in a temporary folder that goes when this returns.
    """
    with tempfile.TemporaryDirectory(prefix="robomorph-") as temporary:
        folder = user_path(temporary if directory is None else directory)
        package = export(robot, folder, functions=functions, dtypes=dtypes, f_ext=f_ext)
        assert isinstance(package, CppPackage)  # the target is C++
        return compile_shared(package, folder, compiler=compiler, flags=flags)


def make_package(
    robot: Robot,
    functions: Iterable[str | FunctionSpec] | None = None,
    *,
    dtypes: Sequence[str] = DTYPES,
    name: str | None = None,
    f_ext: bool | Sequence[str] = False,
) -> CppPackage:
    """The functions, traced and scheduled, before any file is written."""
    specs = [FunctionSpec.parse(f) if isinstance(f, str) else f for f in functions or default_functions()]
    check_names(specs)
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise ArgumentError(f"dtypes: expected some of {', '.join(DTYPES)}, found {dtype!r}")
    if not dtypes or robot.nv == 0:
        raise ArgumentError("export: expected at least one dtype and a robot with a moving joint")
    package_name = identifier(robot.name) if name is None else check_identifier("name", name)
    left_out: dict[str, str] = {}
    made = tuple(_functions(robot, specs, f_ext, left_out))
    check_symbols(package_name, [f.name for f in made], dtypes)
    data = robot_data(robot)
    unknown = unknown_kinds(data.places)
    if unknown:
        left_out |= {"integrate": unknown, "difference": unknown}
    return CppPackage(
        name=package_name,
        robot=comment_text(robot.name),
        version=robomorph.__version__,
        functions=made,
        dtypes=tuple(dict.fromkeys(dtypes)),
        constants={"nq": robot.nq, "nv": robot.nv},
        data=data,
        manifold=() if unknown else manifold_routines(robot.nq, robot.nv, _steps(robot, _STATES)),
        left_out=left_out,
    )


def check_names(specs: Sequence[FunctionSpec]) -> None:
    """ArgumentError if two functions would have one name."""
    for k, spec in enumerate(specs):
        for other in specs[:k]:
            if (spec.function, spec.frame) == (other.function, other.frame):
                raise ArgumentError(f"functions: {spec.name} would be exported twice: name each once")
            if spec.name == other.name:
                raise ArgumentError(
                    f"functions: {other.function}:{other.frame} and {spec.function}:{spec.frame} would "
                    f"both be called {spec.name}: export them into different folders, with different names"
                )


def _functions(
    robot: Robot, specs: Sequence[FunctionSpec], f_ext: bool | Sequence[str], left_out: dict[str, str]
) -> Iterator[CppFunction]:
    """What the robot can do of what may be left out, and everything else; `left_out` gets the reasons."""
    refused: ModelError | None = None
    some = False
    for spec in specs:
        try:
            function = _function(robot, spec, f_ext)
        except ModelError as error:
            if not spec.optional:
                raise
            refused, left_out[spec.name] = error, str(error)
            continue
        some = True
        yield function
    if refused is not None and not some:
        raise refused


def _steps(robot: Robot, states: int) -> dict[str, Array]:
    """Numbers that float32 holds exactly: steps with what they lead to, and pairs with what is between."""
    rng = np.random.default_rng(1)

    def plain(values: Array) -> Array:
        return values.astype(np.float32).astype(np.float64)

    q, dq = plain(robot.random_state(rng, states).q), plain(rng.uniform(-1.0, 1.0, (states, robot.nv)))
    q1 = plain(robot.random_state(rng, states).q)
    return {
        "q": q,
        "dq": dq,
        "result": robot.integrate(q, dq),
        "q0": q,
        "q1": q1,
        "difference": robot.difference(q, q1),
    }


def robot_data(robot: Robot) -> RobotData:
    """Names, limits, gravity and the places of the joints."""
    limits = robot.limits
    places = []
    for body in robot.model.bodies:
        if body.mimic is None:
            q, v = robot.coordinates(body.joint_name)
            manifold, size = _manifold_name(JOINT_TYPES[body.kind]), q.stop - q.start
            places.append(JointPlace(body.joint_name, body.kind, manifold, q.start, v.start, size))
    return RobotData(
        joints=robot.joint_names,
        coordinates=robot.coordinate_names,
        velocities=robot.velocity_names,
        lower=tuple(limits.lower.tolist()),
        upper=tuple(limits.upper.tolist()),
        velocity=tuple(limits.velocity.tolist()),
        effort=tuple(limits.effort.tolist()),
        gravity=tuple(np.asarray(robot.gravity).tolist()),
        places=tuple(places),
    )


def _manifold_name(joint: JointType) -> str:
    """Empty for one that is not ours: a subclass may step otherwise."""
    found = type(joint.known_manifold)
    return found.__name__ if getattr(manifolds, found.__name__, None) is found else ""


def _function(robot: Robot, spec: FunctionSpec, f_ext: bool | Sequence[str]) -> CppFunction:
    known = spec.algorithm in ALGORITHMS and ALGORITHMS[spec.algorithm].wrenches
    request = make_request(
        robot.model,
        spec.algorithm,
        outputs=spec.outputs,
        frame=spec.frame,
        f_ext=f_ext if known else False,
        derivative=spec.derivative,
    )
    made = robot.specialiser.specialise(request)
    program = made.program
    entry = request.entry
    title = (entry.title or f"{entry.name}.").replace("{frame}", comment_text(spec.frame or ""))
    notes = {p.name: entry.note(p.name) for p in (*program.inputs, *program.outputs)}
    links = ", ".join(comment_text(link) for link in request.wrench_links)
    notes["f_ext"] = f"wrenches [force, moment] at and in the frames of {links}"
    blocks = chunk(run_passes(program, SCHEDULE), _WHOLE, _PIECE)
    steps = step_comments(robot.specialiser, request, made.formulation, blocks)
    comments = {node: comment_text(text) for node, text in steps.items()}
    reference = reference_states(robot, program, _STATES)
    return CppFunction(spec.name, title, blocks, notes, reference, comments)


def reference_states(robot: Robot, program: Program, states: int) -> dict[str, Array]:
    """Arguments, numbers that float32 holds exactly, and the interpreter's results: (states, *port.shape)."""
    rng = np.random.default_rng(0)
    q, qd = robot.random_state(rng, states)
    known = {"q": q, "qd": qd}

    def argument(port: Port) -> Array:
        value = known.get(port.name)
        value = rng.uniform(-1.0, 1.0, (states, *port.shape)) if value is None else value
        return value.astype(np.float32).astype(np.float64)

    arguments = {port.name: argument(port) for port in program.inputs}
    return arguments | interpret(program, arguments)
