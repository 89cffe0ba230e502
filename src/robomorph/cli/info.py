"""`robomorph info`: the tree, joints, limits, masses and sparsity of a robot."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from robomorph.cli.morphology import Sparsity
    from robomorph.robot import Robot

_EPILOG = """\
examples:
  robomorph info iiwa14
  robomorph info hyq --floating-base
  robomorph info arm.urdf --locked wrist=0.5 --json
"""
FRAMES = "frames of the file, each turned so that its joint's axis is z"
# What joints have of their own, beside what they carry.
_OWN = ("armature", "damping", "friction", "stiffness", "rest")
FITTED = "internal frames that kernels use if they are cheaper: turned about and slid along the axes"


def add_parser(subparsers: Any) -> None:
    from robomorph.cli.options import add_robot_options

    parser = subparsers.add_parser(
        "info",
        help="show a robot's tree, joints, limits, masses and sparsity",
        description="Shows a robot as robomorph sees it: the tree of moving bodies, joints with their types, "
        "axes and limits, masses, and the sparsity of every joint's 6x6 transform.",
        epilog=_EPILOG,
    )
    add_robot_options(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.morphology import transform_sparsity
    from robomorph.cli.options import load_robot
    from robomorph.cli.terminal import make_console, print_json

    robot, messages = load_robot(args)
    plain = transform_sparsity(robot.model, fitted=False)
    fitted = transform_sparsity(robot.model, fitted=True)
    if args.json:
        print_json({**describe(robot, plain, fitted), "warnings": messages})
        return 0
    console = make_console()
    _print_summary(console, robot, plain)
    _print_shapes(console, robot)
    _print_joints(console, robot)
    _print_bodies(console, robot)
    _print_sparsity(console, robot, plain, fitted)
    _print_regrouping(console, robot)
    return 0


def describe(robot: Robot, plain: list[Sparsity], fitted: list[Sparsity]) -> dict[str, Any]:
    """Everything `info` shows, as plain data."""
    from robomorph.cli.morphology import regrouping_savings, superposed

    model = robot.model
    joints = [
        _joint_record(robot, i, plain[i].populated, fitted[i].populated) for i in range(len(model.bodies))
    ]
    return {
        "robot": model.name,
        "nq": robot.nq,
        "nv": robot.nv,
        "moving_mass_kg": sum(body.inertia.mass for body in model.bodies),
        "gravity": model.gravity,
        "passive": None if model.passive is None else {"friction_width": model.passive.width},
        "links": model.link_names,
        "tool_frames": [frame.name for frame in model.frames if frame.tool],
        "shapes": _shape_counts(robot),
        "joints": joints,
        "sparsity_frames": {"transform_nonzeros": FRAMES, "transform_nonzeros_fitted": FITTED},
        "superposed_nonzeros": superposed(plain).populated if plain else 0,
        "superposed_nonzeros_fitted": superposed(fitted).populated if fitted else 0,
        "operations_before_and_after_regrouping": regrouping_savings(robot),
        "digest": model.digest,
    }


def _shape_counts(robot: Robot) -> dict[str, Any]:
    from robomorph.model import Mesh

    shapes = robot.shapes
    missing = [
        shape.geometry.uri for shape in shapes if isinstance(shape.geometry, Mesh) and shape.is_missing
    ]
    return {
        "visual": sum(shape.kind == "visual" for shape in shapes),
        "collision": sum(shape.kind == "collision" for shape in shapes),
        "missing_meshes": list(dict.fromkeys(missing)),
    }


def _joint_record(robot: Robot, index: int, nonzeros: int, fitted: int) -> dict[str, Any]:
    model = robot.model
    body = model.bodies[index]
    q, v = robot.coordinates(body.joint_name)
    mimic = body.mimic
    return {
        "name": body.joint_name,
        "type": body.kind,
        "link": body.name,
        "parent": parent_name(robot, index),
        "axis": body.axis,
        "placement": body.placement.matrix,
        "q": [q.start, q.stop],
        "v": [v.start, v.stop],
        "lower": body.limits.lower,
        "upper": body.limits.upper,
        "velocity": body.limits.velocity,
        "effort": body.limits.effort,
        "damping": body.damping,
        "friction": body.friction,
        "armature": body.armature,
        "stiffness": body.stiffness,
        "rest": body.rest,
        "mimic": mimic and [model.bodies[mimic[0]].joint_name, mimic[1], mimic[2]],
        "mass_kg": body.inertia.mass,
        "center_of_mass": body.inertia.com,
        "inertia_about_center_of_mass": body.inertia.tensor,
        "transform_nonzeros": nonzeros,
        "transform_nonzeros_fitted": fitted,
    }


def parent_name(robot: Robot, index: int) -> str:
    """The link that carries a joint's parent body; the world where there is none."""
    parent = robot.model.bodies[index].parent
    return "(world)" if parent < 0 else robot.model.bodies[parent].name


