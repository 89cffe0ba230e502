"""Gravity torques: what each joint must hold of everything it carries."""

from __future__ import annotations

from robomorph.algorithms.inverse_dynamics import GATHER
from robomorph.algorithms.kinematics import MOMENTS
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.spatial import Force, cross3, neg3, scale3


def _world_up(state: State) -> None:
    state.fields["up", WORLD] = neg3(state.tree.gravity)


def _hold_step(site: Site) -> None:
    """Outward: the force that keeps the composite body from falling, along the joint's axes."""
    up = site["up"] = site["X"].vector_into(site.parent("up"))
    mass, first = site["moment"]
    force = Force(cross3(first, up), scale3(mass, up))
    site["tau"] = [force.dot(unit) for unit in site.link.joint.subspace]


GRAVITY: tuple[Sweep | Stage, ...] = (
    *MOMENTS,
    Stage("up", _world_up),
    Sweep("hold", _hold_step),
    GATHER,
)
