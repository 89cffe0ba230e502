"""The part of `robomorph rtl` that is about link units: its options, and their table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from robomorph.cli.parser import ListAction, names


def add_unit_options(add: Callable[..., None]) -> None:
    """`add` takes a flag, its help and more of argparse's keywords."""
    add(
        "--structure",
        "share single multiplications of the whole program, or make folded link units (default flat)",
        choices=("flat", "units"),
    )
    add(
        "--units",
        "how many link units: 2, or forward=2,backward=1,product=1, or by name (default 1 of each)",
        metavar="KIND=N ...",
        action=ListAction,
        read=lambda words: ",".join(names(words)),
        accepts=lambda word: word.rpartition("=")[2].split(",")[0].isdigit(),
    )
    add("--fold", "cycles between calls of a unit, at most", type=int, metavar="N")
    add("--unit-latency", "cycles to aim for inside a unit", type=int, metavar="N")
    add(
        "--no-memories",
        "results of link units wait in registers, not in memories (for standard cells)",
        action="store_true",
    )
    add("--step", "binary points are multiples of it (default 2)", type=int, metavar="BITS")
    add(
        "--multiply-constants",
        "constant factors on the shared multipliers, not as shifts and additions",
        action="store_true",
    )


def unit_table(report: dict[str, Any]) -> Any:
    """One row per template; None for a design without link units."""
    from robomorph.cli.terminal import make_table

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
