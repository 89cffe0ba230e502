"""The papers' kind of chip for a robot: its gradient, with M^-1, sines and cosines from the host."""

from __future__ import annotations

from robomorph.robot import Robot
from robomorph.targets.rtl.accelerator import Accelerator

FUNCTION = "forward_dynamics_gradient"


def papers_chip(robot: Robot, pipelines: int = 1) -> Accelerator:
    """As `robomorph rtl ROBOT --preset papers --pipelines N` makes it."""
    return robot.compile(FUNCTION, target="rtl", preset="papers", pipelines=pipelines).accelerator
