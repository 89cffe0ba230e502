"""A plan as one JSON document: the problem as stated, the motion, and what was proven of it.

Numbers are hexadecimal floats (knots are fractions), so that nothing is rounded on the way. The second
program, which checks such a file, is in `robomorph.checker`; docs/planning-certificate.md has every field.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.model.changes import read_changes
from robomorph.planning.certificate.proofs import Certificate
from robomorph.planning.certificate.splines import Spline
from robomorph.planning.certificate.statements import Limits, Row, Statement, TaskStatement

if TYPE_CHECKING:
    from robomorph.robot import Robot

FORMAT, VERSION = "robomorph-plan", 1


@dataclass(frozen=True)
class End:
    """What the motion is to be at its first or last instant: q, qd, qdd (nv,) each, or None where that is
    free; within 1e-9 (rad, m, s)."""

    q: tuple[float, ...] | None = None
    qd: tuple[float, ...] | None = None
    qdd: tuple[float, ...] | None = None


def problem_data(
    robot: Robot,
    statements: Sequence[Statement],
    seconds: float | tuple[float, float],
    start: End | None = None,
    end: End | None = None,
    periodic: bool = False,
    unit: Fraction = Fraction(1),
) -> dict[str, Any]:
    """The problem: the robot's text and options, how long, from where to where, and what must hold. With a
    free duration, a pair of seconds, windows are written in shares of it: `unit` is the one they are for."""
    return {
        "robot": robot_data(robot),
        "seconds": _hex(seconds if isinstance(seconds, tuple) else (seconds, seconds)),
        "start": _end(start),
        "end": _end(end),
        "periodic": bool(periodic),
        "constraints": [_statement(one, unit) for one in statements],
    }


def plan_data(
    robot: Robot, problem: Mapping[str, Any], spline: Spline, rows: Sequence[Row], certificate: Certificate
) -> dict[str, Any]:
    """The whole document. `rows` are those whose obligations the certificate is about, in its order."""
    proofs = zip(rows, certificate.proofs, strict=True)
    return {
        "format": FORMAT,
        "version": VERSION,
        "problem": dict(problem),
        "motion": {
            "joints": list(robot.velocity_names),
            "degree": spline.degree,
            "knots": [str(knot) for knot in spline.knots],
            "control": [_hex(point) for point in spline.control],
        },
        "proof": {
            "degree": certificate.degree,
            "rows": [
                {
                    "constraint": row.statement,
                    "row": row.row,
                    "name": proof.obligation.name,
                    "lower": float(proof.obligation.lower).hex(),
                    "upper": float(proof.obligation.upper).hex(),
                    "low": float(proof.low).hex(),
                    "high": float(proof.high).hex(),
                    "proven": proof.proven,
                }
                for row, proof in proofs
            ],
        },
    }


def save_document(data: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a plan or a problem; the same data give the same bytes."""
    text = json.dumps(data, indent=1, ensure_ascii=False) + "\n"
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def load_motion(data: Mapping[str, Any]) -> Spline:
    """The motion of a document."""
    motion = data["motion"]
    control = np.array([[float.fromhex(x) for x in point] for point in motion["control"]])
    return Spline(control, tuple(Fraction(knot) for knot in motion["knots"]), int(motion["degree"]))


def robot_data(robot: Robot) -> dict[str, Any]:
    """The robot's own text and the options it was loaded with."""
    if robot.record is None:
        raise ArgumentError(
            f"robot {robot.name!r}: expected one that robomorph.load made, whose text is known, to write its "
            "plan down; found one made from a model"
        )
    if robot.model.passive is not None or any(body.armature for body in robot.model.bodies):
        raise ArgumentError(
            f"robot {robot.name!r}: expected a robot without armatures and passive forces to write its plan "
            "down, as the checker knows none of them: load it with armature=0 and passive=False"
        )
    document, options = robot.record
    if document.format != "URDF":
        raise ArgumentError(
            f"{document.label}: expected a robot of URDF to write a plan down, which `robomorph check` reads "
            f"again, found {document.format}"
        )
    try:
        text = document.data.decode(document.encoding or "utf-8")
    except (UnicodeDecodeError, LookupError):
        raise ArgumentError(
            f"{document.label}: expected a description in UTF-8 to write a plan down, found another encoding"
        ) from None
    return {"text": text, "options": _options(options)}


def _options(options: Mapping[str, Any]) -> dict[str, Any]:
    changes = read_changes(options["locked"], options["payloads"], options["tool_frames"], options["gravity"])
    return {
        "root": options["root"],
        "floating_base": options["floating_base"],
        "mimic": options["mimic"],
        "snap": float(options["snap"]).hex(),
        "gravity": None if changes.gravity is None else _hex(changes.gravity),
        "locked": {name: _hex(value) for name, value in changes.locked.items()},
        "payloads": {
            link: {"mass": float(i.mass).hex(), "com": _hex(i.com), "tensor": [_hex(row) for row in i.tensor]}
            for link, i in changes.payloads.items()
        },
        "tool_frames": {
            name: {"link": link, "pose": [_hex(row) for row in pose.matrix]}
            for name, (link, pose) in changes.tool_frames.items()
        },
    }


def _statement(one: Statement, unit: Fraction) -> dict[str, Any]:
    if isinstance(one, Limits):
        return {
            "kind": "limits",
            "what": one.what,
            "share": None if one.share is None else float(one.share).hex(),
            "lower": None if one.lower is None else _hex(one.lower),
            "upper": None if one.upper is None else _hex(one.upper),
        }
    return {
        "kind": "task",
        "task": _task(one),
        "reference": _hex(one.reference),
        "lower": _hex(one.lower),
        "upper": _hex(one.upper),
        "rate": one.rate,
        "during": [str(t / unit) for t in one.window],
    }


def _task(one: TaskStatement) -> dict[str, Any]:
    """The task's name and what it is about."""
    data: dict[str, Any] = {"name": one.task.name}
    for item in fields(one.task):  # type: ignore[arg-type]
        value = getattr(one.task, item.name)
        if item.name in ("own_axes", "places"):  # how it is computed, not what it means
            continue
        if isinstance(value, tuple) and value and isinstance(value[0], float):
            value = _hex(value)
        data[item.name] = list(value) if isinstance(value, tuple) else value
    return data


def _end(end: End | None) -> dict[str, Any] | None:
    if end is None:
        return None
    return {name: None if value is None else _hex(value) for name, value in vars(end).items()}


def _hex(values: Any) -> list[str]:
    return [float(x).hex() for x in values]
