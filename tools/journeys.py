"""Walks five journeys through the code and writes down which files and rooms the calls pass.

    python tools/journeys.py [--json] [JOURNEY ...]

A room is a folder (or a single module) of the package; every target's folder is a room of its own. Calls of
Python functions between files are recorded by the profiler hook, in the order of first entry; returns do not
count, and neither does what modules do while they are imported. A room is *entered again* when a call leads
into it although it is open further up the stack with another room between: a reader who follows the calls
downwards then has to go back up. No room and no file is excepted. The exit status is 1 if any is entered
again.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import sys
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple
from unittest.mock import patch

import robomorph

ROOT = Path(robomorph.__file__).parent
# Folders whose parts are rooms of their own.
HOUSES = {"targets"}


def room_of(file: str) -> str:
    parts = Path(file).parts
    if len(parts) == 1:
        return parts[0].removesuffix(".py")
    return "/".join(parts[:2]) if parts[0] in HOUSES and len(parts) > 2 else parts[0]


@dataclass
class Walk:
    """What one journey passed, in the order of first entry: files, rooms, calls between files. And every way
    down into a room that is open above, with the calls that take it."""

    files: dict[str, None] = field(default_factory=dict)
    rooms: dict[str, None] = field(default_factory=dict)
    calls: dict[tuple[str, str], None] = field(default_factory=dict)
    again: dict[tuple[str, ...], dict[str, None]] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        return {
            "files": list(self.files),
            "rooms": list(self.rooms),
            "calls between files": [f"{above} > {file}" for above, file in self.calls],
            "entered again": {" > ".join(loop): list(calls) for loop, calls in self.again.items()},
        }


class Stand(NamedTuple):
    """Where a call stands: the nearest file of ours (None: none yet), and the rooms from the top down to it,
    equal neighbours as one. Whatever is called while a module is imported does not count."""

    file: str | None = None
    path: tuple[str, ...] = ()
    importing: bool = False


class Recorder:
    """The profiler hook: keeps the stack of calls of every thread, and what it sees on the way down."""

    def __init__(self) -> None:
        self.walk = Walk()
        self._main = [Stand()]
        self._stacks = {threading.get_ident(): self._main}
        self._names: dict[str, str | None] = {}

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        # Another thread begins where the first one stands.
        stack = self._stacks.setdefault(threading.get_ident(), self._main[-1:])
        if event == "return" and len(stack) > 1:
            stack.pop()
        elif event == "call":
            stack.append(self._below(stack[-1], frame.f_code.co_filename, frame.f_code.co_name))

    def _below(self, above: Stand, path: str, function: str) -> Stand:
        if above.importing or function == "<module>":
            return above._replace(importing=True)
        if path not in self._names:
            inside = Path(path).is_relative_to(ROOT)
            self._names[path] = Path(path).relative_to(ROOT).as_posix() if inside else None
        file = self._names[path]
        return above if file is None or file == above.file else self._enter(above, file, function)

    def _enter(self, above: Stand, file: str, function: str) -> Stand:
        walk, path, room = self.walk, above.path, room_of(file)
        walk.files.setdefault(file)
        walk.rooms.setdefault(room)
        if above.file is not None:
            walk.calls.setdefault((above.file, file))
        if path and path[-1] == room:
            return Stand(file, path)
        if room in path:
            last = len(path) - 1 - path[::-1].index(room)
            call = f"{above.file} calls {function} in {file}"
            walk.again.setdefault((*path[last:], room), {}).setdefault(call)
        return Stand(file, (*path, room))


def record(journey: Callable[[], Any]) -> Walk:
    """The walk of one journey, with an empty kernel cache, so that nothing is found already made."""
    recorder = Recorder()
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, ROBOMORPH_CACHE_DIR=folder):
        threading.setprofile(recorder)
        sys.setprofile(recorder)
        try:
            journey()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    return recorder.walk


# --- the journeys: what is loaded before is not part of them -------------------------------------------


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
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            if main(arguments) != 0:
                raise RuntimeError(f"robomorph {' '.join(arguments)} failed")

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


def print_walk(name: str, walk: dict[str, Any]) -> None:
    counts = ", ".join(f"{len(walk[key])} {key}" for key in ("files", "rooms", "calls between files"))
    print(f"{name}: {counts}")
    print(f"  rooms in order: {', '.join(walk['rooms'])}")
    for loop, calls in walk["entered again"].items():
        print(f"  entered again: {loop}")
        print("".join(f"    {call}\n" for call in calls), end="")
    if not walk["entered again"]:
        print("  entered again: nothing")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = ", ".join(map(repr, JOURNEYS))
    parser.add_argument("journeys", nargs="*", metavar="JOURNEY", help=f"of {known}; default: all")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    arguments = parser.parse_args()
    for name in arguments.journeys:
        if name not in JOURNEYS:
            parser.error(f"JOURNEY: expected one of {known}, found {name!r}")
    found = {name: record(JOURNEYS[name]()).summary() for name in arguments.journeys or JOURNEYS}
    if arguments.json:
        print(json.dumps(found, indent=2))
    else:
        for name, walk in found.items():
            print_walk(name, walk)
    return 1 if any(walk["entered again"] for walk in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
