"""MuJoCo's states and derivatives, and ours: the one place that knows how they differ.

| | MuJoCo | here |
|---|---|---|
| quaternions | w first | w last |
| a free joint's linear velocity, acceleration and force | in the world's axes | in the base's |
| its angular velocity | in the base's axes | the same |
| its place in tangent spaces | position in the world's axes, turn in the base's | both in the base's |
| entries of joints | in the order of their ids | depth first, in the file's order among siblings |

A robot that was read from MJCF knows where its joints stand in MuJoCo's vectors; for others `model` (an
MjModel) tells, joints being known by their names. Every joint of the model must be one of the robot's.
Arguments may have leading batch dimensions; results are float64. The package mujoco is not needed. Our
quaternions must have length one; to MuJoCo all lengths but zero mean the same turn.
"""

from robomorph.interop.mujoco.states import (
    State,
    accelerations_from_mujoco,
    accelerations_to_mujoco,
    forces_from_mujoco,
    forces_to_mujoco,
    state_from_mujoco,
    state_to_mujoco,
)
from robomorph.interop.mujoco.tangents import tangent_from_mujoco, tangent_to_mujoco
from robomorph.interop.mujoco.transitions import Transition, transition_to_mujoco

__all__ = [
    "State",
    "Transition",
    "accelerations_from_mujoco",
    "accelerations_to_mujoco",
    "forces_from_mujoco",
    "forces_to_mujoco",
    "state_from_mujoco",
    "state_to_mujoco",
    "tangent_from_mujoco",
    "tangent_to_mujoco",
    "transition_to_mujoco",
]
