"""How control problems are solved: one file a method."""

from robomorph.mpc.methods.base import Method, Settings, Work
from robomorph.mpc.methods.forward_dynamics import ForwardDynamics
from robomorph.mpc.methods.inverse_dynamics import InverseDynamics

METHODS: dict[str, type[Method]] = {method.name: method for method in (InverseDynamics, ForwardDynamics)}

__all__ = ["METHODS", "Method", "Settings", "Work"]
