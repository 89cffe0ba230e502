"""A motion that keeps its tool level and its torques small, at every instant; and why another cannot be."""

from __future__ import annotations

import numpy as np

import robomorph
from robomorph.planning import Motion, Plan
from robomorph.tasks import Position, Tilt

TOOL = "lbr_iiwa_link_7"


def main() -> Plan:
    robot = robomorph.load("iiwa14")
    start = np.array([0.5, 0.6, 0.0, -1.2, 0.0, 0.8, 0.0])
    end = np.array([-0.5, 0.9, 0.3, -0.8, 0.2, 0.4, 0.5])

    motion = Motion(robot, seconds=2.0, intervals=8, start=start, end=end)
    motion.limits(position=True, velocity=True, torque=0.5)
    motion.keep(Tilt(TOOL, (0, 0, 1)), -0.7, 0.7, reference="start")
    motion.keep(Position(TOOL), lower=(-2, -2, 0.45), upper=2, during=(0.5, 1.5))
    plan = motion.solve(cost="jerk")
    print(f"{plan.reason} in {plan.iterations} iterations, cost {plan.cost:.4g}")
    for margin in plan.margins:
        print(f"  {margin.name}: {margin.slack:.2g} {margin.unit} left at {margin.time:.2f} s ({margin.row})")
    print("proven for every instant:", plan.certify().proven)

    motion.keep(Position(TOOL), lower=(-2, -2, 2.0), upper=3, during=(0.9, 1.1))
    print(motion.solve().reason)
    return plan


if __name__ == "__main__":
    main()
