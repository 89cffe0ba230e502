"""The part of `robomorph rtl` that is about link units: its options, and their table."""

from __future__ import annotations

import argparse
from typing import Any

from robomorph.cli.terminal import make_table


def add_unit_options(group: Any) -> None:
    group.add_argument(
        "--structure",
        choices=("flat", "units"),
        default="flat",
        help="share single multiplications of the whole program, or make folded link units (default flat)",
    )
    group.add_argument(
        "--units",
        default="",
        metavar="KIND=N,..",
        help="how many link units: 2, or forward=2,backward=1,product=1, or by name (default 1 of each)",
    )
    group.add_argument("--fold", type=int, metavar="N", help="cycles between calls of a unit, at most")
    group.add_argument("--unit-latency", type=int, metavar="N", help="cycles to aim for inside a unit")
    group.add_argument(
        "--step", type=int, default=2, metavar="BITS", help="binary points are multiples of it (default 2)"
    )
    group.add_argument(
        "--multiply-constants",
        action="store_true",
        help="constant factors on the shared multipliers, not as shifts and additions",
    )


def unit_options(args: argparse.Namespace) -> dict[str, Any]:
    """The same as options of an accelerator."""
    return {
        "structure": args.structure,
        "units": args.units,
        "fold": args.fold,
        "unit_latency": args.unit_latency,
        "step": args.step,
        "scale_by_adders": not args.multiply_constants,
    }


def unit_table(report: dict[str, Any]) -> Any:
    """One row per template; None for a design without link units."""
    found = report["estimates"].get("units")
    if not found:
        return None
    table = make_table(
        "link units (estimates)",
        ("unit", "count", "calls", "fold", "cycles", "multipliers", "adders", "superposed", "kept", "limbs"),
        caption="per unit: cycles of a call, multipliers, adders. superposed: operations of the unit, of a "
        "step without sparsity, of the average call alone; kept: what the unit saves, of what the average "
        "call saves. limbs: the first links of the limbs that each unit works for",
        optional=("limbs", "cycles"),
    )
    for u in found:
        saved = u["dense"] - u["average"]
        table.add_row(
            u["name"],
            *(str(u[key]) for key in ("count", "calls", "fold", "latency", "multipliers", "adders")),
            f"{u['operations']} / {u['dense']} / {u['average']:.1f}",
            f"{100 * (u['dense'] - u['operations']) / saved:.0f}%" if saved else "",
            " ".join("+".join(map(str, limbs)) for limbs in u["limbs"]),
        )
    return table
