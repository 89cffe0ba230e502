"""MuJoCo's states and derivatives, and ours. Nothing of the package mujoco is needed."""
