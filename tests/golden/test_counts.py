"""Operation counts, depths, cycles and multipliers of the built-in robots, as a file. They are
deterministic, so a change that makes one worse has to say so.

`pytest tests/golden --update-golden` writes the file anew; the difference belongs in the commit that makes it
(one process: no `-n`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

import robomorph
from robomorph import Robot
from robomorph.algorithms.registry import ALGORITHMS
from robomorph.ik.layout import Layout
from robomorph.ik.residual import trace_errors, trace_residual
from robomorph.ir.ops import CONST, MUL
from robomorph.passes.fuse import fuse
from robomorph.tasks import Position

FILE = Path(__file__).parent / "counts.json"
ROBOTS = {
    "iiwa14": ("iiwa14", False),
    "hyq": ("hyq", False),
    "hyq, floating": ("hyq", True),
    "atlas": ("atlas", False),
    "chain:10": ("chain:10", False),
}
LONG = "chain:100"
DERIVED = {
    "inverse_dynamics": ("vjp", "jvp", "hvp"),
    "forward_dynamics": ("vjp", "jvp", "hvp"),
    "forward_kinematics": ("vjp", "jvp"),
}
# The papers' design and a small one; what each is, docs/rtl.md tells.
GIVEN: dict[str, Any] = {"trig": "host", "minv": "given", "outputs": ("dqdd_dq", "dqdd_dqd")}
DESIGNS: dict[str, dict[str, Any]] = {
    "chain:2 inverse_dynamics, interval 8": {"interval": 8},
    "iiwa14 inverse_dynamics, interval 16": {"interval": 16},
    "iiwa14 forward_dynamics_gradient, M^-1 given, interval 20": {"interval": 20, **GIVEN},
    "iiwa14 inverse_dynamics, link units": {"structure": "units", "interval": 32},
}


@cache
def load(name: str) -> Robot:
    source, floating = ROBOTS.get(name, (name, False))
    return robomorph.load(source, floating_base=floating)


def operations(name: str, algorithm: str, derivative: str | None = None) -> dict[str, Any]:
    robot = load(name)
    frame = robot.link_names[-1] if ALGORITHMS[algorithm].frame else None
    kernel: Any = robot.compile(algorithm, target="interpreter", frame=frame, derivative=derivative)
    fused = fuse(kernel.program)
    return {
        "formulation": kernel.stats.formulation,
        "operations": kernel.program.cost(),
        "nodes": sum(fused.counts().values()),
        "depth": fused.depth(),
    }


def inverse_kinematics(name: str, what: str) -> dict[str, Any]:
    """Of the programs of a position target for the robot's last link."""
    robot = load(name)
    tree, layout = robot.specialiser.tree(regroup=False), Layout((Position(robot.link_names[-1]),))
    program = trace_errors(tree, layout) if what == "errors" else trace_residual(tree, layout).program
    known = [node.op is CONST for node in program.nodes]
    varying = (node for node in program.nodes if node.op is MUL and not any(known[a] for a in node.args))
    fused = fuse(program)
    return {
        "operations": program.cost(),
        "products": len(list(varying)),  # of two values that both vary
        "nodes": sum(fused.counts().values()),
        "depth": fused.depth(),
    }


def hardware(title: str) -> dict[str, Any]:
    name, algorithm = title.split(",")[0].split(" ")
    kernel: Any = robomorph.load(name).compile(algorithm, target="rtl", **DESIGNS[title])
    stats = kernel.stats.design
    names = (
        "latency",
        "last_word",
        "interval",
        "multipliers",
        "constant_adders",
        "flip_flops",
        "memory_bits",
    )
    return {field: getattr(stats, field) for field in names}


COUNTED: dict[str, Callable[[], dict[str, Any]]] = {
    **{
        f"{robot} {algorithm}": partial(operations, robot, algorithm)
        for robot in ROBOTS
        for algorithm in ALGORITHMS
    },
    **{
        f"{robot} {algorithm} {derivative}": partial(operations, robot, algorithm, derivative)
        for robot in ROBOTS
        for algorithm, derivatives in DERIVED.items()
        for derivative in derivatives
    },
    **{
        f"{robot} inverse_dynamics second": partial(operations, robot, "inverse_dynamics", "second")
        for robot in ("iiwa14", "hyq", "hyq, floating")
    },
    **{
        f"{robot} inverse_kinematics, position {what}": partial(inverse_kinematics, robot, what)
        for robot in (*ROBOTS, LONG)
        for what in ("errors", "residual")
    },
    **{title: partial(hardware, title) for title in DESIGNS},
}


def on_file() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


@pytest.mark.parametrize("robot", [*ROBOTS, LONG, "hardware"])
def test_counts_are_those_on_file(robot: str, request: pytest.FixtureRequest) -> None:
    keys = list(DESIGNS) if robot == "hardware" else [k for k in COUNTED if k.startswith(f"{robot} ")]
    keys = [key for key in keys if robot == "hardware" or key not in DESIGNS]
    found = {key: COUNTED[key]() for key in keys}
    if request.config.getoption("--update-golden"):
        everything = {**on_file(), **found}
        kept = {key: everything[key] for key in COUNTED if key in everything}
        FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    known = on_file()
    changed = {key: (known.get(key), now) for key, now in found.items() if known.get(key) != now}
    assert not changed, f"counts changed (on file, now): {changed}; if that is meant, use --update-golden"


@pytest.mark.parametrize("robot", ROBOTS)
def test_products_with_derivatives_are_cheaper_than_matrices(robot: str) -> None:
    """Beside all matrices: products less, those with second derivatives four times as much at most."""
    known = on_file()
    for algorithm in ("inverse_dynamics", "forward_dynamics"):
        whole = known[f"{robot} {algorithm}_gradient"]["operations"]
        for derivative, most in (("vjp", 1.0), ("jvp", 1.0), ("hvp", 4.0)):
            assert known[f"{robot} {algorithm} {derivative}"]["operations"] <= most * whole
