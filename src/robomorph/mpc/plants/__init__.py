"""What a controller acts on: a robot of ours, or MuJoCo as an independent one."""

from robomorph.mpc.plants.mujoco_plant import MujocoPlant
from robomorph.mpc.plants.plant import Plant
from robomorph.mpc.plants.robot_plant import RobotPlant

__all__ = ["MujocoPlant", "Plant", "RobotPlant"]
