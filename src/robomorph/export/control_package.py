"""What an exported controller holds, before it is printed: kernels, sizes, tables, plans to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from robomorph.errors import ArgumentError
from robomorph.export.control_terms import ControlTerms, control_terms
from robomorph.given.references import value_at
from robomorph.ir.interpret import interpret
from robomorph.ir.program import Program
from robomorph.mpc.controller import Controller
from robomorph.mpc.problem import Problem
from robomorph.mpc.problem_file import ProblemFile, load_problem
from robomorph.mpc.terms import Cost
from robomorph.passes.chunk import chunk
from robomorph.passes.pipeline import SCHEDULE, run_passes
from robomorph.runtime import _native
from robomorph.targets.cpp.package import CppFunction, comment_text
from robomorph.tasks import AnyTask

if TYPE_CHECKING:
    from robomorph.robot import Robot

Array = npt.NDArray[np.float64]
TORQUE, ROWS = "control_torque", "control_rows"
# Steps of the check: the first to convergence, the others one iteration each, as more may magnify roundings.
_STEPS, _ITERATIONS = 5, 1
_NOTES = {
    "q": "positions (rad, m)",
    "qd": "velocities (rad/s, m/s)",
    "qdd": "accelerations (rad/s^2, m/s^2)",
    "tau": "torques and forces (N m, N)",
    "dtau_dq": "d tau / d q",
    "dtau_dqd": "d tau / d qd",
    "mass": "d tau / d qdd: the mass matrix",
    "references": "of all costs and bounds that are rows, one after the other",
    "values": "rows of all costs and bounds",
    "dq": "d values / d q",
    "dqd": "d values / d qd",
}


@dataclass(frozen=True, eq=False)
class CheckStep:
    """A step that C++ repeats: a state, and what Python's controller gave."""

    q: Array
    qd: Array
    plan: Any


@dataclass(frozen=True, eq=False)
class ControlPackage:
    """A controller, its terms, its kernels, the bytes of its solver, the state it starts from, references
    (numbers) of the terms that have none of their own, for example and check, and the steps of the check."""

    title: str
    controller: Controller
    terms: ControlTerms
    kernels: tuple[CppFunction, ...]
    memory: int
    q: Array
    qd: Array
    samples: dict[str, Array]
    steps: tuple[CheckStep, ...]
    check_iterations: int = _ITERATIONS

    @property
    def about(self) -> dict[str, Any]:
        """For the manifest."""
        problem = self.controller.problem
        return {
            "title": self.title,
            "horizon": problem.horizon,
            "dt": problem.dt,
            "iterations": self.controller.iterations,
            "tolerance": self.controller.tolerance,
            "period": self.controller.period,
            "costs": list(problem.costs),
            "bounds": list(problem.bounds),
            "memory": self.memory,
        }


def control_package(robot: Robot, mpc: Any, pieces: tuple[int, int]) -> ControlPackage:
    """mpc: an mpc.Problem, a Controller, or a TOML file. pieces: of kernels, see `chunk`."""
    title, problem, options, start = _read(mpc)
    if options.get("method", "id") != "id":
        raise ArgumentError(
            f'mpc: a controller with method={options["method"]!r} cannot be exported: expected method="id"'
        )
    problem = _of_robot(problem, robot)
    options = {key: value for key, value in options.items() if key not in ("threads", "method")}
    controller = Controller(problem, **options)
    q, qd = start if start is not None else (robot.neutral, np.zeros(robot.nv))
    samples = _samples(controller, q)
    bound = controller._bind(())
    steps = tuple(_check_steps(problem, options, samples, q, qd))
    measured = _native.mpc_memory(bound.method._solver)  # type: ignore[attr-defined]
    return ControlPackage(
        title=comment_text(title),
        controller=controller,
        terms=control_terms(controller._layout),
        kernels=tuple(_kernels(controller, samples, pieces)),
        memory=_reserved(measured, robot.nv),
        q=np.array(q, float),
        qd=np.array(qd, float),
        samples=samples,
        steps=steps,
    )


def _read(mpc: Any) -> tuple[str, Problem, dict[str, Any], tuple[Array, Array] | None]:
    """A title, a problem, options of its controller, and where it starts."""
    if isinstance(mpc, (str, Path)):
        mpc = load_problem(mpc)
    if isinstance(mpc, ProblemFile):
        return mpc.title, mpc.problem, dict(mpc.options), (mpc.q, mpc.qd)
    if isinstance(mpc, Controller):
        options = {"iterations": mpc.iterations, "tolerance": mpc.tolerance, "period": mpc.period}
        made = {**options, "cap": mpc._settings.cap, "method": mpc.method}
        return "a problem of control", mpc.problem, made, None
    if isinstance(mpc, Problem):
        return "a problem of control", mpc, {}, None
    raise ArgumentError(
        f"mpc: expected an mpc.Problem, an mpc.Controller or the path of a TOML file, found {mpc!r}"
    )


