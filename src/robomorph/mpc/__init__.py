"""Model predictive control: problems in the robot's words, and controllers that solve them at every step."""

from robomorph.mpc.controller import Controller
from robomorph.mpc.explain import Violation
from robomorph.mpc.function import Function
from robomorph.mpc.problem import Problem
from robomorph.mpc.problem_file import ProblemFile, built_in_problems, load_problem
from robomorph.mpc.quantities import Acceleration, Effort, Jerk, Velocity
from robomorph.mpc.result import Result

__all__ = [
    "Acceleration",
    "Controller",
    "Effort",
    "Function",
    "Jerk",
    "Problem",
    "ProblemFile",
    "Result",
    "Velocity",
    "Violation",
    "built_in_problems",
    "load_problem",
]
