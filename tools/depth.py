"""Operations, depth and barriers of formulations in sweeps and by parallel prefix, and of planning's kernels.

python tools/depth.py [--kernels]
"""

from __future__ import annotations

import argparse

import robomorph
from robomorph import Robot
from robomorph.compiler.specialise import make_request
from robomorph.passes.fuse import fuse
from robomorph.planning.kernels import MotionKernels
from robomorph.targets.gpu.schedule import MAX_THREADS, schedule
from robomorph.tasks import Axis, CenterOfMass, Pose

ALGORITHMS = {
    "link_poses": ("chain", "prefix"),
    "jacobian": ("geometric", "prefix"),
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
    robot = on_a_foot()
    tasks = (Axis("r_hand", (0.0, 0.0, 1.0)), CenterOfMass(), Pose("l_foot"))
    for wrench in (False, True):
        kernels = MotionKernels(robot, () if wrench else tasks, torque=True, wrench=wrench)
        for name in kernels.names:
            program = kernels.program(name)
            title = f"{name}, with the root's wrench" if wrench else name
            print(f"| {title} | {program.cost():,} | {fuse(program).depth():,} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", action="store_true", help="planning's kernels instead")
    print_kernels() if parser.parse_args().kernels else print_formulations()
