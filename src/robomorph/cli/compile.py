"""`robomorph compile`: make every kernel of a robot, check it, and tell what it costs."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from robomorph.cli.compile_report import BATCH, Row, as_data, print_refused, print_robot, print_tables
from robomorph.cli.options import DEFAULT_ROBOT, add_robot_options, load_options, load_robot
from robomorph.cli.parser import names

if TYPE_CHECKING:
    from robomorph.cli.timing import FirstGradient
    from robomorph.robot import Robot
    from robomorph.targets.cpu.kernel import Kernel
    from robomorph.verify.report import Checked
    from robomorph.verify.subject import Subject

_EPILOG = """\
examples:
  robomorph compile                                   the built-in iiwa14
  robomorph compile hyq --floating-base
  robomorph compile arm.urdf --dtype float32 --algorithms jacobian,forward_dynamics_gradient
  robomorph compile iiwa14 --derivatives              with vjp, jvp and hvp of every function
  robomorph compile iiwa14 --algorithms inverse_dynamics inverse_dynamics.second
  robomorph compile atlas --json > atlas.json

The exit code is 0 only if every kernel agrees with the interpreter and with finite differences or textbook
formulas. A kernel that has no such yardstick is named as checked against the interpreter only. What a robot
cannot answer, for want of masses, is listed with the reason and does not count; named by --algorithms, it is
an error.
"""


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "compile",
        help="compile, verify and time every algorithm for a robot",
        description="Loads a robot, shows its morphology, traces and compiles the algorithms for this CPU, "
        "checks every kernel against the interpreter and against finite differences, and prints accuracy and "
        "time per call.",
        epilog=_EPILOG,
    )
    add_robot_options(parser, default=DEFAULT_ROBOT)
    group = parser.add_argument_group("the kernels")
    parser.add_list(
        "--algorithms",
        group=group,
        metavar="NAME ...",
        read=names,
        accepts=is_algorithm,
        help="only these, separated by commas or spaces (default: all); derivatives as `export` calls them, "
        "such as inverse_dynamics.vjp",
    )
    parser.add_list(
        "--derivatives",
        group=group,
        metavar="[vjp jvp hvp second]",
        read=derivative_names,
        accepts=is_derivative,
        may_be_empty=True,
        help="also these derivatives of every algorithm (docs/derivatives.md; none named: vjp, jvp, hvp); "
        "without --algorithms of all but gradients, which are derivatives already",
    )
    group.add_argument("--dtype", choices=("float64", "float32"), default="float64")
    group.add_argument("--frame", metavar="NAME", help="link for kinematics (default: the one farthest out)")
    group.add_argument(
        "--threads",
        metavar="N",
        type=int,
        help="at most so many threads (default: as many as there are CPUs)",
    )
    group.add_argument("--no-cache", action="store_true", help="neither read nor write the kernel cache")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def derivative_names(words: list[str]) -> list[str]:
    """Kinds of derivatives; the usual ones if none is named."""
    from robomorph.verify.report import USUAL

    return names(words) if words else list(USUAL)


def is_derivative(word: str) -> bool:
    """Kinds of derivatives?"""
    from robomorph.algorithms.derived import DERIVATIVES

    return all(kind in DERIVATIVES for kind in names([word]))


def is_algorithm(word: str) -> bool:
    """Names of algorithms, as far as a frame or outputs?"""
    from robomorph.algorithms.registry import ALGORITHMS

    heads = (name.partition("=")[0].partition(":")[0] for name in names([word]))
    return all(head.partition(".")[0] in ALGORITHMS for head in heads)


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.morphology import superposed, transform_sparsity, tree_view
    from robomorph.cli.terminal import make_console, print_json
    from robomorph.runtime.environment import environment

    console = make_console()
    robot, messages = load_robot(args)
    chosen, frame = _chosen(args, robot)
    sparsity = transform_sparsity(robot.model, fitted=False)
    if not args.json:
        print_robot(console, robot)
        console.print(tree_view(robot.model, sparsity))
        console.print("[dim]n/36: entries of the joint's 6x6 transform that can be nonzero[/]\n")
    first = _first_gradient(args)
    with environment(ROBOMORPH_CACHE="off") if args.no_cache else nullcontext():
        rows, refused = _compile_all(args, robot, len(chosen), frame)
    ok = all(row.verdict.passed for row in rows)
    if args.json:
        data = as_data(robot, args, rows, first, frame)
        data["transform_nonzeros"] = {
            body.joint_name: s.populated for body, s in zip(robot.model.bodies, sparsity, strict=True)
        }
        data["superposed_nonzeros"] = superposed(sparsity).populated
        print_json({**data, "refused": refused, "warnings": messages, "ok": ok})
    else:
        print_tables(console, args, rows, first, frame)
        print_refused(console, refused)
    return 0 if ok else 1


def _chosen(args: argparse.Namespace, robot: Robot) -> tuple[list[Subject], str]:
    """What is asked for, and the frame; ArgumentError names what is unknown."""
    from robomorph.compiler.specialise import make_request
    from robomorph.errors import ArgumentError
    from robomorph.verify.report import chosen_subjects, farthest_link

    frame = args.frame or farthest_link(robot)
    chosen = chosen_subjects(robot, args.algorithms, args.derivatives or ())
    for subject in chosen:
        name, kind = subject
        make_request(robot.model, name, frame=subject.about(frame), derivative=kind)
    if robot.nv == 0:
        raise ArgumentError(f"robot {robot.name!r}: expected at least one moving joint, found none")
    if args.threads is not None and args.threads < 1:
        raise ArgumentError(f"--threads: expected 1 or more, found {args.threads}")
    return chosen, frame


def _first_gradient(args: argparse.Namespace) -> FirstGradient | None:
    """Before anything else is compiled, so that nothing is warm that would be cold for a user; None for a
    robot that has no gradient for want of masses."""
    import warnings

    from robomorph.cli.terminal import Steps
    from robomorph.cli.timing import first_gradient
    from robomorph.errors import ModelError

    with Steps("from load to the first gradient", 1) as steps, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shown already
        steps.step("with nothing cached, then cached")
        try:
            return first_gradient(args.robot, load_options(args), args.dtype)
        except ModelError:
            return None  # _compile_all says why


def _compile_all(
    args: argparse.Namespace, robot: Robot, count: int, frame: str
) -> tuple[list[Row], dict[str, str]]:
    """The kernels made and checked, and, unless asked for by name, those the robot cannot have, with why."""
    from robomorph.cli.terminal import Steps
    from robomorph.verify.report import verify

    with Steps("compile, check", count) as steps:
        found = verify(
            robot,
            args.algorithms,
            derivatives=args.derivatives or (),
            dtype=args.dtype,
            frame=frame,
            threads=args.threads,
            progress=steps.step,
        )
    with Steps("time", len(found.checked)) as steps:
        rows = []
        for row in found.checked:
            steps.step(row.algorithm)
            rows.append(_timed(robot, row))
    return rows, found.refused


def _timed(robot: Robot, row: Checked) -> Row:
    kernel = row.kernel
    single, batch = _time(robot, kernel, ()), _time(robot, kernel, (BATCH,))
    return Row(row.algorithm, kernel.stats, row.verdict, single, batch, _threads_used(kernel, BATCH))


def _threads_used(kernel: Kernel, batch: int) -> int:
    """How many threads a batch is split over: each gets some blocks of lanes, or is not worth waking."""
    from robomorph.runtime import get_default_threads

    blocks = -(-batch // kernel.lanes)
    return max(1, min(kernel.threads or get_default_threads(), blocks // kernel.min_blocks_per_thread))


def _time(robot: Robot, kernel: Any, batch: tuple[int, ...]) -> float:
    """Seconds per call with arguments and results in place."""
    import numpy as np

    from robomorph.cli.timing import seconds_per_call
    from robomorph.verify.states import random_states

    states = random_states(robot, BATCH).of(kernel.inputs)
    arguments = [np.asarray(a if batch else a[0], kernel.dtype) for a in states.values()]
    out = tuple(np.empty((*batch, *port.shape), kernel.dtype) for port in kernel.outputs)
    target = out[0] if len(out) == 1 else out
    return seconds_per_call(lambda: kernel(*arguments, out=target))
