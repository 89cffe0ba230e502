"""Export: kernels of a robot as source code for a user's own project.

from robomorph.export import export
export(robomorph.load("iiwa14"), "out", functions=["inverse_dynamics", "jacobian:iiwa_link_ee"])
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import robomorph
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.errors import ArgumentError
from robomorph.gpu.export import GpuFunction, GpuPackage, package_files
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Port, Program
from robomorph.passes.chunk import chunk
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.paths import user_path
from robomorph.provenance import step_comments
from robomorph.robot import Robot
from robomorph.specialise import make_request
from robomorph.targets.cpp.build import DEFAULT_FLAGS, SharedLibrary, compile_shared
from robomorph.targets.cpp.package import (
    Array,
    CppFunction,
    CppPackage,
    check_identifier,
    comment_text,
    identifier,
)
from robomorph.targets.cpp.project import MANIFEST, project_files

TARGETS = ("cpp", "cuda", "opencl")
DTYPES = ("float64", "float32")
# Nodes up to which a function is one block, and in each block of a longer one: in short blocks g++ keeps
# more values in registers, and people their bearings.
_WHOLE, _PIECE = 450, 300
_STATES = 2  # in the self-check that is exported with the code

_TITLES = {
    "inverse_dynamics": "Joint forces for given accelerations (recursive Newton-Euler).",
    "bias_torque": "Joint forces at zero acceleration: Coriolis, centrifugal and gravity.",
    "gravity_torque": "Joint forces that hold the robot at rest.",
    "coriolis_matrix": "The Coriolis matrix C of C qd, with dM/dt - 2 C skew-symmetric.",
    "mass_matrix": "The joint-space mass matrix.",
    "mass_matrix_inverse": "The inverse of the joint-space mass matrix.",
    "forward_dynamics": "Joint accelerations for given joint forces.",
    "inverse_dynamics_gradient": "Derivatives of the joint forces with respect to positions and velocities.",
    "forward_dynamics_gradient": "Joint accelerations and their derivatives.",
    "forward_kinematics": "The pose of {frame} in the world.",
    "jacobian": "The geometric Jacobian of {frame}.",
    "link_poses": "The poses of all links in the world.",
    "frame_velocity": "The velocity of {frame}.",
    "frame_acceleration": "The acceleration of {frame}, without gravity.",
    "jacobian_rate": "The acceleration of {frame} at qdd = 0: dJ/dt qd.",
    "centroidal_momentum": "The momentum about the centre of mass.",
    "centroidal_momentum_matrix": "The matrix that times qd is the momentum about the centre of mass.",
    "center_of_mass": "The centre of mass of all links, in the world.",
    "center_of_mass_jacobian": "The Jacobian of the centre of mass.",
    "energy": "Kinetic and potential energy.",
}
_NOTES = {
    "q": "coordinates, rad or m",
    "qd": "velocities, rad/s or m/s",
    "qdd": "accelerations, rad/s^2 or m/s^2",
    "tau": "joint forces, N m or N",
    "mass": "mass matrix M(q), symmetric",
    "minv": "inverse of M(q), which is dqdd/dtau",
    "dtau_dq": "[i][j] = d tau_i / d q_j",
    "dtau_dqd": "[i][j] = d tau_i / d qd_j",
    "dqdd_dq": "[i][j] = d qdd_i / d q_j",
    "dqdd_dqd": "[i][j] = d qdd_i / d qd_j",
    "pose": "homogeneous matrix, world from frame, m",
    "jacobian": "rows: linear, then angular velocity in the world's axes, at the frame's origin",
    "coriolis": "C(q, qd), row i for joint force i",
    "poses": "homogeneous matrices, world from link, m; links in the order of the description",
    "velocity": "linear (m/s), then angular (rad/s), in the world's axes, at the frame's origin",
    "acceleration": "linear (m/s^2), then angular (rad/s^2): the rate of the frame's velocity",
    "jacobian_rate": "linear (m/s^2), then angular (rad/s^2), in the world's axes, at the frame's origin",
    "momentum": "linear (kg m/s), then angular (kg m^2/s), in the world's axes",
    "momentum_matrix": "rows: linear, then angular momentum by qd, in the world's axes",
    "com": "m, in the world",
    "com_jacobian": "velocity of the centre of mass by qd, in the world's axes",
    "kinetic": "J",
    "potential": "J, zero at the world's origin",
}


@dataclass(frozen=True)
class FunctionSpec:
    """One function to export.

    Written ``algorithm[:frame][=output+output...]``: ``mass_matrix``, ``jacobian:tool0``,
    ``forward_dynamics_gradient=qdd+dqdd_dq``.
    """

    algorithm: str
    frame: str | None = None
    outputs: tuple[str, ...] | None = None

    @staticmethod
    def parse(text: str) -> FunctionSpec:
        head, equals, tail = text.partition("=")
        algorithm, colon, frame = head.partition(":")
        outputs = tuple(name.strip() for name in tail.split("+")) if equals else None
        return FunctionSpec(algorithm.strip(), frame if colon else None, outputs)

    @property
    def name(self) -> str:
        """The function's identifier."""
        return identifier(f"{self.algorithm}_{self.frame}" if self.frame else self.algorithm)


