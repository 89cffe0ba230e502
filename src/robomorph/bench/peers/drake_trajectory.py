"""Drake's KinematicTrajectoryOptimization."""

from __future__ import annotations

from robomorph.bench.peers.peer import Peer


class DrakeTrajectory(Peer):
    name = "drake"
    package = "drake"
    modules = ("pydrake.planning",)
