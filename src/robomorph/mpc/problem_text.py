"""A control problem as the text of a TOML file, which `load_problem` reads again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robomorph.errors import ArgumentError
from robomorph.model import Passive
from robomorph.model.load import SNAP
from robomorph.mpc.function import Function
from robomorph.mpc.quantities import Quantity
from robomorph.tasks import TASKS as _TASKS
from robomorph.tasks import AnyTask, Axis, FrameTask, Pose, Posture

if TYPE_CHECKING:
    from robomorph.mpc.problem import Problem
    from robomorph.robot import Robot

_BUILT_IN = "<built-in "
# Options of `load` that a table can say as they are.
_PLAIN = (
    *("root", "locked", "gravity", "snap", "ignore"),
    *("armature", "damping", "friction", "stiffness", "passive"),
)


def problem_text(problem: Problem, load: str | None = None) -> str:
    """TOML. load: what the robot is loaded from; by default what it was loaded from, a built-in name or a
    path."""
    lines = _table("robot", _robot(problem.robot, load))
    lines += _table("problem", {"horizon": problem.horizon, "dt": problem.dt})
    terminal = {call["name"]: call for method, call in problem.asked if method == "terminal"}
    limits = "limits" if sum(method == "limits" for method, _ in problem.asked) == 1 else "[limits]"
    for method, call in problem.asked:
        if method == "limits":
            lines += _table(limits, {key: _limit(value) for key, value in call.items() if value is not None})
        elif method == "bound":
            rest = ("lower", "upper", "reference", "soft", "name", "rate")
            lines += _table("[bound]", {**_task(call["task"]), **_given(call, rest)})
        elif method == "cost":
            lines += _cost(call, terminal.pop(call["name"], None))
    for call in terminal.values():
        lines += _cost(None, call)
    return "\n".join(lines).strip() + "\n"


def _cost(running: Mapping[str, Any] | None, terminal: Mapping[str, Any] | None) -> list[str]:
    either = running or terminal
    assert either is not None
    values = {**_task(either["task"]), **_given(either, ("reference", "name", "rate"))}
    if running is not None:
        values["weight"] = running["weight"]
    if terminal is not None:
        values["terminal"] = terminal["weight"]
    return _table("[cost]", values)


def _given(call: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: call[key] for key in keys if call[key] is not None and not (key == "rate" and not call[key])}


def _robot(robot: Robot, load: str | None) -> dict[str, Any]:
    record = robot.record
    if load is None:
        label = "<URDF text>" if record is None else record.document.label
        load = label[len(_BUILT_IN) : -1] if label.startswith(_BUILT_IN) else label
        if load.startswith("<") or "..." in load:
            raise ArgumentError(
                f"robot {robot.name!r} was not loaded from a file or by a built-in name: say what to load "
                "with load=..."
            )
    options = {} if record is None else record.options
    asked = {key: value for key, value in options.items() if value is not None and value is not False}
    if asked.get("snap") == SNAP:
        del asked["snap"]
    plain: dict[str, Any] = {key: asked[key] for key in _PLAIN if key in asked}
    if isinstance(plain.get("passive"), Passive):
        del plain["passive"]
    other = set(asked) - {*plain, "mimic"}
    if other or options.get("mimic") is False:
        raise ArgumentError(
            f"robot {robot.name!r} was loaded with {', '.join(sorted(other)) or 'mimic'}, which this writes "
            "no TOML for: write the [robot] table yourself"
        )
    return {"load": load, **plain}


def _task(task: Any) -> dict[str, Any]:
    if isinstance(task, Quantity):
        return {"task": task.name, **({} if task.joints is None else {"joints": list(task.joints)})}
    if isinstance(task, Function) or not isinstance(task, AnyTask) or _TASKS.get(task.name) is not type(task):
        raise ArgumentError(
            f"{task.title}: a task of your own has no words in a file: expected one of the package"
        )
    out: dict[str, Any] = {"task": task.name}
    if isinstance(task, (FrameTask, Pose)):
        out["frame"] = task.frame
    if isinstance(task, Axis):
        out["axis"] = list(task.axis)
    if isinstance(task, Posture):
        out["joints"] = list(task.joints)
    return out


def _limit(value: Any) -> Any:
    """A pair as a table."""
    if isinstance(value, tuple):
        return {"lower": value[0], "upper": value[1]}
    return value


def _table(name: str, values: Mapping[str, Any]) -> list[str]:
    return [f"[{name}]", *(f"{key} = {_value(value)}" for key, value in values.items()), ""]


def _value(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f'"{key}" = {_value(x)}' for key, x in value.items()) + " }"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return (
        "[" + ", ".join(_value(x) for x in (value.tolist() if isinstance(value, np.ndarray) else value)) + "]"
    )
