"""All sections of the benchmark by group, in the order they run.

A new section is a file in its group's folder that ends with `SECTION = Section(...)`, and one line here: the
name, which is the file's too, and what the help says of it. Nothing is imported before it is to run.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robomorph.bench.sections.section import Section


@dataclass(frozen=True)
class Group:
    """Sections that run together: `robomorph bench NAME`. `robots` are measured where none is named; without
    any, the sections know their own. A section from elsewhere may stand in `sections` as it is."""

    name: str
    about: str
    sections: dict[str, str | Section]
    robots: tuple[str, ...] = ()

    def load(self, name: str) -> Section:
        found = self.sections[name]
        if isinstance(found, str):
            module = importlib.import_module(f"{__name__}.{self.name}.{name}")
            section: Section = module.SECTION
            return section
        return found

    def abouts(self) -> dict[str, str]:
        """A line about every section."""
        return {name: s if isinstance(s, str) else s.about for name, s in self.sections.items()}

    def choose(self, only: Sequence[str] | None) -> list[Section]:
        """Sections by name, checked, in the group's order; None for all."""
        from robomorph.errors import ArgumentError
        from robomorph.naming import hint

        for name in only or ():
            if name not in self.sections:
                raise ArgumentError(f"--only: unknown section {name!r}: {hint(name, list(self.sections))}")
        return [self.load(name) for name in self.sections if not only or name in only]


DYNAMICS = Group(
    "dynamics",
    "the kernels of dynamics and kinematics",
    {
        "gradients": "forward-dynamics gradient against every library, batch of 128 and one call",
        "family": "every function, float64 and float32, batch of 128 and one call",
        "derivatives": "products with derivatives and second derivatives, against the gradient's matrices",
        "steps": "one computation split in v, a, f; dc'/du; M^-1 (the papers' figure)",
        "timesteps": "N = 16, 32, 64, 128 gradients end to end (the papers' figure)",
        "threads": "persistent threads against launching them; two threads against one",
        "batches": "batches of 1 to 65,536, into given arrays and new ones",
        "peak": "arithmetic rate of the gradient against the core's measured peak",
        "schedule": "the same program in other orders, and cut into other pieces",
        "compile": "from load to the first gradient in a fresh process, cached and not",
        "chains": "chains of 7 to 100 joints: run time, compile time, memory",
        "export": "the exported C++ header against the in-process kernel, from one C loop",
        "fixed": "gradients in fixed point against their interpreter, bit by bit, and against float64",
    },
    robots=("iiwa14", "hyq", "atlas"),
)
IK = Group(
    "ik",
    "inverse kinematics",
    {
        "paper": "Quick-IK's chains: iterations, speculations, computation load, times",
        "single": "one solve on a chain of 100 joints, against KDL",
        "arms": "TRAC-IK's protocol on six arms, against KDL, TRAC-IK and pink",
        "nearest": "nearest=True against the best of 64 restarts of KDL",
        "devices": "Quick-IK on devices beside the CPU's: the same search, and its time",
        "chip": "our chip, our CPU and OpenCL beside the paper's accelerator: cycles, iterations, times",
    },
)

PLANNING = Group(
    "planning",
    "motions that hold at every instant",
    {
        "reference": "iiwa14's gradient, to compare times of machines",
        "scenarios": "the paper's scenarios on three humanoids, against IPOPT; violations, certificates",
        "grids": "constraints at points only, against ours: what is broken between them",
        "time": "minimum-time arm motions with torques that bind, beside toppra on the same path",
        "noise": "0.3 rad on all control points, 100 fresh seeds on each of four problems (long)",
        "big": "n about 2,000 with 30,000 constraints, ten settings (long)",
        "infeasible": "tasks that no motion can hold: how soon that is explained, and in which words",
        "paper": "the paper's own method beside ours: iterations, parts, violations, its polynomials",
        "device": "the paper's tables 3 and 4: precision, device and threads, by part, with bytes moved",
        "drake": "Drake's KinematicTrajectoryOptimization on the same arm motion",
    },
)
MPC = Group(
    "mpc",
    "model predictive control",
    {
        "reference": "iiwa14's gradient, to compare times of machines",
        "free": "reaches and poses without limits, to the same cost as crocoddyl and mim-solvers",
        "bounded": "limits that bind: torques against crocoddyl's BoxFDDP, all of them against fatrop",
        "iteration": "one iteration with all limits at N = 64, beside published figures of GPUs",
        "horizon": "the longest horizon that ten iterations fit into 4 ms and 1 ms, on one core",
        "batch": "128 problems at once, time per problem and iteration",
        "limits": "1,000 random problems with limits that bind: are they solved, do the limits hold",
        "loop": "closed loops at 1 kHz: steps, delays, pushes and payloads, on our plant and MuJoCo",
    },
)

VIEWER = Group(
    "viewer",
    "the live viewer, over a real socket and without a browser",
    {
        "drag": "from a drag that is sent to the answer that is received",
        "stream": "the processor's share that showing 60 states a second takes",
    },
)
INTEROP = Group(
    "interop",
    "kernels with other packages' arrays and derivatives",
    {
        "jax": "JAX functions beside a trivial jitted call, and beside NumPy arrays",
        "torch": "Torch's calls and gradients beside matrices of derivatives, and beside NumPy arrays",
        "casadi": "optimal control of iiwa14 by IPOPT in CasADi, beside adam's expressions",
        "mujoco": "derivatives of a step of eleven models, beside MuJoCo's differences",
    },
)

GROUPS = {
    group.name: group for group in (DYNAMICS, IK, PLANNING, MPC, VIEWER, INTEROP)
}  # the first is what `robomorph bench` means
