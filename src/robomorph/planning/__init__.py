"""Motions whose constraints hold at every instant."""

from robomorph.planning.motion import Motion
from robomorph.planning.plan import Margin, Plan
from robomorph.planning.scenario import Scenario, built_in, load_scenario

__all__ = ["Margin", "Motion", "Plan", "Scenario", "built_in", "load_scenario"]
