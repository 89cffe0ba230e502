"""Gravity torques: what each joint must hold of everything it carries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robomorph.algorithms.algorithm import VECTOR, Algorithm
from robomorph.algorithms.inverse_dynamics import GATHER
from robomorph.algorithms.kinematics import MOMENTS
from robomorph.algorithms.sweep import WORLD, Site, Stage, State, Sweep
from robomorph.algorithms.textbook import Array, Textbook
from robomorph.spatial import Force, cross3, neg3, scale3


def _world_up(state: State) -> None:
    state.fields["up", WORLD] = neg3(state.tree.gravity)


def _hold_step(site: Site) -> None:
    """Outward: the force that keeps the composite body from falling, along the joint's axes."""
    up = site["up"] = site["X"].vector_into(site.parent("up"))
    mass, first = site["moment"]
    force = Force(cross3(first, up), scale3(mass, up))
    site["tau"] = [force.dot(unit) for unit in site.link.joint.subspace]


def _textbook(known: Textbook) -> Mapping[str, Array]:
    """What lifting every mass takes along each degree of freedom."""
    tau = np.zeros_like(known.qd)
    for body in known.bodies:
        tau -= body.mass * np.einsum("bij,i->bj", body.linear, known.gravity)
    return {"tau": tau}


GRAVITY_TORQUE = Algorithm(
    "gravity_torque",
    inputs=("q",),
    outputs={"tau": VECTOR},
    formulations={"composite": (*MOMENTS, Stage("up", _world_up), Sweep("hold", _hold_step), GATHER)},
    title="Joint forces that hold the robot at rest.",
    doc="Joint torques (..., nv) that hold the robot at rest against gravity.",
    textbook=_textbook,
)
