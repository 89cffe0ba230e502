"""What a user's type checker sees: a small program under mypy --strict, and what it must refuse."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

import robomorph
from robomorph.compiler.wishes import FixedWishes, GpuWishes, RtlWishes, Wishes
from robomorph.targets.fixed_point.options import NumberOptions
from robomorph.targets.gpu.kernel import OPTIONS
from robomorph.targets.rtl.options import Options

PROGRAM = """\
import numpy as np
import robomorph

names: dict[str, list[float]] = {"a": [1.0]}
robot = robomorph.load(
    "hyq",
    floating_base=True,
    locked={"lf_haa_joint": 0.1, "rf_haa_joint": np.float32(0.2), "base": np.zeros(7), "ball": [0.0, 1.0]},
    payloads={"trunk": (1.0, np.zeros(3))},
    tool_frames={"tool": ("trunk", np.eye(4))},
    gravity=[0.0, 0.0, -9.81],
)
robomorph.load("hyq", locked=names)
target: str = "cpu"
reveal_type(robot)
reveal_type(robot.compile("inverse_dynamics"))
reveal_type(robot.compile("inverse_dynamics", dtype="float32", threads=2).prepare(batch=64))
reveal_type(robot.compile("jacobian", frame="tool", target="interpreter"))
reveal_type(robot.compile("mass_matrix", target="opencl", mapping="group").prepare())
reveal_type(robot.compile("mass_matrix", target="cuda", device=0))
reveal_type(robot.compile("forward_dynamics_gradient", target="cuda", partitioning="split").cost)
reveal_type(robot.compile("forward_dynamics_gradient", target="rtl", preset="papers", bits=24).simulation)
reveal_type(robot.compile("energy", target="fixed", format="Q16.16").prepare(64).words)
reveal_type(robot.compile("energy", target=target))
reveal_type(robot.compile("energy", target="mine", colour="red").program)
reveal_type(robot.limits)
reveal_type(robot.neutral)
reveal_type(robot.random_state(0, batch=4))
reveal_type(robot.inverse_kinematics([0.1, 0.2, 0.3], "tool"))
reveal_type(robot.verify(["energy"]).passed)
"""
SEEN = (
    *("Robot", "Kernel", "Kernel", "InterpreterKernel", "GpuKernel", "GpuKernel", "PartitionCost"),
    *(
        "Simulation",
        "FixedResult",
        "AnyKernel",
        "Program",
        "JointLimits",
        "ndarray",
        "RandomState",
        "IKResult",
        "bool",
    ),
)
# One line each, and the error that mypy must give there.
REFUSED = {
    'robomorph.load("hyq", locked={"joint": "0.5"})': "dict-item",
    'robomorph.load("hyq", floating_base=1)': "arg-type",
    'robomorph.load("hyq").compile("energy", thread=2)': "call-overload",
    'robomorph.load("hyq").compile("energy", threads=2.5)': "call-overload",
    'robomorph.load("hyq").compile("energy", target="rtl").prepare()': "attr-defined",
    'robomorph.load("hyq").compile("energy", target="fixed").simulation': "attr-defined",
    'robomorph.load("hyq").compile("energy", target="interpreter").prepare()': "attr-defined",
}


def strict_mypy(folder: Path, name: str, text: str) -> list[str]:
    """What mypy says about a user's file, in a folder that has no settings of ours."""
    (folder / name).write_text(text)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", name]
    package = str(Path(robomorph.__file__).parents[1])
    # An editable install is found by no type checker; an ordinary one must not be named.
    path = {} if "site-packages" in package else {"MYPYPATH": package}
    environment = {**os.environ, **path}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if line.startswith(name)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mypy", reason="mypy checks the types that users see")
    return tmp_path_factory.mktemp("user")


def test_a_users_program_is_typed(folder: Path) -> None:
    said = strict_mypy(folder, "program.py", PROGRAM)
    assert not [line for line in said if ": error:" in line]
    revealed = [re.sub(r'.*Revealed type is "|"$', "", line) for line in said if "Revealed" in line]
    assert [_short(line) for line in revealed] == list(SEEN)


def _short(revealed: str) -> str:
    """The name of a type without its module, parameters and fields."""
    if "fallback=" in revealed:
        revealed = revealed.rsplit("fallback=", 1)[1]
    return re.split(r"[\[,\]]", revealed)[0].split(".")[-1]


def test_mistakes_are_seen_before_the_program_runs(folder: Path) -> None:
    said = strict_mypy(folder, "mistakes.py", "\n".join(["import robomorph", *REFUSED, ""]))
    errors = {int(line.split(":")[1]): line for line in said if ": error:" in line}
    for number, (text, code) in enumerate(REFUSED.items(), 2):
        assert f"[{code}]" in errors.get(number, ""), f"{text}: {errors.get(number)}"


def test_wishes_are_what_targets_know() -> None:
    """Types for checkers are written apart from what is checked at run time."""
    every = set(Wishes.__annotations__)
    signature = set(inspect.signature(robomorph.Robot.compile).parameters)
    assert every == signature - {"self", "algorithm", "target", "options"}
    assert set(GpuWishes.__annotations__) == {*every, *OPTIONS} - {"partitioning"}
    assert set(RtlWishes.__annotations__) == {*every, "preset", *(field.name for field in fields(Options))}
    numbers = {field.name for field in fields(NumberOptions)}
    assert set(FixedWishes.__annotations__) == {*every, "preset", *numbers}
    kinds = {field.name: str(field.type) for field in fields(Options)}
    written = {name: RtlWishes.__annotations__[name].__forward_arg__ for name in kinds}
    assert written == kinds
