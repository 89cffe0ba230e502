"""Walks five journeys through the code and writes down which files and rooms the calls pass.

    python tools/journeys.py [--json] [JOURNEY ...]

A room is a folder (or a single module) of the package; every target is a room of its own. Calls between
files are recorded by Python's profiler hook; returns do not count. A room is *entered again* when a call
leads into it although it is already open further up the stack with another room between: a reader who
follows the call downwards then has to go back up. Leaf rooms, which only know numbers and vectors, may be.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import robomorph

ROOT = Path(robomorph.__file__).parent
# Arithmetic and errors: called from everywhere, calling nobody above them.
LEAVES = {"errors", "ir", "spatial", "passes", "checks"}
# Folders whose parts are rooms of their own.
HOUSES = {"targets"}
# Scalars on which algorithms run: their operators are called from wherever arithmetic is done.
SCALARS = {"ir/trace.py", "compiler/units/record.py"}


@dataclass
class Walk:
    """What one journey passed."""

    files: dict[str, None] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)
    rooms: dict[str, None] = field(default_factory=dict)
    again: dict[tuple[str, ...], str] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        spine = {path: where for path, where in self.again.items() if path[-1] not in LEAVES}
        return {
            "files": len(self.files),
            "edges": len(self.edges),
            "rooms": len(self.rooms),
            "order": list(self.rooms),
            "entered again": [" > ".join(path) + f"  ({where})" for path, where in spine.items()],
        }


def room_of(file: str) -> str:
    parts = Path(file).parts
    if len(parts) == 1:
        return parts[0].removesuffix(".py")
    return "/".join(parts[:2]).removesuffix(".py") if parts[0] in HOUSES and len(parts) > 2 else parts[0]


class Recorder:
    """The profiler hook: keeps the stack of files of ours, and what it sees on the way down."""

    def __init__(self) -> None:
        self.walk = Walk()
        self._stacks: dict[int, list[str | None]] = {}
        self._names: dict[str, str | None] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event not in ("call", "return"):
            return
        stack = self._stacks.setdefault(threading.get_ident(), [])
        if event == "return":
            if stack:
                stack.pop()
            return
        file = self._file(frame.f_code.co_filename)
        own = file if file is not None and frame.f_code.co_name != "<module>" else None
        if own is not None:
            self._enter(own, [f for f in stack if f is not None], frame.f_code.co_name)
        stack.append(own)

    def _file(self, path: str) -> str | None:
        if path not in self._names:
            inside = path.startswith(str(ROOT))
            self._names[path] = str(Path(path).relative_to(ROOT)) if inside else None
        return self._names[path]

    def _enter(self, file: str, above: list[str], function: str) -> None:
        walk = self.walk
        room = room_of(file)
        walk.files.setdefault(file)
        walk.rooms.setdefault(room)
        if above and above[-1] != file:
            walk.edges.setdefault((above[-1], file))
        path: list[str] = []
        for other in (f for f in above if f not in SCALARS):
            if not path or path[-1] != room_of(other):
                path.append(room_of(other))
        if path and path[-1] != room and room in path and file not in SCALARS:
            loop = (*path[len(path) - 1 - path[::-1].index(room) :], room)
            walk.again.setdefault(loop, f"{above[-1]} calls {function} in {file}")


def record(journey: Callable[[], Any]) -> Walk:
    recorder = Recorder()
    threading.setprofile(recorder)
    sys.setprofile(recorder)
    try:
        journey()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return recorder.walk


# --- the journeys: what is imported and loaded before is not part of them ------------------------------


def load() -> Callable[[], Any]:
    _ = robomorph.load  # imports what is imported on first use
    return lambda: robomorph.load("iiwa14")


def first_gradient() -> Callable[[], Any]:
    robot = robomorph.load("chain:3")
    q, qd = robot.random_state(rng=0)
    return lambda: robot.forward_dynamics_gradient(q, qd, qd)


def opencl() -> Callable[[], Any]:
    robot = robomorph.load("chain:3")
    q, qd = robot.random_state(rng=0)
    return lambda: robot.compile("forward_dynamics", target="opencl")(q, qd, qd)


def rtl_units() -> Callable[[], Any]:
    from robomorph.cli.main import main

    arguments = ["rtl", "chain:2", "--structure", "units", "--no-simulate", "--json"]

    def run() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            main(arguments)

    return run


def first_ik() -> Callable[[], Any]:
    robot = robomorph.load("iiwa14")
    return lambda: robot.inverse_kinematics([0.4, 0.1, 0.6], "lbr_iiwa_link_7")


JOURNEYS: dict[str, Callable[[], Callable[[], Any]]] = {
    "load a robot": load,
    "its first gradient": first_gradient,
    "OpenCL: compile and first call": opencl,
    "robomorph rtl --structure units": rtl_units,
    "first inverse kinematics": first_ik,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "journeys", nargs="*", metavar="JOURNEY", help=f"of {', '.join(JOURNEYS)}; default: all"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    arguments = parser.parse_args()
    found = {name: record(JOURNEYS[name]()).summary() for name in arguments.journeys or JOURNEYS}
    if arguments.json:
        print(json.dumps(found, indent=2))
        return 0
    for name, walk in found.items():
        print(f"{name}: {walk['files']} files, {walk['rooms']} rooms, {walk['edges']} calls between files")
        print(f"  rooms in order: {', '.join(walk['order'])}")
        for line in walk["entered again"] or ["nothing"]:
            print(f"  entered again: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