def _print_summary(console: Console, robot: Robot, sparsity: list[Sparsity]) -> None:
    from rich.markup import escape

    from robomorph.cli.morphology import tree_view

    model = robot.model
    mass = sum(body.inertia.mass for body in model.bodies)
    merged = len(model.link_names) - len(model.bodies) - (0 if model.frames[0].body >= 0 else 1)
    console.print(
        f"[bold]{escape(model.name)}[/]: {len(model.bodies)} moving joints, {len(model.link_names)} links "
        f"({max(merged, 0)} merged into others), nq = {robot.nq}, nv = {robot.nv}, {mass:.4g} kg in motion"
    )
    console.print(tree_view(model, sparsity))
    console.print()


def _print_shapes(console: Console, robot: Robot) -> None:
    from rich.markup import escape

    counts = _shape_counts(robot)
    missing = counts["missing_meshes"]
    console.print(f"shapes: {counts['visual']} visual, {counts['collision']} collision", end="")
    console.print(f"; {len(missing)} mesh files not found:" if missing else "")
    for uri in missing:
        console.print(f"  {escape(uri)}", highlight=False)
    console.print()


def _print_joints(console: Console, robot: Robot) -> None:
    from rich.markup import escape

    from robomorph.cli.terminal import make_table
    from robomorph.model.joints import JOINT_TYPES

    columns = (
        "joint",
        "type",
        "parent",
        "axis",
        "lower",
        "upper",
        "velocity",
        "effort",
        *_OWN,
    )
    table = make_table("joints (rad, m, N m, N)", columns, left=4, optional=("parent", *_OWN))
    for i, body in enumerate(robot.model.bodies):
        kind = body.kind
        if body.mimic is not None:
            source, multiplier, offset = body.mimic
            kind += f" = {multiplier:g} {robot.model.bodies[source].joint_name} {offset:+g}"
        limits = (body.limits.lower, body.limits.upper, body.limits.velocity, body.limits.effort)
        axis = " ".join(f"{x:.4g}" for x in body.axis) if JOINT_TYPES[body.kind].has_axis else "-"
        cells = [figure(x) for x in (*limits, *(getattr(body, name) for name in _OWN))]
        table.add_row(*(escape(x) for x in (body.joint_name, kind, parent_name(robot, i), axis)), *cells)
    table.caption = f"limits not given are shown as -; {_what_counts(robot)}"
    console.print(table)


def _what_counts(robot: Robot) -> str:
    passive = robot.model.passive
    if passive is None:
        return "armature is part of the dynamics; damping, friction and springs only with --passive"
    return f"all of the joints' own is part of the dynamics, friction smooth below {passive.width:g}"


def figure(x: float) -> str:
    return f"{x:.4g}" if math.isfinite(x) else "-"


def _print_bodies(console: Console, robot: Robot) -> None:
    from rich.markup import escape

    from robomorph.cli.terminal import make_table

    table = make_table(
        "moving bodies, everything fixed to them included (kg, m, kg m^2)",
        ("link", "mass", "centre of mass", "principal moments"),
    )
    import numpy as np

    for body in robot.model.bodies:
        moments = np.linalg.eigvalsh(body.inertia.tensor)
        com, principal = (" ".join(f"{x:.4g}" for x in values) for values in (body.inertia.com, moments))
        table.add_row(escape(body.name), f"{body.inertia.mass:.4g}", com, principal)
    console.print(table)


def _print_sparsity(console: Console, robot: Robot, plain: list[Sparsity], fitted: list[Sparsity]) -> None:
    from rich.columns import Columns
    from rich.text import Text

    from robomorph.cli.morphology import ENTRIES, superposed
    from robomorph.cli.terminal import marks

    if not plain:
        return
    console.print("[bold]sparsity of each joint's 6x6 motion transform[/] (angular rows first)")
    console.print(f"[dim]frames: {FRAMES}; 'fitted': {FITTED}[/]")
    signs = marks(console)
    cells = []
    names = [f"{parent_name(robot, i)} -> {body.name}" for i, body in enumerate(robot.model.bodies)]
    entries = [
        *zip(names, plain, fitted, strict=True),
        ("all superposed", superposed(plain), superposed(fitted)),
    ]
    for name, own, other in entries:
        head = f"{name}\n{own.populated} of {ENTRIES} (fitted: {other.populated})\n"
        cells.append(Text(head + "\n".join(own.lines(signs)) + "\n"))
    console.print(Columns(cells, padding=(0, 3)))


def _print_regrouping(console: Console, robot: Robot) -> None:
    from robomorph.cli.morphology import regrouping_savings

    parts = [f"{name} {a:,} -> {b:,}" for name, (a, b) in regrouping_savings(robot).items()]
    console.print(f"operations as traced, before -> after regrouping inertias: {', '.join(parts)}")
