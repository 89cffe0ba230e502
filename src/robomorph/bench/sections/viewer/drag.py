"""How soon the robot is where the handle was pulled to: a page's messages over a real socket."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from robomorph.bench.goals import Goal
from robomorph.bench.measuring import summarise
from robomorph.bench.records import OURS, REFUSED, Record, first
from robomorph.bench.sections.section import Job, Records, Section, TableData, show_ns
from robomorph.bench.session import Session
from robomorph.bench.solution_check import PinocchioCheck
from robomorph.loading import load
from robomorph.robot import Robot

Array = npt.NDArray[Any]
NAME = "drag"
KINDS = ("position", "pose", "out of reach")
_WARM = 20
_TOLERANCE = 1e-5  # of inverse kinematics, m and rad


@dataclass(frozen=True)
class Held:
    """A robot, and the frame of it that is dragged."""

    name: str
    frame: str
    floating: bool


HELD = (
    Held("iiwa14", "lbr_iiwa_link_7", False),
    Held("hyq", "lf_lowerleg", True),
    Held("atlas", "r_hand", True),
)


def _jobs(session: Session) -> list[Job]:
    chosen = HELD[:1] if session.quick else HELD
    return [Job(held.name, partial(_run, session, held)) for held in chosen]


def _run(session: Session, held: Held) -> list[Record]:
    robot = load(held.name, floating_base=held.floating)
    check = PinocchioCheck(robot, held.name)
    count = 200 if session.quick else 1000
    return [_measured(session, held, robot, check, kind, count) for kind in KINDS]


def _measured(
    session: Session, held: Held, robot: Robot, check: PinocchioCheck, kind: str, count: int
) -> Record:
    wishes = _walk(robot, count + _WARM)
    poses = robot.forward_kinematics(wishes, held.frame)
    if kind == "out of reach":
        poses[:, :3, 3] += 3.0
    seconds, states = dragged(robot, wishes[0], held.frame, poses, turned=kind == "pose")
    seconds, states, poses = seconds[_WARM:], states[_WARM:], poses[_WARM:]
    q = np.array([state["robots"][0]["q"] for state in states])
    claimed = np.array([state["ik"]["success"] for state in states])
    good = check.holds(q, held.frame, poses if kind == "pose" else poses[:, :3, 3], _TOLERANCE)
    refused = int((claimed & ~good).sum())
    if refused:
        session.note(f"{held.name}, {kind}: {refused} answers that claim to follow were refused by the check")
    figures = {
        "drags": float(count),
        "followed": float(claimed.mean()),
        "99%": float(np.percentile(seconds, 99.0)),
        REFUSED: float(refused),
    }
    timing = summarise(seconds.tolist(), 0.0)
    return Record(NAME, held.name, NAME, OURS, "socket", timing=timing, figures=figures, case=kind)


def _walk(robot: Robot, count: int) -> Array:
    """(count, nq) configurations that a drag leads through: slowly, inside the limits, the base still."""
    limits = robot.limits
    q = robot.neutral
    joints = np.isfinite(limits.lower) & np.isfinite(limits.upper)
    low, high = limits.lower[joints], limits.upper[joints]
    phases = np.linspace(0.0, 3.0, int(joints.sum()))
    along = 0.5 + 0.3 * np.sin(0.01 * np.arange(count)[:, None] + phases)
    out = np.tile(q, (count, 1))
    out[:, joints] = low + along * (high - low)
    return out


def dragged(robot: Robot, start: Array, frame: str, poses: Array, *, turned: bool) -> tuple[Array, list[Any]]:
    """Seconds (n,) from each drag's sending to its answer, and the answers."""
    from websockets.sync.client import connect

    from robomorph.viewer.exhibit import make_exhibit
    from robomorph.viewer.live import Viewer
    from robomorph.viewer.poses import sevens

    seconds, states = np.empty(len(poses)), []
    with Viewer(make_exhibit(robot, q=start, frames=frame)) as viewer:
        parts = urlsplit(viewer.url)
        straight = socket.create_connection((parts.hostname, parts.port or 80))  # proxies are for others
        address = f"ws://{parts.netloc}/socket?{parts.query}"
        with connect(address, sock=straight, max_size=None, compression=None) as page:
            for k, pose in enumerate(sevens(poses).tolist()):
                turn = pose[3:] if turned else None
                message = {"type": "drag", "id": k, "frame": frame, "position": pose[:3], "quaternion": turn}
                text = json.dumps(message)
                begin = time.perf_counter()
                page.send(text)
                answer = page.recv()
                seconds[k] = time.perf_counter() - begin
                states.append(json.loads(answer))
    return seconds, states


def _tables(records: Records) -> list[TableData]:
    rows = [
        (
            record.robot,
            record.case,
            f"{record.figures['drags']:.0f}",
            f"{record.figures['followed']:.1%}",
            show_ns(None if record.timing is None else record.timing.median_ns),
            show_ns(1e9 * record.figures["99%"]),
        )
        for record in records
    ]
    caption = (
        "From the sending of a drag to the arrival of its answer, in one process, JSON and the socket "
        "included; the browser is not. Every answer that claims to follow is confirmed by Pinocchio. Out of "
        "reach: targets 3 m away in x, y and z; the reason in words follows later, and is not timed."
    )
    columns = ("robot", "target", "drags", "followed", "median", "99%")
    return [TableData("a dragged frame", columns, rows, 2, caption)]


def _median_ms(records: Records) -> float | None:
    record = first(records, robot="iiwa14", case="pose")
    return None if record is None or record.timing is None else record.timing.median_ns / 1e6


GOALS = (Goal("iiwa14, a drag's answer, median", 5.0, " ms", _median_ms, at_least=False),)
SECTION = Section(NAME, _jobs, _tables, GOALS)
