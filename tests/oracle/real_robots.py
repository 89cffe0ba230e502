"""The real robots that robomorph is compared on, and how each is answered in the ordinary test run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import robomorph
from robomorph import ModelWarning, Robot
from tests.model.oracle import example_robots

from .reference import Reference, build


@dataclass(frozen=True)
class RealRobot:
    """A file of example-robot-data.

    target: what answers in the ordinary run: compiled CPU code, or for large robots, which take LLVM half a
    minute each, the interpreter. `-m slow` compiles those for the CPU too, and runs the ones marked `slow`.
    """

    stem: str
    folder: str = ""  # tells files of one name apart
    bases: tuple[str, ...] = ("fixed", "floating")
    target: str = "cpu"
    slow: bool = False

    @property
    def label(self) -> str:
        return f"{self.folder}-{self.stem}" if self.folder else self.stem

    @property
    def path(self) -> Path:
        found = [p for p in example_robots() if p.stem == self.stem and self.folder in str(p)]
        assert found, f"example-robot-data has no {self.label}"
        return found[0]


# Arms and hands stand on a table; legged robots and humanoids also walk; a quadrotor has no joints at all.
ROBOTS: tuple[RealRobot, ...] = (
    RealRobot("panda"),
    RealRobot("ur5_robot"),
    RealRobot("ur10_robot", bases=("fixed",)),
    RealRobot("kinova", bases=("fixed",)),
    RealRobot("xarm7", bases=("fixed",)),
    RealRobot("z1", bases=("fixed",)),
    RealRobot("so100"),
    RealRobot("talos_left_arm", bases=("fixed",)),
    RealRobot("allegro_right_hand", bases=("fixed",)),
    RealRobot("baxter", bases=("fixed",), target="interpreter"),
    RealRobot("tiago_no_hand"),
    RealRobot("double_pendulum_continuous"),
    RealRobot("finger_edu", bases=("fixed",)),
    RealRobot("hyq_no_sensors"),
    RealRobot("solo12"),
    RealRobot("anymal", "anymal_c", bases=("floating",)),
    RealRobot("go2", bases=("floating",)),
    RealRobot("bolt", bases=("floating",)),
    RealRobot("quadrotor_base", bases=("floating",)),
    RealRobot("hextilt_flying_arm_5", bases=("floating",)),
    RealRobot("icub_reduced", target="interpreter"),
    RealRobot("g1_29dof_rev_1_0", target="interpreter"),
    RealRobot("talos_reduced", target="interpreter", slow=True),
    RealRobot("simple_humanoid", target="interpreter", slow=True),
    RealRobot("alex_sake_hands", target="interpreter", slow=True),
)

# A tool frame that is neither parallel to its link nor at its origin.
TOOL = np.array(
    [[0.36, 0.48, -0.8, 0.1], [-0.8, 0.6, 0.0, -0.2], [0.48, 0.64, 0.6, 0.3], [0.0, 0.0, 0.0, 1.0]]
)


@cache
def load_pair(path: Path, floating: bool, mimic: bool) -> tuple[Robot, Reference]:
    """A real robot with a tool frame on its last link, in robomorph and in Pinocchio."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        bare = robomorph.load(path, floating_base=floating, mimic=mimic)
        tools = {"a tool": (bare.link_names[-1], TOOL)}
        robot = robomorph.load(path, floating_base=floating, mimic=mimic, tool_frames=tools)
    return robot, Reference(robot, build(path, floating=floating), tools)
