"""What forward dynamics asks of a robot: accelerations of one state, and their derivatives at many."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robomorph.compiler.program import Deferred
from robomorph.compiler.recipe import robot_recipe
from robomorph.compiler.specialise import make_request

if TYPE_CHECKING:
    from robomorph.robot import Robot

# Names in native code -> algorithm, outputs in the order of native code.
_FUNCTIONS = {
    "acceleration": ("forward_dynamics", ("qdd",)),
    "acceleration_gradient": ("forward_dynamics_gradient", ("qdd", "dqdd_dq", "dqdd_dqd", "minv")),
}


def forward_programs(robot: Robot) -> dict[str, Deferred]:
    """`acceleration`: q, qd, tau -> qdd; `acceleration_gradient`: q, qd, tau -> qdd, dqdd_dq, dqdd_dqd,
    minv."""
    found = {}
    for name, (algorithm, outputs) in _FUNCTIONS.items():
        recipe = robot_recipe(
            robot.specialiser, make_request(robot.model, algorithm, outputs=outputs), "float64"
        )
        found[name] = Deferred(name, recipe.inputs, recipe.outputs, recipe.program, recipe.key)
    return found
