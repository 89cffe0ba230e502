"""`robomorph robots`: the robots that come with robomorph."""

from __future__ import annotations

import argparse
from typing import Any

_SAMPLE_CHAIN = "chain:7"


def add_parser(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "robots",
        help="list the built-in robots",
        description="Lists the robots that come with robomorph. Any URDF or MJCF file will do as well.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: argparse.Namespace) -> int:
    from robomorph.cli.terminal import make_console, make_table, print_json
    from robomorph.model import builtin_robots, load_model

    rows = []
    for name, about in builtin_robots().items():
        model = load_model(_SAMPLE_CHAIN if name.startswith("chain:") else name)
        joints = None if name.startswith("chain:") else len(model.bodies)
        mass = sum(body.inertia.mass for body in model.bodies)
        rows.append({"name": name, "about": about, "joints": joints, "moving_mass_kg": mass})
    if args.json:
        print_json({"robots": rows})
        return 0
    table = make_table("built-in robots", ("name", "about", "joints", "moving mass (kg)"), left=2)
    for row in rows:
        number = "N" if row["joints"] is None else str(row["joints"])
        table.add_row(f"[bold]{row['name']}[/]", str(row["about"]), number, f"{row['moving_mass_kg']:.2f}")
    console = make_console()
    console.print(table)
    console.print("A path of a URDF or MJCF file works wherever one of these names does.", style="dim")
    return 0
