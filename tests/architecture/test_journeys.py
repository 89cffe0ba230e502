"""Nobody who follows the five journeys downwards has to go back up; and the script that says so can see."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tests.targets.gpu.toolchains import needs_opencl
from tests.targets.rtl.toolchains import needs_verilator

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "journeys.py"
# By journey, the target whose folder it passes: no other target takes part in making a kernel. What is
# computed in fixed point is no target, and shared.
TARGETS = {
    "load a robot": [],
    "its first gradient": ["targets/cpu"],
    "OpenCL: compile and first call": ["targets/gpu"],
    "robomorph rtl --structure units": ["targets/rtl", "targets/fixed_point"],
    "first inverse kinematics": ["targets/cpu"],
}
MARKS = {
    "OpenCL: compile and first call": [needs_opencl],
    "robomorph rtl --structure units": [needs_verilator],  # the command lints
}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("journey", [pytest.param(name, marks=MARKS.get(name, [])) for name in TARGETS])
def test_no_room_is_entered_again(journey: str) -> None:
    done = run("--json", journey)
    assert done.stdout, done.stderr
    (walk,) = json.loads(done.stdout).values()
    assert walk["entered again"] == {}
    assert done.returncode == 0
    assert [room for room in walk["rooms"] if room.startswith("targets/")] == TARGETS[journey]


def test_an_unknown_journey_is_refused_by_name() -> None:
    done = run("to the moon")
    assert done.returncode == 2
    assert "'to the moon'" in done.stderr and all(repr(name) in done.stderr for name in TARGETS)
    assert "Traceback" not in done.stderr


# --- the recorder itself, on a house of three rooms ------------------------------------------------


HOUSE = {
    "upper/a.py": """
        import threading
        from lower import b
        def down(): return b.end()
        def twice(): return b.end() + b.end()
        def within(): return helper()
        def helper(): return 1
        def zigzag(): return b.back(helper)
        def by_thread():
            thread = threading.Thread(target=b.back, args=(helper,))
            thread.start()
            thread.join()
        def pulled(): return [helper() for _ in b.numbers()]
        def late(): import lower.calls_at_import
    """,
    "lower/b.py": """
        from targets.one import c
        def end(): return c.one()
        def back(ask): return ask()
        def numbers(): yield from (c.one(), c.one())
    """,
    "lower/calls_at_import.py": """
        from upper import a
        a.helper()
    """,
    "targets/one/c.py": "def one(): return 1",
}


def walk_in_house(folder: Path, function: str) -> Any:
    """The walk through one function of the upper room, in a process of its own."""
    for name, text in HOUSE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")
    code = f"""
        import json, pathlib, sys
        sys.path[:0] = [{str(SCRIPT.parent)!r}, {str(folder)!r}]
        import journeys
        journeys.ROOT = pathlib.Path({str(folder)!r})
        from upper import a
        print(json.dumps(journeys.record(a.{function}).summary()))
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("function", ["down", "twice", "within", "pulled", "late"])
def test_going_down_and_coming_back_is_no_second_entry(tmp_path: Path, function: str) -> None:
    walk = walk_in_house(tmp_path, function)
    assert walk["entered again"] == {}
    rooms = ["upper"] if function in ("within", "late") else ["upper", "lower", "targets/one"]
    assert walk["rooms"] == rooms


@pytest.mark.parametrize("function", ["zigzag", "by_thread"])
def test_a_call_back_up_is_seen(tmp_path: Path, function: str) -> None:
    walk = walk_in_house(tmp_path, function)
    assert walk["entered again"] == {"upper > lower > upper": ["lower/b.py calls helper in upper/a.py"]}
