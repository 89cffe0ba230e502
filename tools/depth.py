"""Operations, depth and barriers of formulations in sweeps and by parallel prefix, and of planning's kernels.

python tools/depth.py [--kernels]
"""

from __future__ import annotations

import argparse

import robomorph
from robomorph import Robot
from robomorph.compiler.specialise import make_request
from robomorph.ir.derivatives import gradient_of, hessian_of
from robomorph.ir.program import Program
from robomorph.passes.fuse import fuse
from robomorph.passes.pipeline import SIMPLIFY, run_passes
from robomorph.planning.kernels import MotionKernels
from robomorph.targets.gpu.schedule import MAX_THREADS, schedule
from robomorph.tasks import Axis, CenterOfMass, Pose

ALGORITHMS = {
    "link_poses": ("chain", "prefix"),
    "jacobian": ("geometric", "inward", "prefix"),
    "inverse_dynamics": ("rnea", "prefix"),
}


def on_a_foot() -> Robot:
    """The humanoid as planning sees it, 28 joints."""
    return robomorph.load("atlas", root="r_foot", locked={"neck_ay": 0.0, "l_arm_lwy": 0.0})


def robots() -> dict[str, Robot]:
    """Whom to compare, and the frame of the Jacobian by being their last."""
    return {
        "iiwa14": robomorph.load("iiwa14"),
        "atlas": robomorph.load("atlas"),
        "atlas on its right foot": on_a_foot(),
        "chain:100": robomorph.load("chain:100"),
    }


def print_formulations() -> None:
    print("| robot | algorithm | formulation | operations | depth | barriers | rounds |")
    print("|---|---|---|---|---|---|---|")
    for name, robot in robots().items():
        for algorithm, formulations in ALGORITHMS.items():
            frame = robot.frame_names[-1] if algorithm == "jacobian" else None
            for formulation in formulations:
                request = make_request(robot.model, algorithm, frame=frame, formulation=formulation)
                program = robot.specialiser.specialise(request).program
                group = schedule(fuse(program), MAX_THREADS)
                cells = (program.cost(), group.program.depth(), group.barriers, group.rounds)
                print(f"| {name} | {algorithm} | {formulation} | {' | '.join(f'{x:,}' for x in cells)} |")


def print_kernels() -> None:
    print("| kernel | operations | depth |")
    print("|---|---|---|")
    robot, state = on_a_foot(), ("q", "qd", "qdd")
    tasks = (Axis("r_hand", (0.0, 0.0, 1.0)), CenterOfMass(), Pose("l_foot"))
    plain, held = MotionKernels(robot, tasks, torque=True), MotionKernels(robot, wrench=True)
    for kernels, also in ((plain, ""), (held, ", with the root's wrench")):
        for name in kernels.names:
            print_row(f"{name}{also}", kernels.program(name))
    by_machine = [hessian_of(plain.program("channel_values"), ["q"], upper=upper) for upper in (True, False)]
    made = [run_passes(program, SIMPLIFY) for program in by_machine]
    print_row("channel_hessian by machine", min(made, key=lambda program: program.cost()))
    adjoint = gradient_of(held.program("torque_values"), state)
    print_row("torque_adjoint, with the root's wrench, by machine", run_passes(adjoint, SIMPLIFY))
    hessian = hessian_of(held.program("torque_values"), state)
    print_row("torque_hessian, with the root's wrench, by machine", run_passes(hessian, SIMPLIFY))


def print_row(title: str, program: Program) -> None:
    print(f"| {title} | {program.cost():,} | {fuse(program).depth():,} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", action="store_true", help="planning's kernels instead")
    print_kernels() if parser.parse_args().kernels else print_formulations()