def default_functions(frames: Sequence[str] = ()) -> list[FunctionSpec]:
    """Every algorithm; those about one frame once for each of `frames`."""
    specs = [FunctionSpec(a.name) for a in ALGORITHMS.values() if not a.frame]
    about_frames = [a.name for a in ALGORITHMS.values() if a.frame]
    return specs + [FunctionSpec(name, frame) for frame in frames for name in about_frames]


def export(
    robot: Robot,
    directory: str | Path,
    *,
    target: str = "cpp",
    functions: Iterable[str | FunctionSpec] | None = None,
    dtypes: Sequence[str] = DTYPES,
    name: str | None = None,
    f_ext: bool | Sequence[str] = False,
    force: bool = False,
) -> CppPackage | GpuPackage:
    """Write source code for `functions` (see FunctionSpec; None: all without a frame) into `directory`.

    dtypes: number formats of the C interface and the self-check; the C++ templates take both. name: the
    namespace and package; None for the robot's own. f_ext: links whose external wrenches are arguments of the
    functions that know them (True: all). force: write into a folder that holds other things.
    """
    if target not in TARGETS:
        raise ArgumentError(f"target: expected one of {', '.join(TARGETS)}, found {target!r}")
    package = make_package(robot, functions, dtypes=dtypes, name=name, f_ext=f_ext)
    on_gpu = None if target == "cpp" else _gpu_package(robot, package, target)
    files = project_files(package) if on_gpu is None else package_files(on_gpu, MANIFEST)
    folder = user_path(directory)
    _claim(folder, force)
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return package if on_gpu is None else on_gpu


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
    names = [spec.name for spec in specs]
    repeated = sorted({n for n in names if names.count(n) > 1})
    if repeated:
        raise ArgumentError(f"functions: {', '.join(repeated)} would be exported twice: name each once")
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise ArgumentError(f"dtypes: expected some of {', '.join(DTYPES)}, found {dtype!r}")
    if not dtypes or robot.nv == 0:
        raise ArgumentError("export: expected at least one dtype and a robot with a moving joint")
    package_name = identifier(robot.name) if name is None else check_identifier("name", name)
    return CppPackage(
        name=package_name,
        robot=comment_text(robot.name),
        version=robomorph.__version__,
        functions=tuple(_function(robot, spec, f_ext) for spec in specs),
        dtypes=tuple(dict.fromkeys(dtypes)),
        constants={"nq": robot.nq, "nv": robot.nv},
        joints=robot.joint_names,
    )


def _function(robot: Robot, spec: FunctionSpec, f_ext: bool | Sequence[str]) -> CppFunction:
    known = spec.algorithm in ALGORITHMS and ALGORITHMS[spec.algorithm].wrenches
    request = make_request(
        robot.model,
        spec.algorithm,
        outputs=spec.outputs,
        frame=spec.frame,
        f_ext=f_ext if known else False,
    )
    made = robot.specialiser.specialise(request)
    program = made.program
    title = _TITLES.get(spec.algorithm, f"{spec.algorithm}.").format(frame=comment_text(spec.frame or ""))
    notes = {p.name: _NOTES.get(p.name, "") for p in (*program.inputs, *program.outputs)}
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


def _claim(folder: Path, force: bool) -> None:
    """Make `folder` ready: it is new, empty, or holds an earlier export, whose files go. With `force` other
    things in it stay."""
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"{folder} is a file: expected a folder to write to")
    if not folder.exists() or not any(folder.iterdir()):
        return
    earlier = _earlier_files(folder)
    if earlier is None and not force:
        raise ArgumentError(
            f"{folder} is not empty and was not written by robomorph: choose another folder, or --force"
        )
    root = folder.resolve()
    for file in earlier or []:
        path = (folder / file).resolve()
        if root in path.parents and path.is_file():
            path.unlink()


def _earlier_files(folder: Path) -> list[str] | None:
    """What an earlier export wrote here; None if there was none."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if str(manifest["made_by"]).startswith("robomorph"):
            return [str(file) for file in manifest["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None
