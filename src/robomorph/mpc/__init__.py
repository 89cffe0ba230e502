"""Model predictive control: problems in the robot's words, controllers that solve them at every step, and
closed loops of a controller and a plant."""

from robomorph.mpc.controller import Controller
from robomorph.mpc.disturbances import Delay, Friction, Late, Noise, Push
from robomorph.mpc.explain import Violation
from robomorph.mpc.function import Function
from robomorph.mpc.observer import Gains, Observer
from robomorph.mpc.plants import MujocoPlant, Plant, RobotPlant
from robomorph.mpc.problem import Problem
from robomorph.mpc.problem_file import ProblemFile, built_in_problems, load_problem
from robomorph.mpc.quantities import Acceleration, Effort, Jerk, Velocity
from robomorph.mpc.result import Result
from robomorph.mpc.simulate import simulate
from robomorph.mpc.simulation import Simulation

__all__ = [
    "Acceleration",
    "Controller",
    "Delay",
    "Effort",
    "Friction",
    "Function",
    "Gains",
    "Jerk",
    "Late",
    "MujocoPlant",
    "Noise",
    "Observer",
    "Plant",
    "Problem",
    "ProblemFile",
    "Push",
    "Result",
    "RobotPlant",
    "Simulation",
    "Velocity",
    "Violation",
    "built_in_problems",
    "load_problem",
    "simulate",
]
