"""What it costs to show a robot's states 60 times a second, as a control loop would."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from robomorph.bench.goals import Goal
from robomorph.bench.records import OURS, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData
from robomorph.bench.session import Session
from robomorph.loading import load
from robomorph.robot import Robot

Array = npt.NDArray[Any]
NAME = "stream"
RATE = 60.0  # states a second
# A page in a process of its own, so that its work is not counted: it reads, and says how much it got.
_PAGE = """
import json, socket, sys
from urllib.parse import urlsplit
from websockets.sync.client import connect
frames = 0
parts = urlsplit(sys.argv[1])
straight = socket.create_connection((parts.hostname, parts.port))
with connect(sys.argv[1], sock=straight, max_size=None, compression=None) as page:
    page.send('{"type": "hello"}')
    page.recv()
    page.send(json.dumps({"type": "layers", "on": sys.argv[2].split()}))
    page.recv()
    print("ready", flush=True)
    try:
        while True:
            frames += json.loads(page.recv())["type"] in ("frame", "state")
    except Exception:
        print(frames)
"""
LAYERS = {"shapes": "visual", "all marks": "visual com manipulability forces"}


def _jobs(session: Session) -> list[Job]:
    return [Job(f"atlas, {name}", partial(_run, session, name)) for name in LAYERS]


def _run(session: Session, layers: str) -> list[Record]:
    robot = load("atlas", floating_base=True)
    seconds = 3.0 if session.quick else 10.0
    share, arrived = streamed(robot, LAYERS[layers], seconds)
    figures = {"cpu": share, "arrived": arrived, "seconds": seconds}
    return [Record(NAME, robot.name, NAME, OURS, "socket", figures=figures, case=layers)]


def streamed(robot: Robot, layers: str, seconds: float) -> tuple[float, float]:
    """Seconds of the processor a second, of this whole process, and messages a second that arrived."""
    from robomorph.viewer.exhibit import make_exhibit
    from robomorph.viewer.live import Viewer

    with Viewer(make_exhibit(robot)) as viewer:
        parts = urlsplit(viewer.url)
        address = f"ws://{parts.netloc}/socket?{parts.query}"
        command = [sys.executable, "-c", _PAGE, address, layers]
        page = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert page.stdout is not None
        page.stdout.readline()
        _show_for(viewer.show, robot, 0.5)
        before, begin = time.process_time(), time.perf_counter()
        count = _show_for(viewer.show, robot, seconds)
        spent, passed = time.process_time() - before, time.perf_counter() - begin
    arrived = float(page.communicate(timeout=60)[0] or "nan")
    return spent / passed, arrived / (passed + 0.5) if count else float("nan")


def _show_for(show: Callable[[Array], None], robot: Robot, seconds: float) -> int:
    """States of a slow motion, at their rate; how many."""
    limits = robot.limits
    joints = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    q, count = robot.neutral, int(seconds * RATE)
    begin = time.perf_counter()
    for k in range(count):
        share = 0.5 + 0.3 * np.sin(2.0 * k / RATE)
        q = q.copy()
        q[joints] = limits.lower[joints] + share * (limits.upper[joints] - limits.lower[joints])
        show(q)
        time.sleep(max(0.0, begin + (k + 1) / RATE - time.perf_counter()))
    return count


def _tables(records: Records) -> list[TableData]:
    rows = [(r.robot, r.case, f"{r.figures['cpu']:.3f}", f"{r.figures['arrived']:.1f}") for r in records]
    caption = (
        f"{RATE:.0f} states a second to one page, which reads in a process of its own; cores: what the whole "
        "process that shows takes, its other threads included. With marks every message has "
        "the centre of mass and the ellipsoid; shapes alone get a whole state four times a second as well."
    )
    return [TableData("streaming", ("robot", "layers", "cores", "messages/s"), rows, 2, caption)]


def _share(records: Records) -> float | None:
    record = first(records, case="shapes")
    return None if record is None else record.figures["cpu"]


GOALS = (Goal("atlas at 60 states a second", 0.5, " cores", _share, at_least=False),)
SECTION = Section(NAME, _jobs, _tables, GOALS)
