"""Model predictive control: closed loops of a controller and a plant."""

from robomorph.mpc.disturbances import Delay, Friction, Late, Noise, Push
from robomorph.mpc.observer import Gains, Observer
from robomorph.mpc.plants import MujocoPlant, Plant, RobotPlant
from robomorph.mpc.simulate import simulate
from robomorph.mpc.simulation import Simulation

__all__ = [
    "Delay",
    "Friction",
    "Gains",
    "Late",
    "MujocoPlant",
    "Noise",
    "Observer",
    "Plant",
    "Push",
    "RobotPlant",
    "Simulation",
    "simulate",
]
