"""A page with a robot and a motion, which opens in any browser without a server or a network."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import robomorph
from robomorph.viewer import Trajectory

TOOL = "lbr_iiwa_link_7"
PAGE = Path("circle.html")


def main() -> str:
    """The page's text."""
    robot = robomorph.load("iiwa14")
    start = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])

    # The tool draws a circle; every pose is solved from the one before it.
    times = np.linspace(0.0, 4.0, 161)
    centre = robot.forward_kinematics(start, TOOL)
    poses = np.tile(centre, (len(times), 1, 1))
    poses[:, 1, 3] += 0.12 * np.sin(np.pi * times / 2)
    poses[:, 2, 3] += 0.12 * (np.cos(np.pi * times / 2) - 1)
    result = robot.inverse_kinematics(poses, TOOL, start, path=True)
    print(f"{int(result.success.sum())} of {len(times)} poses reached")

    motion = Trajectory(times, result.q, name="circle")
    force = {TOOL: [0.0, 0.0, -20.0, 0.0, 0.0, 0.0]}
    with robomorph.view(robot, motion, f_ext=force, ghosts=[start], open_browser=False) as viewer:
        # `viewer.url` is the live page; without open_browser=False it would be open now.
        viewer.save_html(PAGE)
    print(f"{PAGE}: {PAGE.stat().st_size / 1e6:.1f} MB")
    return PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