def _of_robot(problem: Problem, robot: Robot) -> Problem:
    """The problem for the robot that is exported, which may carry another payload."""
    if problem.robot.model.digest == robot.model.digest:
        return problem
    if problem.robot.velocity_names != robot.velocity_names:
        raise ArgumentError(
            f"mpc: the problem is about robot {problem.robot.name!r} with joints "
            f"{', '.join(problem.robot.velocity_names)}: expected those of {robot.name!r}, "
            f"{', '.join(robot.velocity_names)}: export that robot, or name this one in the problem"
        )
    made = Problem(robot, problem.horizon, problem.dt)
    for method, arguments in problem.asked:
        getattr(made, method)(**arguments)
    return made


def _reserved(measured: int, nv: int) -> int:
    """Bytes for any set of vector instructions: sweeps round nv up to whole vectors of 2 to 8 numbers."""
    least, most = -(-nv // 2) * 2, -(-nv // 8) * 8
    wide = measured * max(1.0, (most / least) ** 2)
    return int(-(-(wide * 1.25 + 16384) // 4096)) * 4096


def _samples(controller: Controller, q: Array) -> dict[str, Array]:
    """References (numbers,) of terms that every step of Python must give: near where they are at first."""
    out: dict[str, Array] = {}
    robot = controller.problem.robot
    for term in controller._layout.terms:
        if term.reference is None:
            known = isinstance(term.what, AnyTask) and not term.rate
            # Of costs a little beside, so that there is something to do.
            beside = q + 0.1 if isinstance(term, Cost) else q
            try:
                value = value_at(robot, term.what, beside) if known else np.zeros(term.subject.numbers)
            except ArgumentError as error:
                raise ArgumentError(
                    f"mpc: {term.name!r} has no reference, and where it is at the start is not known: give "
                    "it one in the problem"
                ) from error
            out[term.name] = np.array(term.subject.read(value), float).ravel()
    return out


def _check_steps(
    problem: Problem, options: dict[str, Any], samples: dict[str, Array], q: Array, qd: Array
) -> list[CheckStep]:
    """From the start, then from states that are not quite those of the plans."""
    controller = Controller(problem, **{**options, "iterations": _ITERATIONS})
    bound = controller._bind(())
    for term in controller._layout.terms:
        if term.name in samples:
            bound.tables.set_reference(term, samples[term.name][None, None])
    bound.reader._needed = []  # they are in the tables now
    rng = np.random.default_rng(0)
    steps: list[CheckStep] = []
    for _ in range(_STEPS):
        plan = controller.step(q, qd)
        steps.append(CheckStep(np.array(q), np.array(qd), plan))
        share = min(controller.period / problem.dt, 1.0)
        q = q + share * (plan.q[1] - q) + 1e-4 * rng.normal(size=problem.robot.nv)
        qd = qd + share * (plan.qd[1] - qd) + 1e-3 * rng.normal(size=problem.robot.nv)
    return steps


def _kernels(controller: Controller, samples: dict[str, Array], pieces: tuple[int, int]) -> list[CppFunction]:
    kernels, layout = controller._kernels, controller._layout
    found = [
        (
            TORQUE,
            "Torques and their derivatives, as the controller takes them.",
            kernels.motion.program("torque"),
        )
    ]
    if kernels.pieces:
        found.append((ROWS, "Rows of costs and bounds, with their derivatives.", kernels.deferred.program))
    references = np.zeros(layout.references)
    for term in layout.terms:
        if term.name in layout.places:
            own = samples.get(term.name, term.reference)
            references[layout.places[term.name].references] = np.atleast_2d(np.asarray(own, float))[0]
    return [_kernel(controller, name, title, program, references, pieces) for name, title, program in found]


def _kernel(
    controller: Controller,
    name: str,
    title: str,
    program: Program,
    references: Array,
    pieces: tuple[int, int],
) -> CppFunction:
    rng, states = np.random.default_rng(0), 2
    q, qd = controller.problem.robot.random_state(rng, states)
    known = {"q": q, "qd": qd, "references": np.broadcast_to(references, (states, references.size))}
    arguments = {
        port.name: np.array(
            known.get(port.name, rng.uniform(-1.0, 1.0, (states, *port.shape))), np.float32
        ).astype(float)
        for port in program.inputs
    }
    blocks = chunk(run_passes(program, SCHEDULE), *pieces)
    notes = {port.name: _NOTES[port.name] for port in (*blocks.inputs, *blocks.outputs)}
    return CppFunction(name, title, blocks, notes, arguments | interpret(program, arguments))
